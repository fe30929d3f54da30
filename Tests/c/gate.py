"""Checks the library's machine code: each function of the ABI, and each callback that it gives away, enters the gate of
fork() before anything else (see BertQACore/Runtime/ForkGate.swift), or does nothing that Swift could have to make on
first use. No value becomes text by reflection, which needs 50 KB of stack on first use: types in messages are
CustomStringConvertible. No code asks for the names of characters, which the library lacks
(Sources/CBertQA/system/swift_runtime.c).

usage: gate.py LIBRARY FUNCTION...    the library with its local symbols, and the functions' names
"""

import re
import subprocess
import sys

GATE = "bq_enter_gate"
# They take no lock of the Swift runtime's.
HARMLESS = {
    "memset",
    "memcpy",
    "clock_gettime",
    "__stack_chk_fail",
    "bq_last_error",
    "bq_last_error_item",
    "bq_last_error_argument",
}
# Flags and caches of what is made on first use: lazy globals, metadata, conformances; and the functions that make it.
LAZY = re.compile(r"^\$s.*(W[zZlL]|M[DLaRr])$|^swift_|^__swift")
# What makes text of any type: print, String(describing:), String(reflecting:) and interpolation.
REFLECTION = re.compile(
    r"^\$ss15_print_unlocked|^\$sSS(10describing|10reflecting)|^\$ss26DefaultStringInterpolationV06appendC0yyxlF$"
)
CHARACTER_NAMES = re.compile(r"^\$ss7UnicodeO6ScalarV10PropertiesV4nameSSSgvg|^_swift_stdlib_getScalarName")
OWN = re.compile(r"10BertQACore|9libbertqa")

Code = list[tuple[str, str]]


def functions(library: str) -> dict[str, Code]:
    """The instructions of each function: mnemonic, and the symbol that it jumps to, calls or refers to."""
    output = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", library], capture_output=True, text=True, check=True
    ).stdout
    found: dict[str, Code] = {}
    code: Code = []
    start = furthest = 0
    has_ended = False
    for line in output.splitlines():
        if begin := re.match(r"([0-9a-f]+) <(.*)>:$", line):
            code = found.setdefault(begin[2], [])
            start = furthest = int(begin[1], 16)
            has_ended = False
        elif instruction := re.match(r" *([0-9a-f]+):\t(\S+)(.*)", line):
            # Behind a return that no jump passes, another function begins, which may have no symbol.
            has_ended = has_ended or bool(code) and code[-1][0] == "ret" and int(instruction[1], 16) > furthest
            if has_ended:
                continue
            symbol = re.search(r"<([^<>]*)>$", instruction[3].rstrip())
            if symbol and (offset := re.search(r"\+0x([0-9a-f]+)$", symbol[1])):
                furthest = max(furthest, start + int(offset[1], 16))
            code.append((instruction[2], re.sub(r"@.*|\+0x[0-9a-f]+$", "", symbol[1]) if symbol else ""))
    return found


def fault(name: str, all_code: dict[str, Code]) -> str:
    """Returns the function's first fault before it enters the gate; empty if there is none."""
    for mnemonic, symbol in all_code[name]:
        if symbol == GATE:
            return ""
        if LAZY.match(symbol):
            return f"{name} uses {symbol}"
        is_call = mnemonic in ("call", "bl") or (mnemonic in ("jmp", "b") and symbol != name)
        if mnemonic in ("blr", "br") or (mnemonic == "call" and not symbol):
            return f"{name} calls what cannot be told"
        if is_call and symbol and symbol not in HARMLESS:
            return fault(symbol, all_code) if symbol in all_code else f"{name} calls {symbol}"
    return ""


def main() -> int:
    library, *names = sys.argv[1:]
    all_code = functions(library)
    callbacks = [name for name in all_code if re.search(r"release(Schema|Array).*To$", name)]
    faults = [
        f"{found} before it has entered the gate" for name in names + callbacks if (found := fault(name, all_code))
    ]
    faults += [
        f"{name} makes text by reflection"
        for name, code in all_code.items()
        if OWN.search(name) and any(REFLECTION.match(symbol) for _, symbol in code)
    ]
    faults += [
        f"{name} asks for the name of a character"
        for name, code in all_code.items()
        if OWN.search(name) and any(CHARACTER_NAMES.match(symbol) for _, symbol in code)
    ]
    gated = sum(any(symbol == GATE for _, symbol in all_code[name]) for name in names)
    if not names or len(callbacks) != 2:
        faults.append(f"{len(names)} functions and {len(callbacks)} callbacks, not those of the library")
    for found in faults:
        print(f"gate.py: {found}", file=sys.stderr)
    print(f"{len(names)} functions, {gated} of them enter the gate themselves; {len(callbacks)} callbacks")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
