"""A ranker of documents."""

from dataclasses import replace
from typing import Any, Dict, List, Optional

from haystack import Document, component

from .._hosts import opened, scores
from ._base import Component


@component
class SimilarityRanker(Component):
    """Ranks documents by a cross-encoder, or by an embedding model, which is the default."""

    task = "embed"

    def __init__(self, model: Optional[str] = None, top_k: int = 10, score_threshold: Optional[float] = None):
        self.model, self.top_k, self.score_threshold = model, top_k, score_threshold

    @component.output_types(documents=List[Document])
    def run(self, query: str, documents: List[Document], top_k: Optional[int] = None) -> Dict[str, Any]:
        found = scores(opened(self.model, self.task), query, [document.content or "" for document in documents])
        ranked = [replace(document, score=score) for document, score in zip(documents, found)]
        ranked = sorted(ranked, key=lambda document: -document.score)[: top_k or self.top_k]
        least = self.score_threshold
        return {"documents": [one for one in ranked if least is None or one.score >= least]}
