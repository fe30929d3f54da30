"""Components of LangChain, with its vector store in memory."""

import asyncio
import threading

import pytest

from conftest import FIXTURES
from hosts import QUESTION, TEXTS, host

host("langchain_core")

from langchain_core.documents import Document  # noqa: E402
from langchain_core.runnables import RunnableLambda  # noqa: E402
from langchain_core.vectorstores import InMemoryVectorStore  # noqa: E402

import bertqa  # noqa: E402
from bertqa.langchain import BertQAEmbeddings, BertQAReranker, answer_chain  # noqa: E402


@pytest.fixture(scope="module")
def store():
    return InMemoryVectorStore.from_texts(
        TEXTS, BertQAEmbeddings(), metadatas=[{"name": number} for number in range(len(TEXTS))]
    )


def test_embeddings(store):
    embeddings = BertQAEmbeddings(encode_options={"normalize_embeddings": True})
    vector = embeddings.embed_query(TEXTS[0])
    assert vector == pytest.approx(bertqa.SentenceEncoder().encode(TEXTS[0], normalize_embeddings=True).tolist())
    assert asyncio.run(embeddings.aembed_documents(TEXTS))[0] == pytest.approx(vector, abs=1e-6)
    assert store.similarity_search("an animal jumped", k=1)[0].page_content == TEXTS[0]
    with pytest.raises(TypeError, match="texts is one text"):
        embeddings.embed_documents(TEXTS[0])
    for wrong in None, TEXTS, {"question": QUESTION}:
        with pytest.raises(TypeError, match="expected str or bytes, got"):
            embeddings.embed_query(wrong)


@pytest.mark.parametrize("model", [None, str(FIXTURES / "tiny-bert-regression")])
def test_reranker(model):
    documents = [Document(page_content=text, metadata={"name": text[:3]}, id=text[:5]) for text in TEXTS]
    found = BertQAReranker(model=model, top_n=2).compress_documents(documents, "water in spring")
    scores = [document.metadata["relevance_score"] for document in found]
    assert len(found) == 2 and scores == sorted(scores, reverse=True) and found[0].id == found[0].page_content[:5]
    assert "relevance_score" not in documents[0].metadata
    if model is None:
        assert found[0].page_content == TEXTS[2]
    assert BertQAReranker(model=model).compress_documents([], "a") == []
    for wrong in {"top_n": 0}, {"top_n": -1}, {"top_k": 2}:
        with pytest.raises(ValueError, match=next(iter(wrong))):
            BertQAReranker(model=model, **wrong)


def test_a_cancelled_task_ends_the_reading():
    inside, go, finished = threading.Event(), threading.Event(), []

    def cancel():
        inside.set()
        go.wait()

    def progress(stage, part):
        finished.append(part)

    documents = [Document(page_content=" ".join(TEXTS) * 200)]
    chain = answer_chain(RunnableLambda(lambda _: documents), cancel=cancel, progress=progress, doc_stride=0)

    async def cancelled():
        task = asyncio.create_task(chain.ainvoke(QUESTION))
        await asyncio.to_thread(inside.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go.set()

    asyncio.run(cancelled())  # waits for the thread
    assert inside.is_set() and max(finished, default=0) < 1


def test_answers(store):
    threads = []
    chain = answer_chain(
        store.as_retriever(search_kwargs={"k": 2}), progress=lambda *_: threads.append(threading.current_thread())
    )
    for found in chain.invoke(QUESTION), asyncio.run(chain.ainvoke(QUESTION)):
        assert found["answer"] == "Paris" and found["document"].metadata["name"] == 1
        assert found["document"].page_content[found["start"] : found["end"]] == "Paris"
        assert len(found["source_documents"]) == 2 and 0 < found["score"] < 1
    # The event loop goes on while the model reads.
    assert threads[0] is threading.main_thread() is not threads[-1]
    assert chain.get_name() == "answer_chain"
    assert (chain | (lambda found: found["answer"])).invoke(QUESTION) == "Paris"
    nothing = chain.invoke("What is the boiling point of mercury?")
    assert nothing["answer"] is None and list(nothing) == list(found)
