"""A collection by the SQLite extension."""

import json
import re
import shutil
import subprocess

import pytest

import bertqa
from conftest import ROOT
from extension import EXTENSION, TIMEOUT, connect
from samples import ANSWER, APOLLO, FOX, WHO
from sqlite import SQLError


@pytest.fixture
def notes(tmp_path):
    path = tmp_path / "notes.db"
    with bertqa.Collection(path) as collection:
        collection.add("fox", FOX, title="A fox", fields={"year": 2024})
        collection.add("apollo", APOLLO)
    return path


def test_a_collection_is_asked(notes, context):
    with connect(notes) as database, bertqa.Collection(notes) as collection:
        expected = collection.ask(WHO, k=3)
        rows = database.execute(
            "SELECT answer, probability, sentence, passage, name, title, fields, line FROM bertqa_ask(?, 3)", WHO
        )
        assert [row[:4] for row in rows] == [
            (a.text, a.probability, a.sentence, expected.passage(a).id) for a in expected.answers
        ]
        assert rows[0][4:] == ("fox", "A fox", '{"year": 2024}', None)
        assert expected.answer.text == ANSWER
        found = database.execute(
            "SELECT passage, score, text, start_byte, end_byte FROM bertqa_search(?, 4)", "moon"
        )
        assert found == [(p.id, p.score, p.text, p.start, p.end) for p in collection.search("moon", k=4)]
        assert database.execute("SELECT * FROM bertqa_ask(NULL, 1)") == []


def test_a_search_of_chosen_documents(notes):
    with connect(notes) as database, bertqa.Collection(notes) as collection:
        for path, fields in (("f*", None), ("*", {"year": 2024}), ("*", {"year": "20??"}), ("nothing", None)):
            rows = database.execute(
                "SELECT passage, score FROM bertqa_search(?, 5, ?, ?)", "moon", path, json.dumps(fields or {})
            )
            assert rows == [(p.id, p.score) for p in collection.search("moon", k=5, path=path, fields=fields)]
            assert bool(rows) == (path != "nothing")
        assert len(database.execute("SELECT * FROM bertqa_search('moon')")) > len(rows)
        named = "SELECT name FROM bertqa_ask(?) WHERE only_fields = ?"
        assert database.execute(named, WHO, '{"year": 2024}') == [("fox",)]
        assert database.execute(named, WHO, '{"year": 1999}') == []
        assert database.execute("SELECT * FROM bertqa_search('moon', 5, NULL)") == []
        for fields in "3", "[1]", "null", "":
            with pytest.raises(SQLError, match="only_fields is an object"):
                database.execute("SELECT * FROM bertqa_search('moon', 5, '*', ?)", fields)
        with pytest.raises(SQLError, match="malformed JSON"):
            database.execute("SELECT * FROM bertqa_search('moon', 5, '*', '{')")


def test_views_of_a_collection_cannot_nest(notes):
    with connect(notes) as database:
        database.execute(
            "CREATE TEMP VIEW vectors AS SELECT 1 AS first, 1 AS count, text AS rows, text AS scales FROM bertqa_search('x')"
        )
        with pytest.raises(SQLError, match="cannot be part of another"):
            database.execute("SELECT * FROM bertqa_search('fox')")
        database.execute("DROP VIEW vectors")
        database.execute("UPDATE vectors SET scales = x'00'")
        with pytest.raises(SQLError, match="do not fit"):
            database.execute("SELECT * FROM bertqa_search('fox')")


def test_tables_of_another_program(notes):
    """A view that runs without end in place of a table."""
    with connect(notes) as database:
        database.execute("DROP TABLE vectors")
        database.execute(
            "CREATE VIEW vectors AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
            "SELECT n AS first, 1 AS count, '' AS rows, '' AS scales FROM r"
        )
        for function in "bertqa_search", "bertqa_ask":
            with pytest.raises(SQLError, match="are not those of one"):
                database.execute(f"SELECT * FROM {function}('fox')")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("UPDATE passages SET start = 9223372036854775807", "no text or place"),
        ("UPDATE passages SET line = 9223372036854775807", "no text or place"),
        ("UPDATE passages SET end = -1", "no text or place"),
        (
            "UPDATE vectors SET count = 1, rows = substr(rows, 1, length(rows) / count), scales = x'0000807f'",
            "not a finite number",
        ),
        ("UPDATE vectors SET first = first + 100", "is missing"),
    ],
)
def test_a_collection_with_wrong_numbers(notes, change, message):
    with connect(notes) as database:
        database.execute(change)
        for function in "bertqa_search", "bertqa_ask":
            with pytest.raises(SQLError, match=message):
                database.execute(f"SELECT * FROM {function}('Who jumps over the dog of the moon?')")


@pytest.mark.skipif(not shutil.which("cc"), reason="the C example: needs cc")
def test_c_example(notes, tmp_path):
    program = tmp_path / "ask"
    source = ROOT / "examples" / "c" / "ask_collection.c"
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "sqlite3"], capture_output=True, text=True)
    if flags.returncode:
        pytest.skip("the C example: needs libsqlite3-dev")
    subprocess.run(
        ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", source, *flags.stdout.split(), "-o", program], check=True
    )

    def run(path):
        return subprocess.run([program, path, WHO, EXTENSION], capture_output=True, text=True, timeout=TIMEOUT)

    result = run(notes)
    assert re.match(rf"{ANSWER}  \(0\.\d\d, fox\)\n", result.stdout) and result.returncode == 0, result.stderr
    result = run(":memory:")
    assert (result.returncode, result.stdout) == (1, "") and "not a collection" in result.stderr
