"""The files of a run: checkpoints to resume from, and snapshots of the weights to average."""

import os
import re
from typing import List, Optional


def latest_checkpoint(directory: str) -> Optional[str]:
    """The checkpoint of the highest step, None if there is none."""
    found = files(directory, "checkpoint", "pt")
    return found[-1] if found else None


def remove_old_checkpoints(directory: str, keep: int) -> None:
    """Delete all but the last `keep`."""
    for path in files(directory, "checkpoint", "pt")[:-keep]:
        os.remove(path)


def snapshots(directory: str) -> List[str]:
    """The snapshots of the weights, in the order of their steps."""
    return files(directory, "weights", "safetensors")


def step_of(path: str) -> int:
    """The step in a file's name."""
    return int(re.search(r"-(\d+)\.\w+$", path).group(1))


def files(directory: str, stem: str, extension: str) -> List[str]:
    """Files `stem-STEP.extension` by step; unfinished ones (.part) are left out."""
    pattern = re.compile(rf"{stem}-\d+\.{extension}")
    names = [name for name in os.listdir(directory) if pattern.fullmatch(name)]
    return sorted((os.path.join(directory, name) for name in names), key=step_of)
