#!/usr/bin/env python3
"""Writes tiny tokenizers of several kinds and what `tokenizers` 0.23.3 makes of texts with them.

usage: generate_pipelines.py     (needs `pip install tokenizers==0.23.3`)

Each directory pipeline-KIND has a tokenizer.json, trained on the sentences of Tests/python/text_cases.py, and
cases.jsonl: a line is [parse special tokens, base64 of the text, ids, starts, ends], offsets in bytes.
"""

import base64
import json
import pathlib
import random
import sys

import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "python"))
import text_cases  # noqa: E402

SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


def train(tokenizer, size, **training):
    trainer = trainers.BpeTrainer(vocab_size=size, show_progress=False, **training)
    tokenizer.train_from_iterator(text_cases.languages() * 4, trainer)
    return tokenizer


def byte_level():
    """RoBERTa's kind with a space before the first word and added tokens of several sorts."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    train(tokenizer, 900, special_tokens=SPECIAL, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), True, True)
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    tokenizer.add_tokens([AddedToken("Nîmes", single_word=True, rstrip=True), AddedToken("ing")])
    return tokenizer


def characters():
    """Characters with an end of word and unknown ones, lower case without accents."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Lowercase(), normalizers.StripAccents()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(True)])
    return train(tokenizer, 500, special_tokens=["<unk>"], end_of_word_suffix="</w>", limit_alphabet=200)


def unigram():
    """Pieces with scores, forms of Unicode, spaces made visible."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Nmt(),
            normalizers.NFKC(),
            normalizers.Strip(False, True),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=700, show_progress=False, special_tokens=SPECIAL, unk_token="<unk>", max_piece_length=12
    )
    tokenizer.train_from_iterator(text_cases.languages() * 4, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return tokenizer


def main():
    assert tokenizers.__version__ == "0.23.3"
    for kind in byte_level, characters, unigram:
        tokenizer = kind()
        directory = HERE / f"pipeline-{kind.__name__.replace('_', '-')}"
        directory.mkdir(exist_ok=True)
        (directory / "tokenizer.json").write_text(tokenizer.to_str() + "\n", encoding="utf-8")
        chosen = random.Random(1)
        edges = [text for text in text_cases.edge_cases() if len(text) <= 120]
        texts = [text.encode() for text in text_cases.languages() + chosen.sample(edges, 250)]
        texts += [text.encode() for text in text_cases.random_strings(2, 400)]
        texts += list(text_cases.random_bytes(3, 200))
        texts = [text for text in texts if len(text) <= 120] + [b" <mask> <s>", b"Nimes", "in Nîmes !".encode()]
        with open(directory / "cases.jsonl", "w", encoding="ascii") as file:
            for data in texts:
                # tokenizers finds the pieces of special tokens in plain text, too; the library does not.
                special = chosen.random() < 0.4 or kind is unigram
                tokenizer.encode_special_tokens = not special
                text, offsets = text_cases.decode(data)
                encoding = tokenizer.encode(text, add_special_tokens=False)
                starts = [offsets[start] for start, _ in encoding.offsets]
                ends = [offsets[end] for _, end in encoding.offsets]
                line = [special, base64.b64encode(data).decode(), encoding.ids, starts, ends]
                file.write(json.dumps(line, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
