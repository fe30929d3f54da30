"""BERT's encoder over windows whose tokens lie end to end: no padding, and quick attention, on CPUs with AVX-512 BF16.

packed.c has what lies between the matrix products, which stay torch's. `available` says whether this machine has all
that it takes.
"""

import ctypes
import functools
import os
import subprocess
import tempfile

import torch

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "packed.c")
# Token counts are rounded up to this: torch keeps what it prepares for each size of a product.
TOKENS_MULTIPLE = 64
MAX_HIDDEN = 4096


def available() -> bool:
    """True if the CPU and the compiler can run packed.c."""
    return torch.cpu._is_avx512_bf16_supported() and library() is not None


@functools.lru_cache(maxsize=None)
def library():
    """packed.c, compiled for this CPU; None where that fails. It shares the OpenMP library that torch has loaded."""
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "packed.so")
        command = [
            os.environ.get("CC", "cc"),
            "-O3",
            "-march=native",
            "-fopenmp",
            "-shared",
            "-fPIC",
            "-o",
            path,
            SOURCE,
        ]
        try:
            subprocess.run([*command, "-lm"], check=True, capture_output=True)
            return ctypes.CDLL(path)
        except (OSError, subprocess.CalledProcessError):
            return None


def call(name: str, *arguments) -> None:
    """A function of packed.c: tensors as pointers, None as NULL, floats as float, other numbers as int64_t."""
    converted = [
        ctypes.c_void_p(a.data_ptr()) if isinstance(a, torch.Tensor) else ctypes.c_void_p() if a is None
        else ctypes.c_float(a) if isinstance(a, float) else ctypes.c_int64(a)
        for a in arguments
    ]  # fmt: skip
    if getattr(library(), name)(ctypes.c_int(torch.get_num_threads()), *converted):
        raise MemoryError(f"{name}: no memory")


class Attention(torch.autograd.Function):
    """qkv bf16 [tokens, 3 * hidden] -> [tokens, hidden]; offsets int32 [windows + 1]."""

    @staticmethod
    def forward(ctx, qkv, offsets, heads):
        tokens, hidden = qkv.shape[0], qkv.shape[1] // 3
        # The rows behind the last window are of no window.
        output = qkv.new_zeros(tokens, hidden)
        logsums = torch.empty(heads, tokens)
        call("attention_forward", qkv, offsets, len(offsets) - 1, tokens, heads, hidden // heads, output, logsums)
        ctx.save_for_backward(qkv, offsets, output, logsums)
        return output

    @staticmethod
    def backward(ctx, gradient):
        qkv, offsets, output, logsums = ctx.saved_tensors
        heads, tokens = logsums.shape
        result = torch.zeros_like(qkv)
        call("attention_backward", gradient.contiguous(), qkv, output, logsums, offsets, len(offsets) - 1, tokens,
             heads, output.shape[1] // heads, result)  # fmt: skip
        return result, None, None


class AddNorm(torch.autograd.Function):
    """LayerNorm(residual f32 + dropout(x bf16)), both [tokens, hidden]: in f32 and in bf16. dropped: of 256."""

    @staticmethod
    def forward(ctx, residual, x, weight, bias, epsilon, seed, dropped):
        ctx.set_materialize_grads(False)
        output, output_bf16, normalized = (
            torch.empty_like(residual),
            torch.empty_like(x),
            torch.empty_like(residual),
        )
        inverse_deviations = torch.empty(len(x))
        call("add_norm_forward", residual, x, weight, bias, epsilon, seed, dropped, *x.shape, output, output_bf16,
             normalized, inverse_deviations)  # fmt: skip
        ctx.save_for_backward(normalized, inverse_deviations, weight)
        ctx.noise = seed, dropped
        return output, output_bf16

    @staticmethod
    def backward(ctx, gradient, gradient_bf16):
        normalized, inverse_deviations, weight = ctx.saved_tensors
        residual, x = torch.empty_like(normalized), torch.empty_like(normalized, dtype=torch.bfloat16)
        partial = torch.zeros(torch.get_num_threads(), 2, len(weight))
        gradients = [g if g is None else g.contiguous() for g in (gradient, gradient_bf16)]
        call("add_norm_backward", *gradients, normalized, inverse_deviations, weight, *ctx.noise, *normalized.shape,
             residual, x, partial)  # fmt: skip
        return residual, x, *partial.sum(0), None, None, None


class GELU(torch.autograd.Function):
    """x Φ(x), bf16, in any shape whose size is a multiple of 16."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        output = torch.empty_like(x)
        call("gelu_forward", x, x.numel(), output)
        return output

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        result = torch.empty_like(x)
        call("gelu_backward", gradient.contiguous(), x, x.numel(), result)
        return result


def linear(x, *layers):
    """The outputs of linear layers side by side, in bf16."""
    weight, bias = torch.cat([layer.weight for layer in layers]), torch.cat([layer.bias for layer in layers])
    return torch.nn.functional.linear(x, weight.to(x.dtype), bias.to(x.dtype))


def require(config) -> None:
    """ValueError where this does not compute what a BERT of such a configuration computes."""
    size = config.hidden_size // config.num_attention_heads
    if (
        config.model_type != "bert"
        or config.hidden_act != "gelu"
        or size % 32
        or config.hidden_size > MAX_HIDDEN
        or config.intermediate_size % 16
    ):
        raise ValueError("it is for BERT with gelu, heads of 32, 64 ... numbers and hidden_size <= 4096")


def encoder(bert, ids, types, positions, offsets, dropout: float):
    """The last hidden states of a transformers.BertModel, f32 [tokens, hidden].

    ids, types, positions: int64 [tokens], window b from offsets[b] to offsets[b + 1]. dropout: in steps of 1/256, none in
    evaluation mode; that of the embeddings is the model's own.
    """
    embeddings, dropped = bert.embeddings, round(256 * dropout) if bert.training else 0
    x = embeddings.word_embeddings(ids) + embeddings.position_embeddings(positions)
    x = embeddings.dropout(embeddings.LayerNorm(x + embeddings.token_type_embeddings(types)))
    x_bf16 = x.bfloat16()

    def add_norm(x, y, norm):
        seed = int(torch.randint(2**31, ())) if dropped else 0
        return AddNorm.apply(x, y, norm.weight, norm.bias, norm.eps, seed, dropped)

    for layer in bert.encoder.layer:
        own, attention = layer.attention.self, layer.attention.output
        qkv = linear(x_bf16, own.query, own.key, own.value)
        y = linear(Attention.apply(qkv, offsets, own.num_attention_heads), attention.dense)
        x, x_bf16 = add_norm(x, y, attention.LayerNorm)
        y = linear(GELU.apply(linear(x_bf16, layer.intermediate.dense)), layer.output.dense)
        x, x_bf16 = add_norm(x, y, layer.output.LayerNorm)
    return x
