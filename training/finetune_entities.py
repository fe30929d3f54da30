#!/usr/bin/env python3
"""Fine-tune a model to find entities, and make the model that libbertqa ships from it.

training/README.md explains the recipe.
"""

import argparse
import os
import random
import sys

from common.averaging import mixed, shares
from common.batches import balanced_order, padded_length, padding_share, source_weights, token_batches
from common.models import (
    TOOL,
    architecture,
    check_length,
    check_replaceable,
    check_tool,
    frame,
    load_tokenizer,
    quantize,
    replacing,
    write_model,
)
from common.options import count, count_or_none, dropout, limited, positive, share
from entities.examples import Example, label_names, read_examples, windows
from entities.forms import other_forms
from entities.passages import sentences
from entities.values import Values

# Tokens of the windows of longer texts: the examples are single sentences, and models find less in windows of many.
WINDOW = 48


def main():
    arguments = parsed()
    check_replaceable(arguments.out)
    check_tool(arguments.bertqa)
    shares(arguments.mix)
    os.makedirs(arguments.state, exist_ok=True)
    examples = [example for path in arguments.data for example in read_examples(path)]
    labels = label_names(examples)
    tokenizer = load_tokenizer(arguments.init)
    examples += [
        Example(text, None, "passages")
        for text in sentences(arguments.passages, arguments.sentences, arguments.seed)
    ]
    known_sources = [example.source for example in examples] + ["values"] * bool(arguments.values)
    weights = source_weights(arguments.weight, known_sources)
    from entities.training import LENGTH_MULTIPLE, device_of, trained

    device = device_of(arguments)
    read, sources = read_windows(arguments, examples, labels, tokenizer, device)
    lengths = [len(window.ids) for window in read]
    check_length(arguments.init, padded_length(max(lengths), LENGTH_MULTIPLE))
    order = balanced_order(sources, weights, arguments.passes, arguments.seed)
    batches = token_batches(order, lengths, arguments.batch_tokens, LENGTH_MULTIPLE, arguments.seed)
    padding = 100 * padding_share(batches, lengths, LENGTH_MULTIPLE)
    print(f"{len(order)} windows, {len(batches)} steps, {padding:.1f} % padding", file=sys.stderr)
    tensors = mixed(trained(arguments, read, batches, labels, device), arguments.mix)
    source = os.path.join(arguments.state, "averaged")
    names = dict(enumerate(labels))
    write_model(
        source,
        tensors,
        arguments.init,
        architecture(arguments.init, "TOKEN_CLASSIFICATION"),
        id2label={str(i): name for i, name in names.items()},
        label2id={name: i for i, name in names.items()},
        bertqa={"aggregation": "first", "max_seq_length": WINDOW},
    )
    with replacing(arguments.out) as new:
        print(quantize(arguments.bertqa, source, new), end="")


def read_windows(arguments, examples, labels, tokenizer, device):
    """The windows that the student reads, and the source of each."""
    values = Values(arguments.values, tokenizer, labels) if arguments.values else None
    read, sources = [], []
    for example in examples:
        encoding = tokenizer.encode(example.text, add_special_tokens=False)
        parts = windows(example, encoding, labels, frame(tokenizer), arguments.max_length)
        read += parts
        sources += [example.source] * len(parts)
    if arguments.teacher:
        from entities.teacher import teacher_probabilities

        known = teacher_probabilities(arguments.teacher, read, tokenizer, labels, device)
        read = [window._replace(known=rows) for window, rows in zip(read, known, strict=True)]
    if values:
        draw = random.Random(arguments.seed)
        others = [values.in_places_of(window, arguments.max_length, draw) for window in read]
        read += [window for window in others if window]
        sources += ["values"] * (len(read) - len(sources))
    forms = other_forms(read, tokenizer, labels, arguments.other_forms, arguments.max_length, arguments.seed)
    return forms, sources


def parsed(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", required=True, help="JSON lines of text and entities; also .xz")
    parser.add_argument(
        "--init", required=True, metavar="DIR", help="the model to start from, Hugging Face's files"
    )
    parser.add_argument("--out", required=True, metavar="DIR", help="the finished int8 model")
    parser.add_argument("--state", metavar="DIR", help="snapshots and the F16 model; default: OUT-state")
    parser.add_argument("--passes", type=positive, default=6.0)
    parser.add_argument("--weight", nargs="*", default=[], metavar="SOURCE=W", help="read a source W times a pass")
    parser.add_argument("--learning-rate", type=positive, default=1e-4)
    parser.add_argument("--warmup-steps", type=count_or_none, default=50)
    parser.add_argument("--weight-decay", type=float, default=0.01)
    parser.add_argument("--dropout", type=dropout, default=0.1)
    parser.add_argument("--batch-tokens", type=count, default=2048)
    parser.add_argument("--max-length", type=limited(int, lambda value: value > 2, "3 or more"), default=256)
    parser.add_argument(
        "--average", type=count, default=5, help="how many snapshots of the last third are averaged"
    )
    parser.add_argument(
        "--mix",
        nargs="*",
        default=[],
        metavar="DIR=SHARE",
        help="average with these models' weights, of the same labels",
    )
    parser.add_argument(
        "--teacher", nargs="*", default=[], metavar="DIR",
        help="learn also the mean of these models' probabilities; models with the same word pieces and labels",
    )  # fmt: skip
    parser.add_argument("--teacher-share", type=share, default=0.7, help="of the loss")
    parser.add_argument(
        "--values", metavar="FILE",
        help='with --teacher: JSON lines {"label", "text"}, such as names of many countries; each text with entities of '
        "these labels is read once more with random ones of these in their places"
    )  # fmt: skip
    parser.add_argument(
        "--other-forms", type=share, default=0.0, metavar="SHARE",
        help="of the texts that are read without punctuation, or with marks before lines or around words; teachers read "
        "them as they are"
    )  # fmt: skip
    parser.add_argument(
        "--passages", nargs="*", default=[], metavar="FILE",
        help="with --teacher: questions' passages, as finetune_qa.py reads them, whose sentences are read, too",
    )  # fmt: skip
    parser.add_argument("--sentences", type=count, default=50000, help="how many of them")
    parser.add_argument("--log-steps", type=count, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=0, help="default: as torch finds")
    parser.add_argument("--cpu", action="store_true", help="not the GPU")
    parser.add_argument("--bertqa", default=TOOL, help="the command-line tool; default: %(default)s")
    arguments = parser.parse_args(argv)
    if arguments.passages and not arguments.teacher:
        parser.error("--passages needs --teacher: nothing else knows their entities")
    if arguments.values and not arguments.teacher:
        parser.error("--values needs --teacher: it knows the other tokens of the texts")
    arguments.state = arguments.state or arguments.out.rstrip("/") + "-state"
    return arguments


if __name__ == "__main__":
    main()
