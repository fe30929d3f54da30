"""The hardening of the shipped binaries, read from their ELF files. docs/security.md describes each measure."""

import pathlib
import platform
import re
import shutil
import struct
import subprocess

import pytest

from conftest import PREFIX, ROOT, TOOL

LIBRARY = PREFIX / "lib" / "libbertqa.so.1"
SQLITE = PREFIX / "lib" / "bertqa_sqlite.so"
OBJECTS = ROOT / ".build" / "release" / "CBertQA.build"


def readelf(*options):
    command = ["readelf", "--wide", *options]
    return subprocess.run(command, check=True, capture_output=True, text=True, env={"LC_ALL": "C"}).stdout


def weaknesses(path, is_program):
    """Returns the measures that an ELF file lacks."""
    header, segments, dynamic = readelf("-h", path), readelf("-l", path), readelf("-d", path)
    rights = re.findall(r"^  (\S+) +(?:0x[0-9a-f]+ +){5}([R ][W ][E ])", segments, re.M)
    found = []
    if "GNU_RELRO" not in dict(rights):
        found.append("no RELRO")
    if not re.search(r"\((FLAGS|FLAGS_1)\).*\b(BIND_NOW|NOW)\b", dynamic) and "(BIND_NOW)" not in dynamic:
        found.append("no BIND_NOW")
    if "E" in dict(rights).get("GNU_STACK", "RWE"):
        found.append("executable stack")
    if any("W" in right and "E" in right for kind, right in rights if kind == "LOAD"):
        found.append("memory that is writable and executable")
    if "TEXTREL" in dynamic:
        found.append("relocations in code")
    if re.search(r"\((RPATH|RUNPATH)\)(?!.*\[\$ORIGIN\])", dynamic):
        found.append("a path to search for libraries")
    if not re.search(r"Type: +DYN", header) or (is_program and not re.search(r"FLAGS_1\).*\bPIE\b", dynamic)):
        found.append("not position-independent")
    if "__stack_chk_fail" not in readelf("--dyn-syms", path):
        found.append("no stack protector")
    assert rights, segments
    return found


def has_cet(path):
    """True if x86's control-flow protection covers a file or, for an archive, all members with code."""
    return "IBT" in readelf("-n", path)


@pytest.mark.parametrize("path", [LIBRARY, TOOL, SQLITE], ids=lambda path: path.name)
def test_binaries(path):
    if path == SQLITE and not path.exists():
        pytest.skip("hardening of SQLite's extension: make sqlite")
    assert weaknesses(path, is_program=path == TOOL) == []


@pytest.mark.parametrize(
    "flags, weakness",
    [
        ("", None),
        ("-Wl,-z,norelro", "no RELRO"),
        ("-Wl,-z,lazy", "no BIND_NOW"),
        ("-Wl,-z,execstack", "executable stack"),
        ("-Wl,-rpath,/tmp", "a path to search for libraries"),
        ("-fno-stack-protector", "no stack protector"),
        ("-no-pie -fno-pie", "not position-independent"),
    ],
)
def test_each_check_finds_its_weakness(tmp_path, flags, weakness):
    source = tmp_path / "a.c"
    source.write_text(
        '#include <stdio.h>\nint main(void) { char line[64]; return scanf("%63s", line) == 1 ? line[0] : 0; }'
    )
    good = "-O1 -fstack-protector-strong -pie -fPIE -Wl,-z,relro,-z,now,-z,noexecstack"
    subprocess.run(
        ["cc", *good.split(), *flags.split(), "-o", tmp_path / "a", source], check=True, capture_output=True
    )
    found = weaknesses(tmp_path / "a", is_program=True)
    assert (found == []) if weakness is None else (weakness in found), found


def test_writable_code_is_found(tmp_path):
    """The tool itself, with changed flags of its code segments."""
    data = bytearray(TOOL.read_bytes())
    [first], [size, count] = struct.unpack_from("<Q", data, 32), struct.unpack_from("<HH", data, 54)
    for offset in range(first, first + size * count, size):
        kind, flags = struct.unpack_from("<II", data, offset)
        if kind == 1 and flags & 1:
            struct.pack_into("<I", data, offset + 4, flags | 2)
    (tmp_path / "tool").write_bytes(data)
    assert weaknesses(tmp_path / "tool", is_program=True) == ["memory that is writable and executable"]


def test_the_stack_of_our_own_c_code():
    """Checks each object with arrays on the stack, because Swift's runtime alone would provide the symbol."""
    if not OBJECTS.is_dir():
        pytest.skip("the C code's stack protector: needs .build, where make leaves the objects")
    symbols = {path.name: readelf("-s", path) for path in OBJECTS.rglob("*.o")}
    # cpu_set_t sets[64] in bq_affinity_count.
    assert "__stack_chk_fail" in symbols["threads.c.o"]
    assert sum("__stack_chk_fail" in text for text in symbols.values()) >= 3


@pytest.mark.skipif(platform.machine() != "x86_64", reason="CET is x86's")
def test_control_flow_protection_is_what_the_toolchain_can():
    """A binary is covered if all its inputs are. Today Swift's runtime is not, as docs/security.md says."""
    swiftc = shutil.which("swiftc")
    if swiftc is None:
        pytest.skip("CET: needs swiftc")
    runtime = pathlib.Path(swiftc).resolve().parents[1] / "lib" / "swift_static" / "linux" / "libswiftCore.a"
    covered = has_cet(runtime)
    assert has_cet(LIBRARY) == has_cet(TOOL) == covered
    assert covered or "CET" in (ROOT / "docs" / "security.md").read_text()
