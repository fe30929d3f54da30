"""Pipelines of transformers 4.57 and of bertqa on the tiny models of the Swift tests."""

import atexit
import functools
import json
import os
import pathlib
import shutil
import tempfile
import warnings

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
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
#: Families without a tiny model, and the one whose files they read as well.
ALIKE = {"ernie": "tiny-bert", "data2vec-text": "tiny-roberta"}
LABELS = {
    "ForQuestionAnswering": ["start", "end"],
    "ForSequenceClassification": ["contradiction", "neutral", "entailment"],
    "ForTokenClassification": ["O", "B-PER", "I-PER", "LOC", "B-MISC-A", "I-MISC-A"],
}
#: The decoders that the tokenizers of released models have, and those of the tiny models have not.
DECODERS = {
    "BPE": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    "Unigram": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True},
}
MADE = pathlib.Path(tempfile.mkdtemp())
atexit.register(shutil.rmtree, MADE)


@functools.cache
def configs():
    """Those of the tiny models by name, of the families that transformers 4.57 has without code of their own."""
    found = {file.parent.name: json.loads(file.read_text()) for file in FIXTURES.glob("tiny-*/config.json")}
    return {
        name: config
        for name, config in sorted(found.items())
        if hasattr(transformers, config["architectures"][0]) and "auto_map" not in config
    }


def directories(head):
    """The names of the tiny models with this head."""
    return [name for name, config in configs().items() if config["architectures"][0].endswith(head)]


def all_directories(head):
    """As above, and of each family without a tiny model of this head the name of one that is made of another."""
    own = {configs()[name]["model_type"] for name in directories(head)}
    families = {config["model_type"] for config in configs().values()} | set(ALIKE)
    return directories(head) + [f"{family} {head}" for family in sorted(families - own)]


@functools.cache
def path(name):
    """The directory of a model."""
    if name in configs():
        return FIXTURES / name
    family, head = name.split()
    base = ALIKE.get(family) or next(base for base, config in configs().items() if config["model_type"] == family)
    directory = shutil.copytree(FIXTURES / base, MADE / name.replace(" ", "-"))
    labels = {"id2label": dict(enumerate(LABELS[head]))} if head in LABELS else {}
    config = transformers.CONFIG_MAPPING[family].from_dict({**configs()[base], "model_type": family, **labels})
    kind = getattr(transformers, transformers.MODEL_MAPPING[type(config)].__name__.removesuffix("Model") + head)
    torch.manual_seed(len(name))
    model = kind(config)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    config.architectures = [kind.__name__]
    config.save_pretrained(directory)
    save_file(
        {key: tensor.contiguous() for key, tensor in model.state_dict().items()}, directory / "model.safetensors"
    )
    tokenizer = directory / "tokenizer.json"
    if tokenizer.exists():
        settings = json.loads(tokenizer.read_text())
        settings["decoder"] = DECODERS[settings["model"]["type"]]
        tokenizer.write_text(json.dumps(settings))
    return directory


@functools.cache
def theirs(name, task):
    """The pipeline of transformers; f32, as bertqa computes in its default."""
    directory = path(name)
    config = transformers.AutoConfig.from_pretrained(directory)
    kind = getattr(transformers, config.architectures[0])
    model = kind._from_config(config, attn_implementation="eager").eval()
    prefix, names = model.base_model_prefix, model.state_dict()
    tensors = load_file(directory / "model.safetensors")
    found = {key if key in names else f"{prefix}.{key}": tensor for key, tensor in tensors.items()}
    missing = model.load_state_dict(found, strict=False).missing_keys
    # Vectors of tokens need no pooler.
    if any(".position_ids" not in key and not key.startswith("pooler.") for key in missing):
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
    return bertqa.pipeline(task, path(name), compat=compat)
