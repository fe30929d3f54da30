"""Compares the arm64 tool, under emulation, with this machine's: tokens, and answers of every precision and instruction set.

usage: arm64.py NATIVE COMMAND...    the two tools; COMMAND starts the emulated one
"""

import base64
import json
import pathlib
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent
fixtures = root / "Tests" / "BertQACoreTests" / "Fixtures"
models = root / "models"
# Short, as emulation takes a minute for 300 tokens of f32.
document = (root / "examples" / "documents" / "apollo.txt").read_text()[:500]

# Instruction sets of arm64, the precision that is compared with on this machine, which need not have bf16, and how far
# numbers may be from there: those of int8 differ between x86-64's instruction sets by up to 0.25.
PRECISIONS = {
    "f32": (["portable", "neon"], "f32", 1e-4),
    "bf16": (["neon_i8mm_bf16"], "f32", 0.1),
    "int8": (["portable", "neon", "neon_dotprod", "neon_i8mm_bf16"], "int8", 0.4),
}
QUESTION = "When did Apollo land humans on the Moon?"


def output(command, *arguments):
    command = [*command, *map(str, arguments)]
    return subprocess.run(command, input=document.encode(), stdout=subprocess.PIPE, check=True).stdout


def largest_difference(a, b, where="result"):
    """Between the numbers of two results that must otherwise be equal."""
    if isinstance(a, float) or isinstance(b, float):
        return abs(a - b)
    assert type(a) is type(b), f"{where}: {a} and {b}"
    if isinstance(a, dict):
        assert a.keys() == b.keys(), where
        return max([0.0, *(largest_difference(a[key], b[key], f"{where}.{key}") for key in a)])
    if isinstance(a, list):
        assert len(a) == len(b), where
        return max([0.0, *(largest_difference(x, y, where) for x, y in zip(a, b))])
    assert a == b, f"{where}: {a!r} and {b!r}"
    return 0.0


def compare_tokens(native, emulated):
    for cases in sorted(fixtures.glob("*/cases.jsonl")):
        texts = {
            base64.b64decode(value)
            for line in cases.read_text().splitlines()
            for value in [next(value for value in json.loads(line) if isinstance(value, str))]
        }
        with tempfile.TemporaryDirectory() as directory:
            options = ["--json", "--model", cases.parent]
            for index, text in enumerate(sorted(texts)):
                file = pathlib.Path(directory, str(index))
                file.write_bytes(text)
                options += ["--file", file]
            expected = output(native, "tokenize", *options)
            assert len(expected.splitlines()) == len(texts)
            assert output(emulated, "tokenize", *options) == expected, cases
        print(f"{cases.parent.name}: {len(texts)} texts, the same tokens")


def compare_answers(native, emulated):
    arguments = ["answer", "--json", "--question", QUESTION]
    for precision, (sets, reference, tolerance) in PRECISIONS.items():
        expected = output(native, *arguments, "--precision", reference)
        for name in sets:
            found = output(emulated, *arguments, "--precision", precision, "--isa", name)
            difference = largest_difference(json.loads(expected), json.loads(found))
            print(f"answer {precision} {name}: numbers differ by up to {difference:.2g}")
            assert difference <= tolerance, f"more than {tolerance}"


if len(sys.argv) < 3:
    sys.exit(__doc__)
compare_tokens([sys.argv[1]], sys.argv[2:])
compare_answers([sys.argv[1]], sys.argv[2:])
