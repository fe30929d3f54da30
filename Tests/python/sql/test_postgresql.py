"""The PostgreSQL extension in a real server: its package, values, errors and models."""

import os
import re
import shutil
import subprocess
import tempfile

import pytest

import bertqa
from code_blocks import blocks
from conftest import FIXTURES, ROOT
from postgres import TIMEOUT, SQLError, copied_models, installation, opened_session, quote, running_server  # noqa: F401
from samples import ANSWER, APOLLO, DOCUMENTS, FOX, LOVELACE, NAMES, WHO, entailment_model
from texts import PERSONAL, REDACTIONS, SPORT, WRONG_LABELS


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
        with pytest.raises(SQLError, match="the labels have a name twice"):
            session.value("SELECT bertqa_classify('a', 'b,c, b')")
    finally:
        session.value("SELECT bertqa_model('classify', NULL)")


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


def test_a_constant_is_embedded_once(server, session, tiny_path):
    """300,000 rows would take many minutes each by itself; another text, prompt or model is embedded again."""
    session.execute("SET statement_timeout = 120000")
    long = quote(APOLLO[:2000])
    rows = "generate_series(1, 300000) AS i"
    assert session.value(f"SELECT count(DISTINCT bertqa_embed({long})) FROM {rows}") == "1"
    small = quote(f"{tiny_path}-embedder")
    sql = (
        f"SELECT CASE WHEN i = 3 THEN bertqa_model('embed', {small}) END, bertqa_embed({long}) FROM {rows} LIMIT 5"
    )
    found = [vector for _, vector in session.execute(sql)]
    assert found[0] == found[1] != found[2] == found[3] == found[4]
    model = shutil.copytree(FIXTURES / "tiny-bert-embedder", server.root / "tiny-king")
    (model / "config_sentence_transformers.json").write_text('{"prompts": {"query": "a king "}}')
    session.execute(f"SELECT bertqa_model('embed', {quote(str(model))})")
    behind, plain = (session.value(f"SELECT bertqa_embed('{text}')") for text in ("a king fox", "fox"))
    sql = "SELECT bertqa_embed('fox', name) FROM (VALUES (1, 'query'), (2, 'document'), (3, 'document')) AS t(i, name)"
    assert session.execute(sql) == [[behind], [plain], [plain]] and behind != plain
    # A parameter of PL/pgSQL, whose expressions stay from one value to the next.
    session.execute(
        """CREATE FUNCTION embedded() RETURNS SETOF real[] LANGUAGE plpgsql AS
             $$DECLARE name text; BEGIN FOREACH name IN ARRAY ARRAY['fox', 'fox', 'a king fox'] LOOP
               RETURN NEXT bertqa_embed(name); END LOOP; END$$"""
    )
    assert session.execute("SELECT embedded()") == [[plain], [plain], [behind]]


def test_names_of_parameters(session):
    """Those of docs/sql.md."""
    names = (
        "SELECT proname, proargnames FROM pg_proc WHERE proname LIKE 'bertqa%' AND 'document' = ANY(proargnames)"
    )
    assert session.execute(names) == []
    assert session.value(f"SELECT bertqa_answer(text => {quote(FOX)}, question => {quote(WHO)})") == ANSWER


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
    for name in "patterns", "action", "value", "regions", "labels":
        assert session.value(f"SELECT bertqa_redact('a', {name} => NULL) IS NULL") == "t"
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
    for given, wanted in [
        (" film or river , time,", expected),
        ("film or river=1, time = .5", some),
        ("\u00a0film or river\u2003=\u00a01,\u3000time\u00a0=.5\u2009", some),  # as pasted from documents
    ]:
        rows = session.execute(f"SELECT entity, label FROM bertqa_entities({quote(text)}, {quote(given)})")
        assert rows == [[entity.text, entity.label] for entity in wanted]
        hidden = session.value(f"SELECT bertqa_redact({quote(text)}, labels => {quote(given)})")
        assert hidden == bertqa.redact(text, wanted)
    for wrong, message in WRONG_LABELS:
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
        # The message has an ellipsis, which the encoding lacks.
        with pytest.raises(SQLError, match="prompt_name is .éx{99}[?].; the model has") as caught:
            session.execute(f"SELECT bertqa_embed('a', 'é{'x' * 200}')")
        assert caught.value.state == "22023"
        model = shutil.copytree(FIXTURES / "tiny-bert", server.root / "modèle")
        assert session.value(f"SELECT bertqa_model('answer', {quote(str(model))})") == str(model)
        # Pieces of this model begin with a character that the encoding lacks.
        model = shutil.copytree(FIXTURES / "tiny-roberta", server.root / "tiny-roberta")
        session.execute(f"SELECT bertqa_model('answer', {quote(str(model))})")
        with bertqa.Context(model) as context:
            expected = [piece.replace("Ġ", "?") for piece in context.tokenize("the fox").tokens]
        assert session.execute("SELECT piece FROM bertqa_tokens('the fox')") == [[piece] for piece in expected]
        assert any("?" in piece for piece in expected)


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
        ("SELECT bertqa_model('answer', '/nonexistent')", "58030", "/nonexistent: cannot open"),
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


def test_drop(server):
    with server.connect() as session:
        session.execute("CREATE DATABASE other")
    with server.connect("other") as session:
        session.execute("CREATE SCHEMA apart; CREATE EXTENSION bertqa SCHEMA apart")
        assert session.value(f"SELECT apart.bertqa_answer({quote(WHO)}, {quote(FOX)})") == ANSWER
        assert session.value("SELECT apart.bertqa_match('english', 'the foxes')") == "'fox'"
        session.execute("DROP EXTENSION bertqa")
        assert session.value("SELECT count(*) FROM pg_proc WHERE proname LIKE 'bertqa%'") == "0"
