"""Texts and helpers that several test files use."""

import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

from conftest import FIXTURES, PREFIX, ROOT

FOX = "The quick brown fox jumps over the lethargic dog."
WHO = "Who jumped over the dog?"
ANSWER = "The quick brown fox"
LOVELACE = "Ada Lovelace met Charles Babbage in London."
NAMES = {"Ada Lovelace": "person", "Charles Babbage": "person", "London": "location"}
APOLLO = (ROOT / "examples" / "documents" / "apollo.txt").read_text(encoding="utf-8")
HEADER = (ROOT / "include" / "bertqa.h").read_text()
VERSION = ".".join(re.findall(r"BERTQA_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", HEADER))
TINY = FIXTURES / "tiny-bert"
PIECES = (TINY / "vocab.txt").read_text(encoding="utf-8").splitlines()
SOME_WORDS = [piece for piece in PIECES if piece.isascii() and piece.isalpha() and len(piece) > 1]

DOCUMENTS = {
    "ascii": FOX,
    "emoji": "🦊🦊 " + FOX.replace("quick", "quick 👩‍👩‍👧‍👦") + " 🐕",
    "combining marks": "Ñ e\u0301\u0323 " + FOX.replace("brown", "bro\u0308wn"),
    "composed": "É İ ß ﬁ 韓国 " + FOX,
    "right to left": "שָׁלוֹם עוֹלָם. السَّلامُ عَلَيْكُم. " + FOX,
    "inside right to left": "דג The quick brown fox jumps over the lethargic dog. עולם",
    "lone surrogates": "\ud800 x \udfff\udc00 " + FOX.replace("fox", "fox \udcff"),
    "controls": "\0\x1b\u200b\ufeff " + FOX.replace(" ", "\u3000"),
    "line breaks": FOX.replace(" ", "\r\n\t"),
    "answer at the end": "Over the lethargic dog jumped 🏃 the fox 🦊",
}

# The default recurrent model's continuations, as its card has them. They are those of PyTorch in f32.
CONTINUATIONS = {
    "O Romeo": ", Romeo , brave Mercutio's dead , That gallant spirit hath aspir'd the clouds , And turn'd that "
    "black death , going in the bottom of my course Direct my suit .",
    "But soft": ", what news ?",
    "Good night": ", good night .",
}


def words(count, seed=0):
    return " ".join(random.Random(seed).choices(SOME_WORDS, k=count))


def run_python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True, timeout=300
    )


def mapped(process):
    """Kilobytes of a process's mapping of the weights: resident, and the proportional share (PSS)."""
    resident = share = 0
    inside = False
    for line in pathlib.Path(f"/proc/{process}/smaps").read_text().splitlines():
        name, *rest = line.split()
        if not name.endswith(":"):
            inside = line.endswith(".safetensors")
        elif inside and name == "Rss:":
            resident += int(rest[0])
        elif inside and name == "Pss:":
            share += int(rest[0])
    return resident, share


def check_shared(processes):
    """Each process has the weights resident, but all together have them once."""
    residents, shares = zip(*map(mapped, processes))
    weights = (PREFIX / "share/bertqa/models/qa-minilm-l6/model.safetensors").stat().st_size / 1024
    assert min(residents) > 0.7 * weights, "the workers have not read the weights"
    assert sum(residents) > 0.8 * len(processes) * max(residents)
    assert sum(shares) < 1.1 * max(residents)


def entailment_model(directory):
    """Writes a model of entailment, whose labels are not in the usual order, and returns its path."""
    model = pathlib.Path(shutil.copytree(FIXTURES / "tiny-bert-classifier", directory))
    config = json.loads((model / "config.json").read_text())
    config["id2label"] = {"0": "contradiction", "1": "Entailment", "2": "neutral"}
    config.pop("label2id", None)
    (model / "config.json").write_text(json.dumps(config))
    return model


def colbert(directory, **settings):
    """Makes a ColBERT model whose markers are words of the vocabulary. Returns its projection."""
    import numpy
    from safetensors.numpy import load_file, save_file

    shutil.copytree(
        FIXTURES / "tiny-bert-embedder",
        directory,
        ignore=shutil.ignore_patterns("modules.json", "1_Pooling", "2_Normalize"),
    )
    path = directory / "model.safetensors"
    weights = load_file(path)
    projection = numpy.random.default_rng(1).normal(size=(8, 16)).astype(numpy.float32)
    save_file({**weights, "linear.weight": projection}, path)
    config = json.loads((directory / "config.json").read_text())
    config |= {"architectures": ["HF_ColBERT"], "model_type": "bert"}
    (directory / "config.json").write_text(json.dumps(config))
    metadata = {"query_token_id": "king", "doc_token_id": "dog", "query_maxlen": 10, "doc_maxlen": 20, "dim": 8}
    metadata["similarity"] = "cosine"
    (directory / "artifact.metadata").write_text(json.dumps(metadata | settings))
    return projection


def processor_time(pid):
    """The processor time of a running process in user mode, in clock ticks."""
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11])


def peak_memory(process):
    """The highest resident memory of a running process so far, in bytes."""
    status = open(f"/proc/{process.pid}/status").read()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024
