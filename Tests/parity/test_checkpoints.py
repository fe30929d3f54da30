"""Heads, weights and labels of directories as the Hub has them, against transformers in fp32."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from transformers import AutoModelForQuestionAnswering, AutoTokenizer

import bertqa
from conftest import randomise, reduced_precisions, text_of, write_tokenizer
from directories import BERT, FAMILIES, LEAST_COSINES, TEXTS, TOLERANCE, cosines, distance, edit, save, word_piece

sys.path.insert(0, str(Path(__file__).parents[1] / "BertQACoreTests" / "Fixtures"))
import jina_v3  # noqa: E402
from jina_bert import JinaBert  # noqa: E402


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("suffix", ["ForMaskedLM", "ForPreTraining", None])
def test_heads_that_are_left_out(family, suffix, tmp_path):
    """Classes for pretraining, and no class at all: vectors."""
    kind = family + (suffix or "Model")
    if not hasattr(transformers, kind):
        pytest.skip(f"checkpoints of {kind}: transformers has no such class")
    config = getattr(transformers, f"{family}Config")(**FAMILIES[family])
    save(kind, config, tmp_path)
    write_tokenizer(tmp_path)
    if family == "ModernBert":  # which has no class of its own
        word_piece(tmp_path, lowercase=True)
        edit(tmp_path / "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast", pad_token="[PAD]")
    if suffix is None:
        edit(tmp_path / "config.json", architectures=None)
    assert distance(tmp_path) < TOLERANCE


def test_answering_without_a_class(tmp_path):
    save("BertForQuestionAnswering", transformers.BertConfig(**BERT), tmp_path)
    write_tokenizer(tmp_path)
    edit(tmp_path / "config.json", architectures=None)
    assert AutoModelForQuestionAnswering.from_pretrained(tmp_path).config.architectures is None
    with bertqa.Context(tmp_path) as context:
        assert context.info.task == "answer"


def test_positions_of_another_name(tmp_path):
    save("ModernBertModel", transformers.ModernBertConfig(**FAMILIES["ModernBert"]), tmp_path)
    word_piece(tmp_path, lowercase=True)
    edit(tmp_path / "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast", pad_token="[PAD]")
    edit(tmp_path / "config.json", position_embedding_type="sans_pos")
    assert distance(tmp_path) < TOLERANCE


@pytest.mark.parametrize("heads", [8, 12])
def test_jina_bert(heads, tmp_path):
    """jina-embeddings-v2 beside the reference of the fixtures, also beyond BERT's positions and in other precisions."""
    model = JinaBert(30522, 32 * heads, 2, heads, 256).eval()
    randomise(model, seed=heads)
    model.save(tmp_path)
    write_tokenizer(tmp_path, model_max_length=8192)
    texts = [*TEXTS, text_of(1500, 3)]
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    theirs = []
    for text in texts:
        inputs = tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            theirs.append(model(inputs["input_ids"][0], inputs["token_type_ids"][0]).mean(dim=0).numpy())
    theirs = np.array(theirs)
    for threads in 1, 3:
        with bertqa.Context(tmp_path, precision="f32", threads=threads) as context:
            ours = np.asarray(context.embed(texts))
            assert context.info.max_position_embeddings == 8192
            assert np.abs(ours - theirs).max() < TOLERANCE
            assert np.array_equal(np.asarray(context.embed(texts[3])), ours[3])
    for precision, context in reduced_precisions(tmp_path, tmp_path / "int8"):
        assert cosines(np.asarray(context.embed(texts)), theirs).min() > LEAST_COSINES[precision], precision


def test_jina_v3(tmp_path):
    """Each task beside the reference of the fixtures, and in other precisions."""
    model = jina_v3.JinaV3(30522, 256, 2, 8, 512).eval()
    randomise(model, seed=3)
    model.save(tmp_path)
    write_tokenizer(tmp_path, model_max_length=8192, model_input_names=["input_ids", "attention_mask"])
    texts = [*TEXTS, text_of(1500, 3)]
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)

    def vectors(task):
        model.choose(task)
        prompted = [jina_v3.INSTRUCTIONS.get(task, "") + text for text in texts]
        with torch.no_grad():
            rows = [model(torch.tensor(tokenizer(text)["input_ids"])).mean(dim=0).numpy() for text in prompted]
        return np.array(rows)

    theirs = {task: vectors(task) for task in [None, *jina_v3.TASKS]}
    for threads in 1, 3:
        with bertqa.Context(tmp_path, precision="f32", threads=threads) as context:
            for task, rows in theirs.items():
                ours = np.asarray(context.embed(texts, prompt_name=task))
                assert np.abs(ours - rows).max() < TOLERANCE
                assert np.array_equal(np.asarray(context.embed(texts[3], prompt_name=task)), ours[3])
            assert not np.allclose(theirs[None], ours, atol=0.01)
    for precision, context in reduced_precisions(tmp_path, tmp_path / "int8"):
        for task, rows in theirs.items():
            rounded = np.asarray(context.embed(texts, prompt_name=task))
            assert cosines(rounded, rows).min() > LEAST_COSINES[precision], (precision, task)


@pytest.mark.parametrize(
    "changes",
    [
        {"id2label": {"0": 7, "1": "b", "2": "c"}},
        {"id2label": {"0": "a", "1": "b"}, "num_labels": 3},
        {"problem_type": "guess"},
    ],
)
def test_loose_labels(changes, tmp_path):
    """transformers takes them."""
    save("BertForSequenceClassification", transformers.BertConfig(**BERT, num_labels=3), tmp_path)
    write_tokenizer(tmp_path)
    edit(tmp_path / "config.json", **changes)
    config = transformers.AutoConfig.from_pretrained(tmp_path)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    with bertqa.Context(tmp_path, precision="f32") as context, torch.no_grad():
        theirs = model(**tokenizer(TEXTS[3], return_tensors="pt")).logits[0].numpy()
        ours = {score.label: score.logit for score in context.classify(TEXTS[3]).scores}
        assert np.abs(np.array([ours[str(config.id2label[id])] for id in range(3)]) - theirs).max() < TOLERANCE


@pytest.mark.parametrize("is_archive", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_files_of_torch_save(is_archive, dtype, tmp_path):
    """pytorch_model.bin as older checkpoints have it, the heads for pretraining and tied weights among its tensors."""
    model = save("BertForPreTraining", transformers.BertConfig(**BERT), tmp_path).to(dtype)
    write_tokenizer(tmp_path)
    model.save_pretrained(tmp_path)
    with bertqa.Context(tmp_path, precision="f32") as context:
        expected = np.asarray(context.embed(TEXTS))
    (tmp_path / "model.safetensors").unlink()
    torch.save(model.state_dict(), tmp_path / "pytorch_model.bin", _use_new_zipfile_serialization=is_archive)
    with bertqa.Context(tmp_path, precision="f32") as context:
        assert (np.asarray(context.embed(TEXTS)) == expected).all()
