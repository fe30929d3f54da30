"""Makes tiny-gliner/, a GLiNER checkpoint with random weights, and what the package gliner finds with it.

    pip install -r ../../parity4/requirements.txt
    python generate-tiny-gliner.py

expected.json has, of SENTENCES and LABELS, the spans by characters, their labels and scores, flat and nested:

    {"labels": [...], "threshold": 0.5, "texts": [...], "flat": [[[start, end, label, score], ...], ...],
     "nested": ...}
"""

import importlib
import json
import pathlib
import sys

import torch
from gliner.config import UniEncoderSpanConfig
from gliner.model import UniEncoderSpanGLiNER

sys.path.insert(0, str(pathlib.Path(__file__).parent))
tiny = importlib.import_module("generate-tiny-models")
tokenizers = importlib.import_module("tiny_tokenizers")

LABELS = ["person", "the city", "film or river", "time"]
SPECIAL = ["[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]"]
ENCODERS = {
    "deberta-v2": {
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 32,
        "max_position_embeddings": 512,
        "relative_attention": True,
        "position_buckets": 8,
        "norm_rel_ebd": "layer_norm",
        "share_att_key": True,
        "pos_att_type": ["p2c", "c2p"],
        "position_biased_input": False,
        "type_vocab_size": 0,
    },
    "bert": {"num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 32},
}


def make(folder, encoder="deberta-v2", width=16, encoder_width=24, scale=0.25, **settings):
    """Writes a checkpoint, and gives the model of the package."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = tokenizers.frame(tokenizers.unigram(SPECIAL, 400), SPECIAL)
    tokenizer.add_special_tokens(["<<ENT>>", "<<SEP>>"])
    fast = tokenizers.save(tokenizer, SPECIAL, folder, ["input_ids", "attention_mask"])
    config = UniEncoderSpanConfig(
        model_name="none",
        hidden_size=width,
        encoder_config={
            "model_type": encoder,
            "hidden_size": encoder_width,
            "vocab_size": len(fast),
            **ENCODERS[encoder],
        },
        vocab_size=len(fast),
        class_token_index=fast.convert_tokens_to_ids("<<ENT>>"),
        _attn_implementation="eager",
        **settings,
    )
    model = UniEncoderSpanGLiNER(config, tokenizer=fast).eval()
    tiny.randomise(model.model, torch.Generator().manual_seed(3))
    with torch.no_grad():
        # So that few spans are above 0.5.
        model.model.prompt_rep_layer[3].weight *= scale
    model.save_pretrained(folder, safe_serialization=True)
    return model


def found(model, texts, labels, threshold, flat):
    results = model.inference(texts, labels, flat_ner=flat, threshold=threshold)
    return [[[one["start"], one["end"], one["label"], one["score"]] for one in result] for result in results]


if __name__ == "__main__":
    directory = tiny.HERE / "tiny-gliner"
    torch.set_num_threads(1)
    model = make(directory)
    threshold = 0.5
    texts = tiny.SENTENCES + ["semi-detached_house - a--b -c", "\u0000 \x1c king\u0301"]
    expected = {"labels": LABELS, "threshold": threshold, "texts": texts}
    for name, flat in [("flat", True), ("nested", False)]:
        expected[name] = found(model, texts, LABELS, threshold, flat)
    (directory / "expected.json").write_text(json.dumps(expected, indent=1, ensure_ascii=False) + "\n")
