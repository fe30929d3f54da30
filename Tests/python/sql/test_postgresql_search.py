"""The PostgreSQL extension: bertqa_search, by words and vectors."""

import json
import pathlib
import shutil

import pytest

from conftest import FIXTURES
from postgres import SQLError, installation, opened_session, quote, running_server  # noqa: F401
from samples import ANSWER, APOLLO, FOX, LOVELACE, WHO

TEXTS = [FOX, APOLLO, LOVELACE, "The moon is far away.", "An apple falls from the tree."]


def has_pgvector():
    return (pathlib.Path("/usr/share/postgresql") / installation().name / "extension" / "vector.control").exists()


@pytest.mark.parametrize(
    "kind",
    [
        "real[]",
        pytest.param("vector", marks=pytest.mark.skipif(not has_pgvector(), reason="pgvector is not installed")),
        pytest.param(
            "apart.vector", marks=pytest.mark.skipif(not has_pgvector(), reason="pgvector is not installed")
        ),
    ],
)
def test_a_search_by_words_and_vectors(session, kind):
    rows = ", ".join(f"({id}, {quote(text)})" for id, text in enumerate(TEXTS))
    session.execute("BEGIN")
    if kind == "vector":
        session.execute("CREATE EXTENSION vector")
    elif kind == "apart.vector":
        session.execute("CREATE SCHEMA apart; CREATE EXTENSION vector SCHEMA apart")
    session.execute(
        f"""CREATE TABLE "the Passages"(
              id integer, body text, "the vector" {kind},
              words tsvector GENERATED ALWAYS AS (to_tsvector('english', body)) STORED)"""
    )
    session.execute(
        f"""INSERT INTO "the Passages" SELECT id, body, bertqa_embed(body)::{kind} FROM (VALUES {rows}) AS t(id, body)"""
    )
    session.execute("""INSERT INTO "the Passages" VALUES (9, NULL, NULL)""")

    def found(question, k, source='"the Passages"'):
        sql = f"SELECT id FROM bertqa_search(NULL::{source}, {quote(question)}, {k}, 'english')"
        return [int(id) for [id] in session.execute(sql)]

    assert found("moon", 1) == [3]
    assert found("fruit", 1) == [4]  # no word is the same
    assert sorted(found("moon", 99)) == [0, 1, 2, 3, 4]
    assert len(found("quux", 99)) == 5
    session.execute("""CREATE VIEW others AS SELECT * FROM "the Passages" WHERE id <> 3""")
    assert found("moon", 1, "others") != [3] and len(found("moon", 99, "others")) == 4
    answered = f"""SELECT a.answer FROM bertqa_search(NULL::"the Passages", {quote(WHO)}, 2, 'english') AS p,
                   bertqa_answers({quote(WHO)}, p.body) AS a ORDER BY a.gap DESC LIMIT 1"""
    assert session.value(answered) == ANSWER
    assert session.execute("""SELECT * FROM bertqa_search(NULL::"the Passages", NULL)""") == []
    session.execute("ROLLBACK")


def test_a_search_of_each_kind_of_table(session):
    """Rows of different parts have the same place. Views, and roles that may read columns only, have no places."""
    session.execute("BEGIN")
    rows = ", ".join(f"({id}, {quote(text)})" for id, text in enumerate(TEXTS))
    session.execute(
        f"""CREATE TABLE one AS
              SELECT id, id AS place, id AS part, to_tsvector('english', body) AS words, bertqa_embed(body) AS vector
              FROM (VALUES {rows}) AS t(id, body);
            CREATE MATERIALIZED VIEW kept AS SELECT * FROM one;
            CREATE VIEW seen AS SELECT * FROM one;
            CREATE TABLE split (LIKE one) PARTITION BY LIST (id);
            CREATE TABLE split_3 PARTITION OF split FOR VALUES IN (3);
            CREATE TABLE split_others PARTITION OF split DEFAULT;
            INSERT INTO split SELECT * FROM one;
            CREATE TABLE parent AS SELECT * FROM one WHERE id <> 3;
            CREATE TABLE child () INHERITS (parent);
            INSERT INTO child SELECT * FROM one WHERE id = 3;
            CREATE ROLE reader; GRANT SELECT (id, place, part, words, vector) ON one TO reader"""
    )
    sql = "SELECT id, place, part FROM bertqa_search(NULL::{}, 'moon', 99, 'english')"
    expected = session.execute(sql.format("one"))
    assert expected[0] == ["3", "3", "3"] and len(expected) == 5
    for source in "kept", "seen", "split", "parent":
        assert session.execute(sql.format(source)) == expected, source
    session.execute("SET ROLE reader")
    assert session.execute(sql.format("one")) == expected
    session.execute("RESET ROLE")
    assert session.execute("SELECT id FROM bertqa_search(NULL::one, 'moon', 9, NULL)") == []
    session.execute("ROLLBACK")


def test_a_search_embeds_the_question_as_a_query(server, session):
    model = server.root / "tiny-prompts"
    shutil.copytree(FIXTURES / "tiny-bert-embedder", model)
    settings = {"prompts": {"query": "a king of france: "}}
    (model / "config_sentence_transformers.json").write_text(json.dumps(settings))
    session.execute("BEGIN")
    session.execute(f"SELECT bertqa_model('embed', {quote(str(model))})")
    session.execute(
        """CREATE TABLE prompts AS SELECT name, ''::tsvector AS words, bertqa_embed('over', name) AS vector
           FROM (VALUES ('document'), ('query')) AS names(name)"""
    )
    sql = "SELECT name FROM bertqa_search(NULL::prompts, 'over', 2, 'simple')"
    assert session.execute(sql) == [["query"], ["document"]]
    session.execute("ROLLBACK")
    session.execute("SELECT bertqa_model('embed', NULL)")


@pytest.mark.parametrize("kind", ["real[]", "pgvector.vector"])
def test_a_search_whose_schemas_are_not_in_the_search_path(session, kind):
    """pg_restore empties search_path. The type stands for pgvector's, in a schema whose name has the type's."""
    session.execute("BEGIN")
    session.execute("CREATE SCHEMA apart; ALTER EXTENSION bertqa SET SCHEMA apart")
    session.execute(
        """CREATE SCHEMA pgvector;
           CREATE DOMAIN pgvector.vector AS real[];
           CREATE FUNCTION pgvector.distance(a pgvector.vector, b pgvector.vector) RETURNS double precision
             LANGUAGE sql IMMUTABLE RETURN 1 - apart.bertqa_cosine(a, b);
           CREATE OPERATOR pgvector.<=> (
             LEFTARG = pgvector.vector, RIGHTARG = pgvector.vector, FUNCTION = pgvector.distance)"""
    )
    rows = ", ".join(f"({id}, {quote(text)})" for id, text in enumerate(TEXTS))
    session.execute(
        f"""CREATE TABLE passages AS
            SELECT id, to_tsvector('english', body) AS words, apart.bertqa_embed(body)::{kind} AS vector
            FROM (VALUES {rows}) AS t(id, body)"""
    )
    session.execute("SET search_path = ''")
    for question, expected in ("moon", 3), ("fruit", 4):
        sql = f"SELECT id FROM apart.bertqa_search(NULL::public.passages, '{question}', 1, 'english')"
        assert session.value(sql) == str(expected)
    session.execute("ROLLBACK")


def test_a_search_does_not_run_what_is_in_the_search_path(session):
    """Operators of another role that fit the operands better than the server's would run with the caller's rights."""
    session.execute("BEGIN")
    session.execute(
        """CREATE TABLE passages AS
              SELECT to_tsvector('The moon.') AS words, bertqa_embed('The moon.') AS vector, 'The moon.' AS body;
           CREATE SCHEMA mallory;
           CREATE FUNCTION mallory.steal(oid, regclass) RETURNS boolean LANGUAGE plpgsql AS
             $$BEGIN RAISE 'stolen'; END$$;
           CREATE OPERATOR mallory.= (LEFTARG = oid, RIGHTARG = regclass, FUNCTION = mallory.steal);
           SET search_path = mallory, public"""
    )
    sql = "SELECT body FROM public.bertqa_search(NULL::passages, 'moon')"
    assert session.value(sql) == "The moon."
    session.execute("ROLLBACK")


@pytest.mark.parametrize("name", ["r", "found", "near", "rank", "cosine", "word", "query"])
def test_columns_and_tables_of_any_name(session, name):
    """Those that the function uses itself."""
    session.execute(
        f"""CREATE TEMP TABLE {name} AS SELECT {name}, to_tsvector('simple', {name}) AS words_of, bertqa_embed({name}) AS vector
            FROM (VALUES ('moon'), ('sun')) AS texts({name})"""
    )
    for source in f"NULL::{name}", f"NULL::pg_temp.{name}":
        found = session.execute(f"SELECT {name} FROM bertqa_search({source}, 'moon', 2, 'simple')")
        assert found == [["moon"], ["sun"]]


def test_a_search_of_a_temporary_table_in_a_parallel_plan(session):
    session.execute(
        "CREATE TEMP TABLE mine AS SELECT to_tsvector('moon') AS words, bertqa_embed('moon') AS vector"
    )
    session.execute(
        f"SET {'debug_parallel_query' if int(installation().name) > 15 else 'force_parallel_mode'} = on"
    )
    assert session.value("SELECT bertqa_search(NULL::mine, 'moon') IS NOT NULL") == "t"


@pytest.mark.parametrize("cosine", ["NULL", "'NaN'"])
def test_a_search_of_vectors_without_a_cosine(session, cosine):
    """They come last. cosine: of zeros, as bertqa_cosine and pgvector's operator give it."""
    assert session.value("SELECT bertqa_cosine('{Infinity,1}', '{1,1}')") == "NULL"
    session.execute("BEGIN")
    session.execute(
        """CREATE TEMP TABLE odd AS
              SELECT 1 AS id, to_tsvector('The moon.') AS words, bertqa_embed('The moon.') AS vector
              UNION ALL SELECT 2, to_tsvector('The moon.'), array_fill(0::real, ARRAY[384])
              UNION ALL SELECT 3, '', array_fill(0::real, ARRAY[384])
              UNION ALL SELECT 4, '', array_fill('Infinity'::real, ARRAY[384])"""
    )
    if cosine != "NULL":
        session.execute(
            f"""CREATE SCHEMA other;
                CREATE DOMAIN other.vector AS real[];
                CREATE FUNCTION other.distance(a other.vector, b other.vector) RETURNS double precision
                  LANGUAGE sql IMMUTABLE RETURN 1 - coalesce(public.bertqa_cosine(a, b), {cosine});
                CREATE OPERATOR other.<=> (LEFTARG = other.vector, RIGHTARG = other.vector, FUNCTION = other.distance);
                ALTER TABLE odd ALTER COLUMN vector TYPE other.vector"""
        )
    found = session.execute("SELECT id FROM bertqa_search(NULL::odd, 'moon', 9, 'english')")
    assert [row for [row] in found[:2]] == ["1", "2"] and sorted(row for [row] in found[2:]) == ["3", "4"]
    session.execute("ROLLBACK")


def test_a_search_needs_its_columns(session):
    session.execute("CREATE TEMP TABLE plain(body text, a tsvector, b tsvector, vector real[])")
    for source in "NULL::plain", "1":
        with pytest.raises(SQLError, match="needs a table or view with one column of type tsvector"):
            session.execute(f"SELECT bertqa_search({source}, 'moon')")
    session.execute("ALTER TABLE plain DROP COLUMN b")
    for k in -1, 0, 1001:
        with pytest.raises(SQLError, match="^bertqa_search: k is 1 to 1000") as caught:
            session.execute(f"SELECT bertqa_search(NULL::plain, 'moon', {k})")
        assert caught.value.state == "22023"
    assert session.execute("SELECT * FROM bertqa_search(NULL::plain, 'moon')") == []


def test_a_search_compares_the_best_of_both_orders(session):
    """Of many rows, those of either order are found, each once."""
    session.execute(
        "CREATE TEMP TABLE many AS SELECT i AS id, to_tsvector('simple', 'lamp ' || repeat('word ', i % 7) || i) AS words, "
        "CASE WHEN i = 777 THEN bertqa_embed('The train leaves at noon.') ELSE array_fill(-i::real, ARRAY[384]) END AS vector "
        "FROM generate_series(1, 1000) AS i"
    )
    sql = "SELECT id FROM bertqa_search(NULL::many, 'lamp: when does the train leave', 1000, 'simple')"
    found = [int(id) for [id] in session.execute(sql)]
    assert found[0] == 777 and len(found) == len(set(found)) >= 200
