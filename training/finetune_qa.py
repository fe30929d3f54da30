#!/usr/bin/env python3
"""Fine-tune a model for question answering, and make the model that libbertqa ships from it.

training/README.md explains the recipe. Stopped at any time, the same command goes on where it was.
"""

import argparse
import datetime
import os
import pathlib
import random
import sys

from common.averaging import shares
from common.batches import (
    balanced_order,
    interleaved,
    packed_batches,
    padded_length,
    padding_share,
    source_weights,
    token_batches,
)
from common.files import digest, records
from common.models import TOOL, check_length, check_replaceable, check_tool
from common.options import count, count_or_none, dropout, positive, share
from qa import balance, calibrate
from qa.examples import read_examples
from qa.tools import tools


def main():
    arguments = parsed()
    os.makedirs(arguments.state, exist_ok=True)
    if arguments.out:
        # What fails for lack of it fails before the training.
        check_replaceable(arguments.out)
        check_tool(arguments.bertqa)
        shares(arguments.mix)
        modules = tools()
        sets = calibrate.read_sets(arguments.dev, arguments)
    if not arguments.export_only and not train(arguments):
        raise SystemExit("stopped: the same command goes on")
    if arguments.out:
        from qa.export import export

        export(arguments, sets, modules)


def parsed(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", required=True, help="SQuAD's JSON, or JSON lines; also .xz")
    parser.add_argument(
        "--init", required=True, metavar="DIR", help="the model to start from, Hugging Face's files"
    )
    parser.add_argument("--out", metavar="DIR", help="the finished int8 model; needs --dev")
    parser.add_argument("--state", metavar="DIR", help="checkpoints and log; default: OUT-state")
    parser.add_argument("--dev", nargs="*", default=[], help="questions to calibrate and score on")
    parser.add_argument("--passes", type=positive, default=1.0)
    parser.add_argument("--weight", nargs="*", default=[], metavar="SOURCE=W", help="read a source W times a pass")
    parser.add_argument("--deadline", type=utc, help="decay to 0 at this time, ISO, UTC, if it is before the end")
    parser.add_argument("--learning-rate", type=positive, default=5e-5)
    parser.add_argument("--warmup-steps", type=count_or_none, default=100)
    parser.add_argument(
        "--floor", type=share, default=0.0, metavar="SHARE", help="of the learning rate, until the last tenth"
    )
    parser.add_argument("--weight-decay", type=float, default=0.01)
    parser.add_argument("--dropout", type=dropout, default=0.1)
    parser.add_argument(
        "--attention-dropout", type=dropout, default=0.0, help="above 0 is slower: no fused attention"
    )
    parser.add_argument("--batch-tokens", type=count, default=6144)
    parser.add_argument(
        "--length-multiple", type=count, default=16, help="lengths are padded to a multiple of this"
    )
    parser.add_argument(
        "--packed",
        action="store_true",
        help="no padding, quick attention: a CPU with AVX-512 BF16, and a C compiler",
    )
    parser.add_argument(
        "--negatives", metavar="FILE", help="competing passages of each question, by hard_negatives.py"
    )
    parser.add_argument(
        "--negatives-share", type=share, default=0.5, help="of the windows that are read beside competing ones"
    )
    parser.add_argument("--competing", type=count, default=1, help="how many competing windows beside one")
    parser.add_argument("--max-length", type=count, default=384)
    parser.add_argument("--overlap", type=count_or_none, default=128)
    parser.add_argument("--keep-articles-out", action="store_true", help="labels as annotated, see examples.py")
    parser.add_argument(
        "--teacher", nargs="*", default=[], metavar="DIR",
        help="distil the mean of these models' logits; models with the same word pieces"
    )  # fmt: skip
    parser.add_argument(
        "--other-marks", type=share, default=0.0, metavar="SHARE",
        help="of the questions that are read without their question mark, or with one if they have none; teachers read "
        "them as they are"
    )  # fmt: skip
    parser.add_argument(
        "--keywords", type=share, default=0.0, metavar="SHARE",
        help="of the questions that are read without function words; teachers read them as they are"
    )  # fmt: skip
    parser.add_argument(
        "--other-forms", type=share, default=0.0, metavar="SHARE",
        help="of the windows that are read without punctuation, or with marks before lines or around words; teachers read "
        "them as they are"
    )  # fmt: skip
    parser.add_argument("--teacher-share", type=share, default=0.7)
    parser.add_argument("--teacher-temperature", type=positive, default=2.0)
    parser.add_argument(
        "--adversarial", type=float, default=0.0, metavar="SIZE",
        help="read each batch twice, then with word embeddings moved by SIZE against the model",
    )  # fmt: skip
    parser.add_argument("--snapshot-steps", type=count, default=100)
    parser.add_argument("--average", type=count, default=5, help="how many of the last snapshots are averaged")
    parser.add_argument(
        "--mix", nargs="*", default=[], metavar="DIR=SHARE", help="average with these models' weights"
    )
    parser.add_argument("--checkpoint-seconds", type=float, default=600)
    parser.add_argument("--log-steps", type=count, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=0, help="default: as torch finds")
    parser.add_argument("--cpu", action="store_true", help="not the GPU")
    parser.add_argument(
        "--temperature", type=positive, default=1.0, help="the output layer's weights are divided by it"
    )
    parser.add_argument("--bertqa", default=TOOL, help="the command-line tool; default: %(default)s")
    calibrate.add_options(parser)
    parser.add_argument("--export-only", action="store_true", help="no training: export what STATE holds")
    arguments = parser.parse_args(argv)
    if arguments.out and not arguments.dev:
        parser.error("--out needs --dev: the threshold is chosen on development questions")
    if arguments.packed and arguments.attention_dropout:
        parser.error("--packed goes without --attention-dropout")
    if not arguments.state:
        if not arguments.out:
            parser.error("--state or --out is needed")
        arguments.state = arguments.out.rstrip("/") + "-state"
    return arguments


def utc(text):
    """A time of an ISO string, UTC if it names no zone."""
    time = datetime.datetime.fromisoformat(text)
    return time if time.tzinfo else time.replace(tzinfo=datetime.timezone.utc)


def train(arguments) -> bool:
    """Returns False if the run was stopped before its end."""
    import torch

    from qa.training import Run

    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    windows = prepared(arguments)
    weights = source_weights(arguments.weight, windows.sources)
    order = balanced_order(windows.sources, weights, arguments.passes, arguments.seed)
    read, places = as_students_read(windows, arguments)
    longest = padded_length(int(max(windows.lengths.max(), read.lengths.max())), arguments.length_multiple)
    for directory in (arguments.init, *arguments.teacher):
        check_length(directory, longest)
    batches = batches_of(order, read, arguments)
    padding = 0.0
    if not arguments.packed:
        members = [batch.ravel() for batch in batches]
        padding = padding_share(members, read.lengths.tolist(), arguments.length_multiple)
    print(
        balance.report(balance.balance((windows.sources[i], bool(windows.answerable[i])) for i in order)),
        file=sys.stderr,
    )
    print(f"{len(order)} windows, {len(batches)} steps, {100 * padding:.1f} % padding", file=sys.stderr)
    return Run(arguments, read, windows, places, batches, arguments.length_multiple).train()


def as_students_read(windows, arguments):
    """The windows in other forms, and the places of their tokens (forms.py); None if the passages are as they were."""
    from common.models import load_tokenizer
    from qa.forms import other_forms, other_marks

    tokenizer = load_tokenizer(arguments.init)
    if arguments.other_marks:
        mark = tokenizer.encode("it?", add_special_tokens=False).ids[-1]
        windows = other_marks(windows, arguments.other_marks, mark, arguments.seed)
    if not arguments.other_forms and not arguments.keywords:
        return windows, None
    shares = arguments.other_forms, arguments.keywords
    return other_forms(windows, tokenizer, *shares, arguments.max_length, arguments.seed)


def batches_of(order, windows, arguments):
    """Arrays [groups, members] of window indices: windows alone, and windows each with competing ones behind it."""
    import numpy as np

    generator = random.Random(arguments.seed)
    alone, groups = [], []
    for index in order:
        others = [other for other in windows.negatives[index].tolist() if other >= 0]
        if len(others) < arguments.competing or generator.random() >= arguments.negatives_share:
            alone.append([index])
        else:
            groups.append([index, *generator.sample(others, arguments.competing)])
    parts = []
    for items in filter(None, (alone, groups)):
        members = len(items[0])
        items, tokens = np.array(items), arguments.batch_tokens // members
        if arguments.packed:
            cut = packed_batches(range(len(items)), windows.lengths[items].sum(1).tolist(), arguments.batch_tokens)
        else:
            longest = windows.lengths[items].max(1).tolist()
            cut = token_batches(range(len(items)), longest, tokens, arguments.length_multiple, arguments.seed)
        parts.append([items[batch] for batch in cut])
    return interleaved(parts)


def prepared(arguments):
    """The tokenized windows, from the state directory if they are there."""
    from common.models import load_tokenizer
    from qa.tokenized import Windows, tokenized

    tokenizer = load_tokenizer(arguments.init)
    files = [*arguments.data, *([arguments.negatives] if arguments.negatives else [])]
    settings = arguments.max_length, arguments.overlap, arguments.keep_articles_out
    key = digest(*map(pathlib.Path, files), tokenizer.to_str(), settings)
    path = os.path.join(arguments.state, f"windows-{key}.npz")
    if os.path.exists(path):
        return Windows.load(path)
    examples = [
        e for data in arguments.data for e in read_examples(data, articles=not arguments.keep_articles_out)
    ]
    competing = [[] for _ in examples]
    if arguments.negatives:
        lines = list(records(arguments.negatives, lambda line: (line["id"], line["passages"])))
        # Passages have the numbers that they have in the data that hard_negatives.py read.
        passages = len({example.context for example in examples})
        ids = [id for id, _ in lines]
        last = max((number for _, numbers in lines for number in numbers), default=-1)
        if ids != [example.id for example in examples] or last >= passages:
            raise SystemExit(
                f"--negatives: {arguments.negatives} is not of the questions of --data, in their order"
            )
        competing = [numbers for _, numbers in lines]
    windows = tokenized(examples, tokenizer, arguments.max_length, arguments.overlap, competing)
    windows.save(path)
    return windows


if __name__ == "__main__":
    main()
