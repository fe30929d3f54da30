#!/usr/bin/env python3
"""Rounds an int8 model's matrices again, such that their products with real activations change least.

usage: round_matrices.py HF_DIR INT8_DIR DATA.jsonl[.xz] [--texts N]

INT8_DIR is what `bertqa quantize HF_DIR INT8_DIR` wrote; its model.safetensors is replaced: the same scales, other
integers. `bertqa quantize` rounds each weight to the nearest step. This program rounds the columns of a matrix one
after the other, and changes the columns that are still to come so that they make up for the rounding (GPTQ: Frantar et
al. 2023). For this it needs the second moments of the activations of N different paragraphs ("context") of DATA, evenly
spread, which come from the layers that are rounded already. Then each bias takes over what is left of the mean change
of its output.
Needs numpy, scipy, safetensors and libbertqa's Python package; for BertModel directories in one file.
"""

import argparse
import json
import os
import pathlib

import numpy
from safetensors import safe_open
from scipy.linalg import cholesky, inv
from scipy.special import erf

from common.averaging import floats, load, save
from common.files import contexts
from common.options import count

DAMPING = 0.01  # of the mean second moment, added to each: directions that hardly occur in the texts


class Weights:
    """Tensors of a model's file, which can be replaced."""

    def __init__(self, directory):
        self.path = os.path.join(directory, "model.safetensors")
        self.tensors = load(self.path)
        self.prefix = "" if "embeddings.word_embeddings.weight" in self.tensors else "bert."

    def __getitem__(self, name):
        return self.tensors[self.prefix + name]

    def __setitem__(self, name, values):
        self.tensors[self.prefix + name] = numpy.ascontiguousarray(values, self[name].dtype)

    def values(self, name):
        """As F32, scaled where they are int8."""
        names = (self.prefix + name, f"{self.prefix}{name}_scale")
        [values] = floats({each: self.tensors[each] for each in names if each in self.tensors}).values()
        return values

    def write(self):
        with safe_open(self.path, "numpy") as file:
            metadata = file.metadata()
        save(self.path, self.tensors, metadata)


def rounded(weight, scale, moments):
    """Integers q, [out, in], with q * scale near weight for inputs of these second moments, [in, in]."""
    order = numpy.argsort(-moments.diagonal())
    moments = moments[numpy.ix_(order, order)].astype("f8")
    moments[numpy.diag_indices_from(moments)] += DAMPING * moments.diagonal().mean()
    factor = cholesky(inv(moments), lower=False)
    weight = weight[:, order].astype("f8")
    result = numpy.empty(weight.shape, "i1")
    block = 128
    for first in range(0, weight.shape[1], block):
        end = min(first + block, weight.shape[1])
        errors = numpy.empty((len(weight), end - first))
        for i in range(first, end):
            q = numpy.clip(numpy.rint(weight[:, i] / numpy.where(scale > 0, scale, 1)), -127, 127)
            result[:, order[i]] = q
            errors[:, i - first] = (weight[:, i] - q * scale) / factor[i, i]
            weight[:, i + 1 : end] -= numpy.outer(errors[:, i - first], factor[i, i + 1 : end])
        weight[:, end:] -= errors @ factor[first:end, end:]
    return result


def normed(x, weights, prefix, epsilon):
    x = x - x.mean(axis=1, keepdims=True)
    x /= numpy.sqrt((x * x).mean(axis=1, keepdims=True) + epsilon)
    return x * weights.values(f"{prefix}.weight") + weights.values(f"{prefix}.bias")


def embedded(weights, texts, epsilon):
    """The embeddings' output of texts' ids, one after the other, [tokens, hidden]."""
    word = weights.values("embeddings.word_embeddings.weight")
    position = weights.values("embeddings.position_embeddings.weight")
    kind = weights.values("embeddings.token_type_embeddings.weight")[0]
    x = numpy.concatenate([word[ids] + position[: len(ids)] + kind for ids in texts])
    return normed(x, weights, "embeddings.LayerNorm", epsilon)


def attended(query, key, value, lengths, heads):
    size = query.shape[1] // heads
    result = numpy.empty_like(query)
    first = 0
    for length in lengths:
        part = slice(first, first + length)
        q, k, v = (m[part].reshape(length, heads, size).transpose(1, 0, 2) for m in (query, key, value))
        scores = q @ k.transpose(0, 2, 1) / numpy.float32(size**0.5)
        scores = numpy.exp(scores - scores.max(axis=2, keepdims=True))
        scores /= scores.sum(axis=2, keepdims=True)
        result[part] = (scores @ v).transpose(1, 0, 2).reshape(length, -1)
        first += length
    return result


class Rounding:
    """The two forms of one model; `linear` rounds a matrix when the first activations come to it."""

    def __init__(self, exact, small):
        self.exact, self.small = exact, small

    def linear(self, name, x, y):
        """Outputs of the exact matrix on the exact model's inputs x, and of the rounded one on its own inputs y."""
        weight, bias = self.exact.values(f"{name}.weight"), self.exact.values(f"{name}.bias")
        scale = self.small[f"{name}.weight_scale"].astype("f8")
        q = rounded(weight, scale, y.T @ y / len(y))
        self.small[f"{name}.weight"] = q
        self.small[f"{name}.weight_sum"] = q.astype("i4").sum(axis=1)
        new = self.small.values(f"{name}.weight")
        outputs, products = x @ weight.T + bias, y @ new.T
        # Only what rounding this matrix changes: changes of its inputs are the earlier layers'.
        change = bias + (weight - new) @ y.mean(axis=0)
        self.small[f"{name}.bias"] = change
        return outputs, products + change


def round_all(model, texts, config):
    lengths = [len(ids) for ids in texts]
    heads, epsilon = config["num_attention_heads"], config["layer_norm_eps"]
    forms = (model.exact, model.small)
    x = [embedded(form, texts, epsilon) for form in forms]
    for layer in range(config["num_hidden_layers"]):
        name = f"encoder.layer.{layer}"
        print(name, flush=True)
        parts = [model.linear(f"{name}.attention.self.{part}", *x) for part in ("query", "key", "value")]
        found = [attended(*part, lengths, heads) for part in zip(*parts)]
        found = model.linear(f"{name}.attention.output.dense", *found)
        x = [
            normed(a + b, form, f"{name}.attention.output.LayerNorm", epsilon)
            for a, b, form in zip(x, found, forms)
        ]
        found = model.linear(f"{name}.intermediate.dense", *x)
        found = [a * (0.5 * (1 + erf(a * numpy.float32(0.5**0.5)))) for a in found]
        found = model.linear(f"{name}.output.dense", *found)
        x = [normed(a + b, form, f"{name}.output.LayerNorm", epsilon) for a, b, form in zip(x, found, forms)]


def main():
    import bertqa

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("exact", type=pathlib.Path)
    parser.add_argument("small", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--texts", type=count, default=128)
    arguments = parser.parse_args()
    config = json.loads((arguments.exact / "config.json").read_text())
    limit = json.loads((arguments.small / "config.json").read_text())["bertqa"].get("max_seq_length", 512)
    texts = contexts(arguments.data)
    # Spread over the whole file: it may be sorted by subject.
    texts = texts[:: max(1, len(texts) // arguments.texts)][: arguments.texts]
    with bertqa.Context(arguments.exact, tokenizer_only=True) as context:
        first, last = (context.tokenize(t, parse_special_tokens=True).ids[0] for t in ("[CLS]", "[SEP]"))
        ids = [[first, *context.tokenize(text).ids[: limit - 2], last] for text in texts]
    print(f"{len(ids)} paragraphs, {sum(map(len, ids))} tokens")
    model = Rounding(Weights(arguments.exact), Weights(arguments.small))
    round_all(model, ids, config)
    model.small.write()


if __name__ == "__main__":
    main()
