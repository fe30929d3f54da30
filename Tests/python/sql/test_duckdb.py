"""The functions of bertqa.duckdb in a real DuckDB: values and nulls."""

import re

import duckdb
import pytest

import bertqa
import bertqa.duckdb
from conftest import FIXTURES
from duck import ENTITIES, small_models, table, value  # noqa: F401
from samples import ANSWER, APOLLO, DOCUMENTS, FOX, LOVELACE, NAMES, WHO, entailment_model
from texts import PERSONAL, REDACTIONS, SPORT, WRONG_LABELS


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
        of_each = [(id, context.answer(WHO, texts[id]).answer.text) for id in (1, 2)]
    assert value(connection, "SELECT bertqa_answer_all(?, body) FROM texts", WHO) == expected
    rows = connection.execute(
        "SELECT id, bertqa_answer_all(?, body) FROM texts WHERE id IN (1, 2) GROUP BY id ORDER BY id", [WHO]
    ).fetchall()
    assert rows == of_each
    for condition in "body = ''", "false":
        assert value(connection, f"SELECT bertqa_answer_all(?, body) FROM texts WHERE {condition}", WHO) is None
    assert value(connection, "SELECT bertqa_answer_all(NULL, body) FROM texts") is None
    # A row with a NULL does not count, so its question may be another one.
    asked = f"SELECT bertqa_answer_all(if(id = {{}}, 'who', '{WHO}'), body) FROM texts"
    assert value(connection, asked.format(4)) == expected
    with pytest.raises(duckdb.Error, match="the question is the same in all rows of a group"):
        connection.execute(asked.format(3)).fetchall()


def test_a_question_of_each_row(connection, context):
    questions = [WHO, "What is lethargic?", None, WHO]
    connection.execute("CREATE TABLE asked(id INTEGER, question VARCHAR)")
    connection.executemany("INSERT INTO asked VALUES (?, ?)", list(enumerate(questions)))
    rows = connection.execute(f"SELECT bertqa_answer(question, '{FOX}') FROM asked ORDER BY id").fetchall()
    assert [row[0] for row in rows] == [
        None if question is None else context.answer(question, FOX).answer.text for question in questions
    ]


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
    with pytest.raises(duckdb.Error, match="the labels have a name twice"):
        connection.execute("SELECT bertqa_classify('a', 'b,c, b')").fetchall()


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
    with pytest.raises(duckdb.InvalidInputException, match="prompt_name is empty"):
        connection.execute("SELECT bertqa_embed('a', '')").fetchall()
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
        for given, wanted in [
            (" film or river , time,", expected),
            ("film or river=1, time = .5", some),
            ("\u00a0film or river\u2003=\u00a01,\u3000time\u00a0=.5\u2009", some),  # as pasted from documents
        ]:
            rows = connection.execute("SELECT entity, label FROM bertqa_entities(?, ?)", [text, given]).fetchall()
            assert rows == [(entity.text, entity.label) for entity in wanted]
            hidden = value(connection, "SELECT bertqa_redact(?, 'all', 'label', '', '', ?)", text, given)
            assert hidden == bertqa.redact(text, wanted)
        # A model that finds nothing without labels, on rows of other labels or none.
        sql = "SELECT id, entity FROM (VALUES (1, ?), (2, NULL), (3, ?)) t(id, labels), bertqa_entities(?, labels)"
        for names, rows in (
            ((",".join(labels), labels[1]), {(1, one.text) for one in expected}),
            ((None, None), set()),
        ):
            found = connection.execute(sql, [*names, text]).fetchall()
            assert {row for row in found if row[0] != 3} == rows
        for wrong, message in WRONG_LABELS:
            with pytest.raises(duckdb.Error, match=message):
                connection.execute(f"SELECT * FROM bertqa_entities({wrong})").fetchall()


def test_entities_of_the_default_model():
    with duckdb.connect() as connection:
        bertqa.duckdb.register(connection)
        rows = connection.execute("SELECT entity, label FROM bertqa_entities(?)", [LOVELACE]).fetchall()
    assert dict(rows) == NAMES


def test_redaction(connection):
    for arguments, expected in REDACTIONS:
        marks = ", ".join("?" * (1 + len(arguments)))
        assert value(connection, f"SELECT bertqa_redact({marks})", PERSONAL, *arguments) == expected
    table(connection, [PERSONAL, None, "", "bob@x.org"])
    rows = connection.execute("SELECT bertqa_redact(body, 'all', 'pseudonym') FROM texts ORDER BY id").fetchall()
    assert rows == [("Zoë: [EMAIL_1], SSN 143-69-1724",), (None,), ("",), ("[EMAIL_1]",)]
    rows = connection.execute("SELECT bertqa_redact(body, 'all', 'hash', ?) FROM texts ORDER BY id", ["k" * 16])
    expected = bertqa.redact("bob@x.org", bertqa.patterns("bob@x.org"), key=b"k" * 16)
    assert rows.fetchall()[3] == (expected,)
    arguments = ["'a'", "'all'", "'label'", "''", "''", "''"]
    for place in range(6):
        nothing = ", ".join([*arguments[:place], "NULL"])
        assert value(connection, f"SELECT bertqa_redact({nothing})") is None
    # Arguments of each row.
    rows = connection.execute(
        "SELECT bertqa_redact(body, CASE id WHEN 0 THEN 'us' WHEN 3 THEN 'email' END) FROM texts ORDER BY id"
    ).fetchall()
    assert rows == [("Zoë: ann@x.org, SSN [US_SSN]",), (None,), (None,), ("[EMAIL]",)]


def test_patterns(connection):
    table(connection, [PERSONAL, None, "", "bob@x.org"])
    rows = connection.execute("SELECT * FROM bertqa_patterns(?, 'email,us')", [PERSONAL]).fetchall()
    assert rows == [("ann@x.org", "EMAIL", 1.0, 5, 14), ("143-69-1724", "US_SSN", 1.0, 20, 31)]
    assert connection.execute("SELECT * FROM bertqa_patterns(?, 'email, us')", [PERSONAL]).fetchall() == rows
    redacted = [
        value(connection, f"SELECT bertqa_redact(?, '{kinds}')", PERSONAL) for kinds in ("email,us", "email, us")
    ]
    assert redacted[0] == redacted[1] != value(connection, "SELECT bertqa_redact(?, 'email')", PERSONAL)
    rows = connection.execute("SELECT id, entity FROM texts, bertqa_patterns(body) ORDER BY id").fetchall()
    assert rows == [(0, "ann@x.org"), (3, "bob@x.org")]
    rows = connection.execute("SELECT entity FROM bertqa_patterns('80991098', 'phone', 'DK')").fetchall()
    assert rows == [("80991098",)]


def test_redaction_of_what_a_model_finds(connection):
    text = "the quick brown fox, 80991098"
    assert value(connection, "SELECT bertqa_redact(?, 'all', 'label', '', 'DK,NO')", text).endswith("fox, [PHONE]")
    with bertqa.Context(ENTITIES) as context:
        every = context.entities(text)
        rows = connection.execute("SELECT entity, label FROM bertqa_entities(?, '*')", [text]).fetchall()
        assert rows == [(entity.text, entity.label) for entity in every] != []
        one = every[0].label
        of_one = context.entities(text, labels=[one])
        for labels, names in ("*", every), (one, of_one), (f" {one} ,", of_one):
            expected = bertqa.redact(text, names + bertqa.patterns(text, regions=["DK"]))
            got = value(connection, "SELECT bertqa_redact(?, 'all', 'label', '', 'DK', ?)", text, labels)
            assert got == expected and f"[{one}]" in got
    assert "_1]" in value(connection, "SELECT bertqa_redact(?, 'all', 'pseudonym', '', '', '*')", text)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ("'x'", "patterns has 'x'"),
        ("'all', 'x'", "the action is 'label', "),
        ("'all', 'label', '', 'XX'", 'regions has "XX"'),
        ("'all', 'label', 'x'", "the value is the text, "),
        ("'all', 'mask', 'x'", "the number of letters to keep"),
        ("'all', 'mask', '\u0663'", "the number of letters to keep"),
        ("'all', 'hash', 'short'", "key has 5 bytes"),
    ],
)
def test_wrong_arguments_of_redaction(connection, arguments, message):
    with pytest.raises(duckdb.InvalidInputException, match=re.escape(message)):
        connection.execute(f"SELECT bertqa_redact('a@b.de', {arguments})").fetchall()


@pytest.mark.parametrize("name", ["r", "found", "answer", "question", "document", "labels", "patterns", "regions"])
def test_columns_and_tables_of_any_name(connection, name):
    """Those that the macros use themselves."""
    table(connection, [FOX, PERSONAL])
    connection.execute(f"CREATE TABLE {name} AS SELECT id AS n, body AS {name} FROM texts")
    for call in "answers('who', {})", "labels({})", "entities({})", "entities({}, '*')", "patterns({})":
        sql = "SELECT x.* FROM {}, bertqa_" + call + " AS x ORDER BY ALL"
        expected = connection.execute(sql.format("texts", "body")).fetchall()
        assert connection.execute(sql.format(name, name)).fetchall() == expected != []
        assert connection.execute(sql.format(name, f"{name}.{name}")).fetchall() == expected


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
