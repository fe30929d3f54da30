#!/usr/bin/env python3
"""Writes tokenizer/vocab.txt and tokenizer/cases.jsonl: what `tokenizers` 0.23.3 makes of many texts.

usage: generate_tokenizer_cases.py VOCAB     (a BERT vocab.txt; needs `pip install tokenizers==0.23.3`)

The vocabulary is a part of VOCAB together with characters and words of the texts. A line of
cases.jsonl is [lowercase, strip accents or null, Chinese, parse special tokens, base64 of the text,
ids, starts, ends], offsets in bytes.
"""

import base64
import json
import pathlib
import random
import sys
import tempfile

import tokenizers
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "python"))
import text_cases  # noqa: E402

CONFIGURATIONS = [
    (lowercase, strip, chinese)
    for lowercase in (True, False)
    for strip in (None, True, False)
    for chinese in (True, False)
]


def reference(vocabulary, lowercase, strip, chinese, special):
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8", newline="") as file:
        file.write(vocabulary)
        file.flush()
        tokenizer = Tokenizer(models.WordPiece.from_file(file.name, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(
        clean_text=True, handle_chinese_chars=chinese, strip_accents=strip, lowercase=lowercase
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    if special:
        tokenizer.add_special_tokens([AddedToken(t, special=True) for t in text_cases.SPECIAL])
    return tokenizer


def make_vocabulary(source, texts):
    """Special tokens, every 12th piece of the source, characters and words of the texts."""
    pieces = dict.fromkeys(text_cases.SPECIAL)
    lines = source.read_text(encoding="utf-8").split("\n")
    pieces.update(dict.fromkeys(p for p in lines[1000:] if len(p) > 1 and hash_of(p) % 12 == 0))
    chosen = random.Random(1)
    for text in texts:
        for form in (text, text.lower()):
            for word in form.split():
                cut = chosen.randint(1, len(word))
                pieces[word[:cut]] = pieces["##" + word[cut:] + "x"] = pieces["##" + word[cut:]] = None
            for character in form:
                if character.isprintable() and not character.isspace():
                    pieces[character] = None
                    if ord(character) % 3:
                        pieces["##" + character] = None
    for n in (14, 15, 16, 17, 31, 99):
        pieces["a" * n] = pieces["##" + "z" * n] = pieces["я" * n] = None
    pieces.pop("", None)
    return "\n".join(list(pieces) + ["the", "##s"]) + "\n"


def hash_of(piece):
    return sum(piece.encode()) * 31 + len(piece)


def main():
    assert tokenizers.__version__ == "0.23.3"
    chosen = random.Random(2)
    languages = text_cases.languages()
    edges = [t.encode() for t in text_cases.edge_cases()]
    edges = chosen.sample([e for e in edges if len(e) <= 420], 900)
    texts = list(text_cases.random_strings(3, 900))
    noise = list(text_cases.random_bytes(4, 400))
    vocabulary = make_vocabulary(pathlib.Path(sys.argv[1]), languages + text_cases.WORDS)

    jobs = [(c, bool(i % 5 == 0), t.encode()) for i, t in enumerate(languages) for c in CONFIGURATIONS]
    for data in edges + [t.encode() for t in texts] + noise:
        jobs.append((chosen.choice(CONFIGURATIONS), chosen.random() < 0.4, data))
    known = {}
    output = HERE / "tokenizer"
    output.mkdir(exist_ok=True)
    (output / "vocab.txt").write_text(vocabulary, encoding="utf-8", newline="")
    with open(output / "cases.jsonl", "w", encoding="ascii") as file:
        for configuration, special, data in jobs:
            key = (*configuration, special)
            if key not in known:
                known[key] = reference(vocabulary, *key)
            text, offsets = text_cases.decode(data)
            encoding = known[key].encode(text, add_special_tokens=False)
            starts = [offsets[start] for start, _ in encoding.offsets]
            ends = [offsets[end] for _, end in encoding.offsets]
            line = [*key, base64.b64encode(data).decode(), encoding.ids, starts, ends]
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
