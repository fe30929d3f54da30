"""Other families' encoders with random weights: latency of one window, from the same transformers model for all.

    python -m compare.families [--models roberta,deberta,modernbert] [--layers 3] [--threads 1,2] [--rounds 5]

Peers get the graph that torch exports, ONNX Runtime int8 after `quantize_dynamic`.
"""

import argparse
import random

from . import models
from .engines import ENGINES, Libbertqa, Peer
from .workers import measure, note, start

# Name: (title, lengths of windows).
FAMILIES = {
    "roberta": ("RoBERTa-base", (384,)),
    "mpnet": ("MPNet-base", (384,)),
    "deberta-v1": ("DeBERTa-base", (384,)),
    "deberta": ("DeBERTa-v3-base", (384,)),
    "modernbert": ("ModernBERT-base", (384, 4096)),
    "mobilebert": ("MobileBERT", (384,)),
    "nomic": ("nomic-embed-text-v1.5", (384, 4096)),
    "gte": ("gte-base-en-v1.5", (384, 4096)),
    "jina": ("jina-embeddings-v2-base-en", (384, 4096)),
    "jina-v3": ("jina-embeddings-v3", (384,)),
    "longformer": ("longformer-base-4096", (384, 4096)),
    "colbert": ("ColBERT, BERT-base", (384,)),
    "splade": ("SPLADE, BERT-base", (384,)),
}
# The special tokens before a text, of models that the library gives texts.
OF_TEXTS = {"colbert": ("[CLS]", "[unused1]"), "splade": ("[CLS]",), "jina-v3": ("[CLS]",)}
# Models whose exported graph would be that of one length. Their peer is PyTorch.
OF_TORCH = {"longformer"}
NAMES = [name for name in ENGINES if name.startswith(("libbertqa", "ONNX", "OpenVINO"))]


def kind(model):
    return model.partition("@")[0]


def family(model):
    """Title, with the number of layers if that is not the base model's, and lengths of windows."""
    title, lengths = FAMILIES[kind(model)]
    layers = model.partition("@")[2]
    return f"{title}, {layers} layers" if layers else title, lengths


class TokenVectors(Libbertqa):
    """The time includes that of the tokenizer."""

    def prepare(self, windows, batch):
        [(ids, _)] = windows
        words = [id for id in ids if self.context.piece(id).isalpha()]
        text = " ".join(map(self.context.piece, words))
        if self.context.tokenize(text).ids != words:
            raise RuntimeError("a text of words has other tokens")
        return text

    def run(self, text):
        self.context.embed_tokens(text)


class Module(Peer):
    def __init__(self, model, precision, threads):
        import torch

        from .transformers_models import make

        torch.set_num_threads(threads)
        self.torch, self.model = torch, make(model).eval()

    def feed(self, arrays):
        return self.torch.from_numpy(arrays[0])

    def compute(self, ids):
        with self.torch.inference_mode():
            return self.model(ids)


def window(length, model):
    """Ids of pieces that every model has; nothing depends on which."""
    choose = random.Random(length)
    if kind(model) not in OF_TEXTS:
        ids = [choose.randrange(5, 30_000) for _ in range(length)]
        if kind(model) not in OF_TORCH:
            return ids, length
        # A question, whose end determines the global tokens, and a document.
        ids[12] = ids[13] = ids[-1] = 2
        return ids, 14
    pieces = (models.DEFAULT / "vocab.txt").read_text(encoding="utf-8").splitlines()
    words = [id for id, piece in enumerate(pieces) if piece.isascii() and piece.isalpha()]
    first = [pieces.index(piece) for piece in OF_TEXTS[kind(model)]]
    return [*first, *choose.choices(words, k=length - len(first) - 1), pieces.index("[SEP]")], length


def measured(chosen, threads_, rounds):
    """Rows {model, threads, engine, tokens: milliseconds}; on one thread processor time."""
    rows = []
    for model in chosen:
        title, lengths = family(model)
        prepare(model, [window(384, model)] * 4)
        engines = dict(ENGINES)
        if kind(model) in OF_TEXTS:
            for name, engine in ENGINES.items():
                engines[name] = (TokenVectors, *engine[1:]) if engine[0] is Libbertqa else engine
        names = NAMES
        if kind(model) in OF_TORCH:
            engines["PyTorch fp32"] = (Module, "f32", "transformers")
            names = [name for name in NAMES if name.startswith("libbertqa")] + ["PyTorch fp32"]
        for threads in threads_:
            note(f"{title}, {threads} thread(s)")
            workers = start(names, engines, model, threads)
            found = {w.name: {"model": model, "threads": threads, "engine": w.name} for w in workers}
            for length in lengths:
                for worker in workers:
                    worker.ask("prepare", str(length), ([window(length, model)], 1))
                # Fewer rounds: the peers take seconds for each window of thousands of tokens.
                times = rounds if length < 1000 else min(rounds, 2)
                for engine, seconds in measure(workers, str(length), times, 1, cpu=threads == 1).items():
                    found[engine][str(length)] = 1000 * seconds
            rows += found.values()
            for worker in workers:
                worker.close()
    return rows


def prepare(model, calibration):
    """Makes what is not there yet, outside the workers."""
    models.int8_form(model)
    if kind(model) in OF_TORCH:
        return
    for make in (
        lambda: models.onnx_file(model, False),
        lambda: models.onnx_file(model, False, int8=True),
        lambda: models.openvino_int8(model, False, calibration),
    ):
        try:
            make()
        except ImportError as error:
            note(f"left out: {error}")


def ratios(rows):
    """libbertqa f32 against the best f32 peer, and int8 against the best of all peers."""
    found = []
    for model, threads in dict.fromkeys((row["model"], row["threads"]) for row in rows):
        group = [row for row in rows if (row["model"], row["threads"]) == (model, threads)]
        peers = [row for row in group if not row["engine"].startswith("libbertqa")]
        title, lengths = family(model)
        for precision in "f32", "int8":
            own = next((row for row in group if row["engine"] == f"libbertqa {precision}"), None)
            able = [row for row in peers if precision == "int8" or row["engine"].endswith(("f32", "fp32"))]
            for length in map(str, lengths) if own and able else ():
                best = min(able, key=lambda row: row[length])
                found.append(
                    {
                        "case": f"{title}, {length} tokens, {threads}T, {precision}",
                        "engine": own["engine"],
                        "own": own[length],
                        "peer": best["engine"],
                        "best": best[length],
                        "ratio": best[length] / own[length],
                        "unit": "ms",
                    }
                )
    return found


def table(rows):
    """(title, lines) for each model and number of threads."""
    for model, threads in dict.fromkeys((row["model"], row["threads"]) for row in rows):
        title, lengths = family(model)
        lines = [("engine", *(f"{length} tokens, ms" for length in lengths))]
        for row in rows:
            if (row["model"], row["threads"]) == (model, threads):
                lines.append((row["engine"], *(f"{row[str(length)]:.3g}" for length in lengths)))
        yield f"{title} (random weights), {threads} thread{'s' * (threads > 1)}", lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=",".join(FAMILIES))
    parser.add_argument(
        "--layers", type=int, help="fewer layers than the base models' take less time; ratios are alike"
    )
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    threads = [int(number) for number in arguments.threads.split(",")]
    chosen = [name + (f"@{arguments.layers}" if arguments.layers else "") for name in arguments.models.split(",")]
    rows = measured(chosen, threads, arguments.rounds)
    for title, lines in table(rows):
        print(f"\n{title}")
        for line in lines:
            print(" | ".join(line))
    for row in ratios(rows):
        print(f"{row['case']}: {row['own']:.4g} ms, {row['peer']} {row['best']:.4g} ms, {row['ratio']:.2f} times")


if __name__ == "__main__":
    main()
