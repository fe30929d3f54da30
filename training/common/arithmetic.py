"""The arithmetic in which a device multiplies fastest."""

import functools
import time

import torch


def autocast(device: torch.device) -> torch.autocast:
    """Returns a context whose products are in bf16, or in f32 on a CPU where those are faster."""
    return torch.autocast(device.type, torch.bfloat16, enabled=device.type != "cpu" or _bf16_is_faster())


@functools.lru_cache(maxsize=None)
def _bf16_is_faster() -> bool:
    """Many CPUs have no bf16 instructions, and some have slower ones than those of f32: only a clock tells."""
    rows, weights = torch.ones(2048, 384), torch.ones(384, 1536)
    seconds = {}
    for dtype in (torch.float32, torch.bfloat16):
        x, w = rows.to(dtype), weights.to(dtype)
        for _ in range(4):
            begin = time.perf_counter()
            x @ w
            seconds[dtype] = min(seconds.get(dtype, float("inf")), time.perf_counter() - begin)
    return seconds[torch.bfloat16] < seconds[torch.float32]
