"""Context.embed_tokens beside transformers' last hidden states and sentence-transformers' late interaction, in fp32."""

import json

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from sentence_transformers import MultiVectorEncoder, SparseEncoder
from transformers import AutoTokenizer

import bertqa
from conftest import text_of, write_tokenizer
from directories import FAMILIES, PAIRS, TEXTS, TOLERANCE, edit, save, word_piece

QUERIES = [text_of(3, 1), "", text_of(60, 2), "Bá ÇE, ba! ba?"]
DOCUMENTS = [text_of(20, 3), "", "ba, ba. ba (ba) - ba; Bá!", text_of(300, 4)]


def tokenizer_of(directory, family):
    write_tokenizer(directory)
    if family == "ModernBert":  # which has no class of its own
        word_piece(directory, lowercase=True, added=["[unused0]", "[unused1]", ",", "."])
        tokens = {"pad_token": "[PAD]", "unk_token": "[UNK]", "mask_token": "[MASK]"}
        edit(directory / "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast", **tokens)


@pytest.mark.parametrize("family", FAMILIES)
def test_last_hidden_states(family, tmp_path):
    model = save(f"{family}Model", getattr(transformers, f"{family}Config")(**FAMILIES[family]), tmp_path)
    tokenizer_of(tmp_path, family)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    texts = [*TEXTS, *PAIRS]
    with bertqa.Context(tmp_path, precision="f32") as context:
        ours = context.embed_tokens(texts)
        for text, vectors in zip(texts, ours, strict=True):
            inputs = tokenizer(*(text if isinstance(text, tuple) else (text,)), return_tensors="pt")
            with torch.no_grad():
                theirs = model(**inputs).last_hidden_state[0].numpy()
            assert vectors.ids == inputs["input_ids"][0].tolist()
            assert np.abs(theirs).max() > 0.05, "the reference must not be trivial"
            assert np.abs(np.asarray(vectors) - theirs).max() <= TOLERANCE
            assert np.array_equal(np.asarray(context.embed_tokens(text)), np.asarray(vectors))


def stanford(directory, family="Bert", **metadata):
    """As ColBERT's authors write a model: its layer is among the weights, and artifact.metadata has the settings."""
    config = getattr(transformers, f"{family}Config")(**FAMILIES[family])
    save(f"{family}Model", config, directory)
    tokenizer_of(directory, family)
    weights = {f"bert.{name}": tensor for name, tensor in load_file(directory / "model.safetensors").items()}
    weights["linear.weight"] = torch.randn(16, 64, generator=torch.Generator().manual_seed(5)) / 8
    save_file(weights, directory / "model.safetensors", {"format": "pt"})
    edit(directory / "config.json", architectures=["HF_ColBERT"])
    settings = {"query_token_id": "[unused0]", "doc_token_id": "[unused1]", "query_maxlen": 24, "doc_maxlen": 90}
    edit(directory / "artifact.metadata", dim=16, similarity="cosine", **{**settings, **metadata})


def pylate(directory, family="Bert", activation=None, outs=16, **settings):
    """As PyLate 3 writes a model: a Dense of tokens behind the Transformer, and settings in one file. With an activation,
    the Dense also adds its input."""
    config = getattr(transformers, f"{family}Config")(**FAMILIES[family])
    save(f"{family}Model", config, directory)
    tokenizer_of(directory, family)
    modules = [
        ("0", "", "sentence_transformers.models.Transformer"),
        ("1", "1_Dense", "pylate.models.Dense.Dense"),
    ]
    names = ("name", "path", "type")
    listed = [{"idx": index, **dict(zip(names, module))} for index, module in enumerate(modules)]
    (directory / "modules.json").write_text(json.dumps(listed))
    (directory / "1_Dense").mkdir()
    dense = {"in_features": 64, "out_features": outs, "bias": False, "use_residual": activation is not None}
    dense["activation_function"] = activation or "torch.nn.modules.linear.Identity"
    edit(directory / "1_Dense" / "config.json", **dense)
    source = torch.Generator().manual_seed(5)
    weights = {"linear.weight": torch.randn(outs, 64, generator=source) / 8}
    if activation and outs != 64:
        weights["residual.weight"] = torch.randn(outs, 64, generator=source) / 8
    save_file(weights, directory / "1_Dense" / "model.safetensors")
    markers = {"query_prefix": "[unused0]", "document_prefix": "[unused1]", "similarity_fn_name": "MaxSim"}
    lengths = {"query_length": 32, "document_length": 60, "attend_to_expansion_tokens": False}
    punctuation = {"skiplist_words": [",", ".", "!", ";"]}
    name = "config_sentence_transformers.json"
    edit(directory / name, model_type="ColBERT", **{**markers, **lengths, **punctuation, **settings})


def multi_vector(directory, kind, *arguments, **settings):
    """As sentence-transformers 6 writes a model."""
    source = directory.with_name(f"{directory.name}-source")
    source.mkdir()
    kind(source, *arguments, **settings)
    MultiVectorEncoder(str(source), device="cpu").save_pretrained(str(directory))


MODELS = {
    "stanford": lambda directory: stanford(directory),
    "stanford, attended, punctuation": lambda directory: stanford(
        directory, attend_to_mask_tokens=True, mask_punctuation=False
    ),
    "pylate": lambda directory: pylate(directory),
    "pylate, attended": lambda directory: pylate(directory, attend_to_expansion_tokens=True, skiplist_words=[]),
    "pylate, no expansion": lambda directory: pylate(directory, do_query_expansion=False),
    "pylate, ModernBERT": lambda directory: pylate(directory, "ModernBert"),
    "pylate, DeBERTa": lambda directory: pylate(directory, "DebertaV2", attend_to_expansion_tokens=True),
    "pylate, MPNet": lambda directory: pylate(directory, "MPNet"),
    "pylate, adds a product": lambda directory: pylate(directory, activation="torch.nn.modules.activation.Tanh"),
    "pylate, adds its input": lambda directory: pylate(
        directory, activation="torch.nn.modules.activation.GELU", outs=64
    ),
    "sentence-transformers": lambda directory: multi_vector(directory, stanford),
    "sentence-transformers, adds a product": lambda directory: multi_vector(
        directory, pylate, activation="torch.nn.modules.linear.Identity"
    ),
    "sentence-transformers, attended": lambda directory: multi_vector(
        directory, pylate, attend_to_expansion_tokens=True, skiplist_words=[]
    ),
    "sentence-transformers, no expansion": lambda directory: multi_vector(
        directory, pylate, do_query_expansion=False
    ),
    "sentence-transformers, ModernBERT": lambda directory: multi_vector(directory, pylate, "ModernBert"),
    "sentence-transformers, text prompts": lambda directory: multi_vector(
        directory, pylate, query_prefix="ba query: ", document_prefix=""
    ),
}


@pytest.mark.parametrize("kind", MODELS)
def test_late_interaction(kind, tmp_path):
    MODELS[kind](tmp_path)
    reference = MultiVectorEncoder(str(tmp_path), device="cpu")
    queries = reference.encode_query(QUERIES, batch_size=1)
    documents = reference.encode_document(DOCUMENTS, batch_size=1)
    with bertqa.Context(tmp_path, precision="f32") as context:
        ours = context.embed_tokens(QUERIES, prompt_name="query")
        theirs = context.embed_tokens(DOCUMENTS, prompt_name="document", truncate=True)
        plain = context.embed_tokens(DOCUMENTS, truncate=True)
        assert context.info.embedding_length == 0
        with pytest.raises(bertqa.Unsupported):
            context.embed("ba")
    for mine, expected in zip(ours + theirs + plain, [*queries, *documents, *documents], strict=True):
        expected = np.asarray(expected)
        assert np.asarray(mine).shape == expected.shape
        assert np.abs(np.asarray(mine) - expected).max() <= TOLERANCE
    for query, rows in zip(ours, queries, strict=True):
        for document, columns in zip(theirs, documents, strict=True):
            expected = (np.asarray(rows) @ np.asarray(columns).T).max(axis=1).sum()
            assert query.max_sim(document) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("kind", ["stanford", "pylate", "pylate, no expansion", "pylate, adds a product"])
def test_late_interaction_in_int8(kind, tmp_path):
    source, target = tmp_path / "source", tmp_path / "int8"
    source.mkdir()
    MODELS[kind](source)
    bertqa.quantize(source, target)
    with bertqa.Context(source, precision="f32") as exact, bertqa.Context(target, precision="int8") as context:
        for text, name in [(text, "query") for text in QUERIES] + [(text, "document") for text in DOCUMENTS]:
            ours = context.embed_tokens(text, prompt_name=name)
            theirs = exact.embed_tokens(text, prompt_name=name)
            assert ours.ids == theirs.ids
            assert (np.asarray(ours) * np.asarray(theirs)).sum(axis=1).min() > 0.97


SPARSE = ["Bert", "DistilBert", "Roberta", "XLMRoberta", "Camembert", "MPNet", "ModernBert"]


def splade(directory, family, **settings):
    """As sentence-transformers 5 writes a sparse model: the model for masked words, and a module SpladePooling."""
    save(f"{family}ForMaskedLM", getattr(transformers, f"{family}Config")(**FAMILIES[family]), directory)
    tokenizer_of(directory, family)
    package = "sentence_transformers.sparse_encoder.models"
    modules = [("0", "", f"{package}.MLMTransformer"), ("1", "1_SpladePooling", f"{package}.SpladePooling")]
    listed = [
        {"idx": index, **dict(zip(("name", "path", "type"), module))} for index, module in enumerate(modules)
    ]
    (directory / "modules.json").write_text(json.dumps(listed))
    (directory / "1_SpladePooling").mkdir()
    pooling = {"pooling_strategy": "max", "activation_function": "relu", "word_embedding_dimension": 30522}
    edit(directory / "1_SpladePooling" / "config.json", **{**pooling, **settings})
    edit(directory / "config_sentence_transformers.json", model_type="SparseEncoder", prompts={})


def dense(vectors, size):
    weights = np.zeros(size, np.float32)
    weights[vectors.ids] = np.asarray(vectors)[:, 0]
    return weights


@pytest.mark.parametrize(
    ("family", "settings"),
    [
        *((family, {}) for family in SPARSE),
        ("Bert", {"pooling_strategy": "sum"}),
        ("Bert", {"activation_function": "log1p_relu"}),
    ],
)
def test_sparse(family, settings, tmp_path):
    splade(tmp_path, family, **settings)
    reference = SparseEncoder(str(tmp_path), device="cpu")
    theirs = reference.encode(TEXTS, convert_to_sparse_tensor=False, batch_size=1).numpy()
    assert 0.05 < (theirs > 0).mean() < 1 and theirs.max() > 0.1, "the reference must not be trivial"
    with bertqa.Context(tmp_path, precision="f32") as context:
        assert context.info.embedding_length == 0
        for vectors, expected in zip(context.embed_tokens(TEXTS, truncate=True), theirs, strict=True):
            assert vectors.ids == sorted(vectors.ids) and min(vectors.weights.values()) > 0
            bound = TOLERANCE * (60 if settings.get("pooling_strategy") == "sum" else 1)
            assert np.abs(dense(vectors, expected.size) - expected).max() <= bound


def test_sparse_in_int8(tmp_path):
    source, target = tmp_path / "source", tmp_path / "int8"
    source.mkdir()
    splade(source, "DistilBert")
    bertqa.quantize(source, target)
    with bertqa.Context(source, precision="f32") as exact, bertqa.Context(target, precision="int8") as context:
        size = context.info.vocabulary_size
        for text in TEXTS:
            ours, theirs = (dense(each.embed_tokens(text), size) for each in (context, exact))
            assert (ours @ theirs) / np.linalg.norm(ours) / np.linalg.norm(theirs) > 0.97
