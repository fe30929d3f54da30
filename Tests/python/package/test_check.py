"""bertqa.check on models that other libraries would read as something else; make test-parity compares with the others."""

import pytest

import bertqa
import bertqa.check
from conftest import FIXTURES


@pytest.mark.parametrize("kind", ["int8", "words", "vectors"])
def test_models_of_our_own(kind, tmp_path, capsys):
    directory = tmp_path / "model"
    if kind == "int8":
        bertqa.quantize(FIXTURES / "tiny-bert-embedder", directory)
    else:
        features = {"features": "embedding", "embedding_model": FIXTURES / "tiny-bert-embedder"}
        texts = ["the dog barks now", "the dog sleeps now", "a king rules today", "a king sleeps today"]
        bertqa.train_classifier(
            texts, ["dog", "dog", "king", "king"], directory, folds=0, **(features if kind == "vectors" else {})
        )
    with bertqa.Context(directory) as context:
        assert bertqa.check.compare(directory, context) == 0
        name = context.info.task
    assert f"{name}: not compared: no other library reads this kind of model\n" in capsys.readouterr().out
