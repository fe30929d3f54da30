"""From texts to answers: pairs of a question and a paragraph."""

import os

import numpy as np

from . import models
from .engines import ENGINES
from .workers import Worker, measure, note

MAX_LENGTH, STRIDE, MAX_ANSWER, N_BEST = 384, 128, 30, 20


class Libbertqa:
    options = {}

    def __init__(self, precision, threads, batch):
        import bertqa

        path = models.int8_form("minilm") if precision == "int8" else models.checkpoint("minilm")
        self.context = bertqa.Context(path, precision=precision, threads=threads)

    def prepare(self, pairs):
        return pairs

    def run(self, pairs):
        return self.context.answer_batch(pairs, **self.options)

    def answers(self, pairs):
        return [result.answer.text if result.answer else "" for result in self.run(pairs)]


class TokenizersAndONNXRuntime:
    """Hugging Face tokenizers, ONNX Runtime, and the usual search in NumPy: the best pair among the 20 best
    starts and ends of each window. Windows are sorted by length; `batch` of them are padded to the longest."""

    def __init__(self, precision, threads, batch):
        os.environ["TOKENIZERS_PARALLELISM"] = "true" if threads > 1 else "false"
        import tokenizers

        vocabulary = str(models.DEFAULT / "vocab.txt")
        self.tokenizer = tokenizers.BertWordPieceTokenizer(vocabulary, lowercase=True)
        self.tokenizer.enable_truncation(MAX_LENGTH, stride=STRIDE, strategy="only_second")
        make, _, _ = ENGINES["ONNX Runtime fp32"]
        self.engine, self.batch = make("minilm", precision, threads), batch

    def prepare(self, pairs):
        return pairs

    def run(self, pairs):
        windows = []
        for index, encoding in enumerate(self.tokenizer.encode_batch(pairs)):
            windows += [(index, part) for part in (encoding, *encoding.overflowing)]
        windows.sort(key=lambda window: len(window[1].ids))
        best = [(-np.inf, "")] * len(pairs)
        for first in range(0, len(windows), self.batch):
            group = windows[first : first + self.batch]
            longest = len(group[-1][1].ids)
            ids, types, mask = (np.zeros((len(group), longest), np.int64) for _ in range(3))
            for row, (_, part) in enumerate(group):
                count = len(part.ids)
                ids[row, :count], types[row, :count], mask[row, :count] = part.ids, part.type_ids, 1
            arrays = (ids, types, mask) if not mask.all() else (ids, types)
            starts, ends = self.engine.compute(self.engine.feed(arrays))
            for row, (index, part) in enumerate(group):
                count = len(part.ids)
                found = self._best_span(starts[row, :count], ends[row, :count], types[row, :count])
                if found and found[0] > best[index][0]:
                    score, start, end = found
                    offsets = part.offsets
                    best[index] = score, pairs[index][1][offsets[start][0] : offsets[end][1]]
        return best

    @staticmethod
    def _best_span(start, end, types):
        outside = types == 0
        outside[-1] = True
        start, end = np.where(outside, -np.inf, start), np.where(outside, -np.inf, end)
        n = min(N_BEST, len(start))
        firsts, lasts = np.argpartition(start, -n)[-n:], np.argpartition(end, -n)[-n:]
        length = lasts[None, :] - firsts[:, None]
        sums = np.where(
            (length >= 0) & (length < MAX_ANSWER), start[firsts][:, None] + end[lasts][None, :], -np.inf
        )
        i, j = np.unravel_index(np.argmax(sums), sums.shape)
        return (float(sums[i, j]), firsts[i], lasts[j]) if np.isfinite(sums[i, j]) else None

    def answers(self, pairs):
        return [text for _, text in self.run(pairs)]


SUBJECTS = {
    "libbertqa int8": (Libbertqa, "int8", 0),
    "libbertqa f32": (Libbertqa, "f32", 0),
    "tokenizers + ONNX Runtime int8 + NumPy": (TokenizersAndONNXRuntime, "int8", 1),
    "tokenizers + ONNX Runtime int8 + NumPy, batches of 8": (TokenizersAndONNXRuntime, "int8", 8),
    "tokenizers + ONNX Runtime fp32 + NumPy": (TokenizersAndONNXRuntime, "f32", 1),
}


def measured(pairs, threads, rounds):
    """Rows {subject, pairs per second, answers equal to the same subject's in f32}."""
    note(f"end to end: {len(pairs)} pairs, {threads} thread(s)")
    workers = [
        Worker(name, make, (precision, threads, batch), threads)
        for name, (make, precision, batch) in SUBJECTS.items()
    ]
    for worker in workers:
        worker.ask("prepare", "pairs", (pairs,))
    rows = {worker.name: {"engine": worker.name, "pairs": len(pairs)} for worker in workers}
    answers = {worker.name: worker.ask("answers", "pairs") for worker in workers}
    timed = [worker for worker in workers if "int8" in worker.name]
    # Calls of seconds need no other to warm them up.
    for name, seconds in measure(timed, "pairs", rounds, 1, warm_up=False).items():
        rows[name]["pairs per second"] = len(pairs) / seconds
    for name, row in rows.items():
        reference = "libbertqa f32" if name.startswith("libbertqa") else "tokenizers + ONNX Runtime fp32 + NumPy"
        row["answers equal"] = sum(a == b for a, b in zip(answers[name], answers[reference]))
    for worker in workers:
        worker.close()
    return [row for row in rows.values() if "pairs per second" in row]
