#!/usr/bin/env python3
"""Speed of GLiNER models beside the package gliner, one thread, in words of text a second of processor time.

The models have the size of gliner_small-v2.1 without its vocabulary, and random weights: the time does not depend on
them, except for the choice among spans. One scores spans, the other one words. Texts have 20 to 200 made-up words;
there are five labels.

usage: PYTHONPATH=bindings/python python3 Benchmarks/any_labels.py   (needs Tests/parity4/requirements.txt)
"""

import importlib
import pathlib
import random
import sys
import tempfile
import time

import torch

import bertqa

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "Tests" / "BertQACoreTests" / "Fixtures"))
made = importlib.import_module("generate-tiny-gliner")

ROUNDS = 2
LABELS = [*made.LABELS, "name of a disease"]


def rate(texts, find):
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        found = find(texts)
        best = min(best, time.process_time() - start)
    return sum(len(text.split()) for text in texts) / best, sum(map(len, found))


def main():
    torch.set_num_threads(1)
    rng = random.Random(2)
    texts = [" ".join(rng.choices(made.tiny.WORDS, k=words)) for words in (20, 60, 120, 200) * 2]
    size = {"num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 3072, "position_buckets": 256}
    made.ENCODERS["deberta-v2"].update(size)
    for kind, options in ("spans", {"scale": 0.05}), ("words", {"tokens": True}):
        with tempfile.TemporaryDirectory() as directory:
            model = made.make(pathlib.Path(directory), width=512, encoder_width=768, **options)
            figures = rate(texts, lambda t, model=model: model.inference(t, LABELS))
            print(f"{kind}, package, f32: %.0f words/s, %d entities" % figures)
            for precision in ("f32", "bf16", "int8"):
                try:
                    context = bertqa.Context(directory, threads=1, precision=precision)
                except bertqa.Unsupported:
                    continue
                with context:
                    figures = rate(texts, lambda t, context=context: context.entities_batch(t, labels=LABELS))
                    print(f"{kind}, bertqa, {precision}: %.0f words/s, %d entities" % figures)


if __name__ == "__main__":
    main()
