"""The recognizer of Presidio, in its analyzer without a model of spaCy."""

import json

import pytest

from conftest import FIXTURES
from hosts import host

host("presidio_analyzer")

from presidio_analyzer import AnalyzerEngine, RecognizerRegistry  # noqa: E402
from presidio_analyzer.nlp_engine import NlpArtifacts, NlpEngine  # noqa: E402
from presidio_analyzer.recognizer_registry import RecognizerRegistryProvider  # noqa: E402

import bertqa  # noqa: E402
from bertqa.presidio import BertQARecognizer  # noqa: E402

TEXT = "Ann Smith of Oslo wrote from ann@example.org and 10.0.0.1."


class Nothing(NlpEngine):
    """An engine that reads nothing: the recognizer needs none."""

    def load(self):
        pass

    def is_loaded(self):
        return True

    def process_text(self, text, language):
        return NlpArtifacts([], [], [], [], self, language)

    def process_batch(self, texts, language, **options):
        return ((text, self.process_text(text, language)) for text in texts)

    def is_stopword(self, word, language):
        return False

    def is_punct(self, word, language):
        return False

    def get_supported_entities(self):
        return []

    def get_supported_languages(self):
        return ["en"]


def engine(*recognizers):
    registry = RecognizerRegistry(recognizers=recognizers, supported_languages=["en"])
    return AnalyzerEngine(registry=registry, nlp_engine=Nothing(), supported_languages=["en"])


@pytest.fixture(scope="module")
def analyzer():
    return engine(BertQARecognizer("entities-minilm-l6"))


def test_analyzer(analyzer):
    found = {(TEXT[one.start : one.end], one.entity_type) for one in analyzer.analyze(TEXT, language="en")}
    assert found == {
        ("Ann Smith", "PERSON"),
        ("Oslo", "LOCATION"),
        ("ann@example.org", "EMAIL_ADDRESS"),
        ("10.0.0.1", "IP_ADDRESS"),
    }
    some = analyzer.analyze(TEXT, language="en", entities=["PERSON"])
    assert [one.entity_type for one in some] == ["PERSON"]


def test_context_raises_scores():
    """Presidio's enhancer needs an explanation in each result."""
    recognizer = BertQARecognizer("entities-minilm-l6", rules=[], context=["author"])
    plain, raised = (
        engine(recognizer).analyze(TEXT[:17], language="en", context=words, return_decision_process=True)
        for words in ([], ["author"])
    )
    assert len(plain) == len(raised) == 2 and all(one.score < 1 for one in plain)
    for before, after in zip(plain, raised):
        why = after.analysis_explanation
        assert before.score == why.original_score < after.score == why.score
        assert why.supportive_context_word == "author" and why.recognizer == recognizer.name


def test_a_configuration_file_names_a_subclass(tmp_path):
    """Presidio passes no other arguments than its own."""

    class Names(BertQARecognizer):
        def __init__(self, **options):
            super().__init__("entities-minilm-l6", rules=["email"], **options)

    languages = [{"language": "en", "context": ["author"]}]
    listed = [{"name": "Names", "type": "predefined", "supported_languages": languages}]
    file = tmp_path / "recognizers.yaml"
    file.write_text(json.dumps({"supported_languages": ["en"], "recognizers": listed}))
    [made] = RecognizerRegistryProvider(conf_file=file).create_recognizer_registry().recognizers
    assert type(made) is Names and made.context == ["author"]
    assert {one.entity_type for one in made.analyze(TEXT, [])} == {"EMAIL_ADDRESS", "PERSON", "LOCATION"}


def test_rules_alone():
    recognizer = BertQARecognizer(rules=["ip", "email"])
    assert recognizer.get_supported_entities() == ["IP_ADDRESS", "EMAIL_ADDRESS"]
    assert [one.entity_type for one in recognizer.analyze(TEXT, [])] == ["EMAIL_ADDRESS", "IP_ADDRESS"]
    assert BertQARecognizer(rules="ip").rules == ["ip"]
    named = BertQARecognizer("entities-minilm-l6", rules=[], names={"person": "NAME"})
    assert named.get_supported_entities() == ["LOCATION", "ORGANIZATION", "NAME"]


def test_a_recognizer_is_made_again_from_its_dict():
    made = BertQARecognizer(
        "entities-minilm-l6", ["email"], {"person": "NAME"}, 0.6, name="mine", regions=["us"], context=["author"]
    )
    again = BertQARecognizer.from_dict(made.to_dict())
    assert again.context == ["author"]
    assert again.to_dict() == made.to_dict() and again.analyze(TEXT, []) == made.analyze(TEXT, [])
    assert {one.entity_type for one in again.analyze(TEXT, [])} == {"NAME", "LOCATION", "EMAIL_ADDRESS"}
    with bertqa.Context(task="entities") as context:
        again = BertQARecognizer.from_dict(BertQARecognizer(context, rules=[]).to_dict())
    assert {one.entity_type for one in again.analyze(TEXT, [])} == {"PERSON", "LOCATION"}
    some = BertQARecognizer("entities-minilm-l6", supported_entities=["PERSON"])
    assert [one.entity_type for one in some.analyze(TEXT, [])] == ["PERSON"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"rules": ["no"]},
        {"labels": ["no"]},
        {"labels": "person"},
        {"threshold": 2},
        {"regions": ["xx"]},
        {"supported_entities": "PERSON"},
        {"rules": 5},
        {"regions": [5]},
        {"labels": [5]},
    ],
)
def test_invalid_arguments_are_rejected_at_once(wrong):
    [name] = wrong
    with pytest.raises((ValueError, TypeError), match=f"^({name}|patterns) (is|has) "):
        BertQARecognizer("entities-minilm-l6", **wrong)


def test_labels_of_the_caller_s_choice():
    path, text = FIXTURES / "tiny-gliner", "The quick brown fox jumps over the lazy dog."
    labels = {"film or river": None, "person": 1, "time": 1}
    with bertqa.Context(path) as context:
        expected = [
            (one.start, one.end, one.label.upper()) for one in context.entities(text, labels=labels, threshold=0.4)
        ]
    recognizer = BertQARecognizer(path, rules=[], labels=labels, threshold=0.4)
    assert recognizer.get_supported_entities() == ["FILM OR RIVER", "PERSON", "TIME"]
    found = [(one.start, one.end, one.entity_type) for one in recognizer.analyze(text, [])]
    assert found == expected and len(found) > 1
    assert {kind for *_, kind in found} == {"FILM OR RIVER"}
