"""A collection of notes, which the tool indexes and asks, and its tables."""

import gzip
import json
import sqlite3

import pytest

from cli import run

LEASE = "# The lease\n\nAnn Smith signed the lease on 3 May.\n\nThe rent is due on the first day of each month.\n"
HEATING = "The heating costs 120 euros a month in winter.\nThe boiler was repaired by Zo\u00eb Brown.\n"
MAIL = [
    {"id": "m1", "text": "The train to Bern leaves at noon."},
    {"id": "m2", "text": "Carla won the chess tournament in Oslo."},
    {"id": "m3", "text": None},
]


@pytest.fixture(name="notes")
def written_notes(tmp_path):
    folder = tmp_path / "notes"
    (folder / "house").mkdir(parents=True)
    (folder / "house" / "lease.md").write_text(LEASE)
    (folder / "heating.txt").write_text(HEATING)
    (folder / ".hidden.txt").write_text("The password is swordfish.")
    with gzip.open(folder / "mail.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(mail) + "\n" for mail in MAIL)
    return folder


@pytest.fixture(name="collection")
def indexed_notes(notes, tmp_path):
    path = tmp_path / "notes.db"
    assert (
        run("index", path, "--id-field", "id", notes)[0]
        == "3 new, 0 changed, 0 unchanged, 0 gone; passages: 4 read, 4 in all\n"
    )
    return path


def rows(path, sql, *values):
    with sqlite3.connect(path) as connection:
        return connection.execute(sql, values).fetchall()


def check_whole(path):
    """The tables agree with one another."""
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO words(words, rank) VALUES ('integrity-check', 1)")
    connection.rollback()
    passages = [id for (id,) in connection.execute("SELECT id FROM passages ORDER BY id")]
    vectors = []
    for first, count, data, scales in connection.execute(
        "SELECT first, count, rows, scales FROM vectors ORDER BY first"
    ):
        assert len(data) == 384 * count and len(scales) == 4 * count
        vectors += range(first, first + count)
    assert vectors == passages
    assert connection.execute(
        "SELECT count(*) FROM documents WHERE file IS NOT NULL AND file NOT IN (SELECT id FROM files)"
    ).fetchone() == (0,)
    connection.close()


def ask(path, question, *options, code=0):
    return json.loads(run("ask", *options, "--json", path, question, code=code)[0])
