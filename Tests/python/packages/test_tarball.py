"""The tarball of binaries: unpacked anywhere, it can be found, linked and run in place."""

import os
import pathlib
import re
import shlex
import subprocess

import pytest

from conftest import PREFIX, ROOT, clean_environment
from installation import ENVIRONMENT, PROJECT, files, run
from samples import ANSWER, FOX, VERSION, WHO


@pytest.fixture(scope="module", autouse=True)
def needs_the_extension():
    if not (PREFIX / "lib" / "bertqa_sqlite.so").exists():
        pytest.skip("the tarball of binaries: make sqlite")


def make(directory, **environment):
    run(ROOT / "Scripts" / "tarball.sh", directory, env=ENVIRONMENT | environment)
    [tarball] = directory.glob("*.tar.gz")
    return tarball


@pytest.fixture(scope="module")
def tarball(tmp_path_factory):
    return make(tmp_path_factory.mktemp("tarball"))


@pytest.fixture(scope="module")
def unpacked(tarball, tmp_path_factory):
    """The path has spaces, and the directory is not writable."""
    directory = tmp_path_factory.mktemp("a place") / "with  spaces"
    directory.mkdir()
    run("tar", "-xzf", tarball, "-C", directory)
    [unpacked] = directory.iterdir()
    return unpacked


def test_name_and_contents(tarball, unpacked):
    machine = {"62": "x86_64", "183": "aarch64"}[
        str(int.from_bytes((unpacked / "bin" / "bertqa").read_bytes()[18:20], "little"))
    ]
    assert unpacked.name == f"libbertqa-{VERSION}-linux-{machine}" == tarball.name.removesuffix(".tar.gz")
    found = {str(path) for path in files(unpacked)}
    assert {"README", "LICENSE", "lib/bertqa_sqlite.so", "lib/libbertqa.so.1", "include/bertqa.h"} <= found
    assert {f"share/bertqa/models/{path}" for path in files(ROOT / "models")} <= found
    for path in "bin/bertqa", "lib/libbertqa.so.1":
        assert (unpacked / path).read_bytes() == (PREFIX / path).read_bytes()
    for path in files(unpacked):
        if path.suffix in (".pc", ".cmake") or path.name == "README":
            text = (unpacked / path).read_text()
            assert not re.search(r"@[A-Z]+@|/tmp/|/home/", text), path


@pytest.mark.parametrize("machine, name", [(62, "x86_64"), (183, "aarch64"), (243, None)])
def test_names_follow_the_binaries_and_not_this_machine(tmp_path, machine, name):
    (tmp_path / "binary").write_bytes(
        b"\x7fELF\2\1\1".ljust(18, b"\0") + machine.to_bytes(2, "little") + bytes(44)
    )
    command = [ROOT / "Scripts" / "architecture.sh", tmp_path / "binary"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.stdout == (f"{name}\n" if name else "") and (result.returncode == 0) == bool(name)
    assert name or "ELF machine 243" in result.stderr


def test_the_same_bytes_twice(tarball, tmp_path):
    umask = os.umask(0o077)
    try:
        again = make(tmp_path, TZ="Asia/Kathmandu", LC_ALL="C.UTF-8", TMPDIR=str(tmp_path))
    finally:
        os.umask(umask)
    assert again.read_bytes() == tarball.read_bytes()


def test_what_its_readme_says(unpacked, tmp_path):
    """The commands of its README, run as they are in its directory."""
    readme = (unpacked / "README").read_text()
    assert len(readme.splitlines()) <= 12
    [ask, compile] = re.findall(r"^  (.*)", readme, re.M)
    assert run("sh", "-c", ask, cwd=unpacked, env=clean_environment()) == ANSWER + "\n"
    source = shlex.quote(str(ROOT / "examples" / "c" / "answer.c"))
    program = tmp_path / "program"
    run("sh", "-c", compile.replace("program.c", f"-o {program} {source}"), cwd=unpacked, env=clean_environment())
    assert ANSWER in run(program, WHO, FOX, env=clean_environment())
    glibc = int(re.search(r"glibc 2\.(\d+) or later", readme)[1])
    symbols = run(
        "readelf", "--version-info", "--wide", unpacked / "bin" / "bertqa", unpacked / "lib" / "libbertqa.so"
    )
    assert glibc == max(int(minor) for minor in re.findall(r"Name: GLIBC_2\.(\d+)", symbols))


def test_pkg_config(unpacked, tmp_path):
    environment = clean_environment() | {"PKG_CONFIG_PATH": str(unpacked / "lib" / "pkgconfig")}
    flags = shlex.split(run("pkg-config", "--cflags", "--libs", "bertqa", env=environment))
    paths = [pathlib.Path(flag[2:]) for flag in flags if flag[:2] in ("-I", "-L")]
    assert {path.resolve() for path in paths} == {unpacked / "include", unpacked / "lib"}
    run("cc", "-o", tmp_path / "answer", ROOT / "examples" / "c" / "answer.c", *flags)
    environment["LD_LIBRARY_PATH"] = str(unpacked / "lib")
    assert ANSWER in run(tmp_path / "answer", WHO, FOX, env=environment)


def test_cmake(unpacked, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(PROJECT.format(source=ROOT / "examples" / "c" / "answer.c"))
    (tmp_path / "in_cxx.cc").write_text("int main() { return 0; }\n")
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={unpacked}")
    run("cmake", "--build", tmp_path / "build")
    assert ANSWER in run(tmp_path / "build" / "in_c", WHO, FOX, env=clean_environment())


def test_the_extension_finds_the_library_beside_it(unpacked):
    extension = unpacked / "lib" / "bertqa_sqlite.so"
    loaded = subprocess.run(["ldd", extension], capture_output=True, text=True, env=clean_environment()).stdout
    assert f"libbertqa.so.1 => {unpacked}/lib/libbertqa.so.1" in loaded
