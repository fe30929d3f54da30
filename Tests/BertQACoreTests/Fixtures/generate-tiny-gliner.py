"""Makes GLiNER checkpoints with random weights, and what the package gliner finds with them: tiny-gliner/, which scores
spans, and tiny-gliner-tokens/, which scores words and has its weights in a pytorch_model.bin, as older ones do.

    pip install -r ../../parity4/requirements.txt
    python generate-tiny-gliner.py

The tokenizer is trained only if tiny-gliner/ has none. expected.json has, of SENTENCES and LABELS, the spans by characters, their labels and scores, flat and nested:

    {"labels": [...], "threshold": 0.5, "texts": [...], "flat": [[[start, end, label, score], ...], ...],
     "nested": ...}
"""

import importlib
import json
import pathlib
import sys

import torch
from gliner.config import UniEncoderSpanConfig, UniEncoderTokenConfig
from gliner.model import UniEncoderSpanGLiNER, UniEncoderTokenGLiNER
from tokenizers import Tokenizer

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


def trained():
    """The tokenizer."""
    kept = tiny.HERE / "tiny-gliner" / "tokenizer.json"
    if kept.exists():
        return Tokenizer.from_file(str(kept))
    tokenizer = tokenizers.frame(tokenizers.unigram(SPECIAL, 400), SPECIAL)
    tokenizer.add_special_tokens(["<<ENT>>", "<<SEP>>"])
    return tokenizer


def spread(model):
    """Changes the last layer so that a half of the words are first and last ones of entities, and more are inside."""
    scorer, logits = model.model.scorer, []
    hook = scorer.register_forward_hook(lambda module, inputs, output: logits.append(output.reshape(-1, 3)))
    model.inference(tiny.SENTENCES, LABELS, batch_size=1)
    hook.remove()
    # Inference sets them.
    tokenizer = model.data_processor.transformer_tokenizer.backend_tokenizer
    tokenizer.no_truncation()
    tokenizer.no_padding()
    logits = torch.cat(logits)
    mean, scale = logits.mean(0), 2 / logits.std(0)
    last = scorer.out_mlp[3]
    last.bias[:] = (last.bias - mean) * scale + torch.tensor([0.0, 0.0, 2.0])
    last.weight *= scale[:, None]


def make(folder, encoder="deberta-v2", width=16, encoder_width=24, scale=0.25, tokens=False, **settings):
    """Writes a checkpoint, and gives the model of the package. tokens: it scores words, not spans."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = trained()
    fast = tokenizers.save(tokenizer, SPECIAL, folder, ["input_ids", "attention_mask"])
    config = (UniEncoderTokenConfig if tokens else UniEncoderSpanConfig)(
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
    model = (UniEncoderTokenGLiNER if tokens else UniEncoderSpanGLiNER)(config, tokenizer=fast).eval()
    tiny.randomise(model.model, torch.Generator().manual_seed(3))
    with torch.no_grad():
        if tokens:
            spread(model)
        else:
            # So that few spans are above 0.5.
            model.model.prompt_rep_layer[3].weight *= scale
    model.save_pretrained(folder, safe_serialization=not tokens)
    return model


def found(model, texts, labels, threshold, flat):
    results = model.inference(texts, labels, flat_ner=flat, threshold=threshold)
    return [[[one["start"], one["end"], one["label"], one["score"]] for one in result] for result in results]


def write(name, **settings):
    directory = tiny.HERE / name
    model = make(directory, **settings)
    threshold = 0.5
    texts = tiny.SENTENCES + ["semi-detached_house - a--b -c", "\u0000 \x1c king\u0301"]
    expected = {"labels": LABELS, "threshold": threshold, "texts": texts}
    for kind, flat in [("flat", True), ("nested", False)]:
        expected[kind] = found(model, texts, LABELS, threshold, flat)
    (directory / "expected.json").write_text(json.dumps(expected, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    write("tiny-gliner")
    write("tiny-gliner-tokens", tokens=True)
