"""Components of Haystack: alone, in a Pipeline with its BM25 retriever, and from a file."""

import pytest

from conftest import FIXTURES
from hosts import QUESTION, TEXTS, host

host("haystack")

from haystack import Document, ExtractedAnswer, Pipeline  # noqa: E402
from haystack.components.retrievers.in_memory import (  # noqa: E402
    InMemoryBM25Retriever,
    InMemoryEmbeddingRetriever,
)
from haystack.document_stores.in_memory import InMemoryDocumentStore  # noqa: E402

import bertqa  # noqa: E402
from bertqa.haystack import (  # noqa: E402
    DocumentEmbedder,
    ExtractiveReader,
    NamedEntityAnnotation,
    NamedEntityExtractor,
    SimilarityRanker,
    TextEmbedder,
)


@pytest.fixture
def documents():
    return [Document(content=text, meta={"name": str(number)}) for number, text in enumerate(TEXTS)]


@pytest.fixture
def store(documents):
    store = InMemoryDocumentStore()
    store.write_documents(documents)
    return store


def test_a_pipeline_with_bm25(store):
    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(document_store=store))
    pipeline.add_component("reader", ExtractiveReader(top_k=2))
    pipeline.connect("retriever.documents", "reader.documents")
    restored = Pipeline.loads(pipeline.dumps(), allowed_modules=["bertqa.*"])
    for each in pipeline, restored:
        found = each.run({"retriever": {"query": QUESTION}, "reader": {"query": QUESTION}})["reader"]["answers"]
        best = found[0]
        assert isinstance(best, ExtractedAnswer) and best.data == "Paris" and best.document.meta["name"] == "1"
        offset, inside = best.document_offset, best.context_offset
        assert best.document.content[offset.start : offset.end] == best.data
        assert best.context[inside.start : inside.end] == best.data
        assert [one.data for one in found].count(None) == 1
        assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_options_of_the_reader(documents):
    reader = ExtractiveReader(no_answer=False)
    found = reader.run(QUESTION, documents, top_k=1)["answers"]
    assert [one.data for one in found] == ["Paris"]
    for none in False, True:
        assert reader.run(QUESTION, documents, score_threshold=1.0, no_answer=none)["answers"] == []
    with pytest.raises(ValueError, match="max_seq_len is 0"):
        reader.run(QUESTION, documents, max_seq_length=0)
    assert reader.run(QUESTION, [], top_k=1)["answers"] == [] == reader.run(QUESTION, [Document()])["answers"]


def test_embedders(documents, store):
    embedded = DocumentEmbedder(meta_fields_to_embed=["name"]).run(documents)["documents"]
    expected = bertqa.SentenceEncoder().encode(["0\n" + TEXTS[0]])[0]
    assert embedded[0].embedding == pytest.approx(expected.tolist(), abs=1e-6) and documents[0].embedding is None
    store = InMemoryDocumentStore()
    store.write_documents(embedded)
    pipeline = Pipeline()
    pipeline.add_component("embedder", TextEmbedder(prefix="", normalize_embeddings=True))
    pipeline.add_component("retriever", InMemoryEmbeddingRetriever(document_store=store))
    pipeline.connect("embedder.embedding", "retriever.query_embedding")
    found = pipeline.run({"embedder": {"text": "an animal jumped"}})["retriever"]["documents"]
    assert found[0].content == TEXTS[0]
    # Falsy values are embedded, missing ones are not.
    given = [Document(content="a", meta={"n": 0, "s": None})]
    vector = DocumentEmbedder(meta_fields_to_embed=["n", "s"]).run(given)["documents"][0].embedding
    assert vector == DocumentEmbedder().run([Document(content="0\na")])["documents"][0].embedding
    with pytest.raises(TypeError, match="meta_fields_to_embed is one text"):
        DocumentEmbedder(meta_fields_to_embed="title")
    for component, wrong in (TextEmbedder(), ["a"]), (DocumentEmbedder(), "a"):
        with pytest.raises(TypeError):
            component.run(wrong)


@pytest.mark.parametrize("model", [None, str(FIXTURES / "tiny-bert-regression")])
def test_ranker(documents, model):
    ranked = SimilarityRanker(model, top_k=2).run("a fox is fast", documents)["documents"]
    assert len(ranked) == 2 and ranked[0].score >= ranked[1].score
    if model is None:
        assert ranked[0].content == TEXTS[0]
    assert SimilarityRanker(model, score_threshold=2.0).run("a", documents)["documents"] == []
    assert len(SimilarityRanker(model).run("a", documents, top_k=1)["documents"]) == 1
    with pytest.raises(TypeError, match="expected str or bytes, got NoneType"):
        SimilarityRanker(model).run(None, documents)
    for top_k in 0, -1:
        with pytest.raises(ValueError, match=f"top_k is {top_k}, but must be at least 1"):
            SimilarityRanker(model, top_k=top_k)
        with pytest.raises(ValueError, match=f"top_k is {top_k}, but must be at least 1"):
            SimilarityRanker(model).run("a", documents, top_k=top_k)
    with pytest.raises(TypeError, match="top_k is '1', but must be an integer"):
        SimilarityRanker(model, top_k="1")


def test_entities(documents):
    found = NamedEntityExtractor(threshold=0.5).run(documents)["documents"]
    notes = NamedEntityExtractor.get_stored_annotations(found[1])
    assert (
        all(isinstance(note, NamedEntityAnnotation) for note in notes)
        and "named_entities" not in documents[1].meta
    )
    assert ("person", "Ann Smith") in [(note.entity, TEXTS[1][note.start : note.end]) for note in notes]


@pytest.mark.parametrize(
    "component",
    [
        ExtractiveReader("a", top_k=3, no_answer=False),
        SimilarityRanker("a", score_threshold=0.5),
        NamedEntityExtractor("a", threshold=0.25),
        TextEmbedder("a", prefix="query: ", truncate=False),
        DocumentEmbedder("a", meta_fields_to_embed=["title"]),
    ],
)
def test_serialising(component):
    data = component.to_dict()
    restored = type(component).from_dict(data)
    assert restored.to_dict() == data and data["init_parameters"]["model"] == "a"
    pipeline = Pipeline()
    pipeline.add_component("one", component)
    assert (
        Pipeline.from_dict(pipeline.to_dict(), allowed_modules=["bertqa.*"]).get_component("one").to_dict() == data
    )
