"""The functions of bertqa.duckdb in a real DuckDB: values, nulls, how often the model runs, errors, connections."""

import json
import re
import shutil
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
from conftest import FIXTURES, ROOT
from samples import ANSWER, APOLLO, DOCUMENTS, FOX, LOVELACE, NAMES, TINY, WHO, colbert, entailment_model
from texts import PERSONAL, REDACTIONS, SPORT

ENTITIES = FIXTURES / "tiny-bert-entities"


@pytest.fixture
def connection():
    """Models with random weights; those for labels, vectors and entities take almost no time."""
    with duckdb.connect() as connection:
        models = {
            "classify": FIXTURES / "tiny-bert-classifier",
            "embed": FIXTURES / "tiny-bert-embedder",
            "entities": ENTITIES,
        }
        bertqa.duckdb.register(connection, **models)
        yield connection


def value(connection, sql, *parameters):
    [[value]] = connection.execute(sql, parameters).fetchall()
    return value


def table(connection, texts):
    connection.execute("CREATE OR REPLACE TABLE texts(id BIGINT, body VARCHAR)")
    rows = pyarrow.table({"id": range(len(texts)), "body": pyarrow.array(texts, pyarrow.string())})  # noqa: F841
    connection.execute("INSERT INTO texts SELECT * FROM rows")


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


# Values


@pytest.mark.parametrize("name", DOCUMENTS)
def test_answers_are_the_library_s(connection, context, name):
    document = DOCUMENTS[name].encode("utf-8", "replace").decode()
    table(connection, [document])
    result = context.answer(WHO, document)
    expected = result.answer
    rows = connection.execute(
        """SELECT answer, start_char, end_char, substr(body, start_char + 1, end_char - start_char), score, probability,
             gap, sentence, is_impossible
           FROM texts, bertqa_answers(?, body)""",
        [WHO],
    ).fetchall()
    place = (expected.text, expected.start, expected.end, expected.text)
    assert rows[0][:4] == place and len(rows) == 1
    assert rows[0][4:7] == pytest.approx((expected.score, expected.probability, expected.gap))
    assert rows[0][7:] == (expected.sentence, result.is_impossible)
    assert value(connection, "SELECT bertqa_answer(?, body) FROM texts", WHO) == expected.text


def test_one_answer_of_several_texts(connection):
    texts = ["", "The river is wide. " * 40, FOX, APOLLO]
    table(connection, [*texts, None])
    with bertqa.Context() as context:
        expected = context.answer_documents(WHO, texts).answer.text
    assert value(connection, "SELECT bertqa_answer_all(?, body) FROM texts", WHO) == expected
    rows = connection.execute(
        "SELECT id, bertqa_answer_all(?, body) FROM texts WHERE id IN (1, 2) GROUP BY id ORDER BY id", [WHO]
    ).fetchall()
    assert [row[0] for row in rows] == [1, 2] and all(row[1] in texts[row[0]] for row in rows)
    for condition in "body = ''", "false":
        assert value(connection, f"SELECT bertqa_answer_all(?, body) FROM texts WHERE {condition}", WHO) is None
    assert value(connection, "SELECT bertqa_answer_all(NULL, body) FROM texts") is None
    # A row with a NULL does not count, so its question may be another one.
    asked = f"SELECT bertqa_answer_all(if(id = {{}}, 'who', '{WHO}'), body) FROM texts"
    assert value(connection, asked.format(4)) == expected
    with pytest.raises(duckdb.Error, match="the question is the same in all rows of a group"):
        connection.execute(asked.format(3)).fetchall()


def test_labels(connection):
    with bertqa.Context(FIXTURES / "tiny-bert-classifier") as context:
        expected = context.classify(SPORT)
    rows = connection.execute("SELECT label, probability, id FROM bertqa_labels(?)", [SPORT]).fetchall()
    assert [(row[0], row[2]) for row in rows] == [(score.label, score.id) for score in expected.scores]
    assert [row[1] for row in rows] == pytest.approx([score.probability for score in expected.scores])
    assert value(connection, "SELECT bertqa_classify(?)", SPORT) == expected.label


def test_labels_of_the_caller_s_choice(connection, tmp_path):
    model, names = entailment_model(tmp_path / "model"), ["king of france", "dog", "rivière", "fox"]
    bertqa.duckdb.register(connection, classify=model)
    with bertqa.Context(model) as context:
        expected = context.classify(FOX, labels=names)
    given = " king of france,dog,, rivière ,fox"
    rows = connection.execute("SELECT label, probability, id FROM bertqa_labels(?, ?)", [FOX, given]).fetchall()
    assert [(row[0], row[2]) for row in rows] == [(score.label, score.id) for score in expected.scores]
    assert [row[1] for row in rows] == pytest.approx([score.probability for score in expected.scores])
    table(connection, [FOX, None, FOX])
    sql = "SELECT bertqa_classify(body, CASE id WHEN 2 THEN 'dog' ELSE ? END) FROM texts ORDER BY id"
    assert connection.execute(sql, [given]).fetchall() == [(expected.label,), (None,), ("dog",)]
    assert value(connection, "SELECT bertqa_classify('a', NULL)") is None
    for wrong in "bertqa_classify('a', ' , ')", "label FROM bertqa_labels('a', '')":
        with pytest.raises(duckdb.Error, match="names separated by commas"):
            connection.execute(f"SELECT {wrong}").fetchall()


def test_vectors(connection):
    with bertqa.Context(FIXTURES / "tiny-bert-embedder") as context:
        expected = context.embed([FOX, ""]).tolist()
        length = context.info.embedding_length
    table(connection, [FOX, None, ""])
    rows = connection.execute("SELECT bertqa_embed(body) FROM texts ORDER BY id").fetchall()
    assert list(rows[0][0]) == pytest.approx(expected[0]) and list(rows[2][0]) == pytest.approx(expected[1])
    assert rows[1][0] is None
    assert value(connection, "SELECT typeof(bertqa_embed('a'))") == f"FLOAT[{length}]"
    assert value(connection, "SELECT bertqa_embed('a', 'document') = bertqa_embed('a')")
    assert value(connection, "SELECT bertqa_embed('a', NULL)") is None
    with pytest.raises(duckdb.InvalidInputException, match="prompt_name"):
        connection.execute("SELECT bertqa_embed('a', 'nothing')").fetchall()
    like = "SELECT array_cosine_similarity(bertqa_embed(body), bertqa_embed(?)) FROM texts WHERE id = 0"
    assert value(connection, like, FOX) == pytest.approx(1)


def test_entities(connection):
    text = "Zoë 🦊 the quick brown fox jumped over the lazy dog in the river."
    with bertqa.Context(ENTITIES) as context:
        expected = context.entities(text).entities
    rows = connection.execute("SELECT * FROM bertqa_entities(?)", [text]).fetchall()
    assert len(rows) == len(expected) > 1
    for row, entity in zip(rows, expected, strict=True):
        assert row[:2] == (entity.text, entity.label) and row[3:] == (entity.start, entity.end)
        assert row[2] == pytest.approx(entity.score)


def test_entities_of_the_caller_s_choice():
    text, labels = FOX.replace("lethargic", "lazy"), ["film or river", "time"]
    connection = duckdb.connect()
    with bertqa.Context(FIXTURES / "tiny-gliner") as context:
        bertqa.duckdb.register(connection, entities=context)
        expected, some = (
            context.entities(text, labels=names) for names in (labels, {labels[0]: 1, labels[1]: 0.5})
        )
        assert labels[0] in {one.label for one in expected} and {one.label for one in some} == {labels[1]}
        for given, wanted in (" film or river , time,", expected), ("film or river=1, time = .5", some):
            rows = connection.execute("SELECT entity, label FROM bertqa_entities(?, ?)", [text, given]).fetchall()
            assert rows == [(entity.text, entity.label) for entity in wanted]
            hidden = value(connection, "SELECT bertqa_redact(?, 'all', 'label', '', '', ?)", text, given)
            assert hidden == bertqa.redact(text, wanted)
        for wrong, message in ("'a', ' , '", "commas"), ("'a'", "labels"), ("'a', 'b=7'", "thresholds"):
            with pytest.raises(duckdb.Error, match=message):
                connection.execute(f"SELECT * FROM bertqa_entities({wrong})").fetchall()


def test_redaction(connection):
    text = PERSONAL
    for arguments, expected in REDACTIONS:
        marks = ", ".join("?" * (1 + len(arguments)))
        assert value(connection, f"SELECT bertqa_redact({marks})", text, *arguments) == expected
    table(connection, [text, None, "", "bob@x.org"])
    rows = connection.execute("SELECT bertqa_redact(body, 'all', 'pseudonym') FROM texts ORDER BY id").fetchall()
    assert rows == [("Zoë: [EMAIL_1], SSN 143-69-1724",), (None,), ("",), ("[EMAIL_1]",)]
    rows = connection.execute("SELECT bertqa_redact(body, 'all', 'hash', ?) FROM texts ORDER BY id", ["k" * 16])
    expected = bertqa.redact("bob@x.org", bertqa.patterns("bob@x.org"), key=b"k" * 16)
    assert rows.fetchall()[3] == (expected,)
    # Arguments of each row.
    rows = connection.execute(
        "SELECT bertqa_redact(body, CASE id WHEN 0 THEN 'us' WHEN 3 THEN 'email' END) FROM texts ORDER BY id"
    ).fetchall()
    assert rows == [("Zoë: ann@x.org, SSN [US_SSN]",), (None,), (None,), ("[EMAIL]",)]
    rows = connection.execute("SELECT * FROM bertqa_patterns(?, 'email,us')", [text]).fetchall()
    assert rows == [("ann@x.org", "EMAIL", 1.0, 5, 14), ("143-69-1724", "US_SSN", 1.0, 20, 31)]
    rows = connection.execute("SELECT id, entity FROM texts, bertqa_patterns(body) ORDER BY id").fetchall()
    assert rows == [(0, "ann@x.org"), (3, "bob@x.org")]
    # A region's numbers, and what a model finds.
    text = "the quick brown fox, 80991098"
    assert value(connection, "SELECT bertqa_redact(?, 'all', 'label', '', 'DK,NO')", text).endswith("fox, [PHONE]")
    rows = connection.execute("SELECT entity FROM bertqa_patterns('80991098', 'phone', 'DK')").fetchall()
    assert rows == [("80991098",)]
    with bertqa.Context(ENTITIES) as context:
        every = context.entities(text)
        one = every[0].label
        of_one = context.entities(text, labels=[one])
        for labels, names in ("*", every), (one, of_one), (f" {one} ,", of_one):
            expected = bertqa.redact(text, names + bertqa.patterns(text, regions=["DK"]))
            got = value(connection, "SELECT bertqa_redact(?, 'all', 'label', '', 'DK', ?)", text, labels)
            assert got == expected and f"[{one}]" in got
    assert "_1]" in value(connection, "SELECT bertqa_redact(?, 'all', 'pseudonym', '', '', '*')", text)
    for wrong in (
        "'x'",
        "'all', 'x'",
        "'all', 'label', '', 'XX'",
        "'all', 'label', 'x'",
        "'all', 'mask', 'x'",
        "'all', 'mask', '\u0663'",
        "'all', 'hash', 'short'",
    ):
        with pytest.raises(duckdb.Error, match="bertqa|patterns|key|regions"):
            connection.execute(f"SELECT bertqa_redact('a@b.de', {wrong})").fetchall()


def test_null_and_nothing(connection):
    table(connection, [None, "", FOX])
    for call in [
        "bertqa_answer(NULL, 'a')", "bertqa_answer('a', NULL)", "bertqa_classify(NULL)", "bertqa_embed(NULL)",
        "bertqa_answer('who', '')", "bertqa_answer('', 'a')",
    ]:  # fmt: skip
        assert value(connection, f"SELECT {call}") is None, call
    for call in "answers(NULL, 'a')", "answers('a', NULL)", "answers('a', '')", "labels(NULL)", "entities(NULL)":
        assert connection.execute(f"SELECT * FROM bertqa_{call}").fetchall() == [], call
    rows = connection.execute("SELECT id, bertqa_answer(?, body) FROM texts ORDER BY id", [WHO]).fetchall()
    assert rows == [(0, None), (1, None), (2, ANSWER)]
    rows = connection.execute("SELECT id, answer FROM texts, bertqa_answers(?, body)", [WHO]).fetchall()
    assert rows == [(2, ANSWER)]


def test_a_question_of_each_row(connection, context):
    questions = [WHO, "What is lethargic?", None, WHO]
    connection.execute("CREATE TABLE asked(id INTEGER, question VARCHAR)")
    connection.executemany("INSERT INTO asked VALUES (?, ?)", list(enumerate(questions)))
    rows = connection.execute(f"SELECT bertqa_answer(question, '{FOX}') FROM asked ORDER BY id").fetchall()
    assert [row[0] for row in rows] == [
        None if question is None else context.answer(question, FOX).answer.text for question in questions
    ]


# How often the model runs


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
    with pytest.raises(ValueError, match="another connection has given bertqa_answer"):
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


def test_entities_of_the_default_model():
    with duckdb.connect() as connection:
        bertqa.duckdb.register(connection)
        rows = connection.execute("SELECT entity, label FROM bertqa_entities(?)", [LOVELACE]).fetchall()
    assert dict(rows) == NAMES


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
