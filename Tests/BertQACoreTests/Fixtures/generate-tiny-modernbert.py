"""Makes tiny ModernBERT checkpoints, and what transformers and sentence-transformers say of them.

    python generate-tiny-modernbert.py

The files and their forms are those of generate-tiny-models.py, which this uses.
"""

import importlib
import json
import pathlib
import sys

import torch
from safetensors.torch import load_file, save_file
from transformers import (
    ModernBertConfig,
    ModernBertForQuestionAnswering,
    ModernBertForSequenceClassification,
    ModernBertForTokenClassification,
    ModernBertModel,
)

sys.path.insert(0, str(pathlib.Path(__file__).parent))
tiny = importlib.import_module("generate-tiny-models")
import tiny_tokenizers  # noqa: E402

NAMES = ["[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]"]

SPECIAL = {"pad_token_id": 0, "cls_token_id": 2, "bos_token_id": 2, "sep_token_id": 3, "eos_token_id": 3}
SMALL = {
    "hidden_size": 16,
    "num_hidden_layers": 4,
    "num_attention_heads": 2,
    "intermediate_size": 20,
    "max_position_embeddings": 64,
}
LARGE = {
    "hidden_size": 32,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "intermediate_size": 24,
    "max_position_embeddings": 128,
}


def make(name, seed, kind, dtype, sizes=SMALL, **settings):
    """Layers are global, local, local, global; 8 tokens to either side tell them apart in short texts."""
    generator = torch.Generator().manual_seed(seed)
    tokenizer = tiny_tokenizers.frame(tiny_tokenizers.byte_level(NAMES, 360), NAMES)
    pieces = tiny_tokenizers.pieces(tokenizer)
    config = ModernBertConfig(vocab_size=len(pieces), **({"local_attention": 16} | SPECIAL | sizes | settings))
    model = kind._from_config(config, attn_implementation="eager").eval()
    tiny.randomise(model, generator)
    with torch.no_grad():  # not the buffers, which the file does not have: positions' frequencies
        for parameter in model.parameters():
            parameter.copy_(parameter.to(dtype))
    folder = tiny.save(name, model, dtype, pieces, cased=False)
    tokenizer = tiny_tokenizers.save(tokenizer, NAMES, folder, ["input_ids", "attention_mask"])
    return folder, model, tokenizer, generator


def write_older_keys(folder):
    """The keys that transformers 4 wrote for the list of layers and their positions."""
    path = folder / "config.json"
    config = json.loads(path.read_text())
    del config["layer_types"]
    ropes = config.pop("rope_parameters")
    config["global_attn_every_n_layers"] = 3
    config["global_rope_theta"] = ropes["full_attention"]["rope_theta"]
    config["local_rope_theta"] = ropes["sliding_attention"]["rope_theta"]
    path.write_text(json.dumps(config, indent=1, sort_keys=True) + "\n")


def drop_prefix(folder):
    """As a bare encoder may be saved; ModernBertModel does so."""
    path = folder / "model.safetensors"
    tensors = {key.removeprefix("model."): value for key, value in load_file(path).items()}
    save_file(tensors, path, metadata={"format": "pt"})


def run(model, inputs):
    with torch.no_grad():
        return model(**inputs)


def make_reader(name, seed):
    folder, model, _, generator = make(name, seed, ModernBertForQuestionAnswering, torch.float32, LARGE)
    sets = [
        {"windows": [tiny.window(model, length, model.config.vocab_size, generator, False) for length in lengths]}
        for lengths in tiny.LENGTH_SETS
    ]
    (folder / "expected.json").write_text(json.dumps({"sets": sets}, separators=(",", ":")) + "\n")


def make_classifier(name, seed):
    """All that may have a bias has one."""
    rope = {"full_attention": 5000.0, "sliding_attention": 300.0}
    folder, model, tokenizer, _ = make(
        name,
        seed,
        ModernBertForSequenceClassification,
        torch.bfloat16,
        classifier_pooling="mean",
        classifier_activation="silu",
        attention_bias=True,
        mlp_bias=True,
        norm_bias=True,
        classifier_bias=True,
        num_labels=3,
        rope_parameters={key: {"rope_type": "default", "rope_theta": theta} for key, theta in rope.items()},
    )
    write_older_keys(folder)
    outputs = []
    for first, second in tiny.TEXTS:
        # Lists, because transformers takes an empty second text alone for none.
        inputs = tokenizer([first], second if second is None else [second], return_tensors="pt")
        outputs.append(run(model, inputs).logits[0])
    tiny.expect(folder, tiny.TEXTS, outputs)


def make_tagger(name, seed):
    labels = dict(enumerate(tiny.TAGS))
    folder, model, tokenizer, _ = make(
        name, seed, ModernBertForTokenClassification, torch.float16, id2label=labels, hidden_activation="relu"
    )
    drop_prefix(folder)
    ids = [tokenizer(text)["input_ids"] for text in tiny.SENTENCES]
    logits = [run(model, {"input_ids": torch.tensor([each])}).logits[0].tolist() for each in ids]
    rounded = [[[round(value, 6) for value in row] for row in rows] for rows in logits]
    (folder / "expected.json").write_text(
        json.dumps({"texts": tiny.SENTENCES, "ids": ids, "logits": rounded}, separators=(",", ":")) + "\n"
    )


def make_embedder(name, seed):
    folder, model, tokenizer, _ = make(name, seed, ModernBertModel, torch.float16)
    texts = [text for text in tiny.TEXTS if text[1] is None]
    outputs = []
    for first, _ in texts:
        inputs = tokenizer([first], truncation=True, max_length=64, return_tensors="pt")
        outputs.append(run(model, inputs).last_hidden_state[0].mean(dim=0))
    tiny.expect(folder, texts, outputs)


make_reader("tiny-modernbert", 200)
make_classifier("tiny-modernbert-classifier", 201)
make_tagger("tiny-modernbert-entities", 202)
make_embedder("tiny-modernbert-embedder", 203)
