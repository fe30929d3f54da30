"""The component of spaCy."""

from importlib.metadata import EntryPoint

import pytest

from conftest import FIXTURES, PACKAGE
from hosts import TEXTS, host

spacy = host("spacy")

from spacy.training import Example  # noqa: E402

import bertqa.spacy  # noqa: E402

SENTENCE = "The quick brown fox jumps over the lazy dog."


def test_entities(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("bertqa", config={"threshold": 0.5, "names": {"person": "PERSON"}})
    found = [(entity.text, entity.label_) for entity in nlp(TEXTS[1]).ents]
    assert found == [("Ann Smith", "PERSON"), ("Oslo", "location"), ("Paris", "location")]
    docs = list(nlp.pipe(TEXTS * 3, batch_size=4))
    assert [doc.text for doc in docs] == TEXTS * 3
    assert [(entity.text, entity.label_) for entity in docs[4].ents] == found
    assert nlp.get_pipe("bertqa").labels == ("PERSON", "location", "organisation")
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    assert [(entity.text, entity.label_) for entity in again(TEXTS[1]).ents] == found


def test_labels_with_hyphens():
    nlp = spacy.blank("en")
    nlp.add_pipe("bertqa", config={"model": str(FIXTURES / "tiny-bert-entities"), "names": {"MISC-A": "other"}})
    assert nlp.get_pipe("bertqa").labels == ("LOC", "PER", "other")


def test_evaluation():
    nlp = spacy.blank("en")
    nlp.add_pipe("bertqa", config={"threshold": 0.5})
    example = Example.from_dict(nlp.make_doc(TEXTS[1]), {"entities": [(0, 9, "person"), (21, 25, "location")]})
    scores = nlp.evaluate([example])
    assert (scores["ents_r"], scores["ents_p"]) == (1, pytest.approx(2 / 3))


def test_other_components():
    """Entities of another component stay where these do not overlap them."""
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "YEAR", "pattern": "2019"}])
    nlp.add_pipe("bertqa", config={"labels": ["person"]})
    assert [(entity.text, entity.label_) for entity in nlp(TEXTS[1]).ents][-1] == ("2019", "YEAR")
    assert "location" not in {entity.label_ for entity in nlp(TEXTS[1]).ents}


def test_the_error_handler():
    nlp = spacy.blank("en")
    nlp.add_pipe("bertqa", config={"model": str(FIXTURES / "no-model")})
    with pytest.raises(bertqa.ModelNotFoundError):
        list(nlp.pipe(TEXTS))
    failed = []
    nlp.set_error_handler(lambda name, component, docs, error: failed.append((name, len(docs), type(error))))
    assert list(nlp.pipe(TEXTS, batch_size=2)) == []
    assert failed == [("bertqa", count, bertqa.ModelNotFoundError) for count in (2, 1)]
    nlp(TEXTS[0])
    assert failed[2] == ("bertqa", 1, bertqa.ModelNotFoundError)


def test_the_entry_point():
    """spaCy finds the component of the wheel by this line."""
    [line] = [line for line in (PACKAGE / "pyproject.toml").read_text().splitlines() if "bertqa.spacy:" in line]
    name, value = line.replace('"', "").split(" = ")
    assert name == "bertqa" and EntryPoint(name, value, "spacy_factories").load() is bertqa.spacy.make


def test_labels_of_the_caller_s_choice():
    labels = {"film or river": None, "person": 1, "time": 1}
    with bertqa.Context(FIXTURES / "tiny-gliner") as context:
        expected = [(one.text, one.label) for one in context.entities(SENTENCE, labels=labels, threshold=0.4)]
    nlp = spacy.blank("en")
    config = {
        "model": str(FIXTURES / "tiny-gliner"),
        "labels": labels,
        "threshold": 0.4,
        "names": {"person": "PERSON"},
    }
    component = nlp.add_pipe("bertqa", config=config)
    found = [(entity.text, entity.label_) for entity in nlp(SENTENCE).ents]
    assert len(found) > 1 and {label for _, label in expected} == {"film or river"}
    assert found == [(text, {"person": "PERSON"}.get(label, label)) for text, label in expected]
    assert component.labels == ("PERSON", "film or river", "time")
