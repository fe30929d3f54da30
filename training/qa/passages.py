"""The passages of all examples as a collection, and which of them compete for a question."""

import collections
import itertools
import re
from typing import Iterator, List, Sequence

import numpy as np

from .examples import Example

# Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework: BM25 and Beyond"; the values of Lucene.
K1, B = 1.2, 0.75
# The constant of reciprocal rank fusion (Cormack et al. 2009).
FUSION = 60
# Passages that each of the two rankings puts forward, for each one that is wanted.
DEPTH = 8
QUESTIONS_AT_ONCE = 500
TEXTS_AT_ONCE = 512
_WORD = re.compile(r"\w+")


class Collection:
    """The passages in order of their first example, each once."""

    def __init__(self, examples: Sequence[Example], context):
        """context: a Context of an embedding model."""
        from sklearn.feature_extraction.text import CountVectorizer

        self.examples = examples
        self.passages: List[str] = list(dict.fromkeys(example.context for example in examples))
        self._number = {passage: number for number, passage in enumerate(self.passages)}
        self._lowered = [_plain(passage) for passage in self.passages]
        questions = [example.question for example in examples]
        counts = CountVectorizer(token_pattern=r"(?u)\w+", stop_words="english")
        self._bm25 = _bm25(counts.fit_transform(self.passages))
        self._words = counts.transform(questions)
        self._passage_vectors = _vectors(context, self.passages)
        self._question_vectors = _vectors(context, questions)

    def competing(self, count: int) -> Iterator[List[int]]:
        """For each example the `count` best passages, as numbers, that hold no known answer to its question."""
        answers, answering = collections.defaultdict(set), collections.defaultdict(set)
        for example in self.examples:
            if example.answer is not None:
                start, end = example.answer
                answers[example.question].add(_plain(example.context[start:end]))
                answering[example.question].add(self._number[example.context])
        for first in range(0, len(self.examples), QUESTIONS_AT_ONCE):
            part = slice(first, first + QUESTIONS_AT_ONCE)
            words = np.asarray((self._words[part] @ self._bm25.T).todense())
            cosines = self._question_vectors[part] @ self._passage_vectors.T
            ranked = fused(words, cosines, count * DEPTH)
            for example, candidates in zip(self.examples[part], ranked, strict=True):
                excluded = {self._number[example.context], *answering[example.question]}
                known = answers[example.question]
                kept = (
                    number
                    for number in candidates
                    if number not in excluded and not any(text in self._lowered[number] for text in known)
                )
                yield list(itertools.islice(kept, count))


def fused(first, second, depth: int) -> List[List[int]]:
    """For each row the columns among the `depth` highest of either matrix, by the sum of their reciprocal ranks."""
    rows = []
    tops = [np.argpartition(-scores, min(depth, scores.shape[1] - 1), 1)[:, :depth] for scores in (first, second)]
    for row in range(len(first)):
        total = collections.Counter()
        for scores, top in zip((first, second), tops, strict=True):
            order = sorted(top[row].tolist(), key=lambda column: (-scores[row, column], column))
            total.update({column: 1 / (FUSION + rank) for rank, column in enumerate(order, 1)})
        rows.append(sorted(total, key=lambda column: (-total[column], column)))
    return rows


def _bm25(counts):
    """BM25's weight of each term in each passage [passage, term], from the counts."""
    counts = counts.tocsr().astype(np.float32)
    lengths = np.asarray(counts.sum(1)).ravel()
    found = np.bincount(counts.indices, minlength=counts.shape[1])
    idf = np.log1p((counts.shape[0] - found + 0.5) / (found + 0.5)).astype(np.float32)
    norm = K1 * (1 - B + B * lengths / max(lengths.mean(), 1e-9))
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    counts.data = idf[counts.indices] * counts.data * (K1 + 1) / (counts.data + norm[rows].astype(np.float32))
    return counts


def _vectors(context, texts: Sequence[str]):
    """Normalised vectors [text, dimension]; a text that occurs again is read once."""
    unique = list(dict.fromkeys(texts))
    parts = [
        np.asarray(context.embed(unique[i : i + TEXTS_AT_ONCE]), np.float32)
        for i in range(0, len(unique), TEXTS_AT_ONCE)
    ]
    vectors = np.concatenate(parts)
    place = {text: row for row, text in enumerate(unique)}
    return vectors[[place[text] for text in texts]]


def _plain(text: str) -> str:
    """Lower case, words separated by one space."""
    return " ".join(_WORD.findall(text.lower()))
