"""Instructions per multiply-add in the inner loops of arm64's linear layers, counted in their code.

Usage: inner_loops.py [COMPILER ...]    (default: clang --target=aarch64-linux-gnu)
Needs Debian's gcc-aarch64-linux-gnu, for its headers and objdump.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator

# The file, the function without prefix and suffix, the instruction that multiplies, and how often it does.
LOOPS = [
    ("portable", "linear_f32", "fmla", 4),
    ("neon", "linear_f32", "fmla", 4),
    ("portable", "linear_s8", "smull", 4),
    ("neon", "linear_s8", "smull", 8),
    ("neon_dotprod", "linear_s8", "udot", 16),
    ("neon_i8mm_bf16", "linear_s8", "usmmla", 32),
    ("neon_i8mm_bf16", "linear_bf16", "bfmmla", 16),
]


def instructions(object_file: str, function: str) -> list[tuple[int, str, str]]:
    """Addresses, names and operands of a function's instructions."""
    command = ["aarch64-linux-gnu-objdump", "-d", "--no-show-raw-insn", object_file]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    body = listing.split(f"<{function}>:\n")[1].split("\n\n")[0]
    lines = re.findall(r"^\s*([0-9a-f]+):\s+(\S+)\s*(.*)$", body, re.MULTILINE)
    return [(int(address, 16), name, operands) for address, name, operands in lines]


def inner_loops(code: list[tuple[int, str, str]]) -> Iterator[list[str]]:
    """The names of the instructions of each loop that has no other within it."""
    index = {address: i for i, (address, _, _) in enumerate(code)}
    loops = []
    for end, (_, name, operands) in enumerate(code):
        target = re.search(r"([0-9a-f]+) <", operands)
        start = index.get(int(target[1], 16)) if target and name[0] in "bct" else None
        if start is not None and start <= end:
            loops.append((start, end))
    for start, end in loops:
        if not any(start <= s and e <= end for s, e in loops if (s, e) != (start, end)):
            yield [name for _, name, _ in code[start : end + 1]]


def main() -> None:
    compiler = sys.argv[1:] or ["clang", "--target=aarch64-linux-gnu"]
    with tempfile.TemporaryDirectory() as directory:
        for name in dict.fromkeys(file for file, *_ in LOOPS):
            flags = ["-O3", "-ffp-contract=off", "-ISources/CBertQA/include"]
            source = f"Sources/CBertQA/kernels/isa/{name}.c"
            subprocess.run([*compiler, *flags, "-c", source, "-o", f"{directory}/{name}.o"], check=True)
        print("instructions  multiply-adds  per multiply-add")
        for file, function, multiply, products in LOOPS:
            code = instructions(f"{directory}/{file}.o", f"bq_{function}_{file}")
            # The loop of the largest tile; smull2 is a form of smull.
            loop = max(inner_loops(code), key=lambda names: sum(n.startswith(multiply) for n in names))
            count = products * sum(n.startswith(multiply) for n in loop)
            print(f"{len(loop):12}  {count:13}  {len(loop) / count:16.3f}  {function} {file}")


if __name__ == "__main__":
    main()
