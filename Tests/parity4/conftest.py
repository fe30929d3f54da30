"""Pipelines of transformers 4.57 and of bertqa on the tiny models of the Swift tests."""

import functools
import json
import os
import pathlib
import warnings

import pytest
import torch
import transformers
from safetensors.torch import load_file
from transformers import AutoTokenizer, pipeline

import bertqa

warnings.filterwarnings("ignore")
torch.set_num_threads(1)

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "BertQACoreTests" / "Fixtures"
#: Random cases of each task, over all of its directories.
CASES = int(os.environ.get("BERTQA_CASES", "2000"))
HEADS = {
    "question-answering": "ForQuestionAnswering",
    "feature-extraction": "Model",
    "text-classification": "ForSequenceClassification",
    "token-classification": "ForTokenClassification",
    "zero-shot-classification": "ForSequenceClassification",
}
#: Families whose tokenizers have no token types in transformers; the fixtures have BERT's tokenizer.
WITHOUT_TYPES = ("distilbert", "mpnet", "roberta", "xlm-roberta", "camembert", "modernbert")


def directories(head):
    """The names of the tiny models with this head, of the families that transformers 4.57 has."""
    configs = {file.parent.name: json.loads(file.read_text()) for file in FIXTURES.glob("tiny-*/config.json")}
    return sorted(
        name
        for name, config in configs.items()
        if config["architectures"][0].endswith(head) and config["model_type"] in transformers.CONFIG_MAPPING
    )


@functools.cache
def theirs(name, task):
    """The pipeline of transformers; f32, as bertqa computes in its default."""
    directory = FIXTURES / name
    config = transformers.AutoConfig.from_pretrained(directory)
    kind = getattr(transformers, config.architectures[0])
    model = kind._from_config(config, attn_implementation="eager").eval()
    prefix, names = model.base_model_prefix, model.state_dict()
    tensors = load_file(directory / "model.safetensors")
    found = {key if key in names else f"{prefix}.{key}": tensor for key, tensor in tensors.items()}
    missing = model.load_state_dict(found, strict=False).missing_keys
    if any("position_ids" not in key for key in missing):
        pytest.skip(f"transformers 4.57 needs tensors that {name} leaves out")
    tokenizer = AutoTokenizer.from_pretrained(directory)
    if config.model_type in WITHOUT_TYPES:
        tokenizer.model_input_names = ["input_ids", "attention_mask"]
    # Some fixtures lack it.
    model.config.label2id = {label: id for id, label in model.config.id2label.items()}
    if tokenizer.model_max_length > 10**6:
        tokenizer.model_max_length = bertqa.Context(directory).info.max_position_embeddings
    return pipeline(task, model=model, tokenizer=tokenizer, device="cpu")


@functools.cache
def ours(name, task, compat="strict"):
    return bertqa.pipeline(task, FIXTURES / name, compat=compat)
