"""The checkout, and the staged tree of $BERTQA_PREFIX, by default of `make`."""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[1]
PREFIX = pathlib.Path(os.environ.get("BERTQA_PREFIX", ROOT / "build"))
TOOL = PREFIX / "bin" / "bertqa"
