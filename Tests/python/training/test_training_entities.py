"""training/finetune_entities.py and the score of entities: the steps before and after the arithmetic."""

import json
import sys

import pytest
from tokenizers import BertWordPieceTokenizer

import entity_accuracy as accuracy
from common.models import frame
from conftest import FIXTURES
from entities.examples import IGNORED, Example, label_names, read_examples, windows
from entities.passages import LENGTHS, sentences

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
        with pytest.raises(ValueError, match="a.jsonl:1: "):
            read_examples(written(tmp_path / "a.jsonl", bad))
    with pytest.raises(ValueError, match="no examples"):
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
    other = written(tmp_path / "b.jsonl", record((0, 9, "person")))
    with pytest.raises(SystemExit, match="has other labels than --data: O, B-person, I-person"):
        run("--data", other, "--teacher", str(tmp_path / "teacher" / "model"))
