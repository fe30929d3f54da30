"""Components for Haystack: a reader, embedders, a ranker and an entity extractor. Needs haystack-ai.

    from bertqa.haystack import ExtractiveReader

    pipeline.add_component("reader", ExtractiveReader())
    pipeline.connect("retriever", "reader")

Components are serializable. `model` is a directory or name for bertqa.Context; None is the default model of the task.
"""

from .embedders import DocumentEmbedder, TextEmbedder
from .entities import NamedEntityAnnotation, NamedEntityExtractor
from .ranker import SimilarityRanker
from .reader import ExtractiveReader

__all__ = [
    "DocumentEmbedder",
    "ExtractiveReader",
    "NamedEntityAnnotation",
    "NamedEntityExtractor",
    "SimilarityRanker",
    "TextEmbedder",
]
