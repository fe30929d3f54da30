"""bertqa train-classifier."""

import csv
import io
import json
import os
import random
import re
import subprocess

import pytest

import bertqa
from cli import run, run_json, run_on_terminal
from conftest import FIXTURES, SAMPLE

NEWS = [json.loads(line) for line in (SAMPLE / "news.jsonl").read_text(encoding="utf-8").splitlines()]
DATA = [
    ("red green blue", "colour"), ("one two three", "number"), ("six two ten", "number"), ("blue red", "colour"),
]  # fmt: skip


def jsonl(records, text="text", label="label"):
    return "".join(json.dumps({text: t, label: name}) + "\n" for t, name in records).encode()


def as_csv(records, **options):
    table = io.StringIO()
    writer = csv.writer(table, **options)
    writer.writerows([("id", "text", "label"), *((n, *record) for n, record in enumerate(records))])
    return table.getvalue().encode()


@pytest.fixture
def train(tmp_path):
    """Trains on standard input, and returns the report and the model's directory."""

    def train(data, *arguments, **options):
        directory = tmp_path / f"model{len(list(tmp_path.iterdir()))}"
        [report] = run_json(
            "train-classifier", "--output", directory, "--folds=0", *arguments, input=data, **options
        )
        return report, directory

    return train


@pytest.mark.parametrize(
    "data, arguments",
    [
        (jsonl(DATA), []),
        (b"\n" + jsonl(DATA, "body", "queue").rstrip(b"\n"), ["--text-field=body", "--label-field=queue"]),
        (as_csv(DATA), ["--format=csv"]),
        (b"\xef\xbb\xbf" + as_csv(DATA, lineterminator="\n", quoting=csv.QUOTE_ALL), ["--format=csv"]),
        (as_csv(DATA, delimiter="\t"), ["--format=tsv"]),
        (as_csv(DATA, delimiter=";"), ["--delimiter=;"]),
        (as_csv(DATA, delimiter="\t"), ["--delimiter=\\t"]),
    ],
)
def test_reads_records(train, data, arguments):
    report, directory = train(data, *arguments)
    assert (
        report["text_count"] == 4
        and report["labels"] == ["colour", "number"]
        and report["label_text_counts"] == [2, 2]
    )
    assert report["vocabulary_size"] == 8 and report["is_converged"] is True and "accuracy" not in report
    assert run("classify", "-m", directory, input=b"one two six")[0].startswith("number\t")


def test_wrong_records_are_skipped_on_request(tmp_path):
    data = (
        jsonl(DATA)
        + b'bad\n{"text": "a"}\n{"text": "x", "label": " "}\n\n'
        + jsonl([("one six ten", " number\t")])
    )
    text, errors = run("train-classifier", "--on-error=skip", "--folds=0", "-o", tmp_path / "a", input=data)
    assert errors.splitlines() == [
        "bertqa: line 5: not a JSON object: expected an object at byte 0",
        "bertqa: line 6: there is no field 'label'",
        "bertqa: line 7: the label is empty",
        "bertqa: white space around 1 label(s) was removed",
        "bertqa: 3 record(s) were skipped",
    ]
    assert re.search(r"^text_count +5$", text, re.M) and re.search(r"^label_count +2$", text, re.M)
    table = as_csv(DATA) + b"9,a\n"
    [report] = run_json(
        "train-classifier", "--on-error=skip", "--folds=0", "--format=csv", "-o", tmp_path / "b", input=table
    )
    assert (report["text_count"], report["skipped_count"]) == (4, 1)


def test_labels_are_numbers_and_truth_values_as_they_are_spelled(tmp_path):
    data = b"".join(b'{"text":"one two three","label":%s}\n' % label for label in (b"1", b"1.50", b"true", b'"x"'))
    [report] = run_json("train-classifier", "--folds=0", "-o", tmp_path / "a", input=data)
    assert report["labels"] == ["1", "1.50", "true", "x"]


def test_labels_are_compared_by_their_bytes(tmp_path):
    """Labels that look alike are not the same, in the holdout neither."""
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    data = jsonl([(item["text"], composed if item["label"] == "sport" else decomposed) for item in NEWS])
    path = tmp_path / "held.jsonl"
    path.write_bytes(data)
    [report] = run_json("train-classifier", "--folds=2", "--holdout", path, "-o", tmp_path / "a", input=data)
    assert report["labels"] == report["holdout"]["labels"] == [decomposed, composed]
    assert report["holdout"]["label_text_counts"] == report["label_text_counts"]


def test_labels_in_another_encoding_are_refused(tmp_path):
    """Repaired, these two would be one."""
    data = jsonl(DATA) + b'{"text":"one","label":"caf\xe9"}\n{"text":"two","label":"caf\xe8"}\n'
    message = run("train-classifier", "--folds=0", "-o", tmp_path / "a", input=data, code=3)[1]
    assert "line 5: the label is not valid UTF-8: --encoding NAME reads another encoding" in message
    assert not (tmp_path / "a").exists()
    arguments = ["train-classifier", "--folds=0", "-o"]
    [report] = run_json(*arguments, tmp_path / "b", "--on-error=skip", input=data)
    assert (report["labels"], report["skipped_count"]) == (["colour", "number"], 2)
    [report] = run_json(*arguments, tmp_path / "c", "--encoding=latin1", input=data)
    assert report["labels"][:2] == ["caf\u00e8", "caf\u00e9"]


def test_leftovers_of_killed_runs_are_removed(tmp_path):
    process = subprocess.Popen(["true"])
    process.wait()
    for number in process.pid, os.getpid():
        (tmp_path / f"mod\u00e8le.partial-{number}-0" / "classifier").mkdir(parents=True)
        (tmp_path / f"mod\u00e8le.partial-{number}-0" / "config.json").touch()
        (tmp_path / f"mod\u00e8le.partial-{number}-0" / "classifier" / "config.json").touch()
    run("train-classifier", "--folds=0", "-o", tmp_path / "mod\u00e8le", input=jsonl(DATA))
    assert {path.name for path in tmp_path.iterdir()} == {"mod\u00e8le", f"mod\u00e8le.partial-{os.getpid()}-0"}


def test_formats_by_name(tmp_path):
    (tmp_path / "a.csv").write_bytes(as_csv(DATA))
    (tmp_path / "b.tsv").write_bytes(as_csv(DATA, delimiter="\t"))
    (tmp_path / "c.jsonl").write_bytes(jsonl(DATA))
    arguments = ["--folds=0", "-o", tmp_path / "model", *sorted(tmp_path.iterdir())]
    assert run_json("train-classifier", *arguments)[0]["text_count"] == 12


def test_csv_is_read_as_python_reads_it(train):
    """Labels of every kind return in the report, byte for byte."""
    generator = random.Random(3)
    alphabet = ['"', ",", "\n", "\r\n", "a", "é", " ", "'", "\t", "x"]
    labels = {"".join(generator.choices(alphabet, k=generator.randrange(1, 9))).strip() for _ in range(400)} - {""}
    records = [("one two three", label) for label in sorted(labels)]
    for options in ({}, {"lineterminator": "\n"}, {"quoting": csv.QUOTE_ALL}):
        data = as_csv(records, **options)
        expected = [row[2] for row in csv.reader(io.StringIO(data.decode(), newline=""))][1:]
        report, _ = train(data, "--format=csv")
        assert report["labels"] == sorted(expected, key=str.encode)


def test_report(tmp_path):
    data = jsonl([(item["text"], item["label"]) for item in NEWS])
    arguments = ["train-classifier", "--algorithm=naive_bayes", "--seed=7"]
    text, errors = run(*arguments, "--output", tmp_path / "a", input=data)
    assert errors == ""
    facts = dict(line.split() for line in text.split("\n\n")[0].splitlines())
    assert facts["text_count"] == "40" and facts["label_count"] == "5" and facts["is_converged"] == "yes"
    [report] = run_json(*arguments, "--output", tmp_path / "b", input=data)
    assert report["accuracy"] == pytest.approx(float(facts["accuracy"]), rel=1e-5)
    assert 0 < report["macro_f1"] <= 1 and 0 <= report["calibration_error"] <= 1
    table = [line.split() for line in text.split("\n\n")[1].splitlines()[1:]]
    assert [row[0] for row in table] == report["labels"]
    counts = [[int(cell) for cell in row[5:]] for row in table]
    pairs = [[i, j, count] for i, row in enumerate(counts) for j, count in enumerate(row) if count]
    assert pairs == report["confusion"] and sum(map(sum, counts)) == 40
    for label, row in enumerate(table):
        right = counts[label][label]
        precision = right / max(1, sum(row[label] for row in counts))
        recall = right / sum(counts[label])
        scores = [precision, recall, 2 * precision * recall / (precision + recall or 1)]
        assert [report[name][label] for name in ("precision", "recall", "f1")] == pytest.approx(scores)
        assert [float(cell) for cell in row[2:5]] == pytest.approx(scores, abs=1e-4)
    assert report["macro_f1"] == pytest.approx(sum(report["f1"]) / 5)
    assert "holdout" not in report
    for name in ("config.json", "vocab.txt", "model.safetensors"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_features(tmp_path):
    embedder = FIXTURES / "tiny-bert-embedder"
    data = jsonl([(item["text"], item["label"]) for item in NEWS])
    arguments = ["train-classifier", "-m", embedder, "--folds=2", "--calibrate"]
    [report] = run_json(*arguments, "--features=embedding", "-o", tmp_path / "vectors", input=data)
    with bertqa.Context(embedder) as context:
        assert report["features"] == "embedding" and report["vocabulary_size"] == context.info.embedding_length
    assert "other_accuracy" not in report
    [found] = run_json("classify", "-m", tmp_path / "vectors", NEWS[0]["text"])
    assert {label["label"] for label in found["labels"]} == set(report["labels"])
    output, _ = run("filter", "--task=classify", "-m", tmp_path / "vectors", input=jsonl([(NEWS[0]["text"], "")]))
    assert json.loads(output)["bertqa"]["labels"] == found["labels"]
    [words] = run_json("train-classifier", "--folds=2", "--calibrate", "-o", tmp_path / "words", input=data)
    [auto] = run_json(*arguments, "--features=auto", "-o", tmp_path / "auto", input=data)
    better, worse = sorted([report, words], key=lambda each: (-each["accuracy"], each["features"] == "embedding"))
    assert auto["features"] == better["features"] and auto["accuracy"] == better["accuracy"]
    assert auto["other_accuracy"] == worse["accuracy"] and auto["other_macro_f1"] == worse["macro_f1"]
    message = run("train-classifier", "--features=pictures", "-o", tmp_path / "no", input=data, code=2)[1]
    assert "words, embedding, auto" in message
    arguments = ["--features=embedding", "-m", FIXTURES / "tiny-bert", "-o", tmp_path / "no"]
    message = run("train-classifier", *arguments, input=data, code=None)[1]
    assert "cannot embed" in message and not (tmp_path / "no").exists()


def test_holdout(tmp_path):
    """The figures are those of the written model on texts that it was not trained on, as `bertqa classify` finds
    them."""
    model = tmp_path / "model"
    held = [(item["text"], item["label"]) for item in NEWS[30:]] + [
        ("two words", "sports"),
        (NEWS[0]["text"], "new"),
    ]
    path = tmp_path / "held.csv"
    path.write_bytes(as_csv(held))
    data = jsonl([(item["text"], item["label"]) for item in NEWS[:30]])
    arguments = ["train-classifier", "--folds=0", "--holdout", path, "--output"]
    [report] = run_json(*arguments, model, input=data)
    assert report["text_count"] == 30 and "accuracy" not in report
    found = report["holdout"]
    predicted = []
    for text, _ in held:
        code = int(text == "two words")
        labels = run_json("classify", "--model", model, input=text.encode(), code=code)[0]["labels"]
        predicted.append(labels[0]["label"] if labels else None)
    actual = [label for _, label in held]
    assert predicted[-2] is None and found["unclassified_count"] == predicted.count(None)
    assert found["text_count"] == len(held)
    labels = sorted(set(actual) | set(predicted) - {None}, key=str.encode)
    assert found["labels"] == labels and "new" in labels
    pairs = list(zip(actual, predicted))
    assert found["accuracy"] == pytest.approx(sum(a == p for a, p in pairs) / len(pairs))
    assert found["label_text_counts"] == [actual.count(label) for label in labels]
    f1 = []
    for index, label in enumerate(labels):
        right = pairs.count((label, label))
        precision, recall = right / max(1, predicted.count(label)), right / max(1, actual.count(label))
        f1.append(2 * precision * recall / (precision + recall or 1))
        scores = [found[name][index] for name in ("precision", "recall", "f1")]
        assert scores == pytest.approx([precision, recall, f1[-1]])
    assert found["macro_f1"] == pytest.approx(sum(f1) / len(f1))
    counted = {(labels[a], labels[p]): count for a, p, count in found["confusion"]}
    assert counted == {pair: pairs.count(pair) for pair in pairs if pair[1] is not None}
    assert 0 <= found["calibration_error"] <= 1
    # The same for people.
    text, _ = run(*arguments, tmp_path / "again", input=data)
    section = text.split("\n\n")[1]
    assert section.startswith("held out:\n") and "label, texts, precision, recall, F1, and what" in section
    # And the model is what it is without the option.
    run(*arguments[:2], "--output", tmp_path / "without", input=data)
    assert (tmp_path / "without" / "model.safetensors").read_bytes() == (model / "model.safetensors").read_bytes()


def test_a_holdout_is_checked_before_the_training(tmp_path):
    training, held = tmp_path / "in.jsonl", tmp_path / "held.jsonl"
    training.write_bytes(jsonl(DATA))
    arguments = ["train-classifier", "--folds=0", training, "-o", tmp_path / "model", "--holdout"]
    for path, data, message, code in [
        (held, b"{}\n", f"{held}: line 1: there is no field 'text'", 3),
        (held, b"\n", "has no text to hold out", 3),
        (tmp_path / "none", None, "No such file", 3),
        ("-", None, "--holdout needs a regular file", 2),
        ("/dev/null", None, "--holdout needs a regular file", 2),
        (training, None, "is also a training file", 2),
    ]:
        if data is not None:
            held.write_bytes(data)
        assert message in run(*arguments, path, code=code)[1]
        assert not (tmp_path / "model").exists()
    held.write_bytes(b"{}\n" + jsonl(DATA))
    output, errors = run(*arguments, held, "--on-error=skip", "--json")
    report = json.loads(output)
    assert report["skipped_count"] == 1 and report["holdout"]["text_count"] == len(DATA)
    assert errors.count("line 1: there is no field 'text'") == 1


def test_names_of_columns_need_not_be_paths(train):
    table = b"No.,e.g.,label\n" + b"".join(b'1,"%s",%s\n' % (t.encode(), n.encode()) for t, n in DATA)
    report, _ = train(table, "--format=csv", "--text-field=e.g.", "--folds=0")
    assert report["text_count"] == len(DATA)
    assert (
        "takes a name, a path"
        in run("train-classifier", "--text-field=e.g.", "-o", "unused", input=jsonl(DATA), code=2)[1]
    )


def test_options_reach_the_model(train):
    _, directory = train(
        jsonl(DATA), "--tf-idf", "--max-ngram=2", "--min-word-length=2", "--min-distinct-words=4", "--c=2",
        "--max-vocabulary=100", "--max-document-fraction=0.9", "--min-document-count=1", "--tolerance=1e-5",
        "--max-iterations=50", "--threads=1",
    )  # fmt: skip
    config = json.loads((directory / "config.json").read_text())
    names = ("tf_idf", "max_ngram", "min_word_length", "min_distinct_words")
    assert [config[name] for name in names] == [True, 2, 2, 4]
    assert config["training"]["c"] == 2 and config["training"]["max_document_fraction"] == 0.9


def test_calibrate_and_groups(tmp_path):
    # One word tells the label nearly always, in its source alone; another does in all of them, four times out of five.
    records = []
    for n in range(150):
        label, wrong = n // 3 % 2, n // 6 % 5 == 0
        text = f"shared words here source{n % 3}label{label} clue{label ^ wrong} end"
        records.append({"text": text, "label": "ab"[label], "source": n % 3})
    data = "".join(json.dumps(record) + "\n" for record in records).encode()
    [mixed] = run_json("train-classifier", "-o", tmp_path / "mixed", input=data)
    arguments = ["train-classifier", "--group-field=source", "--c=100"]
    [apart] = run_json(*arguments, "-o", tmp_path / "apart", input=data)
    assert mixed["accuracy"] == 1 and apart["accuracy"] == pytest.approx(0.8, abs=0.03)
    [calibrated] = run_json(*arguments, "--calibrate", "-o", tmp_path / "calibrated", input=data)
    assert calibrated["accuracy"] == apart["accuracy"]
    assert calibrated["calibration_error"] < 0.02 < apart["calibration_error"] - 0.02
    temperature = json.loads((tmp_path / "calibrated" / "config.json").read_text())["temperature"]
    assert set(temperature) == {"intercept", "slope", "max_occurrences"}
    for name in ("vocab.txt", "model.safetensors"):
        assert (tmp_path / "apart" / name).read_bytes() == (tmp_path / "calibrated" / name).read_bytes()
    one = re.sub(rb'"source": .', b'"source": 0', data)
    assert "the field 'source' has one value only" in run(*arguments, "-o", tmp_path / "x", input=one, code=3)[1]
    assert "there is no field 'source'" in run(*arguments, "-o", tmp_path / "x", input=jsonl(DATA), code=3)[1]


def test_says_when_it_has_not_converged(tmp_path):
    errors = run("train-classifier", "--max-iterations=1", "--folds=0", "-o", tmp_path / "m", input=jsonl(DATA))[1]
    assert "not converged after 1 iterations" in errors


def test_train_refuses(tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    out = ["--output", tmp_path / "out"]
    for arguments, data, message, code in [
        ([], b"", "no --output was given", 2),
        (["--output", tmp_path / "full"], jsonl(DATA), "not empty", 2),
        ([*out, "--folds=1"], b"", "folds is 1", 2),
        ([*out, "--calibrate", "--folds=0"], b"", "--calibrate needs a cross-validation", 2),
        ([*out, "--max-ngram=3"], b"", "--max-ngram is 3", 2),
        ([*out, "--seed=-1"], b"", "--seed takes", 2),
        ([*out, "--delimiter=ab"], b"", "--delimiter takes one character", 2),
        ([*out, "--format=xml"], b"", "jsonl, csv, tsv", 2),
        (out, b"", "0 text(s) with 0 label(s)", 3),
        (out, jsonl(DATA[:1]), "1 text(s) with 1 label(s)", 3),
        (out, jsonl(DATA) + b"{", "line 5: not a JSON object: expected a key in quotes at byte 1", 3),
        (out, b"[1]\n", "line 1: not a JSON object: expected an object at byte 0", 3),
        (out, b'{"text": "a"}\n', "line 1: there is no field 'label'", 3),
        (out, b'{"text": null, "label": "a"}\n', "line 1: the field 'text' is null", 3),
        (out, b'{"text": "a", "label": ""}\n', "line 1: the label is empty", 3),
        ([*out, "--format=csv"], b"text,name\na,b\n", "the table has no column 'label'; its first line names 'text', 'name'", 3),
        ([*out, "--format=csv"], b"text,label\na,b\na\n", "line 3: the number of columns is 1, not 2 as in the first row", 3),
        ([*out, "--format=csv"], b'text,label\n"a\nb,c\n', "line 2: the input ends inside the record", 3),
        ([*out, "--format=jsonl", "--delimiter=,"], b"", "--delimiter needs --format csv", 2),
        ([*out, "--format=tsv", "--delimiter=,"], b"", "--delimiter needs --format csv", 2),
        (out, b'{"text": "a", "label": " \\t"}\n', "line 1: the label is empty", 3),
        ([*out, tmp_path / "none"], b"", "cannot read", 3),
        ([*out, tmp_path], b"", "is a directory, not a file", 3),
    ]:  # fmt: skip
        assert message in run("train-classifier", *arguments, input=data, code=code)[1]
    assert [path.name for path in tmp_path.iterdir()] == ["full"]


def test_progress_on_a_terminal(tmp_path):
    generator = random.Random(1)
    data = [(" ".join(f"word{generator.randrange(20000)}" for _ in range(40)), str(n % 9)) for n in range(6000)]
    (tmp_path / "data.jsonl").write_bytes(jsonl(data))
    shown = run_on_terminal(
        "train-classifier", "--tolerance=1e-8", "--c=1000", "-o", tmp_path / "model", tmp_path / "data.jsonl",
        terminal_error=True,
    )  # fmt: skip
    assert re.search(r"train-classifier: cross-validation, \d+ %, \d+ s", shown) and shown.endswith("\r\x1b[K")
