"""Every size that a caller may give a struct of the headers: one that ends inside a field is refused, the rest is read.

What to call, and with what, is made from the headers; a child process does it, as half a pointer may be followed.
"""

import ctypes
import os
import re
import subprocess
import sys

import pytest

from bertqa import _abi
from conftest import PREFIX, ROOT
from samples import TINY

HEADERS = re.sub(
    r"/\*.*?\*/", "", "".join((ROOT / "include" / name).read_text() for name in ("bertqa.h", "bertqa_experimental.h")),
    flags=re.S,
)  # fmt: skip
FUNCTIONS = {
    name: [re.sub(r"\s+", " ", part).strip() for part in parameters.split(",")]
    for name, parameters in re.findall(r"bertqa_status (bertqa_\w+)\(([^;]*)\);", HEADERS)
}
#: Those whose struct_size the caller sets.
STRUCTS = {
    f"bertqa_{name}": struct
    for name, struct in _abi.STRUCTS.items()
    if name.endswith("_options") or re.search(rf"bertqa_{name} \*", " ".join(sum(FUNCTIONS.values(), [])))
    and f"const bertqa_{name} *" not in " ".join(sum(FUNCTIONS.values(), [])) and struct._fields_[0][0] == "struct_size"
}  # fmt: skip
BEYOND = 64


def takers(struct):
    """The functions with a parameter that is a pointer to the struct, and the parameter's index."""
    for name, parameters in FUNCTIONS.items():
        for place, parameter in enumerate(parameters):
            if re.match(rf"(const )?{struct} \*\w+$", parameter):
                yield name, place


def argument(parameter, context):
    """An argument that the library accepts, or refuses after it has read the struct."""
    if parameter.startswith("const bertqa_context *"):
        return context
    if re.match(r"(bertqa_trainer|const bertqa_(labeler|document|search)) \*", parameter):
        return None
    if re.match(r"const char \*\w+$", parameter):
        return ctypes.c_char_p(b"a")
    if (found := re.match(r"(?:const )?(bertqa_\w+) \*\w+$", parameter)) and found[1] in STRUCTS:
        whole = STRUCTS[found[1]]()
        whole.struct_size = ctypes.sizeof(whole)
        return ctypes.pointer(whole)
    if parameter.startswith("bertqa_column "):
        return _abi.Column()
    if "*" in parameter:
        # Arrays of one element, and places for one result.
        return ctypes.create_string_buffer(1024)
    return (ctypes.c_int32 if parameter.startswith("int") else ctypes.c_size_t)(1)


def try_sizes(struct):
    """Prints a function's status for each size."""
    library = ctypes.CDLL(str(PREFIX / "lib" / "libbertqa.so.1"))
    library.bertqa_last_error_argument.restype = ctypes.c_char_p
    context = ctypes.c_void_p()
    assert library.bertqa_context_create(str(TINY).encode(), None, ctypes.byref(context)) == 0
    call = _abi.CallOptions()
    layout = STRUCTS[struct]
    for name, place in takers(struct):
        for size in range(ctypes.sizeof(layout) + BEYOND + 1):
            memory = ctypes.create_string_buffer(ctypes.sizeof(layout) + BEYOND)
            options = layout.from_buffer(memory)
            if hasattr(layout, "call"):
                options.call = ctypes.pointer(call)
            options.struct_size = size
            arguments = [argument(parameter, context) for parameter in FUNCTIONS[name]]
            arguments[place] = memory
            status = getattr(library, name)(*arguments)
            is_refused = status == 1 and library.bertqa_last_error_argument() == b"struct_size"
            print(name, size, int(is_refused))


def test_all_structs_are_there():
    declared = set(re.findall(r"typedef struct (bertqa_\w+_options) \{", HEADERS))
    assert declared < set(STRUCTS) and {"bertqa_quantize_report", "bertqa_sequence_score"} <= set(STRUCTS)
    assert all(list(takers(struct)) for struct in STRUCTS)


@pytest.mark.parametrize("struct", STRUCTS)
def test_sizes_that_end_inside_a_field_are_refused(struct):
    layout = STRUCTS[struct]
    ends = {getattr(layout, field[0]).offset + getattr(layout, field[0]).size for field in layout._fields_}
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    child = subprocess.run(
        [sys.executable, __file__, struct], env=environment, capture_output=True, text=True, timeout=300
    )
    assert child.returncode == 0, child
    found = {}
    for line in child.stdout.splitlines():
        name, size, is_refused = line.split()
        found.setdefault(name, {})[int(size)] = is_refused == "1"
    # A whole number of known fields, or more than this library knows.
    expected = {
        size: size not in ends and size <= ctypes.sizeof(layout)
        for size in range(ctypes.sizeof(layout) + BEYOND + 1)
    }
    assert set(found) == {name for name, _ in takers(struct)}
    for name, results in found.items():
        if not name.startswith(
            ("bertqa_trainer_", "bertqa_document_answer", "bertqa_labeler_classify", "bertqa_search_answer")
        ):
            assert results == expected, name


if __name__ == "__main__":
    try_sizes(sys.argv[1])
