"""Model directories from strangers: what is no plain file, files of any size, names that lead out, circles of links.

Each is loaded in a process of its own with little memory, which must say what is wrong, or do without the file, and end.
"""

import json
import os
import re
import resource
import shutil
import socket
import stat
import subprocess
import sys

import pytest

from conftest import FIXTURES, ROOT

# The names of files in the sources of the library: a new one is tried as soon as it is read.
NAMES = sorted(
    {
        name
        for path in (ROOT / "Sources" / "BertQACore").rglob("*.swift")
        for name in re.findall(r'"([A-Za-z0-9_][\w.-]*\.(?:json|txt|model|safetensors|bin))"', path.read_text())
    }
    | {"1_Pooling/config.json"}
)
# One directory for each way of reading; every other file is read, if it is there, by one of these.
MODELS = [
    "tiny-bert",
    "tiny-bert-embedder",
    "tiny-roberta",
    "tiny-xlm-roberta-embedder",
    "tiny-lstm",
    "tiny-deberta",
    "tiny-deberta-v1",
    "tiny-mobilebert",
    "tiny-longformer",
]

# OutOfMemory: of weights that no mapping has room for.
# "WrongModel": the tokenizer alone of a model that reads words.
REFUSALS = {
    "OutOfMemory", "ModelIOError", "ModelNotFoundError", "InvalidModel", "TooLarge", "Unsupported", "WrongModel",
}  # fmt: skip

LOAD = """
import resource, sys
import bertqa
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for directory in sys.argv[1:]:
    for options in {}, {"tokenizer_only": True}:
        try:
            bertqa.Context(directory, **options).close()
            print("loaded")
        except bertqa.BertQAError as error:
            print(type(error).__name__, str(error).replace(chr(10), " "))
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def load(*directories, **options):
    """Loads each directory, as a model and as a tokenizer only. Must take less than 200 MB and not wait."""
    command = [sys.executable, "-c", LOAD, *directories]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, **options)
    assert (result.returncode, result.stderr) == (0, ""), result
    *outcomes, megabytes = result.stdout.splitlines()
    assert len(outcomes) == 2 * len(directories) and int(megabytes) < 200, result.stdout
    return list(zip(outcomes[::2], outcomes[1::2])) if len(directories) > 1 else outcomes


def remove(path):
    if path.exists() or path.is_symlink():
        path.unlink()
    path.parent.mkdir(exist_ok=True)


def plant_fifo(path):
    os.mkfifo(path)


def plant_directory(path):
    path.mkdir()


def plant_socket(path):
    with socket.socket(socket.AF_UNIX) as server:
        # A path of a socket has 107 bytes at most.
        here = os.getcwd()
        os.chdir(path.parent)
        try:
            server.bind(path.name)
        finally:
            os.chdir(here)


def plant_loop(path):
    path.symlink_to(path.name)


def plant_circle(path):
    other = path.with_name(f"{path.name}.other")
    path.symlink_to(other.name)
    other.symlink_to(path.name)


def plant_endless_device(path):
    path.symlink_to("/dev/zero")


def plant_terminal(path):
    path.symlink_to("/dev/tty")


def plant_sparse_file(path):
    with open(path, "wb") as file:
        file.truncate(1 << 40)


def plant_process_memory(path):
    path.symlink_to("/proc/self/mem")


def plant_pseudo_file(path):
    """A file of size 0 by its status, but with contents."""
    path.symlink_to("/proc/self/maps")


PLANTS = [value for name, value in sorted(globals().items()) if name.startswith("plant_")]


def test_the_names_are_found():
    assert {"config.json", "vocab.txt", "tokenizer.json", "merges.txt", "modules.json", "spm.model"} <= set(NAMES)
    assert "model.safetensors.index.json" in NAMES and len(NAMES) >= 14


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__.removeprefix("plant_"))
def test_every_file_as_something_else(model, plant, tmp_path):
    """All files of a directory in turn. The error names the file if the library reads it."""
    if MODELS.index(model) > 1 and plant not in (plant_fifo, plant_sparse_file):
        return  # files are opened in the same way for all
    for name in NAMES:
        shutil.copytree(FIXTURES / model, tmp_path / name.replace("/", "-"))
        remove(tmp_path / name.replace("/", "-") / name)
        plant(tmp_path / name.replace("/", "-") / name)
    refused = set()
    for name, outcomes in zip(NAMES, load(*(tmp_path / name.replace("/", "-") for name in NAMES)), strict=True):
        for outcome in outcomes:
            assert outcome.split()[0] in {"loaded", *REFUSALS}, (name, outcome)
        if outcomes[0] != "loaded" and (FIXTURES / model / name).exists():
            # A module without its file is named by its folder.
            assert name.split("/")[0] in outcomes[0] or outcomes[0].startswith("OutOfMemory "), outcomes
            refused.add(name)
    assert refused >= {"config.json", "model.safetensors"}


def test_devices_are_not_opened(tmp_path):
    """Opening a device can have side effects: a node without a driver would fail on opening."""
    shutil.copytree(FIXTURES / "tiny-bert", tmp_path / "model")
    path = tmp_path / "model" / "config.json"
    path.unlink()
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(0, 77))
    except PermissionError:
        pytest.skip("models whose files are devices: needs the right to make one")
    assert all("not a regular file" in outcome for outcome in load(tmp_path / "model")[:1])


def test_links_to_files_elsewhere_are_followed(tmp_path):
    """Like a download cache, whose files are links to files named by their hashes."""
    (tmp_path / "blobs").mkdir()
    (tmp_path / "model").mkdir()
    for number, path in enumerate((FIXTURES / "tiny-bert").iterdir()):
        shutil.copy(path, tmp_path / "blobs" / str(number))
        (tmp_path / "model" / path.name).symlink_to(f"../blobs/{number}")
    assert load(tmp_path / "model") == ["loaded", "loaded"]


@pytest.mark.parametrize(
    "name", ["../secret", "/etc/passwd", "..", ".", "", "a/b", "a\0b", "a/../../secret", "./x"]
)
def test_names_that_lead_out(tmp_path, name):
    """Names in the index of shards and in a sentence encoder's list of modules are refused, whatever they lead
    to."""
    secret = tmp_path / "secret"
    shutil.copytree(FIXTURES / "tiny-bert-embedder", tmp_path / "model")
    (tmp_path / "model" / "model.safetensors").rename(secret)
    index = {"metadata": {}, "weight_map": {"embeddings.word_embeddings.weight": name}}
    (tmp_path / "model" / "model.safetensors.index.json").write_text(json.dumps(index))
    assert load(tmp_path / "model")[0].startswith("InvalidModel ")

    shutil.rmtree(tmp_path / "model")
    shutil.copytree(FIXTURES / "tiny-bert-embedder", tmp_path / "model")
    modules = json.loads((tmp_path / "model" / "modules.json").read_text())
    [pooling] = [module for module in modules if module["type"].endswith("Pooling")]
    (tmp_path / "config.json").write_text((tmp_path / "model" / pooling["path"] / "config.json").read_text())
    pooling["path"] = name
    (tmp_path / "model" / "modules.json").write_text(json.dumps(modules))
    outcome = load(tmp_path / "model")[0]
    # The directory itself, and a folder of it.
    assert outcome.startswith("InvalidModel ") or name in ["", ".", "./x"], outcome


def test_a_tokenizer_that_is_no_file(tmp_path):
    """tokenizer_only also takes the path of a file."""
    for plant in PLANTS:
        for name in "vocab.txt", "tokenizer.json":
            path = tmp_path / plant.__name__ / name
            path.parent.mkdir(exist_ok=True)
            plant(path)
            outcomes = load(path)
            assert "loaded" not in outcomes, (name, plant, outcomes)


def test_memory_is_checked_before_it_is_taken(tmp_path):
    """A weight file of 1 TB whose header describes one tensor, without a limit and in 4 GB of address space."""
    shutil.copytree(FIXTURES / "tiny-bert", tmp_path / "model")
    size = 1 << 40
    name = "bert.embeddings.word_embeddings.weight"
    header = json.dumps({name: {"dtype": "F32", "shape": [size // 128, 32], "data_offsets": [0, size]}}).encode()
    with open(tmp_path / "model" / "model.safetensors", "wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + size)
    limit = 4 << 30
    options = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))}
    for outcome in load(tmp_path / "model")[0], load(tmp_path / "model", **options)[0]:
        assert outcome.split()[0] in {"OutOfMemory", "InvalidModel"}, outcome
