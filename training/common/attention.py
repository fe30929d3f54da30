"""Attention that is quick on a CPU."""

import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from .models import family


def f32_attention(module, query, key, value, attention_mask, **keywords):
    """torch's attention in f32, [batch, heads, length, size of a head] -> [batch, length, heads, size of a head].

    Its bf16 form prepares a multiplication anew for each of its tiles: with heads of 32 on a CPU with AMX that is three
    quarters of a step.
    """
    with torch.autocast("cpu", enabled=False):
        output, _ = sdpa_attention_forward(
            module, query.float(), key.float(), value.float(), attention_mask, **keywords
        )
    return output.to(value.dtype), None


AttentionInterface.register("sdpa_f32", f32_attention)
AttentionMaskInterface.register("sdpa_f32", sdpa_mask)


def implementation(device: torch.device, directory: str) -> str:
    """Returns the `attn_implementation` for `from_pretrained`: of MPNet, transformers has only the plain one."""
    if family(directory) == "mpnet":
        return "eager"
    return "sdpa_f32" if device.type == "cpu" else "sdpa"
