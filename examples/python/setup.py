"""Puts the library and the default model, as `make` stages them, into the package.

BERTQA_PREFIX names another installation to take them from.
"""

import os
import pathlib
import shutil

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

HERE = pathlib.Path(__file__).resolve().parent
PREFIX = pathlib.Path(os.environ.get("BERTQA_PREFIX", HERE.parents[1] / "build"))


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        library = PREFIX / "lib" / "libbertqa.so.1"
        models = PREFIX / "share" / "bertqa" / "models"
        if not library.exists() or not models.is_dir():
            raise SystemExit(f"{library} or {models} is missing: run `make` first, or set BERTQA_PREFIX")
        target = pathlib.Path(self.build_lib) / "bertqa" / "lib"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        shutil.copy(library, target / "libbertqa.so.1")
        # The library looks for its default model in "models" beside itself.
        shutil.copytree(models, target / "models")


class PlatformWheel(bdist_wheel):
    """A wheel for any Python 3 of this platform: the package holds machine code, but no extension module."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class BinaryDistribution(Distribution):
    def has_ext_modules(self):
        return True


setup(
    cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel},
    distclass=BinaryDistribution,
)
