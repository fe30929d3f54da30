"""bertqa.duckdb: how often the model runs, errors, connections, and the programs of the documentation."""

import re
import subprocess
import sys
import threading

import duckdb
import pyarrow
import pyarrow.parquet
import pytest

import bertqa
import bertqa.duckdb
from code_blocks import blocks
from conftest import ROOT
from duck import small_models, table, value  # noqa: F401
from samples import ANSWER, FOX, TINY, WHO, colbert


@pytest.fixture
def calls(monkeypatch):
    """(questions, rows) of each call of the library that answers."""
    seen = []
    real = bertqa.duckdb.answer_column

    def noted(context, questions, documents, **options):
        seen.append((questions, len(documents)))
        return real(context, questions, documents, **options)

    monkeypatch.setattr(bertqa.duckdb, "answer_column", noted)
    return seen


def test_a_constant_question_is_one_text(connection, calls):
    bertqa.duckdb.register(connection, answer=TINY)
    table(connection, [f"the river {i}" for i in range(2500)])
    assert value(connection, "SELECT count(bertqa_answer(?, body)) FROM texts", WHO) == 2500
    assert [questions for questions, _ in calls] == [WHO] * len(calls)
    assert sum(rows for _, rows in calls) == 2500 and len(calls) <= 4
    calls.clear()
    connection.execute("SELECT bertqa_answer('who ' || (id % 2), body) FROM texts WHERE id < 3").fetchall()
    assert [(isinstance(questions, str), rows) for questions, rows in calls] == [(False, 3)]
    calls.clear()
    connection.execute("SELECT bertqa_answer(if(id = 1, 'who', NULL), body) FROM texts WHERE id < 3").fetchall()
    assert [(isinstance(questions, str), rows) for questions, rows in calls] == [(False, 3)]


@pytest.mark.parametrize(
    "sql, rows",
    [
        ("SELECT id, answer, start_char FROM texts, bertqa_answers('who', body) WHERE NOT is_impossible", 9),
        (
            "SELECT answer FROM texts, bertqa_answers('who', body) WHERE gap > -99 AND id < 4 ORDER BY gap, score",
            4,
        ),
        ("SELECT answer FROM (FROM texts LIMIT 2), bertqa_answers('who', body) ORDER BY probability LIMIT 1", 2),
        ("SELECT bertqa_answer('who', 'the river') FROM texts", 1),
    ],
)
def test_no_row_is_read_twice(connection, calls, sql, rows):
    bertqa.duckdb.register(connection, answer=TINY)
    table(connection, [f"the river {i}" for i in range(9)])
    connection.execute(sql).fetchall()
    assert sum(count for _, count in calls) == rows


def test_no_index_keeps_what_another_model_gives(connection):
    """An index on an expression that depends on the models would contradict a scan after register()."""
    table(connection, ["the river"])
    for call in (
        "bertqa_answer('who', body)",
        "bertqa_classify(body)",
        "bertqa_embed(body)::VARCHAR",
        "bertqa_best_answer('who', body)::VARCHAR",
        "bertqa_label_list(body, '')::VARCHAR",
        "bertqa_entity_list(body, '')::VARCHAR",
    ):
        with pytest.raises(duckdb.BinderException, match="side effects"):
            connection.execute(f"CREATE INDEX made ON texts(({call}))")


def test_threads_of_duckdb_call_at_once(connection, tmp_path):
    """Several of its threads get the same results as one."""
    bertqa.duckdb.register(connection, answer=TINY)
    texts = [f"the river {i} " + "runs to the sea " * (i % 7) for i in range(9000)]
    rows = pyarrow.table({"id": range(len(texts)), "body": texts})
    pyarrow.parquet.write_table(rows, tmp_path / "texts.parquet", row_group_size=1000)
    sql = f"SELECT id, answer, score FROM '{tmp_path}/texts.parquet', bertqa_answers('who', body) ORDER BY id"
    connection.execute("SET threads = 4")
    found = connection.execute(sql).fetchall()
    with bertqa.Context(TINY) as context:
        expected = bertqa.answer_column(context, "who", rows["body"]).to_pylist()
    assert found == [(id, row["answer"], row["score"]) for id, row in enumerate(expected) if row["answer"]]


# Errors


def test_errors_are_sql_errors(connection):
    for sql, message in [
        ("SELECT bertqa_answer('a')", "No function matches"),
        ("SELECT bertqa_answer('a', 1)", "No function matches"),
    ]:
        with pytest.raises(duckdb.Error, match=re.escape(message)):
            connection.execute(sql)
    with bertqa.Context(TINY) as closed:
        bertqa.duckdb.register(connection, answer=closed)
    with pytest.raises(duckdb.Error, match="closed"):
        connection.execute(f"SELECT bertqa_answer('a', '{FOX}')")
    bertqa.duckdb.register(connection)
    assert value(connection, f"SELECT bertqa_answer('{WHO}', '{FOX}')") == ANSWER


def test_errors_of_the_library_are_told(connection, monkeypatch):
    table(connection, ["short", "long " * 100_000])
    real = bertqa.duckdb.answer_column

    def limited(*arguments):
        return real(*arguments, max_bytes=100_000)

    monkeypatch.setattr(bertqa.duckdb, "answer_column", limited)
    with pytest.raises(duckdb.Error, match=r"TooLarge: documents\[1\]: max_bytes is 100000"):
        connection.execute("SELECT bertqa_answer('who', body) FROM texts").fetchall()
    assert value(connection, "SELECT bertqa_answer(?, ?)", WHO, FOX) == ANSWER


def test_models_that_cannot_be_used(connection, tmp_path):
    with pytest.raises(bertqa.ModelNotFoundError, match="nowhere"):
        bertqa.duckdb.register(connection, answer="nowhere")
    with pytest.raises(ValueError, match="of embed is <Context of BertForQuestionAnswering.* made for answer"):
        bertqa.duckdb.register(connection, embed=TINY)
    colbert(tmp_path / "model")
    with pytest.raises(ValueError, match="of embed is <Context of HF_ColBERT.* has no vectors of texts"):
        bertqa.duckdb.register(connection, embed=tmp_path / "model")
    assert value(connection, "SELECT bertqa_answer(?, ?)", WHO, FOX) == ANSWER


# Connections


def test_another_model_takes_the_place(connection):
    with bertqa.Context(TINY) as context:
        expected = context.answer(WHO, FOX).answer.text
    bertqa.duckdb.register(connection, answer=TINY)
    assert value(connection, "SELECT bertqa_answer(?, ?)", WHO, FOX) == expected != ANSWER
    assert value(connection, "SELECT answer FROM bertqa_answers(?, ?)", WHO, FOX) == expected


def test_a_cursor(connection):
    """A cursor shares the functions and models but has its own tables."""
    cursor = connection.cursor()
    assert value(cursor, "SELECT bertqa_answer(?, ?)", WHO, FOX) == ANSWER
    with pytest.raises(ValueError, match="another connection has registered bertqa_answer"):
        bertqa.duckdb.register(cursor, answer=TINY)
    bertqa.duckdb.register(cursor)
    assert value(cursor, "SELECT answer FROM bertqa_answers(?, ?)", WHO, FOX) == ANSWER
    assert value(cursor, "SELECT count(*) > 0 FROM bertqa_entities('Zoë in the river')")
    found = []
    threads = [
        threading.Thread(target=lambda c: found.append(value(c, "SELECT bertqa_answer(?, ?)", WHO, FOX)), args=[c])
        for c in (connection, cursor)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [ANSWER, ANSWER]


def test_a_database_that_is_only_read(tmp_path):
    """The functions write nothing into the database."""
    with duckdb.connect(tmp_path / "texts.duckdb") as connection:
        table(connection, [FOX])
        bertqa.duckdb.register(connection)
    with duckdb.connect(tmp_path / "texts.duckdb", read_only=True) as connection:
        functions = "SELECT count(*) FROM duckdb_functions() WHERE function_name LIKE 'bertqa%'"
        assert value(connection, functions) == 0
        bertqa.duckdb.register(connection)
        assert value(connection, "SELECT answer FROM texts, bertqa_answers(?, body)", WHO) == ANSWER


# On a busy machine DuckDB would draw a progress bar into the output.
QUIET = """
import duckdb

def quiet(*arguments, connect=duckdb.connect):
    connection = connect(*arguments)
    connection.execute("SET enable_progress_bar = false")
    return connection

duckdb.connect = quiet
"""


def test_documentation(tmp_path):
    """The programs in docs/sql.md, run as they are, in order."""
    programs = [block for block in blocks(ROOT / "docs" / "sql.md") if block.language == "python"]
    assert len(programs) >= 2
    for program in programs:
        result = subprocess.run(
            [sys.executable, "-c", QUIET + program.code], cwd=tmp_path, capture_output=True, text=True, timeout=300
        )
        assert result.returncode == 0, result.stderr
        assert result.stdout == program.output
