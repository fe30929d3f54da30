#!/usr/bin/env python3
"""Trains an int8 embedding model's weights such that its vectors, in int8 arithmetic, are those of the exact model.

usage: distil_embedding.py HF_DIR INT8_DIR DATA.jsonl[.xz] [--steps N]

INT8_DIR is what `bertqa quantize HF_DIR INT8_DIR` wrote; its model.safetensors is replaced: the same scales and
embeddings, other integers, biases and layer norms. Forward, the matrices and their inputs are rounded as the library
rounds them, a weight to steps of its output's scale, an activation to 253 steps of its token's range
(Sources/CBertQA/include/kernels.h); backward, as if they were not (quantisation-aware training: Jacob et al. 2018). The
loss is what is left of the cosine with the exact vector, and a tenth of the token vectors' squared difference by the
exact ones' variance. For BertModel directories in one file whose vectors are the mean of the token vectors. Needs
torch, transformers and safetensors.
"""

import argparse
import json
import os
import random
import sys

import numpy as np
import torch
from safetensors import safe_open
from safetensors.numpy import load_file
from transformers import BertModel

from common.averaging import floats, save
from common.batches import token_batches
from common.files import contexts
from common.models import load_tokenizer
from common.options import count, count_or_none, positive
from common.schedule import learning_rate

ACTIVATION_STEPS = 253
WEIGHT_STEPS = 127
WARMUP_STEPS = 20
LOG_STEPS = 10
# The prefix of the names in the int8 form of a BertModel.
PREFIX = "bert."


class RoundedLinear(torch.nn.Module):
    """A linear layer as the library computes it in int8."""

    def __init__(self, weight, bias, scale):
        super().__init__()
        self.weight, self.bias = torch.nn.Parameter(weight), torch.nn.Parameter(bias)
        self.scale = scale[:, None]

    def integers(self):
        steps = torch.where(self.scale > 0, self.weight / self.scale, 0)
        return steps.round().clamp(-WEIGHT_STEPS, WEIGHT_STEPS)

    def forward(self, x):
        # Added as constants: the gradient passes as if there were none.
        with torch.no_grad():
            width = x.amax(-1, keepdim=True).clamp(min=0) - x.amin(-1, keepdim=True).clamp(max=0)
            step = (width / ACTIVATION_STEPS).clamp(min=1e-30)
            x_change = (x / step).round() * step - x
            weight_change = self.integers() * self.scale - self.weight
        return torch.nn.functional.linear(x + x_change, self.weight + weight_change, self.bias)


def rounded(model, small):
    """{name: RoundedLinear} that the model's linear layers have become. All weights are the int8 form's now; its embeddings
    are not trained. small: tensors of model.safetensors."""
    values = floats(small)
    layers = {}
    for name, layer in list(model.named_modules()):
        if isinstance(layer, torch.nn.Linear):
            weight, bias = (torch.from_numpy(values[f"{PREFIX}{name}.{part}"]) for part in ("weight", "bias"))
            scale = torch.from_numpy(small[f"{PREFIX}{name}.weight_scale"])
            layers[name] = RoundedLinear(weight, bias, scale)
            parent, _, attribute = name.rpartition(".")
            setattr(model.get_submodule(parent), attribute, layers[name])
        elif isinstance(layer, (torch.nn.Embedding, torch.nn.LayerNorm)):
            for part, parameter in layer.named_parameters():
                parameter.data = torch.from_numpy(values[f"{PREFIX}{name}.{part}"])
                parameter.requires_grad_(isinstance(layer, torch.nn.LayerNorm))
    return layers


def vectors(model, ids):
    """Embeddings [texts, hidden] of length 1 and token vectors [texts, length, hidden]. ids: int64, 0 = [PAD]."""
    mask = ids != 0
    tokens = model(ids, attention_mask=mask.long())[0]
    mean = (tokens * mask[..., None]).sum(1)
    return torch.nn.functional.normalize(mean, dim=-1), tokens


def loss_of(student, teacher, ids):
    """1 - cosine, and the relative squared error of token vectors: their means."""
    (ours, our_tokens), (exact, exact_tokens) = student, teacher
    mask = ids != 0
    difference = (our_tokens - exact_tokens)[mask].square().mean() / exact_tokens[mask].var()
    return 1 - (ours * exact).sum(-1).mean(), difference


def paragraphs(path, tokenizer, limit):
    """Ids of the different "context" of a file, cut to `limit` tokens."""
    first, last = (tokenizer.token_to_id(name) for name in ("[CLS]", "[SEP]"))
    encoded = (tokenizer.encode(text, add_special_tokens=False).ids for text in contexts(path))
    return [[first, *ids[: limit - 2], last] for ids in encoded]


def train(model, teacher, batches, arguments):
    """Prints the loss's two parts every tenth step."""
    trained = [p for p in model.parameters() if p.requires_grad]
    matrices, others = ([p for p in trained if (p.ndim > 1) == of_matrices] for of_matrices in (True, False))
    optimizer = torch.optim.Adam([{"params": matrices}, {"params": others}], betas=(0.9, 0.99))
    sums = np.zeros(2)
    for step, batch in enumerate(batches):
        ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(ids) for ids in batch], batch_first=True)
        with torch.no_grad():
            exact = vectors(teacher, ids)
        parts = loss_of(vectors(model, ids), exact, ids)
        (parts[0] + 0.1 * parts[1]).backward()
        rate = learning_rate(step / len(batches), step, arguments.learning_rate, WARMUP_STEPS)
        for group, times in zip(optimizer.param_groups, (1, arguments.vector_rate)):
            group["lr"] = times * rate
        optimizer.step()
        optimizer.zero_grad()
        sums += [part.item() for part in parts]
        if (step + 1) % LOG_STEPS == 0:
            cosine, tokens = sums / LOG_STEPS
            print(
                f"{step + 1}/{len(batches)}: 1 - cosine {cosine:.6f}, tokens {tokens:.5f}",
                file=sys.stderr,
                flush=True,
            )
            sums[:] = 0


def write(path, small, model, layers):
    """The int8 form's tensors again, with what was trained."""
    for name, parameter in model.named_parameters():
        if parameter.ndim == 1:
            small[PREFIX + name] = parameter.detach().numpy()
    for name, layer in layers.items():
        integers = layer.integers().detach().numpy()
        small[f"{PREFIX}{name}.weight"] = integers.astype(np.int8)
        small[f"{PREFIX}{name}.weight_sum"] = integers.astype(np.int32).sum(axis=1, dtype=np.int32)
    with safe_open(path, "numpy") as file:
        metadata = file.metadata()
    save(path, small, metadata)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("exact", metavar="HF_DIR")
    parser.add_argument("small", metavar="INT8_DIR")
    parser.add_argument("data", metavar="DATA")
    parser.add_argument("--steps", type=count_or_none, default=200)
    parser.add_argument("--learning-rate", type=positive, default=3e-5)
    parser.add_argument(
        "--vector-rate", type=float, default=10.0, help="biases and layer norms learn so many times as fast"
    )
    parser.add_argument("--batch-tokens", type=count, default=4096)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args(argv)
    path = os.path.join(arguments.small, "model.safetensors")
    small = load_file(path)
    if f"{PREFIX}embeddings.word_embeddings.weight_scale" not in small:
        raise SystemExit(f"{path}: not the int8 form of a BertModel, as bertqa quantize writes it")
    with open(os.path.join(arguments.small, "config.json"), encoding="utf-8") as file:
        limit = json.load(file)["bertqa"].get("max_seq_length", 512)
    texts = paragraphs(arguments.data, load_tokenizer(arguments.exact), limit)
    order = list(range(len(texts)))
    random.Random(arguments.seed).shuffle(order)
    places = token_batches(order, [len(ids) for ids in texts], arguments.batch_tokens, 1, arguments.seed)
    batches = [[texts[place] for place in batch] for batch in places[: arguments.steps]]

    teacher, model = (
        BertModel.from_pretrained(arguments.exact, dtype=torch.float32, add_pooling_layer=False).eval()
        for _ in range(2)
    )
    layers = rounded(model, small)
    train(model, teacher, batches, arguments)
    write(path, small, model, layers)


if __name__ == "__main__":
    main()
