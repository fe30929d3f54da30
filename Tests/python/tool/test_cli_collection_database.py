"""The database of a collection: other programs that read and change it, kills, writers, and other databases."""

import contextlib
import ctypes
import json
import os
import random
import signal
import sqlite3
import subprocess
import time

import pytest

import bertqa
from cli import environment, run
from conftest import LONG, TOOL
from filtering import fault_library, run_with  # noqa: F401
from indexed import ask, check_whole, indexed_notes, rows, written_notes  # noqa: F401


def test_deleting_by_any_sqlite_keeps_it_whole(collection):
    with sqlite3.connect(collection) as connection:
        connection.execute("DELETE FROM documents WHERE name = 'm1'")
    check_whole(collection)
    assert "Bern" not in run("search", collection, "Bern")[0]


def test_a_collection_among_its_files_by_a_link(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.txt").write_text("The lamp is green.")
    (tmp_path / "link.db").symlink_to(folder / "real.db")
    for _ in range(2):
        assert run("index", "--words-only", tmp_path / "link.db", folder)[1] == ""


def test_other_databases(tmp_path, collection, notes):
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE a(b)")
    for command in (["index", other, notes], ["search", other, "a"]):
        assert "not a collection" in run(*command, code=3)[1]
    empty = tmp_path / "empty.db"
    empty.touch()
    assert "not a collection" in run("search", empty, "a", code=3)[1] and empty.stat().st_size == 0
    text = tmp_path / "text.db"
    text.write_text("no database at all, but long enough for one" * 100)
    assert "not a database" in run("index", text, notes, code=3)[1]
    assert text.read_text().startswith("no database at all")
    with sqlite3.connect(collection) as connection:
        connection.execute("PRAGMA user_version = 2")
    assert "version 2" in run("search", collection, "a", code=3)[1]


@pytest.mark.parametrize(
    "column, columns",
    [
        ("body", "(title, body, tag UNINDEXED, tokenize = 'porter unicode61')"),
        ("body", "(title -- short, long\n, body, tag UNINDEXED /* own, others' */)"),
        ("body", "(title, /*1*/ body, tag UNINDEXED)"),
        ("\u0301body, text", '(title, "\u0301body, text", tag UNINDEXED)'),  # a quote and a mark: one Character
        ("--it's, text", '(title, "--it\'s, text", tag UNINDEXED)'),
    ],
)
def test_records_of_another_database(tmp_path, column, columns):
    """An answer is from one column of one record; columns that are not indexed are not read."""
    path = tmp_path / "reports.db"
    with sqlite3.connect(path) as connection:
        connection.execute(f"CREATE VIRTUAL TABLE reports /* (1) */ USING fts5{columns}")
        connection.execute(
            "INSERT INTO reports VALUES ('Report 7', 'Read Committed is the level that Ann Lee chose.', 'Report by Moses')"
        )
    names = {}
    for answer in ask(path, "Who chose the level?", "-k", "9", code=None)["answers"]:
        names.setdefault(answer["file"], answer["text"])
    assert names[f"{path}, reports 1, {column}"] == "Ann Lee"
    assert not any("tag" in name for name in names) and not any("Report 7 Read" in text for text in names.values())


def test_a_limit_of_time_ends_a_database_s_work_too(tmp_path):
    path = tmp_path / "x.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            "CREATE VIEW v(id, body) AS SELECT 1, 'The lamp is green.'; "
            "CREATE VIRTUAL TABLE f USING fts5(body, content='v', content_rowid='id'); "
            "INSERT INTO f(f) VALUES ('rebuild'); DROP VIEW v; "
            "CREATE VIEW v(id, body) AS WITH RECURSIVE r(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM r) "
            "SELECT n, 'x' FROM r"
        )
    errors = run("ask", "--timeout", "0.2", path, "What is green?", "the lamp", code=3)[1]
    assert errors == "bertqa: took longer than --timeout allows\n"


def test_second_writer_is_told_of_the_first(tmp_path):
    path, fifo = tmp_path / "held.db", tmp_path / "slow"
    os.mkfifo(fifo)
    with subprocess.Popen(
        [TOOL, "index", path, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
    ) as first:
        while not path.exists() or path.stat().st_size == 0:
            time.sleep(0.01)
        assert f"process {first.pid} is writing it" in run("index", path, code=3)[1]
        first.communicate(b"The clock stopped at ten.")
    assert first.returncode == 0
    run("index", path)
    assert ask(path, "When did the clock stop?")["answers"][0]["text"] in ("ten", "at ten")


def test_a_program_that_writes_when_a_run_ends(tmp_path):
    path = tmp_path / "x.db"
    (tmp_path / "a.txt").write_text("The lamp is green.")
    run("index", "--words-only", path, tmp_path / "a.txt")
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE files SET size = size")
        assert "1 unchanged" in run("index", "--words-only", path, tmp_path / "a.txt")[0]


def test_a_reader_cannot_finish_what_a_writer_left(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "a.txt").write_text("The lamp is green.")
    run("index", "--words-only", folder / "x.db", tmp_path / "a.txt")
    with sqlite3.connect(folder / "x.db") as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    folder.chmod(0o555)

    def forbid():
        """Root, too, may then not write."""
        pr_capbset_drop, cap_dac_override = 24, 1
        if os.geteuid() == 0:
            ctypes.CDLL(None).prctl(pr_capbset_drop, cap_dac_override)

    errors = run("search", folder / "x.db", "lamp", code=3, preexec_fn=forbid)[1]
    assert "its owner opens it once, a collection with 'bertqa index'" in errors
    folder.chmod(0o755)
    run("index", "--words-only", folder / "x.db")
    folder.chmod(0o555)
    assert "green" in run("search", folder / "x.db", "lamp", preexec_fn=forbid)[0]
    folder.chmod(0o755)


def test_killed_runs_go_on(tmp_path, faults):
    """A run that is killed at any call that changes a file leaves a whole database, and the last one completes it."""
    generator = random.Random(7)
    folder, path, count = tmp_path / "folder", tmp_path / "killed.db", tmp_path / "count"
    folder.mkdir()
    for number in range(60):
        (folder / f"{number:02}.txt").write_text(
            f"Box {number} holds {number * 7} screws.\n\n" * (1 + number % 40)
        )
    assert run_with(faults, ["index", tmp_path / "whole.db", folder], FAULT_COUNT=count) == (0, [])
    calls = int(count.read_text())
    assert calls > 100
    kills = changes = 0
    while kills < (200 if LONG else 20):
        fault, point = generator.choice(["kill", "torn", "killed"]), generator.randrange(1, calls + 1)
        code, errors = run_with(faults, ["index", path, folder], FAULT=fault, FAULT_AT=point)
        assert code in (0, -signal.SIGKILL) and errors == [], (code, errors, fault, point)
        if code == 0:
            (folder / f"{changes % 60:02}.txt").write_text(f"Box {changes} was opened in year {changes}.")
            changes += 1
            continue
        kills += 1
        if path.exists() and path.stat().st_size and kills % 5 == 0:
            assert rows(path, "PRAGMA integrity_check") == [("ok",)]
    run("index", path, folder)
    check_whole(path)
    assert rows(path, "SELECT count(*) FROM files WHERE hash IS NULL") == [(0,)]
    assert rows(path, "SELECT count(*) FROM files") == [(60,)]
    fresh = tmp_path / "fresh.db"
    run("index", fresh, folder)
    texts = "SELECT f.path, p.start, p.text FROM passages p JOIN documents d ON d.id = p.document JOIN files f ON f.id = d.file ORDER BY 1, 2"
    assert rows(path, texts) == rows(fresh, texts)


def test_what_is_no_database_or_no_text(tmp_path, notes, collection):
    for command in ("index", notes), ("index", "/dev/null", notes):
        assert "is not a regular file: the collection comes first" in run(*command, code=3)[1]
    assert "DB cannot be standard output" in run("index", "-", notes, code=2)[1]
    assert "is not a regular file" in run("search", notes, "lease", code=3)[1]
    assert "No such file" in run("search", tmp_path / "nothing.db", "lease", code=3)[1]
    for text in "", " \n", "\u00a0\u3000":
        assert "TEXT is empty" in run("search", collection, text, code=2)[1]
        assert "the question is empty" in run("ask", collection, text, code=2)[1]
    (notes / "picture.txt").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(99))
    assert "a picture; --exclude leaves it out" in run("index", collection, "--id-field", "id", notes, code=3)[1]


def test_passages_of_documents_that_were_written_together(tmp_path):
    """A long document is written in several transactions, between which another program may add its own."""
    path = tmp_path / "notes.db"
    texts = [f"Box {number} holds {number * 7} green screws." for number in range(9)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    run("index", path, tmp_path / "a.jsonl")
    first = rows(path, "SELECT min(id) FROM documents")[0][0]
    with sqlite3.connect(path) as connection:
        # Every third passage belongs to the first document.
        connection.execute("UPDATE passages SET document = ? WHERE id % 3 = 1", (first,))
        connection.execute("UPDATE documents SET file = NULL, name = 'long' WHERE id = ?", (first,))
    found = [line.split("\t")[1] for line in run("search", "--path", "*o*", path, "box")[0].splitlines()]
    assert len(found) == 9 and found.count("long") == 3
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM documents WHERE name = 'long'")
    check_whole(path)
    assert rows(path, "SELECT count(*) FROM passages") == [(6,)]
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM files")
    check_whole(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("UPDATE passages SET start = 9223372036854775807", "is missing or has no place"),
        ("UPDATE passages SET start = -1", "is missing or has no place"),
        ("UPDATE passages SET line = 9223372036854775807", "is missing or has no place"),
        ("UPDATE vectors SET first = first + 100", "is missing or has no place"),
        ("UPDATE vectors SET count = -1", "do not fit"),
        ("UPDATE vectors SET count = 9223372036854775807", "do not fit"),
        (
            "UPDATE vectors SET count = 1, rows = substr(rows, 1, length(rows) / count), scales = x'0000c07f'",
            "not a finite number",
        ),
        (
            "UPDATE vectors SET count = 1, rows = substr(rows, 1, length(rows) / count), scales = x'0000807f'",
            "not a finite number",
        ),
        ("UPDATE vectors SET first = 9223372036854775807", "too high"),
        ("UPDATE model SET fingerprint = x'00'", "another model"),
    ],
)
def test_databases_with_wrong_numbers(collection, change, message):
    with sqlite3.connect(collection) as connection:
        connection.execute(change)
    for command in ["search"], ["ask"], ["search", "--json"], ["ask", "--json"]:
        assert message in run(*command, collection, "Who pays the rent of the lease?", code=3)[1]


ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT"


@pytest.mark.parametrize(
    "change",
    [
        "DROP TABLE vectors",
        "DROP TRIGGER file_removed",
        "DROP INDEX documents_of_file",
        "ALTER TABLE files ADD COLUMN owner",
        f"DROP TABLE vectors; CREATE VIEW vectors AS {ENDLESS} n AS first, 1 AS count, '' AS rows, '' AS scales FROM r",
        f"ALTER TABLE passages RENAME TO p; CREATE VIEW passages AS {ENDLESS} n AS id, 1 AS document, 0 AS start, "
        "1 AS end, 1 AS line, 'x' AS text FROM r",
        f"DROP VIEW texts; CREATE VIEW texts AS {ENDLESS} n AS id, 'x' AS title, 'x' AS text FROM r",
        "PRAGMA writable_schema = 1; UPDATE sqlite_master SET type = 'view', rootpage = 0, "
        f"sql = 'CREATE VIEW words_idx AS {ENDLESS} 1 AS segid, 1 AS term, n AS pgno FROM r' WHERE name = 'words_idx'",
        f"CREATE TRIGGER slow BEFORE DELETE ON files BEGIN INSERT INTO model {ENDLESS} n, n, n, n FROM r; END",
    ],
)
def test_tables_and_triggers_of_another_program(collection, notes, change):
    """A view or trigger may run without end."""
    with sqlite3.connect(collection) as connection:
        connection.executescript(change)
    (notes / "heating.txt").unlink()
    for command in (["search", collection, "lease"], ["ask", collection, "Who?"], ["index", collection]):
        assert "are not those of a collection" in run(*command, code=3)[1]
    with pytest.raises(ValueError, match="are not those of a collection"):
        bertqa.Collection(collection)


def test_further_tables(collection, notes):
    with sqlite3.connect(collection) as connection:
        connection.executescript(
            "CREATE TABLE tags(file, tag); CREATE VIEW tagged AS SELECT * FROM files JOIN tags ON file = path; "
            "CREATE INDEX files_by_time ON files(modified); VACUUM"
        )
    assert ask(collection, "Who signed the lease?")["answers"][0]["text"] == "Ann Smith"
    run("index", collection, "--id-field", "id", notes)


def test_a_name_is_a_path(tmp_path, notes):
    """SQLite takes these names for others than those of files."""
    for name in ":memory:", "file:x?mode=memory", "file:y.db":
        path = tmp_path / name
        run("index", "--words-only", name, notes, cwd=tmp_path)
        assert rows(path, "SELECT count(*) FROM files") == [(3,)]
        assert run("ask", name, "Who signed the lease?", cwd=tmp_path)[0].endswith("\tAnn Smith\n")
        path.unlink()
        with bertqa.Collection(path) as collection:
            collection.add("a", "The lamp is green.")
        assert run("search", name, "lamp", cwd=tmp_path)[0].endswith("\tThe lamp is green.\n")


def test_a_database_that_cannot_be_written_ends_the_run(tmp_path):
    """It is not the problem of a file, and no further files are read."""
    path = tmp_path / "x.db"
    (tmp_path / "a.txt").write_text("The lamp is green.")
    run("index", "--words-only", path, tmp_path / "a.txt")
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE UNIQUE INDEX one ON files(settings)")
    big = "\n\n".join(f"Box {number} holds {number * 7} screws. {'x ' * 120}" for number in range(20000))
    (tmp_path / "b.txt").write_text(big)
    (tmp_path / "c.txt").write_text("The clock stopped at ten.")
    errors = run("index", "--words-only", path, tmp_path / "b.txt", tmp_path / "c.txt", code=3)[1]
    assert errors == f"bertqa: {path}: SQLite: UNIQUE constraint failed: files.settings\n"


def test_a_file_that_another_program_removes_while_it_is_read(tmp_path):
    path = tmp_path / "x.db"
    texts = [json.dumps({"text": f"Box {number} holds {number * 7} screws."}) + "\n" for number in range(20000)]
    index = [TOOL, "index", "--words-only", "--format", "jsonl", path, "-"]
    process = subprocess.Popen(index, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True)
    # The first batch has 8,192 passages.
    process.stdin.write("".join(texts[:10000]))
    process.stdin.flush()
    for _ in range(3000):
        time.sleep(0.02)
        if path.exists() and rows(path, "SELECT count(*) FROM sqlite_master")[0][0]:
            if rows(path, "SELECT count(*) FROM passages")[0][0] >= 8192:
                break
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM files")
    errors = process.communicate("".join(texts[10000:]))[1]
    assert process.returncode == 3
    assert errors == f"bertqa: {path}: another program removed the file that is being read: index it again\n"
    assert rows(path, "SELECT count(*) FROM passages") == rows(path, "SELECT count(*) FROM documents") == [(0,)]
    run(*index[1:], input="".join(texts).encode())
    assert rows(path, "SELECT count(*) FROM passages") == [(20000,)]
