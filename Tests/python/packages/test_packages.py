"""The Debian package, installed and removed, and the source tarball that Tests/reproducible.sh builds."""

import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from conftest import ROOT, clean_environment
from installation import ENVIRONMENT, MULTIARCH, files, run
from samples import FOX, VERSION, WHO
from sqlite import library

# The Debian package


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    directory = tmp_path_factory.mktemp("deb")
    run(ROOT / "Scripts" / "deb.sh", directory, env=ENVIRONMENT)
    [package] = directory.glob("*.deb")
    return package


@pytest.fixture(scope="module")
def root(package, tmp_path_factory):
    """A directory where dpkg has installed the package as if it were the whole system."""
    root = tmp_path_factory.mktemp("root")
    (root / "var/lib/dpkg").mkdir(parents=True)
    for name in "status", "available":
        (root / "var/lib/dpkg" / name).touch()
    dpkg(root, "--force-depends", "--install", package)
    return root


def dpkg(root, *arguments):
    # Without root's rights, and without the programs that maintainer scripts would need.
    prefix = [] if os.geteuid() == 0 else ["fakeroot"]
    options = [f"--root={root}", f"--log={root}/log", "--force-script-chrootless", "--force-bad-path"]
    return run(*prefix, "dpkg", *options, *arguments, env=clean_environment())


def fields(package):
    lines = run("dpkg-deb", "--field", package).splitlines()
    return dict(line.split(": ", 1) for line in lines if not line.startswith(" "))


def test_control(package):
    architecture = run("dpkg", "--print-architecture").strip()
    assert package.name == f"bertqa_{VERSION}_{architecture}.deb"
    control = fields(package)
    assert (control["Package"], control["Version"], control["Architecture"]) == ("bertqa", VERSION, architecture)
    assert {"libbertqa1", "libbertqa-dev"} == set(re.findall(r"(\S+) \(=", control["Provides"]))
    assert "@" not in re.sub("<.*>", "", run("dpkg-deb", "--field", package))


def test_dependencies_are_what_the_binaries_need(package, root, tmp_path):
    """A dependency for each library outside the package, with the glibc version that the symbols need. Debian's
    own tool finds the same, if it knows the architecture."""
    depends = dict(re.findall(r"([a-z0-9+-]+) \(>= ([0-9.]+)\)", fields(package)["Depends"]))
    binaries = [root / "usr/bin/bertqa", root / "usr" / MULTIARCH / "libbertqa.so.1"]
    symbols = run("readelf", "--version-info", "--wide", *binaries)
    newest = max(int(minor) for minor in re.findall(r"Name: GLIBC_2\.(\d+)", symbols))
    assert depends["libc6"] == f"2.{newest}"
    needed = set(re.findall(r"NEEDED.*\[(.*?)\]", run("readelf", "--dynamic", "--wide", *binaries)))
    known = {"libc.so": "libc6", "libm.so": "libc6", "ld-linux": "libc6", "libstdc++.so": "libstdc++6"}
    packages = {
        next(v for k, v in {**known, "libgcc_s": "libgcc-s1"}.items() if name.startswith(k)) for name in needed
    }
    assert set(depends) == packages
    run("mkdir", "-p", tmp_path / "debian")
    (tmp_path / "debian" / "control").touch()
    found = run("dpkg-shlibdeps", "-O", *binaries, cwd=tmp_path)
    assert found.strip() == f"shlibs:Depends={fields(package)['Depends']}"


def test_dependencies_of_other_libraries_are_refused(tmp_path):
    """Unknown libraries are refused by name; known ones are not left out. A file that cannot be read is an error."""
    (tmp_path / "a.c").write_text("int deflateEnd(void *); int main(void) { return deflateEnd(0); }")
    run("cc", "-o", tmp_path / "a", tmp_path / "a.c", "-Wl,--no-as-needed", "-l:libz.so.1")
    command = [ROOT / "Scripts" / "dependencies.sh", tmp_path / "a"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode != 0 and "no package is known for libz.so.1" in result.stderr
    result = subprocess.run([*command[:1], tmp_path / "none"], capture_output=True, text=True)
    assert result.returncode != 0 and "none" in result.stderr


def test_this_system_meets_the_dependencies(package):
    plan = run("apt-get", "--simulate", "--no-download", "install", package, env=clean_environment())
    assert re.search(rf"^Inst bertqa .*\({re.escape(VERSION)} ", plan, re.M)
    assert len(re.findall(r"^Inst ", plan, re.M)) == 1


def test_installed_tool_and_library_work(root, tmp_path):
    assert "ok installed" in dpkg(root, "--status", "bertqa")
    environment = clean_environment()
    assert run(root / "usr/bin/bertqa", "answer", "-q", WHO, input=FOX, env=environment) == "The quick brown fox\n"
    # A program that links the library as it lies in /usr, but of this root.
    environment["PKG_CONFIG_LIBDIR"] = str(root / "usr" / MULTIARCH / "pkgconfig")
    environment["PKG_CONFIG_SYSROOT_DIR"] = str(root)
    environment["PKG_CONFIG_ALLOW_SYSTEM_CFLAGS"] = environment["PKG_CONFIG_ALLOW_SYSTEM_LIBS"] = "1"
    flags = run("pkg-config", "--cflags", "--libs", "bertqa", env=environment).split()
    assert f"-L{root}/usr/{MULTIARCH}" in flags
    run("cc", "-o", tmp_path / "answer", ROOT / "examples/c/answer.c", *flags)
    environment["LD_LIBRARY_PATH"] = str(root / "usr" / MULTIARCH)
    assert "The quick brown fox" in run(tmp_path / "answer", WHO, FOX, env=environment)


def test_installed_sqlite_extension_works(root):
    if library is None:
        pytest.skip("the Debian package's SQLite extension: needs libsqlite3")
    # In a process of its own, which has not loaded the library of this checkout.
    extension = root / "usr" / MULTIARCH / "bertqa_sqlite.so"
    ask = f"Database(extension={str(extension)!r}).value('SELECT bertqa_answer(?, ?)', {WHO!r}, {FOX!r})"
    code = f"from sqlite import Database; print({ask})"
    environment = clean_environment() | {"PYTHONPATH": str(ROOT / "Tests" / "python")}
    assert run(sys.executable, "-c", code, env=environment) == "The quick brown fox\n"


def test_files_are_as_debian_wants_them(package, root, tmp_path):
    listing = run("dpkg-deb", "--contents", package)
    assert all(line.split()[1] == "root/root" for line in listing.splitlines())
    assert not re.search(r"^-(?!rw-r--r--|rwxr-xr-x)|^d(?!rwxr-xr-x)", listing, re.M)
    assert "bertqa" in gzip.decompress((root / "usr/share/man/man1/bertqa.1.gz").read_bytes()).decode()
    for path in "doc/bertqa/copyright", "zsh/vendor-completions/_bertqa", "bash-completion/completions/bertqa":
        assert (root / "usr/share" / path).is_file()
    assert dpkg(root, "--verify", "bertqa") == ""
    run("dpkg-deb", "--control", package, tmp_path / "DEBIAN")
    assert files(tmp_path / "DEBIAN") == {
        pathlib.Path(name) for name in ("control", "md5sums", "shlibs", "triggers")
    }


def test_removal_leaves_nothing(package, root, tmp_path):
    copy = tmp_path / "root"
    shutil.copytree(root, copy, symlinks=True)
    dpkg(copy, "--purge", "bertqa")
    assert {path.parts[0] for path in files(copy)} == {"var", "log"} and not (copy / "usr").exists()


# The tarball


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    directory = tmp_path_factory.mktemp("dist")
    run(ROOT / "Scripts" / "dist.sh", directory, env=ENVIRONMENT)
    run("tar", "-xzf", directory / f"libbertqa-{VERSION}.tar.gz", "-C", directory)
    return directory / f"libbertqa-{VERSION}"


def test_tarball_has_the_sources_and_nothing_else(sources):
    found = {str(path) for path in files(sources)}
    if (ROOT / ".git").exists() and shutil.which("git"):
        tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
        # Git refuses a checkout that belongs to another user.
        assert tracked.returncode != 0 or found == set(tracked.stdout.split("\0")) - {""}
    assert not [path for path in found if path.startswith((".build", "build", ".venv", ".git/"))]
    for path in (
        "LICENSE",
        "Makefile",
        "Package.swift",
        "include/bertqa.h",
        "include/bertqa_experimental.h",
        "models/qa-minilm-l6/model.safetensors",
    ):
        assert (sources / path).read_bytes() == (ROOT / path).read_bytes()
    assert not list(sources.rglob("*.pyc"))
    assert os.access(sources / "Scripts" / "demo.sh", os.X_OK)


def test_tarball_makes_itself(sources, tmp_path):
    """The tarball makes the same bytes, even from a tree with build products."""
    copy = tmp_path / "copy"
    shutil.copytree(sources, copy, symlinks=True)
    for name in ".build/x", "build/lib/x", ".venv/x", "bindings/python/bertqa/__pycache__/x.pyc":
        (copy / name).parent.mkdir(parents=True)
        (copy / name).touch()
    run(copy / "Scripts" / "dist.sh", tmp_path, env=ENVIRONMENT)
    name = f"libbertqa-{VERSION}.tar.gz"
    assert (tmp_path / name).read_bytes() == (sources.parent / name).read_bytes()
