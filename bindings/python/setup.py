"""Copies the library, the tool and the answering model, staged by `make`, into the package, and SQLite's extension if
`make sqlite` staged it.

BERTQA_PREFIX selects another installation as the source.
"""

import os
import pathlib
import re
import shutil
import struct

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

HERE = pathlib.Path(__file__).resolve().parent
PREFIX = pathlib.Path(os.environ.get("BERTQA_PREFIX", HERE.parents[1] / "build"))
LIBRARY, TOOL = PREFIX / "lib" / "libbertqa.so.1", PREFIX / "bin" / "bertqa"
EXTENSION = PREFIX / "lib" / "bertqa_sqlite.so"
#: The other models are in the package bertqa-models.
MODEL = "qa-minilm-l6"


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        model = PREFIX / "share" / "bertqa" / "models" / MODEL
        for needed in LIBRARY, TOOL, model:
            if not needed.exists():
                raise SystemExit(f"{needed} is missing: run `make` first, or set BERTQA_PREFIX")
        target = pathlib.Path(self.build_lib) / "bertqa" / "lib"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        for binary in binaries():
            shutil.copy(binary, target / binary.name)
        # The library and the tool look for their default models in "models" next to themselves.
        shutil.copytree(model, target / "models" / MODEL)


def binaries():
    return [file for file in (LIBRARY, TOOL, EXTENSION) if file.exists()]


# The minimum libstdc++ of systems with glibc 2.x, by auditwheel's policies.
LIBSTDCXX = {17: (3, 4, 19), 24: (3, 4, 22), 27: (3, 4, 24), 31: (3, 4, 28), 34: (3, 4, 29), 35: (3, 4, 30)}


#: ELF's machine numbers.
MACHINES = {62: "x86_64", 183: "aarch64"}


def manylinux(*files):
    """Returns the tag (PEP 600) of the oldest systems that can run these files; None if unknown.

    Their dynamic symbols contain the versions of glibc and libstdc++ that introduced them.
    """
    code = b"\0".join(file.read_bytes() for file in files)
    found = re.findall(rb"\0(GLIBC|GLIBCXX)_(\d+(?:\.\d+)+)(?=\0)", code)
    versions = [(name, tuple(map(int, version.split(b".")))) for name, version in found]
    glibc = [version[1] for name, version in versions if name == b"GLIBC"]
    libstdcxx = max((version for name, version in versions if name == b"GLIBCXX"), default=(0,))
    systems = [minor for minor, has in LIBSTDCXX.items() if has >= libstdcxx]
    # The architecture of the files, which can differ from that of this machine.
    [machine] = {MACHINES.get(struct.unpack_from("<H", file.read_bytes(), 18)[0]) for file in files}
    return f"manylinux_2_{max(glibc + systems[:1])}_{machine}" if glibc and systems and machine else None


class PlatformWheel(bdist_wheel):
    """A wheel for any Python 3 of this platform: the package contains machine code but no extension module."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", manylinux(*binaries()) or super().get_tag()[2]


class BinaryDistribution(Distribution):
    def has_ext_modules(self):
        return True


def description():
    """Returns the README; links to files outside the package become plain text."""
    text = (HERE / "README.md").read_text(encoding="utf-8")
    return re.sub(r"!?\[([^]]+)\]\((?!https?://|#)[^)]*\)", r"\1", text)


setup(
    long_description=description(),
    long_description_content_type="text/markdown",
    cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel},
    distclass=BinaryDistribution,
)
