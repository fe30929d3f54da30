"""The files that `make install` installs: programs find and use them, by pkg-config and by CMake, in any place."""

import os
import pathlib
import shlex
import shutil
import subprocess

import pytest

from conftest import PREFIX, ROOT, clean_environment
from installation import MULTIARCH, PROJECT, files, make, run
from samples import FOX, VERSION


@pytest.fixture(scope="module", params=[None, MULTIARCH], ids=["lib", "multiarch"])
def installed(request, tmp_path_factory):
    """An installation made for /opt/qa and moved elsewhere, with its library directory."""
    root = tmp_path_factory.mktemp("install")
    make("install", "/opt/qa", root / "staged", request.param)
    (root / "staged" / "opt" / "qa").rename(root / "moved")
    return root / "moved", root / "moved" / (request.param or "lib")


def test_layout(installed):
    prefix, libdir = installed
    library = f"libbertqa.so.1.{'.'.join(VERSION.split('.')[1:])}"
    assert os.readlink(libdir / "libbertqa.so") == "libbertqa.so.1"
    assert os.readlink(libdir / "libbertqa.so.1") == library
    expected = {
        *(libdir / name for name in ("libbertqa.so", "libbertqa.so.1", library, "pkgconfig/bertqa.pc")),
        *(libdir / "cmake" / "bertqa" / f"bertqaConfig{part}.cmake" for part in ("", "Version")),
        prefix / "bin/bertqa",
        prefix / "include/bertqa.h",
        prefix / "include/bertqa_experimental.h",
        *(prefix / "share/man/man1" / page.name for page in (ROOT / "docs/man").glob("*.1")),
        *(prefix / "share/doc/bertqa/docs" / page.name for page in (ROOT / "docs").glob("*.md")),
        *(
            prefix / "share/doc/bertqa" / name
            for name in ("LICENSE", "NOTICE", "README.md", "CHANGELOG.md", "SECURITY.md")
        ),
        prefix / "share/bash-completion/completions/bertqa",
        prefix / "share/zsh/site-functions/_bertqa",
        prefix / "share/fish/vendor_completions.d/bertqa.fish",
        *(prefix / "share/bertqa/models" / path for path in files(ROOT / "models")),
    }
    # test_links.py tells which other documents there are.
    documents = {path for path in files(prefix) if path.is_relative_to("share/doc/bertqa")}
    expected = {path.relative_to(prefix) for path in expected}
    assert files(prefix) - documents == {path for path in expected if not path.is_relative_to("share/doc/bertqa")}
    assert documents > expected & documents and len(expected & documents) > 15
    for path in files(prefix) - documents:
        assert b"@" not in (prefix / path).read_bytes() or path.suffix not in (".cmake", ".pc")
        mode = (prefix / path).stat().st_mode & 0o777
        assert mode == (0o755 if path.parts[0] == "bin" or path.name == library else 0o644) or path.name in (
            "libbertqa.so", "libbertqa.so.1",
        )  # fmt: skip


def test_moved_tool_finds_its_model(installed):
    command = [installed[0] / "bin" / "bertqa", "answer", "-q", "Who jumped over the dog?"]
    assert run(*command, input=FOX, env=clean_environment()) == "The quick brown fox\n"


def test_uninstall_leaves_what_it_did_not_install(tmp_path):
    other = tmp_path / "usr/share/bertqa/models/my-model/config.json"
    make("install", "/usr", tmp_path)
    other.parent.mkdir()
    other.write_text("{}")
    # From any directory; the build may be gone.
    make("uninstall", "/usr", os.path.relpath(tmp_path, ROOT), products="/nonexistent")
    make("uninstall", "/usr", tmp_path)  # again
    assert files(tmp_path) == {other.relative_to(tmp_path)}
    assert (tmp_path / "usr/bin").is_dir() and not (tmp_path / "usr/lib/cmake/bertqa").exists()


def test_uninstall_of_another_version(tmp_path):
    make("install", "/usr", tmp_path)
    make("uninstall", "/usr", tmp_path, version="9.8.7", library="libbertqa.so.1.8.7")
    assert files(tmp_path) == set()


def test_all_can_read_what_root_installs(tmp_path):
    before = os.umask(0o077)
    try:
        make("install", "/opt/qa", tmp_path)
    finally:
        os.umask(before)
    top = tmp_path / "opt"
    private = [path for path in top.rglob("*") if not path.is_symlink() and path.stat().st_mode & 0o044 != 0o044]
    assert private == []


@pytest.mark.parametrize(
    "variables, complaint",
    [
        (["DESTDIR=a b"], "paths with spaces are not supported"),
        (["PREFIX=out"], "PREFIX and LIBDIR must begin with /"),
        (["LIBDIR=lib"], "PREFIX and LIBDIR must begin with /"),
    ],
)
def test_paths_that_make_refuses(variables, complaint):
    for target in "install-files", "uninstall":
        done = subprocess.run(["make", target, *variables], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 2 and complaint in done.stderr


def test_pkg_config(tmp_path):
    """The paths are those passed to make."""
    make("install", tmp_path / "usr", "", MULTIARCH)
    environment = clean_environment() | {"PKG_CONFIG_PATH": str(tmp_path / "usr" / MULTIARCH / "pkgconfig")}
    assert run("pkg-config", "--modversion", "bertqa", env=environment) == VERSION + "\n"
    flags = shlex.split(run("pkg-config", "--cflags", "--libs", "bertqa", env=environment))
    program = tmp_path / "answer"
    run("cc", "-o", program, ROOT / "examples" / "c" / "answer.c", *flags)
    environment["LD_LIBRARY_PATH"] = str(tmp_path / "usr" / MULTIARCH)
    assert "The quick brown fox" in run(program, "Who jumped over the dog?", FOX, env=environment)


# CMake

PROGRAM = """
#include <bertqa.h>
#include <iostream>

int main() {
  std::cout << bertqa_version() << std::endl;
  return bertqa_abi_version() == BERTQA_ABI_VERSION ? 0 : 1;
}
"""


def test_cmake_project(installed, tmp_path):
    """Finds the package, links it from C and C++, and runs with the run path that CMake sets."""
    (tmp_path / "CMakeLists.txt").write_text(PROJECT.format(source=ROOT / "examples" / "c" / "answer.c"))
    (tmp_path / "in_cxx.cc").write_text(PROGRAM)
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={installed[0]}")
    run("cmake", "--build", tmp_path / "build")
    environment = clean_environment()
    assert run(tmp_path / "build" / "in_cxx", env=environment) == VERSION + "\n"
    answer = run(tmp_path / "build" / "in_c", "Who jumped over the dog?", FOX, env=environment)
    assert "The quick brown fox" in answer


MAJOR, MINOR, PATCH = map(int, VERSION.split("."))


@pytest.mark.parametrize(
    "wanted, found",
    [
        ("", True),
        (f"{MAJOR}.{MINOR}", True),
        (VERSION, True),
        (f"{VERSION} EXACT", True),
        (f"{MAJOR}.{MINOR}.{PATCH + 1}", False),
        (f"{MAJOR}.{MINOR}.{PATCH + 1} EXACT", False),
        (f"{MAJOR}.{MINOR + 1}", False),
        (f"{MAJOR + 1}", False),
        (f"0.0.1...{MAJOR}.{MINOR + 1}", True),
        (f"0.0.1...{VERSION}", True),
        (f"0.0.1...<{VERSION}", False),
        (f"{MAJOR}.{MINOR + 1}...{MAJOR + 1}", False),
    ],
)
def test_cmake_versions(wanted, found, tmp_path):
    script = tmp_path / "CMakeLists.txt"
    script.write_text(
        f"cmake_minimum_required(VERSION 3.19)\nproject(p LANGUAGES NONE)\nfind_package(bertqa {wanted})\n"
        'message(STATUS "found: ${bertqa_FOUND}, version ${bertqa_VERSION}.")\n'
    )
    output = run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={PREFIX}")
    assert f"found: 1, version {VERSION}." in output if found else "found: 0, version ." in output


def test_cmake_says_what_is_missing(tmp_path):
    shutil.copytree(PREFIX / "lib" / "cmake", tmp_path / "lib" / "cmake")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.12)\nproject(p LANGUAGES C)\nfind_package(bertqa REQUIRED)\n"
    )
    command = ["cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={tmp_path}"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode != 0 and "the installation is incomplete" in " ".join(result.stderr.split())
    assert str(tmp_path / "include" / "bertqa.h") in "".join(result.stderr.split())


def test_cmake_through_a_link_to_lib(tmp_path):
    """/lib is a link to /usr/lib, and CMake finds the package as /lib/cmake/bertqa."""
    (tmp_path / "usr").symlink_to(PREFIX)
    (tmp_path / "lib").symlink_to(pathlib.Path("usr") / "lib")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.12)\nproject(p LANGUAGES C)\nfind_package(bertqa REQUIRED)\n"
        "get_target_property(directory bertqa::bertqa INTERFACE_INCLUDE_DIRECTORIES)\n"
        'message(STATUS "include: ${directory}.")\n'
    )
    output = run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={tmp_path}")
    assert f"include: {PREFIX.resolve() / 'include'}." in output
