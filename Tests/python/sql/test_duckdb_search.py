"""bertqa.duckdb: bertqa_search, by words and vectors."""

import json
import shutil

import duckdb
import pytest

import bertqa.duckdb
from conftest import FIXTURES
from duck import ENTITIES, small_models, value  # noqa: F401
from samples import ANSWER, APOLLO, FOX, LOVELACE, WHO


def test_a_search_by_words_and_vectors():
    """In the order of a Collection: the words of the question, the vectors, and their weights are the same."""
    texts = [FOX, APOLLO, LOVELACE, "The moon is far away.", "An apple falls from the tree."]
    with duckdb.connect() as connection:
        bertqa.duckdb.register(connection, classify=FIXTURES / "tiny-bert-classifier", entities=ENTITIES)
        connection.execute("CREATE TABLE passages(id INTEGER, body VARCHAR, words VARCHAR[], vector FLOAT[384])")
        for id, text in enumerate(texts):
            connection.execute(
                "INSERT INTO passages VALUES (?, $2, bertqa_words($2), bertqa_embed($2))", [id, text]
            )
        connection.execute("INSERT INTO passages VALUES (9, NULL, NULL, NULL)")

        def found(question, k, source="passages"):
            rows = connection.execute(
                "SELECT id, score FROM bertqa_search(?, ?, ?)", [source, question, k]
            ).fetchall()
            scores = [score for _, score in rows]
            assert scores == sorted(scores, reverse=True)
            return [id for id, _ in rows]

        assert found("moon", 1) == [3]
        assert found("fruit", 1) == [4]  # no word is the same
        assert sorted(found("moon", 99)) == [0, 1, 2, 3, 4, 9]
        connection.execute("CREATE VIEW others AS FROM passages WHERE id <> 3")
        assert found("moon", 1, "others") != [3] and len(found("moon", 99, "others")) == 5
        [[answer]] = connection.execute(
            "SELECT answer FROM bertqa_search('passages', $q, 2) AS p, bertqa_answers($q, p.body) ORDER BY gap DESC LIMIT 1",
            {"q": WHO},
        ).fetchall()
        assert answer == ANSWER
        assert value(connection, "SELECT bertqa_words('Zo\u00eb\u2019s 2 caf\u00e9s')") == [
            "zo\u00eb",
            "s",
            "2",
            "caf\u00e9s",
        ]


def test_a_search_of_odd_rows(connection):
    """Vectors without a cosine come last; the table may have columns of any name; NULL finds nothing."""
    zeros, infinite = ([number] * 16 for number in (0, float("inf")))
    connection.execute(
        """CREATE TABLE passages AS
             SELECT id, [word] AS words, CASE id WHEN 1 THEN bertqa_embed('fox') WHEN 2 THEN $1 ELSE $2 END::FLOAT[16] AS vector,
               id AS p, id AS number, id AS rank, id AS cosine
             FROM (VALUES (1, 'fox'), (2, 'fox'), (3, 'dog')) AS rows(id, word)""",
        [zeros, infinite],
    )
    sql = "SELECT id, p, score FROM bertqa_search('passages', ?, ?)"
    rows = connection.execute(sql, ["fox", 9]).fetchall()
    assert [row[:2] for row in rows] == [(1, 1), (2, 2), (3, 3)]
    assert rows[0][2] > rows[1][2] > rows[2][2] == 0
    connection.execute("INSERT INTO passages SELECT 3 + i, ['dog'], NULL, 0, 0, 0, 0 FROM range(9) AS more(i)")
    assert value(connection, "SELECT count(*) FROM bertqa_search('passages', 'fox')") == 10  # by default
    for question, k in (None, 9), ("fox", None):
        assert connection.execute(sql, [question, k]).fetchall() == []
    for k in -1, 0, 1001:
        with pytest.raises(duckdb.Error, match="bertqa_search: k is 1 to 1000"):
            connection.execute(sql, ["fox", k]).fetchall()


def test_a_search_for_each_question_of_a_table(connection):
    """The rows of a question are those of its own search, and a repeated word counts once."""
    connection.execute(
        """CREATE TABLE passages AS
             SELECT id, [word, word] AS words, bertqa_embed(word) AS vector
             FROM (VALUES (1, 'fox'), (2, 'dog'), (3, 'king')) AS rows(id, word)"""
    )
    questions = ["fox", "dog king", "quux", "", None]
    alone = "SELECT id, score FROM bertqa_search('passages', ?, 2)"
    expected = {question: connection.execute(alone, [question]).fetchall() for question in questions}
    assert [len(expected[question]) for question in questions] == [2, 2, 2, 2, 0]
    sql = """SELECT question, id, score FROM unnest(?::VARCHAR[]) AS asked(question),
             bertqa_search(source := 'passages', question := question, k := 2) ORDER BY score DESC"""
    found = connection.execute(sql, [questions]).fetchall()
    for question in questions:
        assert sorted(row[1:] for row in found if row[0] == question) == sorted(expected[question])
    with pytest.raises(duckdb.Error, match="bertqa_search: k is 1 to 1000"):
        connection.execute(sql.replace("k := 2", "k := 0"), [questions]).fetchall()


def test_a_search_embeds_the_question_as_a_query(tmp_path):
    shutil.copytree(FIXTURES / "tiny-bert-embedder", tmp_path / "model")
    settings = {"prompts": {"query": "a king of france: "}}
    (tmp_path / "model" / "config_sentence_transformers.json").write_text(json.dumps(settings))
    with duckdb.connect() as connection:
        models = {"classify": FIXTURES / "tiny-bert-classifier", "entities": ENTITIES}
        bertqa.duckdb.register(connection, embed=tmp_path / "model", **models)
        connection.execute(
            """CREATE TABLE passages AS SELECT name, ['x'] AS words, bertqa_embed('over', name) AS vector
               FROM (VALUES ('document'), ('query')) AS names(name)"""
        )
        rows = connection.execute("SELECT name, score FROM bertqa_search('passages', 'over', 2)").fetchall()
        assert [name for name, _ in rows] == ["query", "document"] and rows[0][1] > rows[1][1]
