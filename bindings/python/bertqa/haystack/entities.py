"""An entity extractor."""

from dataclasses import dataclass, replace
from typing import Any, Dict, List, Optional

from haystack import Document, component

from .._hosts import opened
from ._base import Component


@dataclass
class NamedEntityAnnotation:
    """An entity: text[start:end]."""

    entity: str
    start: int
    end: int
    score: Optional[float] = None


@component
class NamedEntityExtractor(Component):
    """Adds the entities of documents to their meta as "named_entities"."""

    task = "entities"

    def __init__(self, model: Optional[str] = None, threshold: float = 0.0):
        self.model, self.threshold = model, threshold

    @component.output_types(documents=List[Document])
    def run(self, documents: List[Document]) -> Dict[str, Any]:
        texts = [document.content or "" for document in documents]
        found = opened(self.model, self.task).entities_batch(texts, threshold=self.threshold)
        notes = [
            [NamedEntityAnnotation(one.label, one.start, one.end, one.score) for one in each] for each in found
        ]
        return {
            "documents": [
                replace(document, meta={**document.meta, "named_entities": each})
                for document, each in zip(documents, notes)
            ]
        }

    @classmethod
    def get_stored_annotations(cls, document: Document) -> Optional[List[NamedEntityAnnotation]]:
        """Returns the entities of a document that this component has read."""
        return document.meta.get("named_entities")
