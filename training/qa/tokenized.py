"""Examples as token ids in flat arrays: a million windows take some hundred megabytes."""

import os
from typing import List, Sequence

import numpy as np
from tokenizers import Tokenizer

from .examples import Example
from .windows import token_range, windows


class Windows:
    """All windows: ids of window i are ids[offsets[i]:offsets[i + 1]]."""

    FIELDS = ("ids", "offsets", "context_starts", "starts", "ends", "sources", "source_names")

    def __init__(self, arrays):
        self.ids, self.offsets, self.context_starts, self.starts, self.ends, self.sources, self.source_names = (
            arrays[name] for name in self.FIELDS
        )

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def lengths(self) -> List[int]:
        return np.diff(self.offsets).tolist()

    def save(self, path: str) -> None:
        with open(path + ".part", "wb") as file:
            np.savez(file, **{name: getattr(self, name) for name in self.FIELDS})
        os.replace(path + ".part", path)

    @classmethod
    def load(cls, path: str) -> "Windows":
        with np.load(path) as arrays:
            return cls({name: arrays[name] for name in cls.FIELDS})

    def batch(self, indices: Sequence[int], multiple: int):
        """Arrays [batch, length]: ids (0 = [PAD]), token types, whether a token may begin or end an answer; starts,
        ends [batch]."""
        length = max(int(self.offsets[i + 1] - self.offsets[i]) for i in indices)
        shape = (len(indices), -(-length // multiple) * multiple)
        ids = np.zeros(shape, np.int64)
        types = np.zeros(shape, np.int64)
        candidates = np.zeros(shape, bool)
        for row, index in enumerate(indices):
            part = self.ids[self.offsets[index] : self.offsets[index + 1]]
            first = self.context_starts[index]
            ids[row, : len(part)] = part
            types[row, first : len(part)] = 1
            candidates[row, first : len(part) - 1] = True
            candidates[row, 0] = True
        return ids, types, candidates, *self._labels(indices)

    def packed(self, indices: Sequence[int], multiple: int):
        """The same with the windows end to end: ids, types, positions [tokens], offsets [batch + 1]; rows (of each
        window's tokens), candidates [batch, length]; starts, ends [batch]. tokens: rounded up to a multiple."""
        offsets = np.concatenate([[0], np.cumsum([self.offsets[i + 1] - self.offsets[i] for i in indices])])
        tokens = -(-offsets[-1] // multiple) * multiple
        ids, types, positions = (np.zeros(tokens, np.int64) for _ in range(3))
        shape = (len(indices), int(np.diff(offsets).max()))
        rows, candidates = np.zeros(shape, np.int64), np.zeros(shape, bool)
        for row, index in enumerate(indices):
            begin, end = offsets[row], offsets[row + 1]
            first, length = self.context_starts[index], end - begin
            ids[begin:end] = self.ids[self.offsets[index] : self.offsets[index + 1]]
            types[begin + first : end] = 1
            positions[begin:end] = np.arange(length)
            rows[row, :length] = np.arange(begin, end)
            candidates[row, first : length - 1] = True
            candidates[row, 0] = True
        return ids, types, positions, offsets.astype(np.int32), rows, candidates, *self._labels(indices)

    def _labels(self, indices):
        return self.starts[indices].astype(np.int64), self.ends[indices].astype(np.int64)


def tokenized(examples: Sequence[Example], tokenizer: Tokenizer, max_length: int, overlap: int) -> Windows:
    """The windows of all examples, in their order."""
    cls, sep = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    names = sorted({example.source for example in examples})
    ids, lengths, context_starts, starts, ends, sources = [], [], [], [], [], []
    encoded = None, None
    for example in examples:
        if encoded[0] != example.context:
            encoded = example.context, tokenizer.encode(example.context, add_special_tokens=False)
        question = tokenizer.encode(example.question, add_special_tokens=False).ids
        answer = None
        if example.answer is not None:
            answer = token_range(encoded[1].offsets, example.answer)
        for window in windows(question, encoded[1].ids, answer, cls, sep, max_length, overlap):
            ids.append(np.array(window.ids, np.uint32))
            lengths.append(len(window.ids))
            context_starts.append(window.context_start)
            starts.append(window.start)
            ends.append(window.end)
            sources.append(names.index(example.source))
    return Windows(
        {
            "ids": np.concatenate(ids),
            "offsets": np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            "context_starts": np.array(context_starts, np.int32),
            "starts": np.array(starts, np.int32),
            "ends": np.array(ends, np.int32),
            "sources": np.array(sources, np.int32),
            "source_names": np.array(names),
        }
    )
