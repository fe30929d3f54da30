"""The library as an archive: programs that link it need nothing else of Swift and see only the C ABI."""

import os
import shutil

import pytest

from conftest import PREFIX, ROOT, clean_environment
from installation import run
from samples import ANSWER, FOX, WHO

PRODUCTS = ROOT / ".build" / "release"
SWIFTC = os.environ.get("SWIFTC", "swiftc")


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    if not (PRODUCTS / "bertqa.product").exists() or not shutil.which(SWIFTC):
        pytest.skip("the library as an archive: needs the release build of this checkout, and its swiftc")
    archive = tmp_path_factory.mktemp("static") / "libbertqa.a"
    run(ROOT / "Scripts" / "static.sh", PRODUCTS, archive, SWIFTC)
    return archive


def exported(*nm):
    """The exported names and their kinds, without the name of the ABI's version."""
    lines = [line.split() for line in run("nm", "--defined-only", "--extern-only", *nm).splitlines()]
    return {(line[2].partition("@")[0], line[1]) for line in lines if len(line) == 3 and line[1] != "A"}


def test_exports_the_abi_alone(archive):
    library = exported("--dynamic", PRODUCTS / "libbertqa.so")
    assert len(library) > 100 and exported(archive) == library


@pytest.mark.parametrize("language", ["c", "c++"])
def test_links_and_answers(archive, tmp_path, language):
    """With and without a C++ file that has exceptions beside those of Swift's runtime."""
    run("cc", "-c", f"-I{ROOT / 'include'}", ROOT / "examples" / "c" / "answer.c", "-o", tmp_path / "answer.o")
    (tmp_path / "own.cc").write_text(
        "#include <stdexcept>\n#include <cstdio>\n"
        'static int own = [] { try { throw std::runtime_error("caught"); }\n'
        "                      catch (const std::exception &error) { return puts(error.what()); } }();\n"
    )
    own = [tmp_path / "own.cc"] if language == "c++" else []
    run("c++", "-o", tmp_path / "program", *own, tmp_path / "answer.o", archive)
    needed = run("readelf", "--dynamic", tmp_path / "program")
    assert "NEEDED" in needed and "swift" not in needed and "libbertqa" not in needed
    model = PREFIX / "share" / "bertqa" / "models" / "qa-minilm-l6"
    environment = clean_environment() | {"BERTQA_MODEL": str(model)}
    output = run(tmp_path / "program", WHO, FOX, env=environment)
    assert ANSWER in output and output.startswith("caught" if own else " ")


def test_the_same_bytes_twice(archive, tmp_path):
    umask = os.umask(0o077)
    try:
        environment = os.environ | {"TZ": "Asia/Kathmandu", "TMPDIR": str(tmp_path)}
        run(ROOT / "Scripts" / "static.sh", PRODUCTS, tmp_path / "libbertqa.a", SWIFTC, env=environment)
    finally:
        os.umask(umask)
    assert (tmp_path / "libbertqa.a").read_bytes() == archive.read_bytes()
    assert os.stat(tmp_path / "libbertqa.a").st_mode & 0o777 == 0o644
    assert str(ROOT).encode() not in archive.read_bytes()
