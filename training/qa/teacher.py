"""Teachers: their logits for the windows that a run reads, computed once and kept."""

import os
import sys
from dataclasses import astuple
from pathlib import Path
from typing import List, Optional, Sequence

import numpy as np
import torch
from tokenizers import Tokenizer

from common.batches import padded_length
from common.files import digest, whole
from common.models import ids_in, load_tokenizer, translated

from .tokenized import Windows
from .windows import Layout

TOKENS_AT_ONCE = 65536


class TeacherLogits:
    """f16 [2, tokens]: start and end of a window's [CLS] and tokens of the passage, from offsets[window] on."""

    def __init__(self, windows: Windows, used: Sequence[int], values=None):
        self.used = np.unique(np.asarray(used))
        sizes = np.zeros(len(windows), np.int64)
        sizes[self.used] = windows.arrays["counts"][self.used] + 1
        self._offsets = np.cumsum(sizes) - sizes
        self.values = torch.zeros((2, int(sizes.sum())), dtype=torch.float16) if values is None else values

    def batch(self, indices: Sequence[int], candidates):
        """f32 [2, batch, length]; -inf where no answer can begin or end."""
        values = self.values[:, self._places(indices, candidates)].float()
        return values.masked_fill_(~candidates, -torch.inf)

    def at(self, places: Sequence[Optional[np.ndarray]], windows: Windows) -> "TeacherLogits":
        """The logits for windows in other forms, by `other_forms`; -inf for what a form added."""
        sizes = np.diff(np.append(self._offsets[self.used], self.values.shape[1]))
        parts = []
        for window, values in zip(self.used, self.values.split(sizes.tolist(), 1), strict=True):
            if places[window] is not None:
                order = torch.from_numpy(places[window]).to(values.device)
                passage = values[:, 1:][:, order.clamp(min=0)].masked_fill(order < 0, -torch.inf)
                values = torch.cat([values[:, :1], passage], 1)
            parts.append(values)
        return TeacherLogits(windows, self.used, torch.cat(parts, 1))

    def add(self, indices: Sequence[int], candidates, logits) -> None:
        self.values[:, self._places(indices, candidates)[candidates]] += logits[:, candidates].half()

    def _places(self, indices, candidates):
        offsets = torch.from_numpy(self._offsets[np.asarray(indices)]).to(candidates.device)
        return (offsets[:, None] + candidates.cumsum(1) - 1).clamp_(max=self.values.shape[1] - 1)


def teacher_logits(arguments, windows: Windows, used: Sequence[int], device, logits) -> TeacherLogits:
    """The mean of the logits of `arguments.teacher`, from the state directory if they are there.

    logits: a function of a model directory and `Windows` in its tokens that returns a function of a batch's indices.
    """
    result = TeacherLogits(windows, used)
    arrays = (array.tobytes() for array in windows.arrays.values())
    key = digest(*map(Path, arguments.teacher), *arrays, result.used.tobytes())
    path = os.path.join(arguments.state, f"teacher-{key}.npy")
    if os.path.exists(path):
        return TeacherLogits(windows, used, torch.from_numpy(np.load(path)).to(device))
    result.values = result.values.to(device)
    ours = load_tokenizer(arguments.init)
    for directory in arguments.teacher:
        read = logits(directory, in_tokens_of(windows, ours, load_tokenizer(directory)))
        for indices in _batches(windows, result.used, arguments.length_multiple):
            candidates = windows.batch(indices, arguments.length_multiple, device)[2]
            scores, theirs = read(indices)
            # The teacher's template may have more separators: its candidates are as many, at other places.
            spread = torch.zeros((2, *candidates.shape), device=device)
            spread[:, candidates] = scores[:, theirs] / len(arguments.teacher)
            result.add(indices, candidates, spread)
        print(f"{directory}: read {len(result.used)} windows", file=sys.stderr, flush=True)
    with whole(path) as part, open(part, "wb") as file:
        np.save(file, result.values.cpu().numpy())
    return result


def in_tokens_of(windows: Windows, ours: Tokenizer, theirs: Tokenizer) -> Windows:
    """The windows for a model with the same word pieces under other ids, and with its own template."""
    table = ids_in(theirs, ours)
    arrays = dict(windows.arrays)
    for name in ("question_ids", "passage_ids"):
        arrays[name] = translated(arrays[name], table).astype(np.uint32)
    arrays["layout"] = np.array(astuple(Layout.of(theirs)), np.int32)
    return Windows(arrays)


def _batches(windows: Windows, used: "np.ndarray", multiple: int) -> List["np.ndarray"]:
    """`used`, shortest first, in batches of about as many tokens."""
    ordered = used[np.argsort(windows.lengths[used], kind="stable")]
    padded = padded_length(windows.lengths[ordered], multiple)
    return np.split(ordered, np.flatnonzero(np.diff(np.cumsum(padded) // TOKENS_AT_ONCE)) + 1)
