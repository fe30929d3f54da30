"""A ranker of documents."""

from dataclasses import replace
from typing import Any, Dict, List, Optional

from haystack import Document, component

from .._call import integer
from .._hosts import opened, scores
from ._base import Component


def at_least_one(top_k: int) -> int:
    if integer(top_k, "top_k") < 1:
        raise ValueError(f"top_k is {top_k}, but must be at least 1")
    return top_k


@component
class SimilarityRanker(Component):
    """Ranks documents by an embedding model (default) or a cross-encoder."""

    task = "embed"

    def __init__(self, model: Optional[str] = None, top_k: int = 10, score_threshold: Optional[float] = None):
        self.model, self.top_k, self.score_threshold = model, at_least_one(top_k), score_threshold

    @component.output_types(documents=List[Document])
    def run(self, query: str, documents: List[Document], top_k: Optional[int] = None) -> Dict[str, Any]:
        found = scores(opened(self.model, self.task), query, [document.content or "" for document in documents])
        ranked = sorted(zip(found, documents), key=lambda pair: -pair[0])
        ranked = ranked[: self.top_k if top_k is None else at_least_one(top_k)]
        least = self.score_threshold
        return {
            "documents": [replace(one, score=score) for score, one in ranked if least is None or score >= least]
        }
