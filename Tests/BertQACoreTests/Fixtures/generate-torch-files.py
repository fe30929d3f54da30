"""Writes torch/: the same tensors in each form of `torch.save`, and as safetensors.

.venv-parity/bin/python Tests/BertQACoreTests/Fixtures/generate-torch-files.py
"""

import collections
import pathlib

import torch
from safetensors.torch import save_file

HERE = pathlib.Path(__file__).parent / "torch"


def values(*shape, dtype=torch.float32):
    count = 1
    for extent in shape:
        count *= extent
    return ((torch.arange(count) % 23 - 11) / 8).reshape(shape).to(dtype)


def tensors():
    """A state dictionary as a module gives it: parameters, a buffer, views and shared storages, metadata."""
    module = torch.nn.Linear(3, 2)
    with torch.no_grad():
        module.weight.copy_(values(2, 3))
        module.bias.copy_(values(2))
    state = collections.OrderedDict(module.state_dict(prefix="linear."))
    state._metadata = module.state_dict()._metadata
    whole = values(6, 4)
    state["table"] = whole
    state["rows"] = whole[2:5]
    state["tied"] = whole
    state["half"] = values(3, 5, dtype=torch.float16)
    state["bfloat"] = values(300, dtype=torch.bfloat16)
    state["parameter"] = torch.nn.Parameter(values(2, 2))
    state["position_ids"] = torch.arange(7).expand((1, -1))
    state["scalar"] = torch.tensor(3.5)
    state["empty"] = torch.zeros(0, 4)
    return state


state = tensors()
HERE.mkdir(exist_ok=True)
for name, is_archive in ("archive", True), ("stream", False):
    torch.save(state, HERE / f"{name}.bin", _use_new_zipfile_serialization=is_archive)
torch.save({"columns": values(4, 3).T}, HERE / "columns.bin")
torch.save({"model": torch.nn.Linear(1, 1)}, HERE / "module.bin")
save_file(
    {name: tensor.detach().clone().contiguous() for name, tensor in state.items()}, HERE / "same.safetensors"
)
