"""Windows as references: the tokens of a question and of a passage are stored once, however many windows hold them."""

from dataclasses import astuple
from typing import Dict, List, Sequence

import numpy as np
from tokenizers import Tokenizer

from common.batches import padded_length
from common.files import whole

from .examples import Example
from .windows import MAX_QUESTION_LENGTH, Layout, parts, token_range


class Windows:
    """All windows. Window i is question `questions[i]` with `counts[i]` tokens of passage `passages[i]` from `firsts[i]` on.

    question_ids, passage_ids: the tokens end to end; those of text n are from offsets[n] to offsets[n + 1]. starts, ends:
    the answer's first and last token, from `firsts` on; -1 for none. negatives [question's window, count]: windows of the
    same question with passages that compete, -1 where there are fewer; only the first `trained` windows have a row.
    """

    FIELDS = (
        "question_ids", "question_offsets", "passage_ids", "passage_offsets", "questions", "passages", "firsts", "counts",
        "starts", "ends", "sources", "source_names", "negatives", "layout",
    )  # fmt: skip

    def __init__(self, arrays: Dict[str, np.ndarray]):
        self.arrays = {name: arrays[name] for name in self.FIELDS}
        self.layout = Layout(*self.arrays["layout"].tolist())
        self.trained = len(self.arrays["sources"])
        self.negatives = self.arrays["negatives"]
        self.answerable = self.arrays["starts"][: self.trained] >= 0
        self.sources = self.arrays["source_names"][self.arrays["sources"]].tolist()
        questions = np.diff(self.arrays["question_offsets"])[self.arrays["questions"]]
        self.lengths = questions + self.arrays["counts"] + self.layout.specials
        self._on = None

    def __len__(self) -> int:
        return len(self.arrays["questions"])

    def save(self, path: str) -> None:
        with whole(path) as part, open(part, "wb") as file:
            np.savez_compressed(file, **self.arrays)

    @classmethod
    def load(cls, path: str) -> "Windows":
        with np.load(path) as arrays:
            return cls(arrays)

    def batch(self, indices: Sequence[int], multiple: int, device="cpu"):
        """Tensors [batch, length]: ids, token types, whether a token may begin or end an answer; starts, ends [batch]."""
        import torch

        if self._on is None or self._on[0] != device:
            names = [name for name in self.FIELDS if self.arrays[name].dtype.kind in "iu"]
            self._on = (
                device,
                {name: torch.from_numpy(self.arrays[name].astype(np.int64)).to(device) for name in names},
            )
        held, layout = self._on[1], self.layout
        indices = np.asarray(indices)
        length = padded_length(int(self.lengths[indices].max()), multiple)
        rows = torch.from_numpy(indices.astype(np.int64)).to(device)
        columns = torch.arange(length, device=device)[None]
        questions = held["questions"][rows]
        question_first = held["question_offsets"][questions][:, None]
        question_length = held["question_offsets"][questions + 1][:, None] - question_first
        passage_first = (held["passage_offsets"][held["passages"][rows]] + held["firsts"][rows])[:, None]
        count = held["counts"][rows][:, None]
        context_start = layout.context_start(question_length)
        end = context_start + count

        in_question = (columns > 0) & (columns <= question_length)
        candidates = (columns >= context_start) & (columns < end)
        ids = torch.full((len(rows), length), layout.pad, device=device)
        ids.masked_fill_(columns <= end, layout.sep)
        ids[:, 0] = layout.cls
        places = (question_first + columns - 1).clamp(max=len(held["question_ids"]) - 1)
        ids = torch.where(in_question, held["question_ids"][places], ids)
        places = (passage_first + columns - context_start).clamp(0, len(held["passage_ids"]) - 1)
        ids = torch.where(candidates, held["passage_ids"][places], ids)
        types = ((columns >= context_start) & (columns <= end)).long() * layout.second_type
        candidates[:, 0] = True
        labels = (
            torch.where(held[name][rows] < 0, 0, held[name][rows] + context_start[:, 0])
            for name in ("starts", "ends")
        )
        return ids, types, candidates, *labels


def packed(batch, pad: int, multiple: int):
    """A batch with its windows end to end: ids, types, positions [tokens], offsets [batch + 1]; rows (of each window's
    tokens), candidates [batch, length]; starts, ends [batch]. tokens: rounded up to a multiple."""
    import torch

    ids, types, candidates, starts, ends = batch
    real = ids != pad
    lengths = real.sum(1)
    offsets = torch.cat([lengths.new_zeros(1), lengths.cumsum(0)])
    fill = padded_length(int(offsets[-1]), multiple) - int(offsets[-1])
    length = int(lengths.max())
    columns = torch.arange(length)[None]

    def end_to_end(tensor):
        return torch.nn.functional.pad(tensor[real], (0, fill))

    positions = end_to_end(torch.arange(ids.shape[1]).expand(ids.shape))
    rows = torch.where(columns < lengths[:, None], offsets[:-1, None] + columns, 0)
    return (
        end_to_end(ids), end_to_end(types), positions, offsets.int(), rows, candidates[:, :length], starts, ends
    )  # fmt: skip


def tokenized(
    examples: Sequence[Example],
    tokenizer: Tokenizer,
    max_length: int,
    overlap: int,
    competing: Sequence[Sequence[int]],
) -> Windows:
    """The windows of all examples, in their order, then those of the competing passages.

    competing: for each example, passages by number in the order of their first example (hard_negatives.py). The first
    part of such a passage is a window.
    """
    layout = Layout.of(tokenizer)
    passages = {context: number for number, context in enumerate(dict.fromkeys(e.context for e in examples))}
    encoded = tokenizer.encode_batch(list(passages), add_special_tokens=False)
    questions = [
        text.ids[:MAX_QUESTION_LENGTH]
        for text in tokenizer.encode_batch([e.question for e in examples], add_special_tokens=False)
    ]
    rooms = [max_length - len(question) - layout.specials for question in questions]
    names = sorted({example.source for example in examples})
    # question, passage, first, count, start, end
    table: List[tuple] = []
    sources = []
    for number, example in enumerate(examples):
        passage = passages[example.context]
        tokens = encoded[passage]
        answer = None if example.answer is None else token_range(tokens.offsets, example.answer)
        if answer is None and example.answer is not None:
            start, end = example.answer
            raise SystemExit(
                f"{example.source}: question {example.id!r}: the answer {example.context[start:end]!r} has no tokens"
            )
        for part in parts(len(tokens.ids), answer, rooms[number], overlap):
            table.append((number, passage, part.first, part.count, part.start, part.end))
            sources.append(names.index(example.source))
    trained = len(table)
    rows: List[List[int]] = []
    for number, others in enumerate(competing):
        rows.append([])
        for passage in others:
            rows[number].append(len(table))
            table.append((number, passage, 0, min(rooms[number], len(encoded[passage].ids)), -1, -1))
    negatives = np.full((trained, max(map(len, rows))), -1, np.int32)
    for index, (number, *_) in enumerate(table[:trained]):
        negatives[index, : len(rows[number])] = rows[number]
    columns = np.array(table, np.int32).T
    return Windows(
        {
            **flat("question", questions),
            **flat("passage", [text.ids for text in encoded]),
            **dict(zip(("questions", "passages", "firsts", "counts", "starts", "ends"), columns, strict=True)),
            "sources": np.array(sources, np.int32),
            "source_names": np.array(names),
            "negatives": negatives,
            "layout": np.array(astuple(layout), np.int32),
        }
    )


def flat(name: str, texts: Sequence[List[int]]) -> Dict[str, np.ndarray]:
    lengths = [len(text) for text in texts]
    return {
        f"{name}_ids": np.array([token for text in texts for token in text], np.uint32),
        f"{name}_offsets": np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
    }
