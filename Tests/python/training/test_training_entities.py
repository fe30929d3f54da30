"""training/finetune_entities.py and the score of entities: the steps before and after the arithmetic."""

import json
import random
import sys

import numpy as np
import pytest
from tokenizers import BertWordPieceTokenizer

import entity_accuracy as accuracy
from common.models import frame
from conftest import FIXTURES, ROOT
from entities.examples import IGNORED, Example, Window, label_names, read_examples, windows
from entities.forms import labels_at, other_forms, probabilities_at
from entities.passages import LENGTHS, sentences
from entities.values import Values

TEXT = "Anna Berg flew to Oslo."


def written(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(path)


def record(*entities, text=TEXT):
    return {"text": text, "entities": [{"start": a, "end": b, "label": name} for a, b, name in entities]}


def test_examples_are_read_and_bad_ranges_refused(tmp_path):
    path = written(tmp_path / "a.jsonl", record((18, 22, "place"), (0, 9, "person")), record())
    first, second = read_examples(path)
    assert [tuple(e) for e in first.entities] == [(0, 9, "person"), (18, 22, "place")]
    assert second.entities == [] and label_names([first]) == ["O", "B-person", "I-person", "B-place", "I-place"]
    for bad in record((0, 9, "a"), (5, 12, "b")), record((20, 40, "a")), record((3, 3, "a")):
        with pytest.raises(SystemExit, match="a.jsonl:1: "):
            read_examples(written(tmp_path / "a.jsonl", bad))
    for bad, message in (
        ({"text": TEXT}, "no 'entities'"),
        (record((0, 9, None)), "None is not a text"),
        ({**record(), "text": 1}, "1 is not a text"),
        (record(("0", 9, "a")), "not supported between"),
    ):
        with pytest.raises(SystemExit, match=f"a.jsonl:2: .*{message}"):
            read_examples(written(tmp_path / "a.jsonl", record(), bad))
    with pytest.raises(SystemExit, match="no examples"):
        read_examples(written(tmp_path / "b.jsonl"))


def test_labels_of_tokens(tmp_path):
    tokenizer = BertWordPieceTokenizer(str(FIXTURES / "tiny-bert" / "vocab.txt"))
    [example] = read_examples(written(tmp_path / "a.jsonl", record((0, 9, "person"), (18, 22, "place"))))
    labels = label_names([example])
    encoding = tokenizer.encode(TEXT, add_special_tokens=False)
    [whole] = windows(example, encoding, labels, (101, 102), 64)
    assert whole.ids == [101, *encoding.ids, 102] and whole.labels[0] == whole.labels[-1] == IGNORED
    for (start, end), label in zip(encoding.offsets, whole.labels[1:-1]):
        kind = "person" if end <= 9 else "place" if start >= 18 and end <= 22 else None
        expected = f"{'B' if start in (0, 18) else 'I'}-{kind}" if kind else "O"
        assert labels[label] == expected
    parts = windows(example, encoding, labels, (101, 102), 6)
    assert all(len(part.ids) <= 6 for part in parts)
    assert [label for part in parts for label in part.labels[1:-1]] == whole.labels[1:-1]


def test_texts_that_only_a_teacher_labels(tmp_path):
    tokenizer = BertWordPieceTokenizer(str(FIXTURES / "tiny-bert" / "vocab.txt"))._tokenizer
    first, last = frame(tokenizer)
    assert (tokenizer.id_to_token(first), tokenizer.id_to_token(last)) == ("[CLS]", "[SEP]")
    encoding = tokenizer.encode(TEXT, add_special_tokens=False)
    parts = windows(Example(TEXT, None, ""), encoding, ["O"], (first, last), 6)
    assert [number for part in parts for number in part.ids[1:-1]] == encoding.ids
    assert all(len(part.ids) <= 6 and set(part.labels) == {IGNORED} for part in parts)
    assert all(len(part.labels) == len(part.ids) for part in parts)


def test_labels_and_probabilities_in_other_forms():
    """An added token is inside an entity if the next one is; where only a teacher knows, the label stays unknown."""
    labels = ["O", "B-person", "I-person"]
    order = np.array([0, -1, -1, 1, -1, 2, 3, -1, 4, -1, 6])
    targets = np.array([IGNORED, 1, 2, 0, 1, 2, IGNORED])
    assert labels_at(order, targets, labels).tolist() == [IGNORED, 0, 0, 1, 2, 2, 0, 0, 1, 0, IGNORED]
    assert set(labels_at(order, np.full(7, IGNORED), labels)) == {IGNORED}
    known = np.array([[1, 0, 0], [0.25, 0.75, 0], [0.125, 0, 0.875], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]])
    moved = probabilities_at(order, known, labels)
    assert moved[order >= 0].tolist() == known[order[order >= 0]].tolist()
    assert moved[order < 0].tolist() == [[1, 0, 0], [1, 0, 0], [0.125, 0, 0.875], [1, 0, 0], [1, 0, 0]]


def test_windows_in_other_forms(tmp_path):
    tokenizer = BertWordPieceTokenizer(str(FIXTURES / "tiny-bert" / "vocab.txt"))._tokenizer
    text = "In 1.5, Anna Berg flew to Oslo. She (was) there, too."
    [example] = read_examples(
        written(tmp_path / "a.jsonl", record((8, 17, "person"), (26, 30, "place"), text=text))
    )
    labels = label_names([example])
    encoding = tokenizer.encode(text, add_special_tokens=False)
    [window] = windows(example, encoding, labels, frame(tokenizer), 64)
    # A second column that tells the tokens apart.
    known = np.zeros((len(window.ids), len(labels)))
    known[:, 1] = np.arange(len(known)) / 64
    plain = [window._replace(known=known)] * 60
    assert other_forms(plain, tokenizer, labels, 0, 64, 1) == plain
    read = other_forms(plain, tokenizer, labels, 0.9, 64, 1)
    assert 40 < sum(after is not before for before, after in zip(plain, read, strict=True)) < 60
    for after in read:
        assert len(after.ids) == len(after.labels) == len(after.known) <= 64
        places = (after.known[:, 1] * 64).astype(int)
        kept = places > 0
        assert (np.diff(places[kept]) > 0).all() and places[-1] == len(known) - 1
        for now, then in zip(after[:2], window[:2], strict=True):
            assert np.array(now)[kept].tolist() == np.array(then)[places[kept]].tolist()
        assert set(np.array(after.labels)[~kept][1:]) <= {0, labels.index("I-person"), labels.index("I-place")}
    assert other_forms(plain, tokenizer, labels, 1, 8, 1) == plain


def test_texts_with_other_values(tmp_path):
    tokenizer = BertWordPieceTokenizer(str(ROOT / "models" / "entities-minilm-l6" / "vocab.txt"))._tokenizer
    text = "@Ann saw Anna Bergqvist and Bo in Oslo."
    entities = (0, 4, "person"), (9, 23, "person"), (28, 30, "person"), (34, 38, "place")
    [example] = read_examples(written(tmp_path / "a.jsonl", record(*entities, text=text)))
    labels = label_names([example])
    encoding = tokenizer.encode(text, add_special_tokens=False)
    [window] = windows(example, encoding, labels, frame(tokenizer), 64)
    known = np.eye(len(labels), dtype=np.float16)[np.maximum(window.labels, 0)]
    # Of a word, the first token decides.
    continues = [False, *(token.startswith("##") for token in encoding.tokens), False]
    assert any(continues)
    known[continues] = np.eye(len(labels))[0]

    def ids(*texts):
        return [id for text in texts for id in tokenizer.encode(text, add_special_tokens=False).ids]

    names = ["Zoë", "Ngô Minh", "oslo"]
    path = written(tmp_path / "v.jsonl", *[{"label": "person", "text": name} for name in names])
    values, draw, seen = Values(path, tokenizer, labels), random.Random(1), set()
    unlabelled = window._replace(labels=[IGNORED] * len(window.ids))
    for before in [window._replace(known=known), unlabelled._replace(known=known)] * 100:
        after = values.in_places_of(before, 64, draw)
        if after is None:
            continue
        pairs = [(a, b) for a in ["Anna Bergqvist", *names] for b in ["Bo", *names]]
        [pair] = [(a, b) for a, b in pairs if after.ids[1:-1] == ids("@ann saw", a, "and", b, "in oslo.")]
        seen |= set(pair)
        # A value's labels are certain; other tokens keep theirs.
        targets, rows, place = before.labels[:1], [known[:1]], 1
        for was in "@ann saw", "Anna Bergqvist", "and", "Bo", "in oslo.":
            now, there = was, slice(place, place + len(ids(was)))
            if was in ("Anna Bergqvist", "Bo"):
                now = pair[was == "Bo"]
            part = before.labels[there]
            if now != was:
                part = [labels.index("B-person"), *[labels.index("I-person")] * (len(ids(now)) - 1)]
            targets += part
            rows.append(known[there] if now == was else np.eye(len(labels))[part])
            place = there.stop
        assert after.labels == [*targets, before.labels[-1]]
        assert (after.known == np.concatenate([*rows, known[-1:]])).all()
    assert seen == {"Anna Bergqvist", "Bo", *names}
    assert values.in_places_of(unlabelled._replace(known=known * np.float16(0.7)), 64, draw) is None
    assert values.in_places_of(Window([1, *ids("saw"), 2], [0] * 3, known[:3]), 64, draw) is None
    lengths = [
        len(other.ids)
        for _ in range(100)
        if (other := values.in_places_of(window._replace(known=known), 18, draw))
    ]
    assert 0 < len(lengths) < 100 and max(lengths) <= 18
    for label, value, message in (
        ("PERSON", "Bo", "other labels than --data: PERSON"),
        ("person", " ", "without word pieces: ' '"),
    ):
        wrong = written(tmp_path / "w.jsonl", {"label": label, "text": value})
        with pytest.raises(SystemExit, match=message):
            Values(wrong, tokenizer, labels)


def test_names_of_many_countries(capsys):
    pytest.importorskip("mimesis", reason="training/country_names.py needs mimesis")
    import country_names

    country_names.main()
    printed = capsys.readouterr().out
    country_names.main()
    assert capsys.readouterr().out == printed
    found = [json.loads(line) for line in printed.splitlines()]
    for label, least, of_script in ("person", 20000, 50), ("location", 5000, 50), ("organisation", 5000, 15):
        names = [each["text"] for each in found if each["label"] == label]
        assert len(names) > least and all(name == name.strip() != "" for name in names)
        for first, last in "az", "αω", "ая", "بي", "一龥", "가힣":
            assert sum(any(first <= c <= last for c in name.lower()) for name in names) > of_script


def test_sentences_of_passages(tmp_path):
    passage = "Too short. " + " ".join(f"Sentence number {i} is long enough for the purpose." for i in range(9))
    question = {"context": passage, "question": "Which?", "answers": []}
    path = written(
        tmp_path / "q.jsonl", question, question, {**question, "context": passage.replace("number", "No")}
    )
    found = sentences([path], 100, 1)
    assert len(found) == len(set(found)) == 12 and all(
        len(text) in LENGTHS and text in passage.replace("number", "No") + passage for text in found
    )
    assert sentences([path], 5, 1) == found[:5] and sentences([path], 100, 2) != found


def test_scores_count_exact_ranges_and_labels(tmp_path):
    examples = accuracy.read(
        [written(tmp_path / "a.jsonl", record((0, 9, "person"), (18, 22, "place")), record())]
    )
    found = [[accuracy.Entity(0, 9, "person", 0.9), accuracy.Entity(18, 22, "person", 0.4)], []]
    texts, entities, precision, recall, f1 = accuracy.scores(examples, found)[None]
    assert (texts, entities, precision, recall, f1) == (2, 2, 0.5, 0.5, 0.5)
    assert accuracy.scores(examples, found, 0.5)[None][2:] == (1.0, 0.5, pytest.approx(2 / 3))
    assert accuracy.scores(examples[1:], [[]])[None][2:] == (1.0, 1.0, 1.0)


def test_examples_in_marked_lines():
    text = "It was there that year, and Anna Berg of that part flew to Oslo."
    entities = [accuracy.Entity(28, 37, "person", 1.0), accuracy.Entity(59, 63, "place", 1.0)]
    example = accuracy.in_lines(accuracy.Example(text, entities, ""), "{}> ")
    assert example.text == "1> It was there that year, and Anna Berg of\n2> that part flew to Oslo."
    assert [example.text[e.start : e.end] for e in example.entities] == ["Anna Berg", "Oslo"]


def test_examples_that_are_lines_of_one():
    examples = [
        accuracy.Example(text, [accuracy.Entity(0, 1, text, 1.0)], text[:1]) for text in ("a1", "b", "a2", "a3")
    ]
    found = accuracy.joined(examples, 2)
    assert [(example.text, example.source) for example in found] == [("a1\na2", "a"), ("a3", "a"), ("b", "b")]
    assert [entity[:3] for entity in found[0].entities] == [(0, 1, "a1"), (3, 4, "a2")]


def test_entities_between_marks():
    entities = [accuracy.Entity(28, 32, "place", 1.0), accuracy.Entity(4, 13, "person", 1.0)]
    example = accuracy.around_entities(
        accuracy.Example("And Anna Berg of it flew to Oslo.", entities, ""), "<b>{}*"
    )
    assert example.text == "And <b>Anna Berg* of it flew to <b>Oslo*."
    assert [example.text[e.start : e.end] for e in example.entities] == ["Anna Berg", "Oslo"]


@pytest.mark.parametrize(
    "labels", [["O", "B-a", "I-a"], ["O", *(f"{tag}-{kind}" for kind in "abc" for tag in "BI")]]
)
def test_a_model_of_other_labels_gets_a_new_output_layer(labels, capsys):
    """Also where it has as many."""
    torch = pytest.importorskip("torch", reason="training/requirements.txt is not installed: no torch")
    pytest.importorskip("transformers", reason="training/requirements.txt is not installed: no transformers")
    from transformers import AutoModelForTokenClassification

    from entities.training import load_model

    directory = str(FIXTURES / "tiny-bert-entities")
    before = AutoModelForTokenClassification.from_pretrained(directory)
    model = load_model(directory, labels, torch.device("cpu"))
    assert model.classifier.weight.shape[0] == len(labels) and "has other labels" in capsys.readouterr().err
    assert model.classifier.weight.shape != before.classifier.weight.shape or not torch.equal(
        model.classifier.weight, before.classifier.weight
    )
    assert torch.equal(
        model.base_model.embeddings.word_embeddings.weight, before.base_model.embeddings.word_embeddings.weight
    )
    names = [before.config.id2label[number] for number in range(7)]
    kept = load_model(directory, names, torch.device("cpu"))
    assert (
        torch.equal(kept.classifier.weight, before.classifier.weight) and "labels" not in capsys.readouterr().err
    )


def test_a_run_with_a_teacher(tmp_path, monkeypatch, request):
    """The model that a first run makes teaches the second one, which replaces the first one's model when it is complete."""
    torch = pytest.importorskip("torch", reason="training/requirements.txt is not installed: no torch")
    pytest.importorskip("transformers", reason="training/requirements.txt is not installed: no transformers")
    import bertqa
    import finetune_entities

    threads = torch.get_num_threads()
    request.addfinalizer(lambda: torch.set_num_threads(threads))
    data = written(
        tmp_path / "a.jsonl", *[record((0, 9, "person"), (18, 22, "place")), record(text="He flew.")] * 20
    )
    out = tmp_path / "model"

    def run(*more):
        monkeypatch.setattr(sys, "argv", [
            "finetune_entities.py", "--data", data, "--init", str(FIXTURES / "tiny-bert"), "--out", str(out), "--cpu",
            "--passes", "40", "--learning-rate", "5e-3", "--dropout", "0", "--batch-tokens", "256", "--threads", "1", *more])  # fmt: skip
        finetune_entities.main()

    def found():
        with bertqa.Context(out, precision="f32") as context:
            return [(e.start, e.end, e.label) for e in context.entities(TEXT)]

    run()
    assert found() == [(0, 9, "person"), (18, 22, "place")]
    (tmp_path / "teacher").mkdir()
    (tmp_path / "model-state" / "averaged").rename(tmp_path / "teacher" / "model")
    (out / "old").touch()
    with pytest.raises(SystemExit, match="no such source: news"):
        run("--weight", "news=2")
    run("--teacher", str(tmp_path / "teacher" / "model"), "--teacher-share", "1")
    assert found() == [(0, 9, "person"), (18, 22, "place")] and not (out / "old").exists()
    values = written(
        tmp_path / "v.jsonl", {"label": "person", "text": "Bo Li"}, {"label": "place", "text": "Rome"}
    )
    run("--teacher", str(tmp_path / "teacher" / "model"), "--teacher-share", "1", "--values", values, "--other-forms", "0.5")  # fmt: skip
    assert found() == [(0, 9, "person"), (18, 22, "place")]
    other = written(tmp_path / "b.jsonl", record((0, 9, "person")))
    with pytest.raises(SystemExit, match="has other labels than --data: O, B-person, I-person"):
        run("--data", other, "--teacher", str(tmp_path / "teacher" / "model"))
