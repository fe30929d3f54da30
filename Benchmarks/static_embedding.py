#!/usr/bin/env python3
"""Speed of a static embedding model beside model2vec's, one thread, in megabytes of text a second of processor time.

The tokenizer is BERT's with the pieces of models/embed-minilm-l6/vocab.txt, as that of the potion models for English.
The table has 256 random numbers for each piece; the time does not depend on them. Texts are the passages of DATA (JSON
lines with "context", as SQuAD's are, may be .xz) and the same ones joined to texts of about a megabyte.

usage: PYTHONPATH=bindings/python python3 Benchmarks/static_embedding.py DATA   (needs model2vec)
"""

import os
import pathlib
import sys
import tempfile
import time

import numpy
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

import bertqa
from accuracy import passages

os.environ["TOKENIZERS_PARALLELISM"] = "false"
from model2vec import StaticModel  # noqa: E402 (after the variable)

ROUNDS = 5


def rate(texts, embed):
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        embed(texts)
        best = min(best, time.process_time() - start)
    return sum(len(text.encode()) for text in texts) / best / 1e6


def tokenizer():
    path = pathlib.Path(__file__).parent.parent / "models" / "embed-minilm-l6" / "vocab.txt"
    made = Tokenizer(models.WordPiece(models.WordPiece.read_file(str(path)), unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return made


def main(data):
    short = passages(data)
    long = []
    for text in short:
        if not long or len(long[-1]) > 1 << 20:
            long.append("")
        long[-1] += text + "\n"
    made = tokenizer()
    table = numpy.random.default_rng(0).standard_normal((made.get_vocab_size(), 256)).astype(numpy.float32)
    with tempfile.TemporaryDirectory() as directory:
        theirs = StaticModel(table, made, config={"model_type": "model2vec"}, normalize=True)
        theirs.save_pretrained(directory)
        with bertqa.Context(directory, threads=1) as ours:
            for name, texts in (("passages", short), ("a megabyte each", long)):
                size = sum(map(len, texts)) // len(texts)
                print(f"{len(texts)} texts of {size} characters, {name}:")
                print(f"  libbertqa {rate(texts, ours.embed):8.1f} MB/s")
                print(f"  model2vec {rate(texts, lambda t: theirs.encode(t, max_length=None)):8.1f} MB/s")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
