"""Components of LlamaIndex, with its vector index in memory."""

import asyncio
import copy
import os
import pickle

import pytest

from conftest import FIXTURES
from hosts import TEXTS, host, in_memory

host("llama_index.core")

from llama_index.core import VectorStoreIndex  # noqa: E402
from llama_index.core.schema import NodeWithScore, TextNode  # noqa: E402

import bertqa  # noqa: E402
from bertqa.llama_index import BertQAEmbedding, BertQARerank  # noqa: E402


def nodes():
    return [TextNode(text=text, id_=str(number)) for number, text in enumerate(TEXTS)]


def test_embedding():
    embedding = BertQAEmbedding()
    vector = bertqa.SentenceEncoder().encode(TEXTS[0]).tolist()
    assert embedding.get_text_embedding(TEXTS[0]) == pytest.approx(vector, abs=1e-6)
    assert asyncio.run(embedding.aget_query_embedding(TEXTS[0])) == pytest.approx(vector, abs=1e-6)
    assert len(embedding.get_text_embedding_batch(TEXTS)) == 3
    own = BertQAEmbedding(truncate=False, prompts={"query": "query: "}, num_workers=2)
    again = BertQAEmbedding.from_dict(own.to_dict())
    assert again.to_dict() == own.to_dict() and again.num_workers == 2
    assert again.get_query_embedding("a") == own.get_query_embedding("a") != embedding.get_query_embedding("a")
    with pytest.raises(TypeError, match="expected str or bytes, got list"):
        embedding.get_query_embedding(["a"])
    index = VectorStoreIndex(nodes(), embed_model=embedding)
    found = index.as_retriever(similarity_top_k=2).retrieve("an animal jumped")
    assert found[0].node.node_id == "0"
    ranked = BertQARerank(top_n=1).postprocess_nodes(found, query_str="an animal jumped")
    assert [one.node.node_id for one in ranked] == ["0"]


@pytest.mark.parametrize(
    "options",
    [
        {"truncate": False, "truncate_dim": 8, "log": lambda line: None},
        {"model_name": bertqa.Context(task="embed", precision="f32")},
        {"model_name": bertqa.Context(in_memory("tiny-bert-embedder"))},
    ],
)
def test_a_pickled_embedding_has_the_same_vectors(options):
    """IngestionPipeline.run(num_workers=2) pickles it."""
    embedding = BertQAEmbedding(**options)
    again = pickle.loads(pickle.dumps(embedding))
    assert again.to_dict() == embedding.to_dict() and again.callback_manager is not None
    assert again.get_text_embedding(TEXTS[0]) == embedding.get_text_embedding(TEXTS[0])


def test_a_model_that_cannot_be_pickled_is_told():
    """LlamaIndex would leave it out, and a reranker without one has the default model."""
    model = bertqa.Context(FIXTURES / "tiny-bert-embedder")
    embedding, rerank = BertQAEmbedding(model), BertQARerank(model=model)
    model.close()
    for made in embedding, rerank:
        for copied in pickle.dumps, copy.deepcopy:
            with pytest.raises(ValueError, match="this Context was closed"):
                copied(made)
    assert rerank.model is model and embedding.to_dict()["model_name"] == str(FIXTURES / "tiny-bert-embedder")
    descriptor = os.open(FIXTURES, os.O_RDONLY)
    try:
        model = bertqa.Context("tiny-bert-embedder", dir_fd=descriptor)
    finally:
        os.close(descriptor)
    with pytest.raises(TypeError, match="opened with dir_fd .*: open it by its path"):
        pickle.dumps(BertQARerank(model=model))
    with pytest.raises(TypeError, match="dir_fd cannot be read: open the Context by its path"):
        BertQAEmbedding(model)


@pytest.mark.parametrize("model", [None, str(FIXTURES / "tiny-bert-regression")])
def test_rerank(model):
    given = [NodeWithScore(node=node, score=0.0) for node in nodes()]
    ranked = BertQARerank(model=model, top_n=2).postprocess_nodes(given, query_str="water in spring")
    assert len(ranked) == 2 and ranked[0].score >= ranked[1].score
    if model is None:
        assert ranked[0].node.node_id == "2"
    assert BertQARerank(model=model).postprocess_nodes([], query_str="a") == []
    for top_n in 0, -1:
        with pytest.raises(ValueError, match="top_n"):
            BertQARerank(model=model, top_n=top_n)
    with pytest.raises(ValueError, match="topn"):
        BertQARerank(model=model, topn=1)
    again = BertQARerank.from_dict(BertQARerank(model=bertqa.Context(model, task="embed"), top_n=1).to_dict())
    assert len(again.postprocess_nodes(given, query_str="water")) == 1
    with pytest.raises(ValueError, match="cannot be named in a file"):
        BertQARerank(model=bertqa.Context(in_memory("tiny-bert-embedder"))).to_dict()
    with pytest.raises(ValueError, match="Missing query"):
        BertQARerank(model=model).postprocess_nodes(given)
