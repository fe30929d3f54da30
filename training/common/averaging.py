"""Checkpoints on disk, without torch: averaged, with a temperature in their output layer, and written."""

import os
from typing import Dict, List, Optional, Sequence, Tuple

import numpy as np
from safetensors import deserialize
from safetensors.numpy import save_file

from .files import whole

HEADS = ("qa_outputs.weight", "qa_outputs.bias", "classifier.weight", "classifier.bias")


def load(path: str) -> Dict[str, np.ndarray]:
    """The tensors of a file; those in BF16, which numpy lacks, as f32."""
    tensors = {}
    with open(path, "rb") as file:
        views = deserialize(file.read())
    for name, view in views:
        kind = view["dtype"]
        if kind == "BF16":
            values = (np.frombuffer(view["data"], "<u2").astype("<u4") << 16).view("<f4")
        else:
            values = np.frombuffer(
                view["data"], "?" if kind == "BOOL" else f"<{kind[0].lower()}{int(kind[1:]) // 8}"
            )
        tensors[name] = values.reshape(view["shape"])
    return tensors


def averaged(paths: Sequence[str]) -> Dict[str, np.ndarray]:
    """The mean of checkpoints with the same tensors, in f32. That of the late ones of a run is better than each."""
    total = floats(load(paths[0]))
    for path in paths[1:]:
        _add(total, path, 1.0)
    return {name: value / np.float32(len(paths)) for name, value in total.items()}


def mixed(tensors: Dict[str, np.ndarray], mix: Sequence[str]) -> Dict[str, np.ndarray]:
    """The weighted mean with other models, fine-tuned from the same checkpoint, each as DIR=SHARE."""
    others = shares(mix)
    rest = 1 - sum(share for _, share in others)
    total = {name: np.float32(rest) * value for name, value in tensors.items()}
    for path, share in others:
        _add(total, path, share)
    return total


def shares(mix: Sequence[str]) -> List[Tuple[str, float]]:
    """(file, share) of each DIR=SHARE of --mix; SystemExit if there is no such file or share."""
    found = []
    for item in mix:
        directory, _, share = item.rpartition("=")
        path = os.path.join(directory, "model.safetensors")
        try:
            found.append((path, float(share)))
        except ValueError:
            raise SystemExit(f"--mix: {item} is not DIR=SHARE") from None
        if not os.path.exists(path):
            raise SystemExit(f"--mix: there is no {path}")
    return found


def _add(total: Dict[str, np.ndarray], path: str, share: float) -> None:
    tensors = floats(load(path))
    if set(total) != set(tensors):
        raise ValueError(f"{path}: other tensors than those that it is averaged with")
    for name, value in tensors.items():
        total[name] = total[name] + np.float32(share) * value


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


def save(path: str, tensors: Dict[str, np.ndarray], metadata: Optional[Dict[str, str]] = None) -> None:
    """Writes the whole file or nothing, for all to read: safetensors makes it the owner's alone."""
    with whole(path) as part:
        save_file(tensors, part, metadata)
        os.chmod(part, 0o644)
