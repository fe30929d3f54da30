"""Context.entities, patterns and redact, on tiny models with random weights."""

import json
import shutil

import pyarrow
import pytest

import bertqa
from conftest import FIXTURES

NAMES = ["tiny-bert-entities", "tiny-distilbert-entities"]
TEXT = "In Paris, King Rivière of France \U0001f98a made a film about the river."


@pytest.fixture(scope="module")
def tagger():
    with bertqa.Context(FIXTURES / NAMES[0], precision="f32") as context:
        yield context


def spelled(found):
    return [(entity.start, entity.end, entity.label) for entity in found]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("aggregation", ["none", "simple", "first", "average", "max", None])
def test_entities_are_those_of_transformers(name, aggregation):
    expected = json.loads((FIXTURES / name / "expected.json").read_text())
    with bertqa.Context(FIXTURES / name, precision="f32") as context:
        assert context.info.task == "entities" and len(context.info.labels) > 2
        found = context.entities_batch(expected["texts"], aggregation=aggregation)
        for text, own, theirs in zip(
            expected["texts"], found, expected["entities"][aggregation or "simple"], strict=True
        ):
            assert spelled(own) == [tuple(entity[:3]) for entity in theirs]
            assert all(abs(mine.score - entity[3]) < 2e-5 for mine, entity in zip(own, theirs))
            assert own == context.entities(text, aggregation=aggregation) and own.window_count == 1


def test_what_comes_back(tagger):
    found = tagger.entities(TEXT)
    assert isinstance(found, bertqa.EntityList) and len(found) == len(found.entities) > 3
    assert found[0] is found.entities[0] and list(found) == found.entities
    data = TEXT.encode()
    for entity, same in zip(found, tagger.entities(data), strict=True):
        assert isinstance(entity, bertqa.Entity) and TEXT[entity.start : entity.end] == entity.text
        assert data[slice(*entity.byte_range)].decode() == entity.text
        assert TEXT.encode("utf-16-le")[2 * entity.utf16_range[0] : 2 * entity.utf16_range[1]].decode(
            "utf-16-le"
        ) == (entity.text)
        assert (same.start, same.end) == same.byte_range == entity.byte_range and same.text == entity.text.encode()
        assert 0 < entity.score <= 1 and same.label == entity.label
    assert len(tagger.entities("")) == 0 and tagger.entities("").window_count == 0
    assert tagger.entities_batch([]) == []


def test_options(tagger):
    every = tagger.entities(TEXT)
    labels = {entity.label for entity in every}
    assert "O" not in labels and "PER" in labels and len(labels) > 1
    per = [entity for entity in every if entity.label == "PER"]
    assert list(tagger.entities(TEXT, labels=["PER"])) == per
    assert list(tagger.entities(TEXT, labels=(label for label in ["I-PER"]))) == per
    assert "O" in {entity.label for entity in tagger.entities(TEXT, ignore_labels=[])}
    assert {e.label for e in tagger.entities(TEXT, ignore_labels=["O", "PER"])} == labels - {"PER"}
    assert {e.label[:2] for e in tagger.entities(TEXT, aggregation="none")} <= {"B-", "I-"}
    threshold = sorted(entity.score for entity in every)[1]
    assert len(tagger.entities(TEXT, threshold=threshold)) == len(every) - 1
    assert tagger.entities(TEXT, threshold=0) == every
    with pytest.raises(TypeError, match="labels: a threshold is '1', but must be a number"):
        tagger.entities(TEXT, labels={"PER": "1"})
    assert tagger.entities(TEXT, max_seq_len=10, doc_stride=0).window_count > 1
    for wrong in [
        {"aggregation": "mean"}, {"threshold": 2.0}, {"labels": ["CITY"]}, {"labels": []}, {"max_seq_len": 7},
    ]:  # fmt: skip
        with pytest.raises(bertqa.InvalidArgument):
            tagger.entities(TEXT, **wrong)
    for wrong in [{"labels": "PER"}, {"label_count": 1}, {"unknown": 1}]:
        with pytest.raises(TypeError):
            tagger.entities(TEXT, **wrong)
    with pytest.raises(bertqa.WrongModel), bertqa.Context(FIXTURES / "tiny-bert") as other:
        other.entities("a")


def test_labels_are_compared_by_their_bytes(tagger, tmp_path):
    """A model's labels that look alike are not the same."""
    names = {"PER": "caf\u00e9", "LOC": "cafe\u0301"}
    directory = shutil.copytree(FIXTURES / NAMES[0], tmp_path / "model")
    config = (directory / "config.json").read_text()
    for plain, name in names.items():
        config = config.replace(f"-{plain}", f"-{name}")
    (directory / "config.json").write_text(config, encoding="utf-8")
    with bertqa.Context(directory, precision="f32") as context:
        for aggregation in "simple", "average":
            expected = [
                (entity.start, entity.end, names.get(entity.label, entity.label))
                for entity in tagger.entities(TEXT, aggregation=aggregation)
            ]
            found = context.entities(TEXT, aggregation=aggregation)
            assert spelled(found) == expected and set(names.values()) <= {entity.label for entity in found}
            for name in names.values():
                wanted = context.entities(TEXT, aggregation=aggregation, labels=[name])
                assert spelled(wanted) == [entity for entity in expected if entity[2] == name]
                others = context.entities(TEXT, aggregation=aggregation, ignore_labels=["O", name])
                assert spelled(others) == [entity for entity in expected if entity[2] != name]


def test_a_batch_keeps_what_fails(tagger):
    texts = [TEXT, "King " * 60, b"Paris"]
    results = tagger.entities_batch(texts, return_exceptions=True, max_bytes=400)
    assert [isinstance(result, bertqa.TooLarge) for result in results] == [False, True, False]
    assert results[1].item == 1 and results[2] == tagger.entities(b"Paris")
    with pytest.raises(bertqa.TooLarge) as raised:
        tagger.entities_batch(texts, max_bytes=400)
    assert raised.value.item == 1
    with pytest.raises(TypeError):
        tagger.entities_batch("one text")
    with pytest.raises(bertqa.Cancelled):
        tagger.entities(TEXT, cancel=lambda: True)


MAIL = "Jörg: jörg@example.org, +49 30 901820, 4111 1111 1111 1111, GB82 WEST 1234 5698 7654 32, ::1, www.a.de/b"


def test_patterns():
    found = bertqa.patterns(MAIL)
    assert [entity.label for entity in found] == ["EMAIL", "PHONE", "CARD", "IBAN", "IP", "URL"]
    assert all(MAIL[e.start : e.end] == e.text and e.score == 1 for e in found) and found.window_count == 0
    assert [entity.text for entity in bertqa.patterns(MAIL, ["ip", "card"])] == ["4111 1111 1111 1111", "::1"]
    assert [entity.text for entity in bertqa.patterns(MAIL.encode(), "email")] == ["jörg@example.org".encode()]
    assert len(bertqa.patterns("")) == 0
    text = "143-69-1724, 00:1a:2b:3c:4d:5e, 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"
    assert [entity.label for entity in bertqa.patterns(text)] == ["CRYPTO"]
    assert [entity.label for entity in bertqa.patterns(text, ["us", "mac"])] == ["US_SSN", "MAC"]
    for wrong in [["mail"], []]:
        with pytest.raises(bertqa.InvalidArgument):
            bertqa.patterns(MAIL, wrong)
    assert [len(bertqa.patterns("it is 80991098", regions=regions)) for regions in (None, [], ["DE"], "dk")] == [
        0,
        0,
        0,
        1,
    ]
    with pytest.raises(bertqa.InvalidArgument, match="regions"):
        bertqa.patterns(MAIL, regions=["DE", "Denmark"])
    with pytest.raises(bertqa.Cancelled):
        bertqa.patterns(MAIL, cancel=lambda: True)


def test_redaction(tagger):
    found = bertqa.patterns(MAIL, ["email", "ip"])
    assert bertqa.redact(MAIL, found).startswith("Jörg: [EMAIL], +49") and "[IP], www" in bertqa.redact(
        MAIL, found
    )
    assert bertqa.redact(MAIL.encode(), bertqa.patterns(MAIL.encode())).count(b"[") == 6
    assert bertqa.redact(MAIL, found, "*").startswith("Jörg: *, +49")
    assert bertqa.redact(MAIL, found, "").startswith("Jörg: , +49")
    assert bertqa.redact(MAIL, []) == MAIL
    both = found + tagger.entities(MAIL)
    assert both == found.entities + tagger.entities(MAIL).entities
    text = bertqa.redact(MAIL, both)
    assert "example" not in text and text == bertqa.redact(MAIL, reversed(both))

    def entity(label, start, end):
        return bertqa.Entity("", label, start, end, (start, end), (start, end), 1.0)

    crossing = [entity("C", 3, 8), entity("B", 0, 4), entity("A", 0, 3), entity("D", 8, 10)]
    assert bertqa.redact("0123456789", crossing) == "[B][D]"
    # One without a character stands before the one that it lies in, which is still replaced as a whole.
    accented = "ae\u0301\u0302b".encode()
    inside = entity("A", 3, 3)
    assert bertqa.redact(accented, [inside]) == b"a[A]" + accented[1:]
    assert bertqa.redact(accented, [inside, entity("B", 4, 6)]) == b"a[A][B]b"
    with pytest.raises(bertqa.InvalidArgument):
        bertqa.redact("0123", [entity("A", 2, 5)])
    for text, replacement in (MAIL, b"*"), (MAIL.encode(), "*"):
        with pytest.raises(TypeError, match="of the text's type"):
            bertqa.redact(text, [], replacement)


def test_columns(tagger):
    texts = [TEXT, None, "", "the fox", TEXT * 20]
    column = bertqa.entities_column(tagger, pyarrow.array(texts))
    column.validate(full=True)
    assert column.type.value_type.names == ["label", "text", "start", "end", "score"]
    for row, text in zip(column.to_pylist(), texts, strict=True):
        if text is None:
            assert row is None
            continue
        found = tagger.entities(text)
        assert row == [
            {"label": e.label, "text": e.text, "start": e.start, "end": e.end, "score": e.score} for e in found
        ]
    simple = bertqa.entities_column(tagger, pyarrow.array([TEXT]), labels=["PER"]).to_pylist()[0]
    assert {entity["label"] for entity in simple} == {"PER"}


def test_the_default_model():
    text = "Zoë's boss Ann Smith of Acme Corp. flew from Oslo to New York on Monday."
    with bertqa.Context(task="entities", precision="f32") as context:
        found = context.entities(text, threshold=0.5)
        none = context.entities("The quick brown fox jumps over the lethargic dog.")
    assert {("person", "Ann Smith"), ("location", "Oslo"), ("location", "New York")} <= {
        (entity.label, entity.text) for entity in found
    }
    assert len(none) == 0
