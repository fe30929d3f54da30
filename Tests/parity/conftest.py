"""Checkpoints of real sizes with random weights, made once per run."""

import itertools
import json
import random

import pytest
import torch
from transformers import (
    BertConfig,
    BertForQuestionAnswering,
    DebertaV2Config,
    DebertaV2ForQuestionAnswering,
    DistilBertConfig,
    DistilBertForQuestionAnswering,
    MPNetConfig,
    MPNetForQuestionAnswering,
)

import bertqa

VOCABULARY = 30522
# Of encoders whose sizes do not matter.
TINY = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
# Made-up words of one piece each, and endings.
SYLLABLES = [
    "ba",
    "ce",
    "di",
    "fo",
    "gu",
    "hy",
    "ka",
    "le",
    "mi",
    "no",
    "pu",
    "ra",
    "se",
    "ti",
    "vo",
    "wu",
    "xa",
    "ze",
]
WORDS = ["".join(parts) for parts in itertools.product(SYLLABLES, SYLLABLES, SYLLABLES)]
ENDINGS = ["##s", "##ing", "##ed", "##ly"]
MODELS = {
    "minilm-l6": (
        BertForQuestionAnswering,
        BertConfig(hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536),
        torch.float16,
    ),
    "bert-base": (BertForQuestionAnswering, BertConfig(), torch.float32),
    "distilbert-base": (DistilBertForQuestionAnswering, DistilBertConfig(), torch.bfloat16),
    "mpnet-base": (MPNetForQuestionAnswering, MPNetConfig(max_position_embeddings=514), torch.float32),
    "deberta-v3-base": (
        DebertaV2ForQuestionAnswering,
        DebertaV2Config(
            vocab_size=VOCABULARY,
            hidden_size=768,
            num_hidden_layers=12,
            num_attention_heads=12,
            intermediate_size=3072,
            relative_attention=True,
            position_buckets=256,
            norm_rel_ebd="layer_norm",
            share_att_key=True,
            pos_att_type=["p2c", "c2p"],
            position_biased_input=False,
        ),
        torch.float32,
    ),
    # Like its first checkpoints: separate projections, a vector for each distance, positions in the embeddings too.
    "deberta-v2-small": (
        DebertaV2ForQuestionAnswering,
        DebertaV2Config(
            vocab_size=VOCABULARY,
            hidden_size=384,
            num_hidden_layers=6,
            num_attention_heads=6,
            intermediate_size=1536,
            type_vocab_size=2,
            relative_attention=True,
            pos_att_type=["p2c", "c2p"],
        ),
        torch.float16,
    ),
}


def randomise(model, seed):
    """Makes the weights large enough that softmax and GELU work as in a trained model."""
    generator = torch.Generator().manual_seed(seed)
    # Numbers would grow with each layer where norms only scale.
    scale = 0.5 if getattr(getattr(model, "config", None), "normalization_type", None) == "no_norm" else 1
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            if parameter.dim() == 1 and name.endswith("weight"):  # a norm's
                parameter.copy_(scale * (1 + 0.1 * noise))
            elif name.endswith("bias"):
                parameter.copy_(0.05 * noise)
            elif "embedding" in name and "transformation" not in name:
                parameter.copy_(0.05 * noise)
            else:
                parameter.copy_(noise * 1.2 / parameter.shape[1] ** 0.5)


@pytest.fixture(scope="session", params=MODELS)
def checkpoint(request, tmp_path_factory):
    """(directory, the same model in transformers, computing in f32)"""
    kind, config, dtype = MODELS[request.param]
    model = kind._from_config(config, attn_implementation="eager").eval()
    randomise(model, seed=len(request.param))
    model.to(dtype)
    directory = tmp_path_factory.mktemp(request.param)
    model.save_pretrained(directory)
    write_tokenizer(directory)
    yield directory, model.float()


# The root mean square of the logits' errors, as a share of their standard deviation. Random weights magnify rounding,
# but less than a wrong computation would.
ROUNDING = {"bf16": 0.05, "int8": 0.2, "stored int8": 0.2}


def reduced_precisions(directory, quantized):
    """Yields (name, context) of a model in bf16, where the CPU has it, in int8, and in the int8 form, made at `quantized`."""
    bertqa.quantize(directory, quantized)
    for name, path, precision in (
        ("bf16", directory, "bf16"),
        ("int8", directory, "int8"),
        ("stored int8", quantized, "auto"),
    ):
        try:
            context = bertqa.Context(path, precision=precision)
        except bertqa.Unsupported:
            assert precision == "bf16"
            continue
        with context:
            yield name, context


def write_tokenizer(directory, **settings):
    """Writes a vocabulary of BERT's size."""
    pieces = SPECIAL + list(".,?!'()-") + ENDINGS + WORDS
    pieces += [f"[unused{number}]" for number in range(VOCABULARY - len(pieces))]
    (directory / "vocab.txt").write_text("\n".join(pieces) + "\n")
    settings = {"do_lower_case": True, "tokenizer_class": "BertTokenizer", "model_max_length": 512} | settings
    (directory / "tokenizer_config.json").write_text(json.dumps(settings))


def text_of(words, seed=0):
    """A text of this many words; some have an ending, some are unknown, some have a comma."""
    rng = random.Random(seed)
    parts = []
    for _ in range(words):
        word = rng.choice(WORDS)
        kind = rng.random()
        if kind < 0.1:
            word = word.capitalize() + "s"
        elif kind < 0.15:
            word = "\u2603"
        elif kind < 0.2:
            word += ","
        parts.append(word)
    return " ".join(parts)


TEXTS = [text_of(words, words) for words in (1, 2, 5, 17, 60, 200, 430)] + [""]
PAIRS = [
    (text_of(5, 1), text_of(30, 2)),
    (text_of(150, 3), text_of(40, 4)),
    (text_of(3, 5), ""),
    ("", text_of(9, 6)),
]
