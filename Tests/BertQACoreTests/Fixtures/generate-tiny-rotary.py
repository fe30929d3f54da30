"""Makes tiny NomicBERT and GTE checkpoints, and what transformers says of them.

    python generate-tiny-rotary.py

The files have the keys and the names of tensors of the checkpoints on the Hub. Other forms are those of
generate-tiny-models.py, which this uses.
"""

import importlib
import json
import pathlib
import sys

import torch
from safetensors.torch import load_file, save_file
from transformers import (
    BertTokenizer,
    GteConfig,
    GteForSequenceClassification,
    GteModel,
    NomicBertConfig,
    NomicBertModel,
)

sys.path.insert(0, str(pathlib.Path(__file__).parent))
tiny = importlib.import_module("generate-tiny-models")

SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 20}
POSITIONS = 64
NOMIC_KEYS = {
    "hidden_size": "n_embd",
    "num_hidden_layers": "n_layer",
    "num_attention_heads": "n_head",
    "intermediate_size": "n_inner",
    "max_position_embeddings": "n_positions",
    "layer_norm_eps": "layer_norm_epsilon",
}


def make(name, seed, kind, config, dtype, keys, **settings):
    generator = torch.Generator().manual_seed(seed)
    model = kind._from_config(config, attn_implementation="eager").eval()
    tiny.randomise(model, generator)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(parameter.to(dtype))
    folder = tiny.save(name, model, dtype, tiny.vocabulary(False), cased=False)
    (folder / "model.safetensors").unlink()
    own = json.loads((folder / "config.json").read_text())
    model.save_pretrained(folder, state_dict={key: value.to(dtype) for key, value in model.state_dict().items()})
    own = {keys.get(key, key): value for key, value in own.items() if key not in ("rope_parameters", "head_dim")}
    own["auto_map"] = {"AutoModel": f"modeling_hf.{own['architectures'][0]}"}
    (folder / "config.json").write_text(json.dumps(own | settings, indent=1, sort_keys=True) + "\n")
    return folder, model


def run(folder, model, texts, output):
    tokenizer = BertTokenizer.from_pretrained(folder)
    results = []
    for first, second in texts:
        inputs = tokenizer([first], second if second is None else [second], truncation=True, max_length=POSITIONS,
                           return_tensors="pt")  # fmt: skip
        with torch.no_grad():
            results.append(output(model(**inputs)))
    tiny.expect(folder, texts, results)


def single():
    return [text for text in tiny.TEXTS if text[1] is None]


def mean(result):
    return result.last_hidden_state[0].mean(dim=0)


def make_nomic(name, seed):
    config = NomicBertConfig(vocab_size=len(tiny.vocabulary(False)), max_position_embeddings=POSITIONS, **SIZES)
    folder, model = make(
        name, seed, NomicBertModel, config, torch.float32, NOMIC_KEYS, activation_function="swiglu",
        rotary_emb_base=1000, rotary_emb_fraction=1.0, rotary_emb_interleaved=False, rotary_scaling_factor=None,
        rotary_emb_scale_base=None, prenorm=False, parallel_block=False, use_rms_norm=None, causal=False,
        qkv_proj_bias=False, mlp_fc1_bias=False, mlp_fc2_bias=False, model_type="nomic_bert")  # fmt: skip
    run(folder, model, single(), mean)


def gte(types, theta):
    return GteConfig(
        vocab_size=len(tiny.vocabulary(False)), max_position_embeddings=POSITIONS, type_vocab_size=types, pad_token_id=0,
        rope_parameters={"rope_type": "default", "rope_theta": theta}, **SIZES)  # fmt: skip


def make_gte(name, seed):
    """With the scaling of the code of its checkpoints, which transformers does not have."""
    theta, factor = 20000.0, 8.0
    head = SIZES["hidden_size"] // SIZES["num_attention_heads"]
    folder, model = make(
        name, seed, GteModel, gte(0, theta), torch.float16, {}, architectures=["NewModel"], model_type="new",
        rope_theta=theta, rope_scaling={"type": "ntk", "factor": factor}, position_embedding_type="rope",
        layer_norm_type="layer_norm", pack_qkv=True, logn_attention_scale=False)  # fmt: skip
    planes = torch.arange(0, head, 2, dtype=torch.float)
    model.rotary_emb.inv_freq.copy_(1 / (theta * factor) ** (planes / head) / factor ** (2 / head))
    run(folder, model, single(), mean)


def make_gte_classifier(name, seed):
    config = gte(2, 500.0)
    config.num_labels = 3
    folder, model = make(
        name, seed, GteForSequenceClassification, config, torch.bfloat16, {}, rope_theta=500.0, model_type="new",
        architectures=["NewForSequenceClassification"], rope_scaling=None, position_embedding_type="rope")  # fmt: skip
    path = folder / "model.safetensors"
    tensors = {key.replace("gte.", "new."): value for key, value in load_file(path).items()}
    save_file(tensors, path, metadata={"format": "pt"})
    run(folder, model, tiny.TEXTS, lambda result: result.logits[0])


make_nomic("tiny-nomic-embedder", 210)
make_gte("tiny-gte-embedder", 211)
make_gte_classifier("tiny-gte-classifier", 212)
