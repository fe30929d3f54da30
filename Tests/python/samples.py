"""Texts and helpers that several test files use."""

import os
import random
import subprocess
import sys

from conftest import FIXTURES, ROOT

FOX = "The quick brown fox jumps over the lethargic dog."
WHO = "Who jumped over the dog?"
ANSWER = "The quick brown fox"
LOVELACE = "Ada Lovelace met Charles Babbage in London."
NAMES = {"Ada Lovelace": "person", "Charles Babbage": "person", "London": "location"}
APOLLO = (ROOT / "examples" / "documents" / "apollo.txt").read_text(encoding="utf-8")
HEADER = (ROOT / "include" / "bertqa.h").read_text()
PIECES = (FIXTURES / "tiny-bert" / "vocab.txt").read_text(encoding="utf-8").splitlines()
SOME_WORDS = [piece for piece in PIECES if piece.isascii() and piece.isalpha() and len(piece) > 1]

DOCUMENTS = {
    "ascii": FOX,
    "emoji": "🦊🦊 " + FOX.replace("quick", "quick 👩‍👩‍👧‍👦") + " 🐕",
    "combining marks": "Ñ e\u0301\u0323 " + FOX.replace("brown", "bro\u0308wn"),
    "composed": "É İ ß ﬁ 韓国 " + FOX,
    "right to left": "שָׁלוֹם עוֹלָם. السَّلامُ عَلَيْكُم. " + FOX,
    "inside right to left": "דג The quick brown fox jumps over the lethargic dog. עולם",
    "lone surrogates": "\ud800 x \udfff\udc00 " + FOX.replace("fox", "fox \udcff"),
    "controls": "\0\x1b\u200b\ufeff " + FOX.replace(" ", "\u3000"),
    "line breaks": FOX.replace(" ", "\r\n\t"),
    "answer at the end": "Over the lethargic dog jumped 🏃 the fox 🦊",
}


def words(count, seed=0):
    return " ".join(random.Random(seed).choices(SOME_WORDS, k=count))


def run_python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True, timeout=300
    )
