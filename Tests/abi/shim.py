#!/usr/bin/env python3
"""Writes a C file whose debugging information holds the ABI that a header declares.

usage: shim.py HEADER OUTPUT.c OUTPUT.suppr

libbertqa.so itself says nothing of C types, as it is compiled from Swift; signatures.sh compares its functions with
the header. So abidiff compares libraries of stubs: every function, a variable for each constant with an enumeration
of its own, as abidiff takes two for equal that have the same set of numbers, and for structs that may grow (those
that begin with struct_size) a variable for each member, of which a type says the member's offset and type. The
suppression file keeps abidiff from comparing those structs as a whole.
"""

import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Scripts"))
from abi import declarations  # noqa: E402


def main():
    header, output, suppressions = sys.argv[1:]
    command = [os.environ.get("CC", "cc"), "-E", "-P", header]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    functions, constants, members = [], [], []
    for declaration in declarations(text):
        struct = re.fullmatch(r"typedef struct (bertqa_\w+) \{ ?(size_t struct_size;.*); ?\} ?\1", declaration)
        if struct:
            names = [re.search(r"(\w+)$", member)[1] for member in struct[2].split(";")]
            members += [(struct[1], name) for name in names]
        elif declaration.startswith("enum"):
            constants += re.findall(r"\bBERTQA_\w+(?= =)", declaration)
        elif not declaration.startswith("typedef") and re.search(r"\bbertqa_\w+\(", declaration):
            functions.append(declaration)
    assert functions and constants and members

    lines = [f'#include "{pathlib.Path(header).resolve()}"']
    lines += [f"{function} {{ __builtin_trap(); }}" for function in functions]
    lines += [f"enum constant_{name} {{ value_of_{name} = {name} }} constant_{name};" for name in constants]
    for struct, member in members:
        name = f"{struct}_{member}"
        lines.append(
            f"struct {name} {{ char offset[offsetof({struct}, {member}) + 1]; "
            f"__typeof__((({struct} *)0)->{member}) value; }} {name};"
        )
    pathlib.Path(output).write_text("\n".join(lines) + "\n")
    growing = "|".join(dict.fromkeys(struct for struct, _ in members))
    # A member called reserved may get a name; the offsets of those behind it are watched as before.
    pathlib.Path(suppressions).write_text(
        f"[suppress_type]\n  name_regexp = ^({growing})$\n"
        "[suppress_variable]\n  change_kind = deleted-variable\n  name_regexp = ^bertqa_.*_reserved$\n"
    )


if __name__ == "__main__":
    main()
