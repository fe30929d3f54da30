"""Components for LangChain: embeddings, a reranker, and a chain that answers from retrieved documents. Needs
langchain-core.

    from bertqa.langchain import BertQAEmbeddings, answer_chain

    chain = answer_chain(store.as_retriever())
    chain.invoke("Who fell?")["answer"]
"""

import asyncio
import threading
from typing import Any, Dict, List, Optional, Sequence

from langchain_core.documents import Document
from langchain_core.documents.compressor import BaseDocumentCompressor
from langchain_core.embeddings import Embeddings
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.utils.pydantic import ConfigDict, Field

from ._hosts import opened, scores
from ._sentences import SentenceEncoder
from ._text import check_texts


class BertQAEmbeddings(Embeddings):
    """model, options: those of bertqa.SentenceEncoder. encode_options: those of its encode, such as
    normalize_embeddings."""

    def __init__(self, model: Any = None, encode_options: Optional[Dict[str, Any]] = None, **options: Any):
        self.encoder = SentenceEncoder(model, **options)
        self.encode_options = encode_options or {}

    def embed_documents(self, texts: List[str]) -> List[List[float]]:
        check_texts(texts, "texts", "pass a list: [text]")
        vectors = self.encoder.encode_document(list(texts), convert_to_numpy=False, **self.encode_options)
        return [vector.tolist() for vector in vectors]

    def embed_query(self, text: str) -> List[float]:
        [vector] = self.encoder.encode_query([text], convert_to_numpy=False, **self.encode_options)
        return vector.tolist()


class BertQAReranker(BaseDocumentCompressor):
    """Keeps the documents that match a query best, by an embedding model (default) or a cross-encoder. The score is in
    the metadata as "relevance_score"."""

    model_config = ConfigDict(extra="forbid")

    model: Any = None
    top_n: int = Field(default=3, ge=1)

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Any = None
    ) -> Sequence[Document]:
        if not documents:
            return []
        found = scores(opened(self.model, "embed"), query, [document.page_content for document in documents])
        order = sorted(range(len(documents)), key=lambda index: -found[index])[: self.top_n]
        return [
            Document(
                id=documents[index].id,
                page_content=documents[index].page_content,
                metadata={**documents[index].metadata, "relevance_score": found[index]},
            )
            for index in order
        ]


def answer_chain(retriever: Any, model: Any = None, **options: Any) -> "Runnable[str, Dict[str, Any]]":
    """Returns a chain from a question to a dictionary of answer (None if the documents seem to have none), score (its
    probability), start and end in the document, document, sentence, and source_documents (all that were retrieved).

    options: see help(bertqa.AnswerOptions).
    """
    context, is_cancelled = opened(model, "answer"), options.pop("cancel", None)

    def answered(question: str, documents: Sequence[Document], cancel: Any = is_cancelled) -> Dict[str, Any]:
        empty = dict.fromkeys(("answer", "score", "start", "end", "document", "sentence"))
        result: Dict[str, Any] = {"question": question, **empty, "source_documents": documents}
        if not documents:
            return result
        texts = [document.page_content for document in documents]
        found = context.answer_documents(
            question, texts, **{"handle_impossible_answer": True, **options, "cancel": cancel}
        )
        if found.answer is not None:
            best = found.answer
            result.update(
                answer=best.text,
                score=best.probability,
                start=best.start,
                end=best.end,
                document=documents[best.document_index],
                sentence=best.sentence,
            )
        return result

    def call(question: str) -> Dict[str, Any]:
        return answered(question, retriever.invoke(question))

    async def async_call(question: str) -> Dict[str, Any]:
        documents = await retriever.ainvoke(question)
        is_over = threading.Event()

        def cancel() -> Any:
            return is_over.is_set() or (is_cancelled is not None and is_cancelled())

        try:
            return await asyncio.to_thread(answered, question, documents, cancel)
        finally:
            is_over.set()  # ends the thread's work if the task was cancelled

    return RunnableLambda(call, async_call, name="answer_chain")
