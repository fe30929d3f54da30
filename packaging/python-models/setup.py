"""Copies the default models, which `make` stages, into the package, except the one in the package bertqa.

BERTQA_PREFIX selects another installation as the source, BERTQA_MODELS another directory of models.
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


class BuildWithModels(build_py):
    def run(self):
        super().run()
        models = pathlib.Path(os.environ.get("BERTQA_MODELS", PREFIX / "share" / "bertqa" / "models"))
        if not models.exists():
            raise SystemExit(f"{models} is missing: run `make` first, or set BERTQA_PREFIX")
        target = pathlib.Path(self.build_lib) / "bertqa_models"
        for model in models.iterdir():
            if model.name != "qa-minilm-l6":
                shutil.rmtree(target / model.name, ignore_errors=True)
                shutil.copytree(model, target / model.name)


class WheelForAny(bdist_wheel):
    def get_tag(self):
        return "py3", "none", "any"


class BesideMachineCode(Distribution):
    """Installs where packages with machine code go, such as bertqa: the library looks for the models there."""

    def has_ext_modules(self):
        return True


setup(
    packages=["bertqa_models"],
    cmdclass={"build_py": BuildWithModels, "bdist_wheel": WheelForAny},
    distclass=BesideMachineCode,
)
