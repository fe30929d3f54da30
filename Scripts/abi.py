#!/usr/bin/env python3
"""Writes bindings/python/bertqa/_abi.py, the headers' declarations for ctypes.

usage: abi.py            writes the file
       abi.py --check    fails if the file differs from what the headers declare
Environment: CC.
"""

import ctypes
import os
import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "bindings" / "python" / "bertqa" / "_abi.py"
NUMBERS = {
    "int": "c_int32", "int8_t": "c_int8", "int32_t": "c_int32", "int64_t": "c_int64", "uint32_t": "c_uint32", "uint64_t": "c_uint64",
    "size_t": "c_size_t", "float": "c_float", "double": "c_double",
}  # fmt: skip
HEADER = '''"""The declarations of bertqa.h and bertqa_experimental.h for ctypes. Written by Scripts/abi.py.

Names omit the headers' prefix "bertqa_". A user pointer is a Python object. An opaque object, an output buffer, and a
text that comes with its length are addresses.
"""

from ctypes import (
{imports}
)
from typing import Any, Dict, List, Tuple

from ._abi_types import Options, Switch

# fmt: off

ABI_VERSION = {abi_version}

'''


def declarations(text):
    """Yields the declarations outside braces, each as one line."""
    depth = start = 0
    for index, character in enumerate(text):
        depth += (character in "{(") - (character in "})")
        if character == ";" and depth == 0:
            yield " ".join(text[start:index].split())
            start = index + 1


def class_name(name):
    return "".join(part.capitalize() for part in name.split("_"))


def variables(text):
    """Returns (type, name) of parameters or members; the type has its stars, without spaces around them."""
    parts = [part.strip() for part in re.split(r"[;,]", text)]
    found = [re.fullmatch(r"(.*?)(\w+)", part) for part in parts if part not in ("", "void")]
    return [(re.sub(r"\s*\*\s*", "*", match[1]).strip(), match[2]) for match in found]


class Header:
    def __init__(self, text):
        self.numbers = dict(NUMBERS)
        self.structs, self.callbacks, self.functions = {}, {}, {}
        for line in declarations(text):
            if match := re.fullmatch(r"typedef struct bertqa_(\w+) \{(.*)\} ?bertqa_\1", line):
                self.structs[match[1]] = variables(match[2])
            elif match := re.fullmatch(r"typedef (int32_t|void) \(\*bertqa_(\w+)_function\)\((.*)\)", line):
                self.callbacks[match[2]] = (match[1], variables(match[3]))
            elif match := re.fullmatch(r"typedef int32_t (bertqa_\w+)", line):
                self.numbers[match[1]] = "Switch" if match[1] == "bertqa_switch" else "c_int32"
            elif "typedef" not in line and (match := re.fullmatch(r"(.*\W)bertqa_(\w+)\((.*)\)", line)):
                result = re.sub(r"__attribute__\(\(.*?\)\)", "", match[1])
                result = re.sub(r"\s*\*\s*", "*", result).strip()
                self.functions[match[2]] = (result, variables(match[3]))
        assert self.structs and self.callbacks and self.functions
        # The caller sets struct_size of what it hands over, and of what a function fills in for it.
        filled = {type for _, parameters in self.functions.values() for type, _ in parameters}
        self.options = {name for name in self.structs if name.endswith("_options") or f"bertqa_{name}*" in filled}

    def value(self, type):
        """Returns a number's type, a struct's or a callback's; None for a pointer."""
        name = type.removeprefix("const ").removeprefix("bertqa_")
        if name in self.structs:
            return class_name(name)
        if name.removesuffix("_function") in self.callbacks:
            return name.removesuffix("_function").upper()
        return self.numbers.get(type.removeprefix("const "))

    def pointer(self, type):
        """Returns the type of a pointer to numbers or a struct; an address for everything else."""
        value = self.value(type[:-1])
        value = "c_int32" if value == "Switch" else value
        return f"POINTER({value})" if value else "c_void_p"

    def member(self, struct, index):
        type, name = self.structs[struct][index]
        if type == "void*":
            return "py_object"
        if type in ("const char*", "const void*"):
            following = self.structs[struct][index + 1 : index + 2]
            has_length = any(next_name.endswith("length") for _, next_name in following)
            is_result = self.structs[struct][0][1] == "struct_size" and struct not in self.options
            return "c_void_p" if has_length and is_result else "c_char_p"
        return self.value(type) or self.pointer(type)

    def parameter(self, function, type):
        if type.endswith("**") or type.endswith("*const*"):
            return "POINTER(c_void_p)"
        if type in ("const char*", "const void*"):
            return "c_char_p"
        if function.endswith("_init"):
            return self.value(type) or "c_void_p"
        return self.value(type) or self.pointer(type)

    def result(self, type, parameters):
        if type == "void":
            return "None"
        if type == "const char*":
            return "c_void_p" if any(kind == "size_t*" for kind, _ in parameters) else "c_char_p"
        return self.value(type) or self.pointer(type)

    def needs(self, name):
        """Returns the structs and callbacks that a struct has to come after."""
        found = {re.sub(r"^const |\*", "", type).removeprefix("bertqa_") for type, _ in self.structs[name]}
        callbacks = {
            kind.removesuffix("_function") for kind in found if kind.removesuffix("_function") in self.callbacks
        }
        structs = {kind for kind in found if kind in self.structs}
        for callback in callbacks:
            kinds = {
                re.sub(r"^const |\*", "", type).removeprefix("bertqa_") for type, _ in self.callbacks[callback][1]
            }
            structs |= kinds & set(self.structs)
        return structs, callbacks


def wrapped(items, indent):
    return textwrap.fill(
        ", ".join(items), 118, initial_indent=indent, subsequent_indent=indent, break_long_words=False
    )


def python(header):
    lines, done, called = [], set(), set()

    def struct(name):
        if name in done:
            return
        done.add(name)
        structs, callbacks = header.needs(name)
        for needed in sorted(structs):
            struct(needed)
        for callback in sorted(callbacks - called):
            called.add(callback)
            result, parameters = header.callbacks[callback]
            types = ["py_object" if type == "void*" else header.parameter("", type) for type, _ in parameters]
            result = "None" if result == "void" else header.value(result)
            lines.append(f"{callback.upper()} = CFUNCTYPE({', '.join([result, *types])})\n\n")
        base = "Options" if name in header.options else "Structure"
        members = [f'("{member}", {header.member(name, i)})' for i, (_, member) in enumerate(header.structs[name])]
        lines.append(
            f"class {class_name(name)}({base}):\n    _fields_ = [\n{wrapped(members, ' ' * 8)},\n    ]\n\n"
        )

    for name in header.structs:
        struct(name)
    lines.append("#: By the headers' names. Arrow's two structs are in _arrow.py.\n")
    entries = [f'"{name}": {class_name(name)}' for name in header.structs]
    lines.append(f"STRUCTS: Dict[str, Any] = {{\n{wrapped(entries, ' ' * 4)},\n}}\n\n")
    lines.append("#: Name: (result, parameters).\nFUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {\n")
    for name, (result, parameters) in header.functions.items():
        types = [header.parameter(name, type) for type, _ in parameters]
        entry = f'"{name}": ({header.result(result, parameters)}, [{", ".join(types)}]),'
        lines.append(
            textwrap.fill(entry, 118, initial_indent=" " * 4, subsequent_indent=" " * 8, break_long_words=False)
            + "\n"
        )
    lines.append("}\n")
    text = (ROOT / "include" / "bertqa.h").read_text(encoding="utf-8")
    abi_version = re.search(r"^#define BERTQA_ABI_VERSION (\d+)", text, re.M)[1]
    body = "".join(lines)
    used = set(re.findall(r"\w+", body)) & set(dir(ctypes))
    used = sorted(used, key=lambda name: re.sub(r"\d+", lambda size: size[0].zfill(2), name))
    imports = "\n".join(f"    {name}," for name in used)
    return HEADER.format(abi_version=abi_version, imports=imports) + body


def main():
    command = [os.environ.get("CC", "cc"), "-E", "-P", ROOT / "include" / "bertqa_experimental.h"]
    text = python(Header(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout))
    if sys.argv[1:] == ["--check"]:
        if OUTPUT.read_text(encoding="utf-8") != text:
            sys.exit(f"{OUTPUT.relative_to(ROOT)} differs from the headers: run Scripts/abi.py")
    else:
        OUTPUT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
