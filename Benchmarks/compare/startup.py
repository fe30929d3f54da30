"""Start-up time and memory, each in a fresh process: `python -m compare.startup ENGINE` prints one object."""

import compileall
import importlib
import json
import pathlib
import statistics
import subprocess
import sys
import time

from staged import TOOL

from . import models
from .engines import ENGINES
from .workers import note

QUESTION, DOCUMENT = "Who jumped over the dog?", "The quick brown fox jumps over the lethargic dog."
WINDOW = ([101] + [2000 + i for i in range(382)] + [102], 12)
NAMES = (
    "libbertqa int8",
    "libbertqa bf16",
    "libbertqa f32",
    "ONNX Runtime int8",
    "ONNX Runtime fp32",
    "OpenVINO bf16",
    "OpenVINO int8+bf16",
    "CTranslate2 int8",
    "PyTorch fp32",
)
# NNCF makes this model, and is not needed to run it.
IMPORTED = {"OpenVINO int8+bf16": "openvino"}


def memory():
    """Resident and proportional megabytes (2²⁰) of this process."""
    fields = {}
    for line in pathlib.Path("/proc/self/smaps_rollup").read_text().splitlines()[1:]:
        name, value, *_ = line.split()
        fields[name] = int(value) / 1024
    return fields["Rss:"], fields["Pss:"]


def child(name, wait):
    make, precision, package = ENGINES[name]
    package = IMPORTED.get(name, package)
    began = time.perf_counter()
    importlib.import_module(package)
    if package == "bertqa":
        from bertqa._native import library

        library()
    imported = time.perf_counter() - began
    models.arrays([WINDOW], False)  # NumPy is there before memory is counted
    resident, proportional = memory()

    began = time.perf_counter()
    if package == "bertqa":
        # The tokenizer's time is in it: text to answer.
        import bertqa

        path = models.int8_form("minilm") if precision == "int8" else models.checkpoint("minilm")
        context = bertqa.Context(path, precision=precision, threads=2)
        created = time.perf_counter() - began
        context.answer(QUESTION, DOCUMENT)
        first = time.perf_counter() - began
        context.logits([WINDOW[0]], [WINDOW[1]])
    else:
        engine = make("minilm", precision, 2)
        created = time.perf_counter() - began
        engine.run(engine.prepare([(WINDOW[0][:21], 8)], 1))
        first = time.perf_counter() - began
        engine.run(engine.prepare([WINDOW], 1))
    if wait:  # until all processes have come this far
        print("ready", flush=True)
        sys.stdin.readline()
    after, share = memory()
    print(
        json.dumps(
            {
                "import ms": 1000 * imported,
                "create ms": 1000 * created,
                "create + first answer ms": 1000 * first,
                "resident MiB": after - resident,
                "proportional MiB": share - proportional,
            }
        ),
        flush=True,
    )
    if wait:  # until all have looked
        sys.stdin.readline()


def _open(name, *arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "compare.startup", name, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def measured(names, rounds):
    """Rows {engine, import ms, create ms, create + first answer ms, resident MiB}: medians of fresh processes."""
    note("start-up and memory")
    # pip compiles what it installs, as it has done with the peers.
    compileall.compile_dir(models.ROOT / "bindings" / "python" / "bertqa", quiet=1)
    samples = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            output, _ = _open(name).communicate()
            if output.strip():
                samples[name].append(json.loads(output.strip().splitlines()[-1]))
            elif not samples[name]:
                note(f"left out: {name}")
    return [
        {"engine": name, **{key: statistics.median(sample[key] for sample in found) for key in found[0]}}
        for name, found in samples.items()
        if found
    ]


def shared_memory(name):
    """Proportional MiB over import, of one process alone and of four together, each after a 384-token call."""
    totals = []
    for count in 1, 4:
        children = [_open(name, "wait") for _ in range(count)]
        for process in children:
            process.stdout.readline()
        total = 0
        for process in children:
            process.stdin.write("\n")
            process.stdin.flush()
            total += json.loads(process.stdout.readline())["proportional MiB"]
        for process in children:
            process.communicate("\n")
        totals.append(total)
    return totals


def tool(rounds):
    """Median milliseconds from starting the command-line tool to its end, one question answered."""
    command = [TOOL, "answer", "--question", QUESTION, "-"]
    times = []
    for _ in range(rounds + 1):
        began = time.perf_counter()
        subprocess.run(command, input=DOCUMENT, text=True, check=True, stdout=subprocess.DEVNULL)
        times.append(1000 * (time.perf_counter() - began))
    return statistics.median(times[1:])


if __name__ == "__main__":
    child(sys.argv[1], len(sys.argv) > 2)
