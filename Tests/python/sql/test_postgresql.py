"""The PostgreSQL extension in a real server: values, errors, cancelled calls, parallel plans, shared weights."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

import pytest

import bertqa
from code_blocks import blocks
from conftest import FIXTURES, ROOT
from postgres import TIMEOUT, Server, SQLError, installation, quote
from samples import ANSWER, APOLLO, DOCUMENTS, FOX, LOVELACE, NAMES, WHO, check_shared, entailment_model
from texts import PERSONAL, REDACTIONS, SPORT

CANCELLED = "57014"
# Each takes minutes.
LONG = f"repeat({quote(FOX + ' ')}, 400000)"

if installation() is None:
    pytest.skip("PostgreSQL: needs postgresql and postgresql-server-dev-all", allow_module_level=True)


@pytest.fixture(scope="module")
def server():
    server = Server()
    try:
        with server.connect() as session:
            session.execute("CREATE EXTENSION bertqa")
        yield server
    finally:
        server.close()


@pytest.fixture
def session(server):
    with server.connect() as session:
        yield session


@pytest.fixture(scope="module")
def tiny_path(server):
    """A path that the server's user can read."""
    copy = shutil.copytree(FIXTURES / "tiny-bert", server.root / "tiny-bert")
    for kind in "tiny-bert-embedder", "tiny-bert-entities", "tiny-gliner":
        shutil.copytree(FIXTURES / kind, server.root / kind)
    return copy


def floats(row):
    return [float(field) for field in row]


def test_the_debian_package(server):
    """The package's contents and dependencies: the server it was built for, the library's package, and libc."""
    package, version = server.package, installation().name
    control = subprocess.run(["dpkg-deb", "--field", package], capture_output=True, text=True, check=True).stdout
    fields = dict(line.split(": ", 1) for line in control.splitlines() if not line.startswith(" "))
    assert fields["Package"] == f"postgresql-{version}-bertqa" and fields["Version"] == bertqa.version()
    needed = fields["Depends"].split(", ")
    assert needed[:2] == [f"postgresql-{version}", f"bertqa (>= {bertqa.version()})"]
    assert len(needed) == 3 and re.fullmatch(r"libc6 \(>= 2\.\d+\)", needed[2])
    listing = subprocess.run(
        ["dpkg-deb", "--contents", package], capture_output=True, text=True, check=True
    ).stdout
    files = {line.split()[-1].removeprefix("./") for line in listing.splitlines() if line.startswith("-rw-r--r--")}
    assert files == {
        f"usr/lib/postgresql/{version}/lib/bertqa.so",
        f"usr/share/postgresql/{version}/extension/bertqa.control",
        f"usr/share/postgresql/{version}/extension/bertqa--{bertqa.version()}.sql",
        f"usr/share/doc/postgresql-{version}-bertqa/copyright",
    }
    module = server.root / f"usr/lib/postgresql/{version}/lib/bertqa.so"
    dynamic = subprocess.run(
        ["readelf", "--dynamic", "--wide", module], capture_output=True, text=True, check=True
    ).stdout
    assert "[libbertqa.so.1]" in dynamic and "PATH" not in dynamic, (
        "it would look for the library where it was built"
    )
    assert str(ROOT).encode() not in module.read_bytes()


# Values


@pytest.mark.parametrize("name", ["ascii", "emoji", "combining marks", "inside right to left"])
def test_answers_are_the_library_s(session, context, name):
    document = DOCUMENTS[name]
    expected = context.answer(WHO, document, top_k=3)
    rows = session.execute(
        f"""SELECT answer, substr(body, (start_char + 1)::int, (end_char - start_char)::int),
              convert_from(substr(convert_to(body, 'UTF8'), start_byte::int + 1, (end_byte - start_byte)::int), 'UTF8'),
              sentence, start_byte, end_byte, start_char, end_char, score, probability, gap, no_answer_probability,
              is_impossible
            FROM (SELECT {quote(document)} AS body) AS texts, bertqa_answers({quote(WHO)}, body, 3)"""
    )
    assert len(rows) == len(expected.answers) > 0
    for row, answer in zip(rows, expected.answers, strict=True):
        assert row[:4] == [answer.text] * 3 + [answer.sentence]
        assert floats(row[4:8]) == [*answer.byte_range, answer.start, answer.end]
        numbers = answer.score, answer.probability, answer.gap, expected.no_answer_probability
        assert floats(row[8:12]) == pytest.approx(numbers, rel=1e-5)
        assert row[12] == ("t" if expected.is_impossible else "f")
    assert session.value(f"SELECT bertqa_answer({quote(WHO)}, {quote(document)})") == expected.answer.text


def test_one_answer_of_several_texts(session):
    texts = ["", "The river is wide. " * 40, FOX, APOLLO]
    rows = ", ".join(f"({quote(text)})" for text in texts)
    source = f"FROM (VALUES {rows}, (NULL)) AS texts(body)"
    assert session.value(f"SELECT bertqa_answer_all({quote(WHO)}, body) {source}") == ANSWER
    groups = session.execute(
        f"SELECT length(body) > 100, bertqa_answer_all({quote(WHO)}, body) {source} WHERE body <> '' GROUP BY 1 ORDER BY 1"
    )
    assert groups[0] == ["f", ANSWER] and len(groups) == 2 and groups[1][1] in "".join(texts)
    assert session.value(f"SELECT bertqa_answer_all(NULL, body) {source}") == "NULL"
    assert session.value(f"SELECT bertqa_answer_all({quote(WHO)}, body) {source} WHERE body = ''") == "NULL"
    assert session.value(f"SELECT bertqa_answer_all({quote(WHO)}, body) {source} WHERE false") == "NULL"
    many = f"SELECT bertqa_answer_all({quote(WHO)}, {quote(FOX)} || i) FROM generate_series(1, 1000) AS i"
    assert session.value(many) == ANSWER
    with pytest.raises(SQLError, match="the question is the same in all rows"):
        session.execute(f"SELECT bertqa_answer_all(body, body) {source}")


@pytest.fixture
def entailment():
    """A model that the server's user may read."""
    with tempfile.TemporaryDirectory(prefix="bertqa-model-") as directory:
        os.chmod(directory, 0o755)
        yield entailment_model(f"{directory}/model")


def test_labels_of_the_caller_s_choice(session, entailment):
    model, names = entailment, ["king of france", "dog", "rivière"]
    with pytest.raises(SQLError, match="counts words"):
        session.value(f"SELECT bertqa_classify({quote(FOX)}, 'a,b')")
    session.value(f"SELECT bertqa_model('classify', {quote(str(model))})")
    try:
        with bertqa.Context(model) as context:
            expected = context.classify(FOX, labels=names).scores
        given = quote(" king of france,dog,, rivière ,")
        assert session.value(f"SELECT bertqa_classify({quote(FOX)}, {given})") == expected[0].label
        rows = session.execute(f"SELECT label, id, probability FROM bertqa_labels({quote(FOX)}, {given})")
        assert [(row[0], int(row[1])) for row in rows] == [(each.label, each.id) for each in expected]
        assert floats(row[2] for row in rows) == pytest.approx([each.probability for each in expected], rel=1e-4)
        assert session.value("SELECT bertqa_classify('a', NULL)") == "NULL"
        with pytest.raises(SQLError, match="names separated by commas"):
            session.value("SELECT bertqa_classify('a', ' , ')")
    finally:
        session.value("SELECT bertqa_model('classify', NULL)")


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
    assert len(found("quux", 99)) == 5 and found("moon", 0) == []
    session.execute("""CREATE VIEW others AS SELECT * FROM "the Passages" WHERE id <> 3""")
    assert found("moon", 1, "others") != [3] and len(found("moon", 99, "others")) == 4
    answered = f"""SELECT a.answer FROM bertqa_search(NULL::"the Passages", {quote(WHO)}, 2, 'english') AS p,
                   bertqa_answers({quote(WHO)}, p.body) AS a ORDER BY a.gap DESC LIMIT 1"""
    assert session.value(answered) == ANSWER
    assert session.execute("""SELECT * FROM bertqa_search(NULL::"the Passages", NULL)""") == []
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


def test_other_functions(session, context):
    with bertqa.Context(task="classify") as classifier:
        expected = classifier.classify(SPORT)
    assert session.value(f"SELECT bertqa_classify({quote(SPORT)})") == expected.label == "sport"
    rows = session.execute(f"SELECT label, id, probability, logit FROM bertqa_labels({quote(SPORT)})")
    assert [(row[0], int(row[1])) for row in rows] == [(each.label, each.id) for each in expected.scores]
    assert floats(row[3] for row in rows) == pytest.approx([each.logit for each in expected.scores], rel=1e-5)
    with bertqa.Context(task="embed") as embedder:
        vector = list(embedder.embed(FOX))
    given = session.value(f"SELECT bertqa_embed({quote(FOX)})")
    assert floats(given.strip("{}").split(",")) == pytest.approx(vector, abs=1e-6)
    # The default model has no prompts; sentence-transformers gives every model an empty one of this name.
    assert session.value(f"SELECT bertqa_embed({quote(FOX)}, 'query')") == given
    assert session.value(f"SELECT bertqa_embed({quote(FOX)}, NULL)") == "NULL"
    assert float(session.value("SELECT bertqa_cosine('{3,4}', '{4,3}')")) == pytest.approx(24 / 25)
    for numbers in ("0.1,0.7,0.3", "1,2,3", "0.3,0.6", "5,7,11,13"):
        assert float(session.value(f"SELECT bertqa_cosine('{{{numbers}}}', '{{{numbers}}}')")) == 1
    tokens = context.tokenize("Zoë's fox")
    rows = session.execute("SELECT * FROM bertqa_tokens('Zoë''s fox')")
    assert [(int(row[0]), row[1], (int(row[2]), int(row[3]))) for row in rows] == list(
        zip(tokens.ids, tokens.tokens, tokens.byte_offsets)
    )


def test_redaction(session):
    text = PERSONAL
    for arguments, expected in REDACTIONS:
        given = ", ".join(quote(str(each)) for each in (text, *arguments))
        assert session.value(f"SELECT bertqa_redact({given})") == expected
    # A region's numbers, and the names of a model.
    for arguments, expected in [
        ("regions => 'DK,NO'", "Ada Lovelace, [PHONE]"),
        ("'email', regions => 'DK', labels => 'person'", "[person], 80991098"),
        ("action => 'pseudonym', regions => 'DK', labels => '*'", "[person_1], [PHONE_1]"),
        ("labels => 'location'", "Ada Lovelace, 80991098"),
    ]:
        assert session.value(f"SELECT bertqa_redact('Ada Lovelace, 80991098', {arguments})") == expected
    assert session.execute("SELECT entity FROM bertqa_patterns('80991098', regions => 'DK')") == [["80991098"]]
    assert session.execute("SELECT entity FROM bertqa_patterns('80991098')") == []
    assert session.value("SELECT bertqa_redact('') = '' AND bertqa_redact(NULL) IS NULL") == "t"
    assert session.value(f"SELECT bertqa_redact({quote(text)}, action => 'mask')").startswith("Zoë: ***@*.***,")
    rows = session.execute(f"SELECT * FROM bertqa_patterns({quote(text)}, 'email,us')")
    assert [row[:2] for row in rows] == [["ann@x.org", "EMAIL"], ["143-69-1724", "US_SSN"]]
    assert [floats(row[2:]) for row in rows] == [[1, 6, 15, 5, 14], [1, 21, 32, 20, 31]]
    assert session.execute("SELECT * FROM bertqa_patterns(NULL)") == []
    for call, message in [
        ("bertqa_redact('a', 'x')", "all, us"), ("bertqa_redact('a', 'all', 'x')", "the action is"),
        ("bertqa_redact('a', 'all', 'label', 'x')", "the action is"), ("bertqa_redact('a', 'all', 'mask', '-1')", "the action is"),
        ("bertqa_redact('a', 'all', 'hash', 'short')", "16"), ("bertqa_patterns('a', 'x')", "all, us"),
        ("bertqa_redact('a', regions => 'DK,X')", "regions"), ("bertqa_patterns('a', regions => 'XX')", "regions"),
        (f"bertqa_redact('a', labels => '{'a,' * 257}')", "256"), ("bertqa_redact('a', labels => 'a')", "labels"),
    ]:  # fmt: skip
        with pytest.raises(SQLError, match=message):
            session.execute(f"SELECT {call}")


def test_entities(session, tiny_path):
    text = "Zoë 🦊 the quick brown fox jumped over the lazy dog in the river."
    with bertqa.Context(FIXTURES / "tiny-bert-entities") as context:
        expected = context.entities(text).entities
    assert dict(session.execute(f"SELECT entity, label FROM bertqa_entities({quote(LOVELACE)})")) == NAMES
    session.execute(f"SELECT bertqa_model('entities', {quote(str(tiny_path) + '-entities')})")
    rows = session.execute(f"SELECT * FROM bertqa_entities({quote(text)})")
    assert len(rows) == len(expected) > 1
    for row, entity in zip(rows, expected, strict=True):
        assert row[:2] == [entity.text, entity.label] and float(row[2]) == pytest.approx(entity.score, rel=1e-5)
        assert floats(row[3:]) == [*entity.byte_range, entity.start, entity.end]
    assert session.execute("SELECT * FROM bertqa_entities(NULL)") == []


def test_entities_of_the_caller_s_choice(session, tiny_path):
    text, labels = FOX.replace("lethargic", "lazy"), ["film or river", "time"]
    with bertqa.Context(FIXTURES / "tiny-gliner") as context:
        expected, some = (
            context.entities(text, labels=names) for names in (labels, {labels[0]: 1, labels[1]: 0.5})
        )
    assert labels[0] in {one.label for one in expected} and {one.label for one in some} == {labels[1]}
    session.execute(f"SELECT bertqa_model('entities', {quote(str(tiny_path.parent / 'tiny-gliner'))})")
    for given, wanted in (" film or river , time,", expected), ("film or river=1, time = .5", some):
        rows = session.execute(f"SELECT entity, label FROM bertqa_entities({quote(text)}, {quote(given)})")
        assert rows == [[entity.text, entity.label] for entity in wanted]
        hidden = session.value(f"SELECT bertqa_redact({quote(text)}, labels => {quote(given)})")
        assert hidden == bertqa.redact(text, wanted)
    for wrong, message in ("'a', ' , '", "commas"), ("'a'", "labels"), ("'a', 'b=7'", "thresholds"):
        with pytest.raises(SQLError, match=message):
            session.execute(f"SELECT * FROM bertqa_entities({wrong})")


def test_null_and_nothing(session):
    for call in [
        "bertqa_answer(NULL, 'a')", "bertqa_answer('a', NULL)", "bertqa_classify(NULL)", "bertqa_embed(NULL)",
        "bertqa_cosine(NULL, '{1}')", "bertqa_cosine('{0}', '{0}')", "bertqa_answer('', 'a')", "bertqa_match(NULL)",
        "bertqa_answer('who', '')", "bertqa_classify('word')",
    ]:  # fmt: skip
        assert session.value(f"SELECT {call}") == "NULL"
    for call in [
        "answers(NULL, 'a')", "answers('a', NULL, 2)", "answers('a', '')", "labels(NULL)", "labels('word')",
        "tokens(NULL)", "tokens('')",
    ]:  # fmt: skip
        assert session.execute(f"SELECT * FROM bertqa_{call}") == []


def test_an_encoding_that_is_not_utf8(server):
    with server.connect() as session:
        session.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    with server.connect("latin") as session:
        session.execute("CREATE EXTENSION bertqa")
        [row] = session.execute(
            """SELECT answer, start_byte, end_byte, start_char, end_char
               FROM bertqa_answers('Who slept?', 'Jürgen read. Zoë slept.')"""
        )
        assert row == ["Zoë", "14", "18", "13", "16"]
        model = shutil.copytree(FIXTURES / "tiny-bert", server.root / "modèle")
        assert session.value(f"SELECT bertqa_model('answer', {quote(str(model))})") == str(model)


def test_match(session):
    assert (
        session.value("SELECT bertqa_match('english', 'Who jumped over the lazy dogs?')")
        == "'jump' | 'lazi' | 'dog'"
    )
    for question in "?", "a & b | !c <-> (d", "'x' \\ y:*", "":
        session.execute(f"SELECT bertqa_match({quote(question)}), bertqa_match('simple', {quote(question)})")
    # A dictionary that gives a word two lexemes.
    session.execute("BEGIN")
    session.execute(
        """CREATE TEXT SEARCH DICTIONARY spelling (
             TEMPLATE = ispell, DictFile = ispell_sample, AffFile = ispell_sample);
           CREATE TEXT SEARCH CONFIGURATION spelt (COPY = english);
           ALTER TEXT SEARCH CONFIGURATION spelt ALTER MAPPING FOR asciiword WITH spelling, english_stem"""
    )
    query = "bertqa_match('spelt', 'moon bookings foxes')"
    assert session.value(f"SELECT {query}") == "'moon' | 'booking' | 'book' | 'fox'"
    session.execute("ROLLBACK")


def test_documentation(server):
    """The statements in docs/sql.md, run as they are, in order."""
    with server.connect() as session:
        session.execute("CREATE DATABASE documentation")
    recipes = [block for block in blocks(ROOT / "docs" / "sql.md") if block.language == "sql"]
    assert len(recipes) >= 2
    for recipe in recipes:
        psql = [installation() / "bin" / "psql", "-Xq", "-h", server.data, "-U", "postgres", "documentation"]
        result = subprocess.run(
            [*psql, "-v", "ON_ERROR_STOP=1"], input=recipe.code, capture_output=True, text=True, timeout=TIMEOUT
        )
        assert (result.returncode, result.stderr) == (0, ""), recipe.code
        assert result.stdout.rstrip("\n") == recipe.output.rstrip("\n")


# Errors


@pytest.mark.parametrize(
    "sql, state, message",
    [
        ("SELECT * FROM bertqa_answers('x', 'y', 0)", "22023", "k is 1 to 1000"),
        ("SELECT * FROM bertqa_answers('x', 'y', 1001)", "22023", "k is 1 to 1000"),
        ("SELECT bertqa_model('answer', '/nonexistent')", "58030", "/nonexistent/config.json: cannot open"),
        (
            "SELECT bertqa_model('anwser', NULL)",
            "22023",
            "the task is 'answer', 'classify', 'embed' or 'entities'",
        ),
        (
            "SELECT bertqa_model('predict', NULL)",
            "22023",
            "the task is 'answer', 'classify', 'embed' or 'entities'",
        ),
        ("SELECT bertqa_model(NULL, NULL)", "22023", "the task is 'answer', 'classify', 'embed' or 'entities'"),
        ("SELECT bertqa_cosine('{1}', '{1,2}')", "2202E", "two vectors of one length"),
        ("SELECT bertqa_cosine('{1}', '{NULL}')", "2202E", "without NULLs"),
        ("SELECT bertqa_answer('who', E'\\xff')", "22021", "invalid byte sequence"),
        ("SET bertqa.threads = 0", "22023", "outside the valid range"),
        ("SET bertqa.anwser_model = 'x'", "42602", "invalid configuration parameter name"),
    ],
)
def test_errors(session, sql, state, message):
    session.execute("LOAD 'bertqa'")
    backend = session.backend
    with pytest.raises(SQLError, match=re.escape(message)) as caught:
        session.execute(sql)
    assert caught.value.state == state
    assert session.value(f"SELECT bertqa_answer({quote(WHO)}, {quote(FOX)})") == ANSWER
    assert int(session.value("SELECT pg_backend_pid()")) == backend


def test_models(server, session, tiny_path):
    score = f"SELECT score FROM bertqa_answers({quote(WHO)}, {quote(FOX)})"
    default = session.value(score)
    assert session.value(f"SELECT bertqa_model('answer', {quote(str(tiny_path))})") == str(tiny_path)
    with bertqa.Context(FIXTURES / "tiny-bert") as context:
        expected = context.answer(WHO, FOX).answer.score
    assert float(session.value(score)) == pytest.approx(expected, rel=1e-5)
    assert session.value("SHOW bertqa.answer_model") == str(tiny_path)
    with server.connect() as other:
        assert other.value(score) == default
    # A failed or rolled back change has no effect.
    with pytest.raises(SQLError, match="'answer' is not the task of the model"):
        session.execute(f"SELECT bertqa_model('answer', {quote(str(tiny_path) + '-embedder')})")
    session.execute("BEGIN")
    session.execute("SELECT bertqa_model('answer', NULL)")
    assert session.value(score) == default
    session.execute("ROLLBACK")
    assert float(session.value(score)) == pytest.approx(expected, rel=1e-5)
    session.execute("SELECT bertqa_model('answer', NULL)")
    session.execute("SET bertqa.threads = 2")
    assert session.value(score) == default


def test_who_may_choose_models(server, tiny_path):
    with server.connect() as session:
        session.execute("CREATE ROLE reader LOGIN")
    setting = f"SET bertqa.answer_model = {quote(str(tiny_path))}"
    with server.connect(user="reader") as session:
        assert session.value(f"SELECT bertqa_answer({quote(WHO)}, {quote(FOX)})") == ANSWER
        for sql in f"SELECT bertqa_model('answer', {quote(str(tiny_path))})", setting:
            with pytest.raises(SQLError, match="permission denied"):
                session.execute(sql)
    with server.connect() as session:
        session.execute("GRANT SET ON PARAMETER bertqa.answer_model TO reader")
        session.execute("GRANT EXECUTE ON FUNCTION bertqa_model(text, text) TO reader")
    with server.connect(user="reader") as session:
        session.execute(f"SELECT bertqa_model('answer', {quote(str(tiny_path))})")
        session.execute(setting)
        with pytest.raises(SQLError, match="permission denied"):
            session.execute("SELECT bertqa_model('embed', NULL)")


# Calls that are to stop

LONG_CALLS = [
    f"SELECT bertqa_answer('Who?', {LONG})",
    f"SELECT count(*) FROM bertqa_answers('Who?', {LONG}, 3)",
    f"SELECT bertqa_embed({LONG})",
    f"SELECT sum(length(bertqa_answer('Who?', i || {quote(FOX)}))) FROM generate_series(1, 10000000) AS i",
]


@pytest.mark.parametrize("sql", LONG_CALLS)
def test_statement_timeout(session, sql):
    session.execute("SET statement_timeout = 200")
    with pytest.raises(SQLError, match="canceling statement due to statement timeout") as caught:
        session.execute(sql)
    assert caught.value.state == CANCELLED
    session.execute("SET statement_timeout = 0")
    assert session.value(f"SELECT bertqa_answer({quote(WHO)}, {quote(FOX)})") == ANSWER


@pytest.mark.skipif(int(installation().name) < 17, reason="transaction_timeout: needs PostgreSQL 17")
def test_transaction_timeout(server):
    with server.connect() as session:
        session.execute("SET transaction_timeout = 200")
        with pytest.raises(SQLError, match="due to transaction timeout"):
            session.execute(LONG_CALLS[0])


def wait_until_active(session, backend):
    while session.value(f"SELECT state FROM pg_stat_activity WHERE pid = {backend}") != "active":
        pass


def test_cancel(server, session):
    with server.connect() as other:
        session.send(LONG_CALLS[0])
        wait_until_active(other, session.backend)
        other.execute(f"SELECT pg_sleep(0.2), pg_cancel_backend({session.backend})")
        with pytest.raises(SQLError, match="canceling statement due to user request"):
            session.receive()
        assert session.value(f"SELECT bertqa_answer({quote(WHO)}, {quote(FOX)})") == ANSWER


@pytest.mark.parametrize("sql", LONG_CALLS[:1])
def test_a_backend_that_is_ended(server, sql):
    """An administrator ends it cleanly: the others do not notice."""
    with server.connect() as ended, server.connect() as other:
        ended.send(sql)
        wait_until_active(other, ended.backend)
        other.execute(f"SELECT pg_sleep(0.2), pg_terminate_backend({ended.backend}, 60000)")
        with pytest.raises(SQLError, match="terminating connection due to administrator command"):
            ended.receive()
        assert other.value(f"SELECT bertqa_answer({quote(WHO)}, {quote(FOX)})") == ANSWER


def test_a_backend_that_is_killed(server):
    """The server restarts, as after every killed backend, and answers again."""
    with server.connect() as killed:
        with server.connect() as other:
            killed.send(LONG_CALLS[0])
            wait_until_active(other, killed.backend)
            os.kill(killed.backend, signal.SIGKILL)
            with pytest.raises(SQLError):
                killed.receive()
            # The server notices a little later, and takes connections until then: it has noticed when
            # it ends the others.
            with pytest.raises(SQLError):
                other.execute("SELECT pg_sleep(600)")
    server.wait()
    with server.connect() as session:
        assert session.value(f"SELECT bertqa_answer({quote(WHO)}, {quote(FOX)})") == ANSWER


def test_huge_texts(session):
    """The longest that PostgreSQL has: the call is refused or stopped, and the backend survives."""
    session.execute("SET statement_timeout = 3000")
    for call in "bertqa_answer('Who?', {})", "bertqa_classify({})", "bertqa_embed({})", "bertqa_tokens({})":
        for text in "repeat('x', 200000000)", "repeat('a ', 100000000)":
            try:
                session.execute(f"SELECT count(*) FROM (SELECT {call.format(text)}) AS result")
            except SQLError as error:
                assert error.state in (CANCELLED, "54000"), error
    session.execute("SET statement_timeout = 0")
    assert session.value(f"SELECT bertqa_answer({quote(WHO)}, {quote(FOX)})") == ANSWER


# Many at once


def test_parallel_plans(session, tiny_path):
    """Workers, which are separate processes, use the session's model."""
    session.execute(
        "CREATE TABLE texts AS SELECT i, 'The fox ' || i || ' slept. ' AS body FROM generate_series(1, 400) i"
    )
    session.execute("ANALYZE texts")
    session.execute(f"SELECT bertqa_model('answer', {quote(str(tiny_path))})")
    sql = "SELECT string_agg(bertqa_answer('Who slept?', body), '|' ORDER BY i) FROM texts"
    session.execute("SET max_parallel_workers_per_gather = 0")
    alone = session.value(sql)
    session.execute("SET max_parallel_workers_per_gather = 2; SET min_parallel_table_scan_size = 0")
    counted = "SELECT count(*) FROM texts WHERE bertqa_answer('Who slept?', body) IS NOT NULL"
    plan = "\n".join(row[0] for row in session.execute(f"EXPLAIN ANALYZE {counted}"))
    assert "Workers Launched: 2" in plan, plan
    rows = session.execute("SELECT i, bertqa_answer('Who slept?', body) FROM texts ORDER BY i")
    assert "|".join(row[1] for row in rows) == alone


def test_backends_share_the_weights(server):
    sessions = [server.connect() for _ in range(8)]
    try:
        for session in sessions:
            session.send(f"SELECT length(bertqa_answer({quote(WHO)}, {quote(APOLLO)}))")
        assert len({session.receive()[0][0] for session in sessions}) == 1
        check_shared([session.backend for session in sessions])
    finally:
        for session in sessions:
            session.close()


def test_drop(server):
    with server.connect() as session:
        session.execute("CREATE DATABASE other")
    with server.connect("other") as session:
        session.execute("CREATE SCHEMA apart; CREATE EXTENSION bertqa SCHEMA apart")
        assert session.value(f"SELECT apart.bertqa_answer({quote(WHO)}, {quote(FOX)})") == ANSWER
        assert session.value("SELECT apart.bertqa_match('english', 'the foxes')") == "'fox'"
        session.execute("DROP EXTENSION bertqa")
        assert session.value("SELECT count(*) FROM pg_proc WHERE proname LIKE 'bertqa%'") == "0"
