"""Components for LlamaIndex: an embedding and a reranker. Needs llama-index-core.

from bertqa.llama_index import BertQAEmbedding

Settings.embed_model = BertQAEmbedding()
"""

import asyncio
from typing import Any, List, Optional

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle

from ._hosts import opened, scores
from ._sentences import SentenceEncoder


class BertQAEmbedding(BaseEmbedding):
    """model, options: those of bertqa.SentenceEncoder."""

    _encoder: Any = PrivateAttr()

    def __init__(self, model: Any = None, embed_batch_size: int = 256, **options: Any):
        encoder = SentenceEncoder(model, **options)
        super().__init__(model_name=encoder.context.info.directory, embed_batch_size=embed_batch_size)
        self._encoder = encoder

    @classmethod
    def class_name(cls) -> str:
        return "BertQAEmbedding"

    def _get_text_embeddings(self, texts: List[str]) -> List[List[float]]:
        vectors = self._encoder.encode_document(list(texts), convert_to_numpy=False)
        return [vector.tolist() for vector in vectors]

    def _get_text_embedding(self, text: str) -> List[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> List[float]:
        return self._encoder.encode_query(query, convert_to_numpy=False).tolist()

    async def _aget_query_embedding(self, query: str) -> List[float]:
        return await asyncio.to_thread(self._get_query_embedding, query)

    async def _aget_text_embedding(self, text: str) -> List[float]:
        return await asyncio.to_thread(self._get_text_embedding, text)


class BertQARerank(BaseNodePostprocessor):
    """Keeps the nodes that match the query best, by an embedding model (default) or a cross-encoder."""

    model: Any = None
    top_n: int = Field(default=3, ge=1)

    @classmethod
    def class_name(cls) -> str:
        return "BertQARerank"

    def _postprocess_nodes(
        self, nodes: List[NodeWithScore], query_bundle: Optional[QueryBundle] = None
    ) -> List[NodeWithScore]:
        if query_bundle is None:
            raise ValueError("Missing query bundle in extra info.")
        if not nodes:
            return []
        texts = [node.node.get_content(metadata_mode=MetadataMode.EMBED) for node in nodes]
        found = scores(opened(self.model, "embed"), query_bundle.query_str, texts)
        ranked = [NodeWithScore(node=node.node, score=score) for node, score in zip(nodes, found)]
        return sorted(ranked, key=lambda node: -(node.score or 0))[: self.top_n]
