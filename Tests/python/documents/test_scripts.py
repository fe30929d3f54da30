"""The scripts of examples/python, as a user runs them."""

import csv
import io
import subprocess
import sys

import pyarrow
import pyarrow.csv
import pyarrow.parquet

import bertqa
from conftest import FIXTURES, ROOT
from samples import WHO

FOX = ROOT / "examples" / "documents" / "fox.txt"
APOLLO = ROOT / "examples" / "documents" / "apollo.txt"


def run(script, *arguments, input="", code=0):
    result = subprocess.run(
        [sys.executable, ROOT / "examples" / "python" / script, *arguments],
        input=input.encode(), capture_output=True, timeout=300,
    )  # fmt: skip
    assert result.returncode == code, result.stderr
    return result.stdout.decode(), result.stderr.decode()


def test_answer_csv():
    rows = [
        {"id": "1", "question": WHO, "document": FOX.read_text()},
        {"id": "2", "question": "What is the capital of France?", "document": 'It "rained", and\nthen it snowed.'},
        {"id": "3", "question": WHO, "document": ""},
        {"id": "4", "question": "Who wrote the letter?", "document": "Zoë 🦊 wrote the letter to her aunt."},
        # Above the default limit of the module csv, with line ends of two characters.
        {"id": "5", "question": WHO, "document": "It rained.\r\n" * 12_000 + FOX.read_text()},
    ]
    csv.field_size_limit(1 << 20)
    table = io.StringIO()
    writer = csv.DictWriter(table, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    # As a spreadsheet saves it, and then its own output.
    first = run("answer_csv.py", input="\ufeff" + table.getvalue())[0]
    assert run("answer_csv.py", input=first)[0] == first
    output = list(csv.DictReader(io.StringIO(first, newline="")))
    assert [{name: row[name] for name in rows[0]} for row in output] == rows
    answers = [row["answer"] for row in output]
    assert answers[:3] == ["The quick brown fox", "", ""] and answers[3].startswith("Zoë")
    assert [bool(row["probability"]) for row in output] == [True, False, False, True, True]
    assert answers[4] == answers[0]
    assert 0 < float(output[0]["probability"]) <= 1
    assert "no column document" in run("answer_csv.py", input="question\n", code=1)[1]
    ragged = "question,document\nWho fell?,Ann fell.\nWho rose?,Bob, who rose, left.\n"
    assert "line 3 has more fields" in run("answer_csv.py", input=ragged, code=1)[1]


def test_answer_duckdb(tmp_path):
    table = tmp_path / "a table.csv"
    rows = [FOX.read_text().strip(), "It rained all day.", '"A cat jumped over the dog, twice."']
    table.write_text("\n".join(['id,"the text"', *(f"{id},{row}" for id, row in enumerate(rows))]) + "\n")
    lines = run("answer_duckdb.py", table, "the text", WHO)[0].splitlines()
    assert sorted(line.split("  ")[1] for line in lines) == ["A cat", "The quick brown fox"]
    shares = [float(line.split()[0]) for line in lines]
    assert shares == sorted(shares, reverse=True) and 0 < shares[1]
    pyarrow.parquet.write_table(pyarrow.csv.read_csv(table), tmp_path / "a.parquet")
    assert run("answer_duckdb.py", tmp_path / "a.parquet", "the text", WHO)[0].splitlines() == lines
    assert run("answer_duckdb.py", code=1)[1].startswith("usage: ")


def test_search_lines(tmp_path):
    file = tmp_path / "lines.txt"
    file.write_text("The king of France\n\nschool time\nA dog\n")
    for model in ([], [FIXTURES / "tiny-bert-embedder"]):
        lines = run("search_lines.py", "a dog", file, *model)[0].splitlines()
        assert lines[0] == " 1.000  A dog" and len(lines) == 3
    assert run("search_lines.py", code=1)[1].startswith("usage: ")


def test_ask_document():
    questions = "When was Skylab launched?\n\n What killed the crew of Apollo 1? \n"
    lines = run("ask_document.py", APOLLO, input=questions)[0].splitlines()
    assert lines[0] == "When was Skylab launched?" and ">1973<" in lines[1]
    assert lines[2] == "What killed the crew of Apollo 1?" and ">cabin fire<" in lines[3]
    text = APOLLO.read_text(encoding="utf-8").splitlines()
    for line, answer in (lines[1], "1973"), (lines[3], "cabin"):
        assert answer in text[int(line.split(":")[0].removeprefix("  line ")) - 1]
    empty = run("ask_document.py", "/dev/null", input="Who?\n")[0]
    assert empty == "Who?\n  no answer\n"
    assert run("ask_document.py", code=1)[1].startswith("usage: ")


def test_fork_workers(tmp_path):
    paths = []
    for name in "Ann", "Bob", "Cleo", "Dan":
        path = tmp_path / f"{name}.txt"
        path.write_text(f"{name} jumped over the lethargic dog.")
        paths.append(str(path))
    for method in "fork", "spawn", "forkserver":
        rows = [
            line.split("\t") for line in run("fork_workers.py", "--method", method, WHO, *paths)[0].splitlines()
        ]
        assert [row[:2] for row in rows] == list(map(list, zip(paths, ["Ann", "Bob", "Cleo", "Dan"])))
        assert all(row[2].isdigit() for row in rows)
    assert run("fork_workers.py", WHO, code=2)[1].startswith("usage: ")


def test_answer_parquet(tmp_path):
    """Every type of column passes through, in chunks that split the rows anywhere."""
    count = 7
    documents = ["It rained all day.", None, FOX.read_text(), "", "Zoë 🦊 jumped over the dog.", "Ann.", "x"]
    table = pyarrow.table(
        {
            "id": pyarrow.array(range(count), pyarrow.uint8()),
            "question": pyarrow.array([WHO] * 5 + [None, ""]).dictionary_encode(),
            "document": pyarrow.array(documents, pyarrow.large_string()),
            "tags": [["a"], [], None, ["b", "c"], ["d"], [], ["e"]],
            "price": pyarrow.array([1, 2, None, 4, 5, 6, 7], pyarrow.decimal128(10, 2)),
        },
        metadata={"made": "by hand"},
    )
    pyarrow.parquet.write_table(table, tmp_path / "in.parquet", row_group_size=5)
    table, expected = pyarrow.parquet.read_table(tmp_path / "in.parquet"), None
    for rows in 1, 3, 100:
        out = tmp_path / f"{rows}.parquet"
        errors = run("answer_parquet.py", "--rows", str(rows), tmp_path / "in.parquet", out)[1]
        assert errors.splitlines()[-1].startswith("7 of 7 rows, ")
        found = pyarrow.parquet.read_table(out)
        others = found.drop_columns(["answer", "probability"])
        assert others.schema.equals(table.schema, check_metadata=True) and others.to_pylist() == table.to_pylist()
        answers = found.column("answer").to_pylist()
        assert [answer is not None for answer in answers] == [False, False, True, False, True, False, False]
        assert answers[2] == "The quick brown fox" and answers[4].startswith("Zoë")
        expected = expected or found.to_pylist()
        assert found.to_pylist() == expected
    pyarrow.parquet.write_table(table.drop_columns(["document"]), tmp_path / "wrong.parquet")
    errors = run("answer_parquet.py", tmp_path / "wrong.parquet", tmp_path / "none.parquet", code=1)[1]
    assert "no column document" in errors
    assert not [path for path in tmp_path.iterdir() if "partial" in path.name or "none" in path.name]


def test_every_script_is_tested():
    names = {path.stem for path in (ROOT / "examples" / "python").glob("*.py")}
    assert names == {name.removeprefix("test_") for name in globals() if name.startswith("test_")} - {
        "every_script_is_tested"
    }


def test_rank_readings():
    readings = "Good night,\tgood might.\tgood night.\nO Romeo, Romeo, wherefore art thou\tRomero?\tRomeo?\n"
    lines = [line.split("\t") for line in run("rank_readings.py", input=readings)[0].splitlines()]
    assert [line[0] for line in lines] == ["Good night, good night.", "O Romeo, Romeo, wherefore art thou Romeo?"]
    assert all(float(line[1]) > 2 for line in lines)
    assert run("rank_readings.py", input="no readings\n", code=1)[1].startswith("line 1: ")


def test_train_csv(tmp_path):
    labelled = "\ufefftext,label\n" + "the pump leaks,repair\npassword expired,account\n" * 8
    (tmp_path / "labelled.csv").write_text(labelled)
    more = '\ufeffid,text\n1,"the old pump\r\nleaks"\n2,to be\n3,new password has expired\n4\n'
    for expected in ("16 texts, accuracy 1.000 when not seen before\n", ""):
        output, errors = run("train_csv.py", tmp_path / "labelled.csv", tmp_path / "model", input=more)
        rows = list(csv.DictReader(io.StringIO(output, newline="")))
        assert [row["label"] for row in rows] == ["repair", "", "account", ""]
        assert rows[0]["text"] == "the old pump\r\nleaks"
        assert float(rows[2]["probability"]) > 0.5 and rows[1]["probability"] == "" and errors == expected
        assert list(rows[0]) == ["id", "text", "label", "probability"]
    assert run("train_csv.py", code=1)[1].startswith("usage: ")


def test_rank_passages(tmp_path):
    question = "who was the king of france"
    passages = [
        "The river is long.",
        "After the war the king made a film about the river.",
        "Paris",
        "a b c",
        "x.",
        "y",
    ]
    for name, part in ("one.txt", passages[:3]), ("two.txt", passages[3:]):
        (tmp_path / name).write_text("\n\n".join(part).replace(" the ", "\n the ") + "\n\n\n")
    files = [str(tmp_path / name) for name in ("one.txt", "two.txt")]
    model = FIXTURES / "tiny-bert-regression"
    output, _ = run("rank_passages.py", model, question, *files)
    with bertqa.Context(model) as context:
        scores = {p: context.classify((question, p)).scores[0].logit for p in passages}
    best = sorted(passages, key=lambda passage: -scores[passage])[:5]
    lines = [line.split("\t") for line in output.splitlines()]
    assert [text for _, _, text in lines] == best
    assert [number for number, _, _ in lines] == [f"{scores[passage]:.3f}" for passage in best]
    assert all(file == files[passages.index(text) // 3] for _, file, text in lines)
    _, errors = run("rank_passages.py", FIXTURES / "tiny-bert-classifier", question, *files, code=1)
    assert "has 3 labels" in errors
    run("rank_passages.py", model, code=1)
