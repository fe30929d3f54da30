"""Components for LlamaIndex: an embedding and a reranker. Needs llama-index-core.

from bertqa.llama_index import BertQAEmbedding

Settings.embed_model = BertQAEmbedding()
"""

import asyncio
from typing import Any, Dict, List, Optional

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import ConfigDict, Field, PrivateAttr, field_serializer
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle

from ._hosts import opened, scores, serializable
from ._sentences import SentenceEncoder


class BertQAEmbedding(BaseEmbedding):
    """model_name: the model of bertqa.SentenceEncoder. options: those of BaseEmbedding and SentenceEncoder."""

    _encoder: Any = PrivateAttr()
    _options: Dict[str, Any] = PrivateAttr()

    def __init__(self, model_name: Any = None, embed_batch_size: int = 256, **options: Any):
        fields = {name: options.pop(name) for name in BaseEmbedding.model_fields if name in options}
        encoder = SentenceEncoder(model_name, **options)
        directory = encoder.context.info.directory and encoder.context._directory
        super().__init__(model_name=directory, embed_batch_size=embed_batch_size, **fields)
        # Functions, such as log, matter only while the model is opened.
        self._options = {name: value for name, value in options.items() if not callable(value)}
        self._encoder = encoder

    def to_dict(self, **options: Any) -> Dict[str, Any]:
        """Returns the constructor's arguments, for from_dict."""
        return {**super().to_dict(**options), **self._options}

    def __getstate__(self) -> Any:
        """LlamaIndex removes what cannot be pickled, also from this object. With it, pickle raises its exception."""
        encoder = self._encoder
        state = super().__getstate__()
        state["__pydantic_private__"]["_encoder"] = encoder
        return state

    def __setstate__(self, state: Any) -> None:
        """LlamaIndex calls the constructor with the fields alone, which lack the encoder's options."""
        super().__setstate__(state)
        private = state["__pydantic_private__"]
        self._encoder, self._options = private["_encoder"], private["_options"]

    @classmethod
    def class_name(cls) -> str:
        return "BertQAEmbedding"

    def _get_text_embeddings(self, texts: List[str]) -> List[List[float]]:
        vectors = self._encoder.encode_document(list(texts), convert_to_numpy=False)
        return [vector.tolist() for vector in vectors]

    def _get_text_embedding(self, text: str) -> List[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> List[float]:
        [vector] = self._encoder.encode_query([query], convert_to_numpy=False)
        return vector.tolist()

    async def _aget_query_embedding(self, query: str) -> List[float]:
        return await asyncio.to_thread(self._get_query_embedding, query)

    async def _aget_text_embeddings(self, texts: List[str]) -> List[List[float]]:
        return await asyncio.to_thread(self._get_text_embeddings, texts)

    async def _aget_text_embedding(self, text: str) -> List[float]:
        return await asyncio.to_thread(self._get_text_embedding, text)


class BertQARerank(BaseNodePostprocessor):
    """Keeps the nodes that match the query best, by an embedding model (default) or a cross-encoder."""

    model_config = ConfigDict(extra="forbid")

    model: Any = None
    top_n: int = Field(default=3, ge=1)

    def __getstate__(self) -> Any:
        """As in BertQAEmbedding: without its model, the copy would have the default model."""
        model = self.model
        state = super().__getstate__()
        state["__dict__"]["model"] = model
        return state

    @classmethod
    def class_name(cls) -> str:
        return "BertQARerank"

    @field_serializer("model")
    def _serialized(self, model: Any) -> Any:
        return serializable(model)

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
