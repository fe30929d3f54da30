"""Checkpoints on disk, without torch: averaged, and with a temperature in their output layer."""

from typing import Dict, Optional, Sequence

import numpy as np
from safetensors.numpy import load_file

HEADS = ("qa_outputs.weight", "qa_outputs.bias", "classifier.weight", "classifier.bias")


def averaged(paths: Sequence[str], shares: Optional[Sequence[float]] = None) -> Dict[str, np.ndarray]:
    """The weighted mean of checkpoints with the same tensors, in f32; without shares the mean.

    Late checkpoints of one run, or runs from one checkpoint, are near enough that their mean is better than each.
    """
    shares = shares or [1 / len(paths)] * len(paths)
    total: Dict[str, np.ndarray] = {}
    for path, share in zip(paths, shares):
        tensors = floats(load_file(path))
        if total and set(total) != set(tensors):
            raise ValueError(f"{path}: not the tensors of {paths[0]}")
        for name, value in tensors.items():
            total[name] = total.get(name, 0) + np.float32(share) * value
    return total


def floats(tensors: Dict[str, np.ndarray]) -> Dict[str, np.ndarray]:
    """The tensors in f32; those of this library's int8 form times their scales."""
    result = {}
    for name, value in tensors.items():
        if name.endswith(("_scale", "_sum")):
            continue
        result[name] = value.astype(np.float32)
        if value.dtype == np.int8:
            result[name] *= tensors[name + "_scale"][:, np.newaxis]
    return result


def with_temperature(tensors: Dict[str, np.ndarray], temperature: float) -> Dict[str, np.ndarray]:
    """The output layer divided by the temperature: logits, scores and gaps shrink by it, whatever runs the model."""
    return {name: value / np.float32(temperature) if name in HEADS else value for name, value in tensors.items()}
