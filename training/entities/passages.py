"""Sentences of passages, which a teacher labels."""

import random
from typing import List, Sequence

from common.files import split_sentences
from qa.examples import read_examples

# Sentences of other lengths, in characters, are headings and lists, or too long for a window of the training.
LENGTHS = range(41, 300)
OF_A_PASSAGE = 6


def sentences(paths: Sequence[str], count: int, seed: int) -> List[str]:
    """`count` sentences of questions' passages in files that finetune_qa.py reads, at most six of each passage."""
    choose = random.Random(seed)
    passages = sorted({example.context for path in paths for example in read_examples(path)})
    choose.shuffle(passages)
    result: List[str] = []
    for passage in passages:
        parts = [part for part in split_sentences(passage) if len(part) in LENGTHS]
        result += choose.sample(parts, min(OF_A_PASSAGE, len(parts)))
        if len(result) >= count:
            break
    return result[:count]
