"""The SQLite extension in a real SQLite: values and errors."""

import array
import json
import os
import random
import re
import shutil
import subprocess

import pytest

import bertqa
from code_blocks import blocks
from conftest import FIXTURES, PREFIX, ROOT
from extension import TIMEOUT, connect, script
from samples import ANSWER, APOLLO, DOCUMENTS, FOX, LOVELACE, NAMES, WHO, entailment_model
from sqlite import DBCONFIG_TRUSTED_SCHEMA, SQLError
from texts import PERSONAL, REDACTIONS, SPORT, WRONG_LABELS


@pytest.fixture
def database():
    with connect() as database:
        yield database


# Values


def utf8(document):
    """Without unpaired surrogates, which UTF-8 cannot have."""
    return document.encode("utf-8", "replace").decode()


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16le"])
@pytest.mark.parametrize("name", DOCUMENTS)
def test_answers_are_the_library_s(database, context, encoding, name):
    database.execute(f"PRAGMA encoding = '{encoding}'")
    database.execute("CREATE TABLE texts(body TEXT)")
    # SQLite's substr ends a text at a NUL, so there is none here.
    document = utf8(DOCUMENTS[name]).replace("\0", "")
    database.execute("INSERT INTO texts VALUES (?)", document)
    expected = context.answer(WHO, document, top_k=3)
    rows = database.execute(
        """SELECT answer, score, probability, gap, start_byte, end_byte, start_char, end_char, sentence, is_impossible,
             no_answer_probability, substr(body, start_char + 1, end_char - start_char)
           FROM texts, bertqa_answers(?, body, 3)""",
        WHO,
    )
    assert len(rows) == len(expected.answers) > 0
    for row, answer in zip(rows, expected.answers, strict=True):
        assert row[0] == row[11] == answer.text
        assert row[1:4] == pytest.approx((answer.score, answer.probability, answer.gap))
        assert row[4:6] == answer.byte_range and row[6:8] == (answer.start, answer.end)
        assert row[8] == answer.sentence and row[9] == expected.is_impossible
        assert row[10] == pytest.approx(expected.no_answer_probability)
    assert database.value("SELECT bertqa_answer(?, body) FROM texts", WHO) == expected.answer.text


def test_one_answer_of_several_texts(database, context):
    texts = ["", "The river is wide. " * 40, FOX, APOLLO]
    expected = context.answer_documents(WHO, texts).answer
    assert expected.text == ANSWER and expected.document_index == 2
    database.execute("CREATE TABLE texts(body TEXT)")
    for text in [*texts, None]:
        database.execute("INSERT INTO texts VALUES (?)", text)
    assert database.value("SELECT bertqa_answer_all(?, body) FROM texts", WHO) == ANSWER
    rows = database.execute(
        "SELECT length(body) > 100, bertqa_answer_all(?, body) FROM texts WHERE body <> '' GROUP BY 1", WHO
    )
    assert rows[0] == (0, ANSWER) and len(rows) == 2 and rows[1][1] in "".join(texts)
    assert database.value("SELECT bertqa_answer_all(NULL, body) FROM texts") is None
    assert database.value("SELECT bertqa_answer_all(?, body) FROM texts WHERE body = ''", WHO) is None
    assert database.value("SELECT bertqa_answer_all(?, body) FROM texts WHERE 0", WHO) is None
    with pytest.raises(SQLError, match="the question is the same in all rows"):
        database.execute("SELECT bertqa_answer_all(body, body) FROM texts")
    assert database.value("SELECT bertqa_answer_all(?, body) FROM texts", WHO) == ANSWER


def test_a_nul_is_ordinary(database):
    assert database.value("SELECT bertqa_answer(?, ?)", WHO, f"A\0b. {FOX}") == ANSWER


def test_labels(database):
    with bertqa.Context(task="classify") as context:
        expected = context.classify(SPORT).scores
    assert database.value("SELECT bertqa_classify(?)", SPORT) == expected[0].label == "sport"
    rows = database.execute("SELECT label, probability, logit, id FROM bertqa_labels(?)", SPORT)
    assert [row[0] for row in rows] == [each.label for each in expected]
    assert [row[1] for row in rows] == pytest.approx([each.probability for each in expected])
    assert database.value("SELECT bertqa_classify('word')") is None
    assert database.execute("SELECT * FROM bertqa_labels('word')") == []


def test_labels_of_the_caller_s_choice(database, tmp_path):
    model, names = entailment_model(tmp_path / "model"), ["king of france", "dog", "rivière"]
    with pytest.raises(SQLError, match="counts words"):
        database.value("SELECT bertqa_classify(?, 'a,b')", FOX)
    database.value("SELECT bertqa_model('classify', ?)", str(model))
    with bertqa.Context(model) as context:
        expected, alone = context.classify(FOX, labels=names).scores, context.classify(FOX, labels=names[:1])
    given = " king of france,dog,, rivière ,"
    assert database.value("SELECT bertqa_classify(?, ?)", FOX, given) == expected[0].label
    rows = database.execute("SELECT label, probability, id FROM bertqa_labels(?, ?)", FOX, given)
    assert [(row[0], row[2]) for row in rows] == [(each.label, each.id) for each in expected]
    assert [row[1] for row in rows] == pytest.approx([each.probability for each in expected])
    found = database.value("SELECT probability FROM bertqa_labels(?, ?)", FOX, names[0])
    assert found == pytest.approx(alone.probability)
    for nothing in "'a', NULL", "NULL, 'a'":
        assert database.value(f"SELECT bertqa_classify({nothing})") is None
        assert database.execute(f"SELECT * FROM bertqa_labels({nothing})") == []
    with pytest.raises(SQLError, match="the labels have a name twice"):
        database.value("SELECT bertqa_classify('a', 'b,c, b')")
    for wrong in "bertqa_classify('a', ' , ')", "label FROM bertqa_labels('a', '')":
        with pytest.raises(SQLError, match="names separated by commas"):
            database.execute(f"SELECT {wrong}")


def test_redaction(database):
    text = PERSONAL
    for arguments, expected in REDACTIONS:
        marks = ", ".join("?" * (1 + len(arguments)))
        assert database.value(f"SELECT bertqa_redact({marks})", text, *arguments) == expected
    # A region's numbers, and the names of a model.
    for arguments, expected in [
        (("all", "label", "", "DK,NO"), "Ada Lovelace, [PHONE]"),
        (("email", "label", "", "DK", "person"), "[person], 80991098"),
        (("all", "pseudonym", "", "DK", " * "), "[person_1], [PHONE_1]"),
        (("all", "label", "", "", "location"), "Ada Lovelace, 80991098"),
    ]:
        marks = ", ".join("?" * (1 + len(arguments)))
        assert database.value(f"SELECT bertqa_redact({marks})", "Ada Lovelace, 80991098", *arguments) == expected
    rows = database.execute("SELECT entity, score FROM bertqa_patterns('80991098', 'phone', 'DK')")
    assert rows == [("80991098", 0.5)]
    assert database.execute("SELECT * FROM bertqa_patterns('80991098', 'phone')") == []
    assert database.execute("SELECT * FROM bertqa_patterns('80991098', 'phone', NULL)") == []
    assert database.value("SELECT bertqa_redact('')") == ""
    assert database.value("SELECT bertqa_redact(?, 'us', 'text', '')", "143-69-1724") == ""
    arguments = ["'a'", "'all'", "'label'", "''", "''", "''"]
    for nothing in [", ".join([*arguments[:place], "NULL"]) for place in range(6)]:
        assert database.value(f"SELECT bertqa_redact({nothing})") is None
    rows = database.execute("SELECT * FROM bertqa_patterns(?, 'email,us')", text)
    assert rows == [("ann@x.org", "EMAIL", 1.0, 6, 15, 5, 14), ("143-69-1724", "US_SSN", 1.0, 21, 32, 20, 31)]
    assert [row[0] for row in database.execute("SELECT entity FROM bertqa_patterns(?)", text)] == ["ann@x.org"]
    assert database.execute("SELECT * FROM bertqa_patterns(NULL)") == []
    assert database.execute("SELECT * FROM bertqa_patterns('a@b.de', NULL)") == []
    for call, message in [
        ("bertqa_redact('a', 'x')", "all, us"), ("bertqa_redact('a', 'all', 'x')", "the action is"),
        ("bertqa_redact('a', 'all', 'label', 'x')", "the action is"), ("bertqa_redact('a', 'all', 'mask', -1)", "the action is"),
        ("bertqa_redact('a', 'all', 'hash', 'short')", "16"), ("bertqa_redact('a', 'all', 'label', '', 'DK,X')", "regions"),
        (f"bertqa_redact('a', 'all', 'label', '', '', '{'a,' * 257}')", "256"),
        ("bertqa_redact('a', 'all', 'label', '', '', 'a')", "labels"),
    ]:  # fmt: skip
        with pytest.raises(SQLError, match=message):
            database.execute(f"SELECT {call}")
    with pytest.raises(SQLError, match="all, us"):
        database.execute("SELECT * FROM bertqa_patterns('a', 'x')")
    with pytest.raises(SQLError, match="regions"):
        database.execute("SELECT * FROM bertqa_patterns('a', 'all', 'XX')")


def test_entities(database):
    text = "Zoë 🦊 the quick brown fox jumped over the lazy dog in the river."
    path = FIXTURES / "tiny-bert-entities"
    with bertqa.Context(path) as context:
        expected = context.entities(text).entities
    assert dict(database.execute("SELECT entity, label FROM bertqa_entities(?)", LOVELACE)) == NAMES
    assert database.value("SELECT bertqa_model('entities', ?)", str(path)) == str(path)
    rows = database.execute("SELECT * FROM bertqa_entities(?)", text)
    assert len(rows) == len(expected) > 1
    for row, entity in zip(rows, expected, strict=True):
        assert row[:2] == (entity.text, entity.label) and row[2] == pytest.approx(entity.score)
        assert row[3:] == (*entity.byte_range, entity.start, entity.end)
    assert database.execute("SELECT * FROM bertqa_entities('')") == []


def test_entities_of_the_caller_s_choice(database):
    path = FIXTURES / "tiny-gliner"
    text, labels = FOX.replace("lethargic", "lazy"), ["film or river", "time"]
    with bertqa.Context(path) as context:
        expected, some = (
            context.entities(text, labels=names) for names in (labels, {labels[0]: 1, labels[1]: 0.5})
        )
        alone = context.entities(text, labels=labels[1:])
    assert labels[0] in {one.label for one in expected} and {one.label for one in some} == {labels[1]}
    database.value("SELECT bertqa_model('entities', ?)", str(path))
    for given, wanted in [
        (" film or river , time,", expected),
        ("film or river=1, time = .5", some),
        ("\u00a0film or river\u2003=\u00a01,\u3000time\u00a0=.5\u2009", some),  # as pasted from documents
        ("time", alone),
    ]:
        rows = database.execute("SELECT entity, label FROM bertqa_entities(?, ?)", text, given)
        assert rows == [(entity.text, entity.label) for entity in wanted]
        hidden = database.value("SELECT bertqa_redact(?, 'all', 'label', '', '', ?)", text, given)
        assert hidden == bertqa.redact(text, wanted)
    for wrong, message in WRONG_LABELS:
        with pytest.raises(SQLError, match=message):
            database.execute(f"SELECT * FROM bertqa_entities({wrong})")


def test_vectors(database):
    with bertqa.Context(task="embed") as context:
        expected = [context.embed(text) for text in (FOX, "A dog barks.")]
    vectors = [array.array("f", database.value("SELECT bertqa_embed(?)", text)) for text in (FOX, "A dog barks.")]
    assert [list(vector) for vector in vectors] == [list(vector) for vector in expected]
    cosine = database.value("SELECT bertqa_cosine(?, ?)", *(vector.tobytes() for vector in vectors))
    products = [sum(x * y for x, y in zip(a, b)) for a, b in [vectors, vectors[:1] * 2, vectors[1:] * 2]]
    assert cosine == pytest.approx(products[0] / (products[1] * products[2]) ** 0.5)
    assert database.value("SELECT bertqa_cosine(x'00000000', x'00000000')") is None
    draw = random.Random(1)
    for _ in range(200):
        vector = array.array("f", (draw.gauss(0, 1) for _ in range(draw.randint(1, 40))))
        other = array.array("f", (-x for x in vector))
        assert database.value("SELECT bertqa_cosine(?, ?)", vector.tobytes(), vector.tobytes()) == 1
        assert database.value("SELECT bertqa_cosine(?, ?)", vector.tobytes(), other.tobytes()) == -1
        near = array.array("f", (x * (1 + 1e-7) for x in vector))
        assert -1 <= database.value("SELECT bertqa_cosine(?, ?)", vector.tobytes(), near.tobytes()) <= 1
    for arguments in ["x'00', x'00'", "x'00000000', x''", "1, 2", "'abcd', 'abcd'"]:
        with pytest.raises(SQLError, match="two vectors of one length"):
            database.execute(f"SELECT bertqa_cosine({arguments})")


def test_tokens(database, context):
    for text in (FOX, 'Zoë "ran" \\ home\x01', "", "🦊"):
        expected = context.tokenize(text)
        tokens = json.loads(database.value("SELECT bertqa_tokens(?)", text))
        assert [token["id"] for token in tokens] == expected.ids
        assert [token["piece"] for token in tokens] == expected.tokens
        assert [(token["start_byte"], token["end_byte"]) for token in tokens] == expected.byte_offsets
    assert database.value("SELECT count(*) FROM json_each(bertqa_tokens(?))", FOX) == len(
        context.tokenize(FOX).ids
    )


def test_null_gives_null(database):
    for call in [
        "bertqa_answer(NULL, 'a')", "bertqa_answer('a', NULL)", "bertqa_classify(NULL)", "bertqa_embed(NULL)",
        "bertqa_tokens(NULL)", "bertqa_match(NULL)", "bertqa_cosine(NULL, x'')", "bertqa_cosine(x'', NULL)",
    ]:  # fmt: skip
        assert database.value(f"SELECT {call}") is None
    for call in (
        "bertqa_answers(NULL, 'a')",
        "bertqa_answers('a', NULL, 2)",
        "bertqa_labels(NULL)",
        "bertqa_answers('a', 'b', NULL)",
        "bertqa_entities(NULL)",
        "bertqa_entities('a', NULL)",
        "bertqa_patterns('a@b.de', 'all', NULL)",
    ):
        assert database.execute(f"SELECT * FROM {call}") == []


def test_empty_texts_have_no_answer(database):
    for question, text in (WHO, ""), ("", FOX), ("", ""):
        assert database.value("SELECT bertqa_answer(?, ?)", question, text) is None
        assert database.execute("SELECT * FROM bertqa_answers(?, ?)", question, text) == []


def test_other_types_are_read_as_text(database):
    assert database.value("SELECT bertqa_answer(?, ?)", WHO, FOX.encode()) == ANSWER
    assert database.value("SELECT json_extract(bertqa_tokens(1998), '$[0].piece')") == "1998"


def test_joins(database):
    database.execute("CREATE TABLE texts(id INTEGER, body TEXT)")
    for row in (1, "Ann slept."), (2, None), (3, "Bob slept."), (4, ""):
        database.execute("INSERT INTO texts VALUES (?, ?)", *row)
    left = database.execute(
        "SELECT id, answer FROM texts LEFT JOIN bertqa_answers('Who slept?', body) ORDER BY id"
    )
    assert left == [(1, "Ann"), (2, None), (3, "Bob"), (4, None)]
    # The arguments as conditions, and one that the table itself has to check.
    sql = "SELECT answer FROM bertqa_answers WHERE bertqa_question = ? AND bertqa_text = ? AND bertqa_k = 2"
    assert len(database.execute(sql, WHO, FOX)) == 2
    assert database.execute(sql + " AND bertqa_question = 'other'", WHO, FOX) == []
    both = (
        "SELECT count(*) FROM texts, bertqa_answers('Who?', body, 1) AS a, bertqa_answers('Who?', a.answer) AS b"
    )
    assert database.value(both) == 2


@pytest.mark.parametrize(
    "sql, expected",
    [
        ("SELECT entity FROM bertqa_patterns('a@b.de, 143-69-1724', 'all,us') WHERE label = 'EMAIL' OR label = 'US_SSN'", ["a@b.de", "143-69-1724"]),
        ("SELECT answer FROM bertqa_answers('Who slept?', 'Bob slept.') WHERE answer = 'Bob' OR score > 1e9", ["Bob"]),
        ("SELECT answer FROM texts, bertqa_answers('Who slept?', body) WHERE answer = 'Ann' OR score > 1e9", ["Ann"]),
        # Parts with arguments of their own: a row that two parts find is one, rows of other arguments are others.
        (
            "SELECT entity FROM bertqa_patterns WHERE bertqa_text = 'a@b.de' AND label = 'EMAIL'"
            " OR bertqa_text = 'a@b.de' AND score > 0"
            " OR bertqa_text = 'c@d.de' AND bertqa_patterns = 'email' ORDER BY 1",
            ["a@b.de", "c@d.de"],
        ),
        # A condition that only another join order could use.
        (
            "SELECT a.answer FROM bertqa_answers('Who slept?', 'Bob slept.') AS a,"
            " bertqa_answers('Who slept?', 'Bob slept.') AS b WHERE a.bertqa_text = b.bertqa_text AND b.bertqa_text = a.bertqa_text",
            ["Bob"],
        ),
    ],
)  # fmt: skip
def test_conditions(database, sql, expected):
    database.execute("CREATE TABLE texts(body TEXT)")
    database.execute("INSERT INTO texts VALUES ('Ann slept.'), ('Bob slept.')")
    assert [value for [value] in database.execute(sql)] == expected


def test_columns_of_any_name(database):
    """Those that the arguments' columns could have."""
    names = ["text", "question", "k", "labels", "patterns", "regions"]
    for name in names:
        database.execute(f"CREATE TABLE t_{name} AS SELECT ? AS {name}", LOVELACE)
        for call in "answers('Who?', {})", "entities({})", "entities({}, '*')", "patterns({})", "labels({})":
            expected = database.execute(f"SELECT * FROM bertqa_{call.format('?')}", LOVELACE)
            assert database.execute(f"SELECT x.* FROM t_{name}, bertqa_{call.format(name)} AS x") == expected


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16le", "UTF-16be"])
def test_a_blob_is_utf8(database, encoding):
    database.execute(f"PRAGMA encoding = '{encoding}'")
    database.execute("CREATE TABLE texts AS SELECT ? AS body", FOX.encode())
    assert database.value("SELECT bertqa_answer(?, body) FROM texts", WHO) == ANSWER
    assert database.value("SELECT answer FROM texts, bertqa_answers(?, body)", WHO) == ANSWER
    assert database.value("SELECT bertqa_answer_all(?, body) FROM texts", WHO) == ANSWER
    assert database.value("SELECT bertqa_redact(x'')") == "" and database.value("SELECT bertqa_match(x'')") == '""'
    parts = "SELECT answer FROM bertqa_answers WHERE bertqa_question = ?1 AND bertqa_text = ?2 AND (answer = ?3 OR score > 1e9)"
    assert database.execute(parts, WHO, FOX.encode(), ANSWER) == [(ANSWER,)]


def test_match(database):
    for question, expected in {
        "Who jumped over the lazy dog?": '"jumped" OR "over" OR "lazy" OR "dog"',
        'NEAR("x" AND y* OR -z) {a}:b^2': '"NEAR" OR "x" OR "y" OR "z" OR "b" OR "2"',
        "what is this": '"what" OR "is" OR "this"',
        "Wer war Müller?": '"Wer" OR "war" OR "Müller"',
        "?! \"'": '""',
        "": '""',
    }.items():
        assert database.value("SELECT bertqa_match(?)", question) == expected
    database.execute("CREATE VIRTUAL TABLE documents USING fts5(body)")
    database.execute("INSERT INTO documents VALUES ('Herr Müller war hier'), ('say \"NEAR\" twice')")
    found = "SELECT rowid FROM documents WHERE documents MATCH bertqa_match(?)"
    assert database.execute(found, "Wer ist Müller?") == [(1,)]
    assert database.execute(found, 'NEAR(") NOT') == [(2,)]
    for question in "?", "a\0b", "💥 'x", "{}", "":
        assert database.execute(found, question) == []


def test_only_what_never_changes_is_deterministic(database):
    """An index or generated column would keep results that another model contradicts."""
    flags = dict(database.execute("SELECT name, flags FROM pragma_function_list WHERE name LIKE 'bertqa%'"))
    deterministic = {name for name, each in flags.items() if each & 0x800}
    assert deterministic == {"bertqa_cosine", "bertqa_match"} and len(flags) >= 8
    database.execute("CREATE TABLE notes(body TEXT)")
    for call in (
        "bertqa_answer('Who?', body)", "bertqa_classify(body)", "bertqa_embed(body)", "bertqa_tokens(body)",
        "bertqa_model('answer', body)",
    ):  # fmt: skip
        for sql in (
            f"CREATE INDEX labels ON notes({call})",
            f"CREATE INDEX labels ON notes(body) WHERE {call} = 'sport'",
            f"CREATE TABLE generated(body TEXT, label TEXT GENERATED ALWAYS AS ({call}) STORED)",
        ):
            with pytest.raises(SQLError, match="non-deterministic functions prohibited"):
                database.execute(sql)


def test_triggers_store_what_the_model_gives(database):
    [trigger] = re.findall(r"`(CREATE TRIGGER .*)`", (ROOT / "docs" / "sql.md").read_text())
    database.execute("CREATE TABLE reports(id INTEGER PRIMARY KEY, body TEXT, embedding BLOB)")
    database.execute(trigger)
    insert = "INSERT INTO reports(body) VALUES (?)"
    database.execute(insert, SPORT)
    first = database.value("SELECT bertqa_embed(?)", SPORT)
    database.execute("CREATE INDEX vectors ON reports(embedding)")
    database.value("SELECT bertqa_model('embed', ?)", str(FIXTURES / "tiny-bert-embedder"))
    database.execute(insert, SPORT)
    second = database.value("SELECT bertqa_embed(?)", SPORT)
    assert database.execute("SELECT embedding FROM reports ORDER BY id") == [(first,), (second,)]
    assert first != second and database.execute("PRAGMA integrity_check") == [("ok",)]


def test_a_constant_is_embedded_once():
    """300,000 rows would take many minutes each by itself; another model computes the constant again."""
    script(
        """
with connect() as database:
    rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 300000) "
    assert database.value(rows + "SELECT count(DISTINCT bertqa_embed(?)) FROM n", APOLLO[:2000]) == 1
    sql = "SELECT CASE WHEN i = 3 THEN bertqa_model('embed', ?) END, hex(bertqa_embed(?)) FROM n LIMIT 5"
    found = [vector for _, vector in database.execute(rows + sql, str(FIXTURES / "tiny-bert-embedder"), FOX)]
    assert found[0] == found[1] != found[2] == found[3] == found[4]
    # The rows of a table, too, whose arguments SQLite computes for each row.
    call = "bertqa_answers(?, iif(i > 0, ?, ''), 2)"
    assert database.value(rows + f"SELECT count(*) FROM n, {call}", WHO, APOLLO[:2000]) == 600_000
    texts = "SELECT i, entity FROM n, bertqa_patterns(iif(i IN (2, 3), 'a@b.de', x'6340642e6465'), iif(i < 5, 'all', 'us')) LIMIT 4"
    assert database.execute(rows + texts) == [(1, "c@d.de"), (2, "a@b.de"), (3, "a@b.de"), (4, "c@d.de")]
    score = "SELECT CASE WHEN i = 3 THEN bertqa_model('answer', ?) END, score FROM n, bertqa_answers(?, iif(i > 0, ?, '')) LIMIT 5"
    found = [score for _, score in database.execute(rows + score, str(TINY), WHO, FOX)]
    assert found[0] == found[1] == found[2] != found[3] == found[4]
    texts = rows + "SELECT hex(bertqa_embed(substr(?, i))) FROM n LIMIT 3"
    assert len(set(database.execute(texts, FOX))) == 3
    prompts = rows + "SELECT hex(bertqa_embed(?, 'query')), hex(bertqa_embed(?, iif(i = 2, 'query', 'document'))) FROM n LIMIT 3"
    import pathlib, shutil, tempfile
    with tempfile.TemporaryDirectory() as directory:
        shutil.copytree(FIXTURES / "tiny-bert-embedder", directory, dirs_exist_ok=True)
        pathlib.Path(directory, "config_sentence_transformers.json").write_text('{"prompts": {"query": "a king "}}')
        database.value("SELECT bertqa_model('embed', ?)", directory)
        behind, plain = (database.value("SELECT hex(bertqa_embed(?))", text) for text in ("a king " + FOX, FOX))
        assert behind != plain
        assert database.execute(prompts, FOX, FOX) == [(behind, plain), (behind, behind), (behind, plain)]
"""
    )


@pytest.mark.skipif(not shutil.which("sqlite3"), reason="the document on SQLite: needs sqlite3")
def test_documentation(tmp_path):
    """The commands in docs/sql.md and docs/collections.md, run as they are, in order."""
    recipes = [
        block
        for page in ("sql.md", "collections.md")
        for block in blocks(ROOT / "docs" / page)
        if block.language == "sh"
    ]
    assert len(recipes) >= 5
    tool = f"{PREFIX / 'bin'}:{os.environ['PATH']}"
    environment = os.environ | {"LD_LIBRARY_PATH": str(PREFIX / "lib"), "PATH": tool}
    for recipe in recipes:
        command = ["sh", "-e", "-c", recipe.code]
        result = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=TIMEOUT
        )
        assert (result.returncode, result.stderr) == (0, ""), recipe.code
        assert result.stdout == recipe.output


# Errors


@pytest.mark.parametrize(
    "sql, message",
    [
        ("SELECT * FROM bertqa_answers('x')", "needs a question and a text"),
        ("SELECT * FROM bertqa_answers", "needs a question and a text"),
        ("SELECT * FROM bertqa_labels", "needs a text"),
        ("SELECT * FROM bertqa_entities", "needs a text"),
        ("SELECT * FROM bertqa_patterns", "needs a text"),
        ("SELECT * FROM bertqa_answers('x', 'y', 0)", "k is 1 to 1000"),
        ("SELECT * FROM bertqa_answers('x', 'y', 1 << 40)", "k is 1 to 1000"),
        ("SELECT bertqa_model('answer', '/nonexistent')", "/nonexistent: cannot open"),
        ("SELECT bertqa_model('anwser', NULL)", "the task is 'answer', 'classify', 'embed' or 'entities'"),
        ("SELECT bertqa_model('predict', NULL)", "the task is 'answer', 'classify', 'embed' or 'entities'"),
        ("SELECT bertqa_model(NULL, NULL)", "the task is 'answer', 'classify', 'embed' or 'entities'"),
        ("SELECT bertqa_model(x'ff00', NULL)", "the task is 'answer', 'classify', 'embed' or 'entities'"),
        ("SELECT bertqa_model('answer' || char(0) || 'x', NULL)", "the task is 'answer', 'classify', 'embed' or"),
        ("SELECT bertqa_model('answer', '/etc' || char(0) || 'x')", "the path has a NUL"),
        ("SELECT bertqa_answer('a')", "wrong number of arguments"),
        ("SELECT * FROM bertqa_ask", "bertqa_ask(question, k) needs a question"),
        ("SELECT * FROM bertqa_ask('x')", "the database is not a collection"),
        ("SELECT * FROM bertqa_search('x', 0)", "k is 1 to 1000"),
    ],
)
def test_errors(database, sql, message):
    with pytest.raises(SQLError, match=re.escape(message)):
        database.execute(sql)
    assert database.value("SELECT bertqa_answer(?, ?)", WHO, FOX) == ANSWER


def test_what_a_schema_may_call(database):
    """An untrusted database may have views that answer, but none that read files."""
    database.configure(DBCONFIG_TRUSTED_SCHEMA, 0)
    database.execute(f"CREATE VIEW answered AS SELECT a.answer FROM bertqa_answers('{WHO}', '{FOX}') AS a")
    assert database.value("SELECT answer FROM answered") == ANSWER
    database.execute("CREATE VIEW chosen AS SELECT bertqa_model('answer', '/etc')")
    with pytest.raises(SQLError, match="unsafe use of bertqa_model"):
        database.execute("SELECT * FROM chosen")
