"""The SQLite extension in a process: models, interrupts, threads, children, exit, memory."""

import os
import shutil
import subprocess
import threading

import pytest

import bertqa
from conftest import FIXTURES, PREFIX
from extension import TIMEOUT, connect, script
from samples import ANSWER, APOLLO, FOX, TINY, WHO
from sqlite import INTERRUPT, SQLError, library
from texts import SPORT


@pytest.fixture
def database():
    with connect() as database:
        yield database


# Models


def test_each_connection_has_its_model(tiny):
    expected = tiny.answer(WHO, FOX).answer
    with connect() as one, connect() as other:
        assert one.value("SELECT bertqa_model('answer', ?)", str(TINY)) == str(TINY)
        score = "SELECT score FROM bertqa_answers(?, ?)"
        with bertqa.Context(TINY) as context:
            assert one.value(score, WHO, FOX) == pytest.approx(context.answer(WHO, FOX).answer.score)
        assert expected.text and other.value("SELECT bertqa_answer(?, ?)", WHO, FOX) == ANSWER
        # One that is refused changes nothing.
        before = one.value(score, WHO, FOX)
        for path in "/nonexistent", str(FIXTURES / "tiny-bert-embedder"):
            with pytest.raises(SQLError):
                one.execute("SELECT bertqa_model('answer', ?)", path)
        assert one.value(score, WHO, FOX) == before
        assert one.value("SELECT bertqa_model('answer', NULL)").endswith("qa-minilm-l6")
        assert one.value(score, WHO, FOX) == other.value(score, WHO, FOX)


def test_a_name_is_not_the_default_model(database):
    """The name of an installed model, which is no path."""
    with pytest.raises(SQLError, match="'embed' is not the task of the model in qa-minilm-l6"):
        database.value("SELECT bertqa_model('embed', 'qa-minilm-l6')")
    assert len(database.value("SELECT bertqa_embed('a')")) == 4 * 384
    directory = database.value("SELECT bertqa_model('embed', 'embed-minilm-l6')")
    assert directory.endswith("/embed-minilm-l6")


def test_a_default_model_of_another_task():
    """BERTQA_MODEL can name any model."""
    script(
        """
from sqlite import SQLError
os.environ["BERTQA_MODEL"] = "topics-words"
with connect() as database:
    for sql, message in [
        ("SELECT bertqa_answer('who', 'a')", "topics-words"),
        ("SELECT bertqa_answer_all('who', 'a')", "topics-words"),
        ("SELECT * FROM bertqa_answers('who', 'a')", "topics-words"),
        ("SELECT bertqa_tokens('a')", "topics-words"),
        ("SELECT bertqa_model('answer', NULL)", "'answer' is not the task of the model in BERTQA_MODEL"),
    ]:
        try:
            database.execute(sql)
        except SQLError as error:
            assert message in str(error), (sql, str(error))
        else:
            assert False, sql
    assert database.value("SELECT bertqa_model('answer', 'qa-minilm-l6')").endswith("/qa-minilm-l6")
    assert database.value("SELECT bertqa_answer(?, ?)", WHO, FOX) == ANSWER
"""
    )


def test_connections_share_what_is_loaded():
    """Connections opened one after the other, at once, and with more models than are kept idle."""
    script(
        """
for _ in range(50):
    with connect() as database:
        assert database.value("SELECT bertqa_answer(?, ?)", WHO, FOX) == ANSWER
assert mappings() == 1, mappings()
kept = [connect() for _ in range(5)]
for database in kept:
    assert database.value("SELECT bertqa_answer(?, ?)", WHO, FOX) == ANSWER
assert mappings() == 1
import shutil, tempfile
with tempfile.TemporaryDirectory() as directory:
    for i in range(30):
        copy = shutil.copytree(TINY, f"{directory}/{i}")
        with connect() as database:
            database.value("SELECT bertqa_model('answer', ?)", copy)
    assert mappings() <= 9, mappings()
for database in kept:
    assert database.value("SELECT bertqa_answer(?, ?)", WHO, FOX) == ANSWER
"""
    )


# Interrupts


def interrupted(database, sql, *parameters):
    """Interrupts a statement until it ends, and returns its error code. Each statement would take minutes."""
    codes = []

    def work():
        try:
            database.execute(sql, *parameters)
            codes.append(0)
        except SQLError as error:
            codes.append(error.code)

    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive():
        database.interrupt()
        thread.join(0.02)
    return codes[0]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT bertqa_answer('Who?', ?)",
        "SELECT count(*) FROM bertqa_answers('Who?', ?, 5)",
        "SELECT bertqa_embed(?)",
        # The interrupt falls into a call or between two.
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT bertqa_answer('Who?', i || ?) FROM n",
    ],
)
def test_interrupts(database, sql):
    text = FOX if "RECURSIVE" in sql else f"{FOX} " * 400_000
    for task in "answer", "embed":
        database.value("SELECT bertqa_model(?, NULL)", task)  # loading is no part of it
    assert interrupted(database, sql, text) == INTERRUPT
    assert database.value("SELECT bertqa_answer(?, ?)", WHO, FOX) == ANSWER


def check_interrupted(database, call, argument):
    """The interrupt comes before the call. SQLite itself notices one only after a result would be seen."""
    seen = []

    def interrupted(result, arguments):
        database.interrupt()
        library.sqlite3_result_value(result, arguments[0])

    database.define("interrupted", interrupted)
    database.define("see", lambda result, arguments: seen.append(result))
    database.execute("SELECT see(1)")
    assert seen.pop()
    with pytest.raises(SQLError) as caught:
        database.execute(f"SELECT see({call.format('interrupted(?)')})", argument)
    assert caught.value.code == INTERRUPT and not seen


@pytest.mark.parametrize(
    "call",
    [
        "bertqa_answer('Who?', {})", "bertqa_classify({})", "bertqa_embed({})", "bertqa_tokens({})",
        "bertqa_match({})", "bertqa_redact({})", "bertqa_redact({}, 'all', 'label', '', '', '*')",
        "bertqa_answer_all('Who?', {})",
    ],
)  # fmt: skip
def test_an_interrupted_call_has_no_result(database, call):
    check_interrupted(database, call, SPORT * 2000)


def test_loading_a_model_stops(database, tmp_path):
    model = shutil.copytree(FIXTURES / "tiny-bert", tmp_path / "model")
    check_interrupted(database, "bertqa_model('answer', {})", str(model))


# Threads and processes


def test_threads():
    """Each has its own connection; they load and change models at once."""
    with connect() as database:
        expected = database.execute("SELECT answer, score FROM bertqa_answers(?, ?, 3)", WHO, APOLLO[:4000])
    failures = []

    def work(index):
        try:
            for turn in range(4):
                with connect() as database:
                    if (index + turn) % 3 == 0:
                        database.value("SELECT bertqa_model('answer', ?)", str(TINY))
                        database.execute("SELECT answer FROM bertqa_answers(?, ?, 3)", WHO, FOX)
                        database.value("SELECT bertqa_model('answer', NULL)")
                    sql = "SELECT answer, score FROM bertqa_answers(?, ?, 3)"
                    assert database.execute(sql, WHO, APOLLO[:4000]) == expected
                    assert database.value("SELECT bertqa_classify(?)", SPORT) == "sport"
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT)
    assert not failures and not any(thread.is_alive() for thread in threads)


def test_fork():
    """Children open their own connections; SQLite forbids them the parent's."""
    script(
        """
with connect() as database:
    assert database.value("SELECT bertqa_answer(?, ?)", WHO, FOX) == ANSWER
    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            try:
                with connect() as other:
                    right = other.value("SELECT bertqa_answer(?, ?)", WHO, FOX) == ANSWER and mappings() == 1
            finally:
                os._exit(0 if right else 1)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
    assert database.value("SELECT bertqa_answer(?, ?)", WHO, FOX) == ANSWER
"""
    )


def test_exit_in_the_middle():
    """A process that exits while a connection is open, or while a thread answers, exits cleanly."""
    assert script("database = connect(); print(database.value('SELECT bertqa_answer(?, ?)', WHO, FOX))")
    script(
        """
def work():
    with connect() as database:
        while True:
            database.value("SELECT bertqa_answer(?, ?)", WHO, APOLLO)
threading.Thread(target=work, daemon=True).start()
with connect() as database:
    database.value("SELECT bertqa_answer(?, ?)", WHO, FOX)
"""
    )


@pytest.mark.skipif(not shutil.which("valgrind"), reason="memory of the SQLite extension: needs valgrind")
@pytest.mark.skipif(not shutil.which("sqlite3"), reason="memory of the SQLite extension: needs sqlite3")
def test_memory(tmp_path):
    """No leaks and no invalid accesses, even in statements that fail."""
    for name in "libbertqa.so.1", "bertqa_sqlite.so":
        shutil.copy(PREFIX / "lib" / name, tmp_path)
        # Without debug information, which valgrind 3.19 cannot read where the Swift compiler wrote it.
        subprocess.run(["strip", "--strip-debug", tmp_path / name], check=True)
    statements = f"""
.load {tmp_path}/bertqa_sqlite
SELECT bertqa_answer('a', 'b');
SELECT bertqa_model('answer', '{TINY}');
SELECT bertqa_model('embed', '{FIXTURES / "tiny-bert-embedder"}');
SELECT bertqa_model('classify', '{FIXTURES / "tiny-bert-classifier"}');
SELECT bertqa_model('answer', '{TINY}/..');
SELECT bertqa_model('answer', '{FIXTURES / "tiny-bert-embedder"}');
SELECT count(*) FROM bertqa_answers('who', 'the fox jumped over the dog', 5) AS a, bertqa_answers('who', a.answer, 2);
SELECT bertqa_answer('who', 'the fox'), bertqa_answer('who', ''), bertqa_answer(NULL, 'x'), bertqa_match('who ran');
SELECT length(bertqa_embed('the fox')), bertqa_cosine(bertqa_embed('a'), bertqa_embed('b')), bertqa_cosine(1, 2);
SELECT bertqa_classify('the fox'), bertqa_tokens('the "fox"');
SELECT * FROM bertqa_labels('the fox');
SELECT bertqa_model('entities', '{FIXTURES / "tiny-bert-entities"}');
SELECT count(*) FROM bertqa_entities('the quick brown fox');
SELECT * FROM bertqa_answers('x', 'y', 0);
SELECT * FROM bertqa_answers('x');
"""
    command = [
        "valgrind", "-q", "--error-exitcode=9", "--leak-check=full", "--show-leak-kinds=definite",
        "--errors-for-leak-kinds=definite", "sqlite3", ":memory:",
    ]  # fmt: skip
    environment = os.environ | {"LD_LIBRARY_PATH": str(tmp_path)}
    result = subprocess.run(
        command, input=statements, capture_output=True, text=True, timeout=TIMEOUT, env=environment
    )
    assert "==" not in result.stderr and result.returncode != 9, result.stderr
    assert result.stdout.count("\n") >= 6
