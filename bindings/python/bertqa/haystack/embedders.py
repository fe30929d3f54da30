"""Embedders of texts and documents. `model` is that of bertqa.SentenceEncoder."""

from dataclasses import replace
from typing import Any, Dict, List, Optional

from haystack import Document, component

from .._sentences import SentenceEncoder
from .._text import check_texts
from ._base import Component


class _Embedder(Component):
    """truncate: longer texts are truncated, as by sentence-transformers; else they are read in windows."""

    def __init__(
        self,
        model: Optional[str] = None,
        prefix: str = "",
        suffix: str = "",
        normalize_embeddings: bool = False,
        truncate: bool = True,
    ):
        self.model, self.prefix, self.suffix = model, prefix, suffix
        self.normalize_embeddings, self.truncate = normalize_embeddings, truncate

    def warm_up(self) -> None:
        """Opens the model before the first run."""
        self._encoder()

    def _encoder(self) -> SentenceEncoder:
        encoder: Optional[SentenceEncoder] = vars(self).get("_opened")
        if encoder is None:
            encoder = SentenceEncoder(self.model, truncate=self.truncate)
            vars(self)["_opened"] = encoder
        return encoder

    def _vectors(self, texts: List[str]) -> List[List[float]]:
        texts = [self.prefix + text + self.suffix for text in texts]
        vectors = self._encoder().encode(
            texts, normalize_embeddings=self.normalize_embeddings, convert_to_numpy=False
        )
        return [vector.tolist() for vector in vectors]


@component
class TextEmbedder(_Embedder):
    """Embeds a text, such as a query."""

    @component.output_types(embedding=List[float])
    def run(self, text: str) -> Dict[str, Any]:
        if not isinstance(text, str):
            raise TypeError("TextEmbedder expects a text; for documents use DocumentEmbedder")
        return {"embedding": self._vectors([text])[0]}


@component
class DocumentEmbedder(_Embedder):
    """Adds vectors to documents. meta_fields_to_embed: the meta fields put before a document's content."""

    def __init__(
        self,
        model: Optional[str] = None,
        prefix: str = "",
        suffix: str = "",
        normalize_embeddings: bool = False,
        truncate: bool = True,
        meta_fields_to_embed: Optional[List[str]] = None,
        embedding_separator: str = "\n",
    ):
        # component makes another class, of which super() does not know.
        _Embedder.__init__(self, model, prefix, suffix, normalize_embeddings, truncate)
        check_texts(meta_fields_to_embed or [], "meta_fields_to_embed", "pass a list of them")
        self.meta_fields_to_embed, self.embedding_separator = meta_fields_to_embed or [], embedding_separator

    @component.output_types(documents=List[Document])
    def run(self, documents: List[Document]) -> Dict[str, Any]:
        if not isinstance(documents, list) or any(not isinstance(one, Document) for one in documents):
            raise TypeError("DocumentEmbedder expects a list of Documents; for a text use TextEmbedder")
        texts = []
        for document in documents:
            found = (document.meta.get(name) for name in self.meta_fields_to_embed)
            meta = [str(value) for value in found if value is not None]
            texts.append(self.embedding_separator.join([*meta, document.content or ""]))
        vectors = self._vectors(texts)
        return {"documents": [replace(one, embedding=vector) for one, vector in zip(documents, vectors)]}
