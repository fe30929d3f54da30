"""bertqa.Collection: a database of documents that Python fills, searches and asks."""

import concurrent.futures
import contextlib
import copy
import json
import pathlib
import pickle
import shutil
import signal
import sqlite3
import sys
import threading

import numpy
import pytest

import bertqa
from bertqa import _database
from bertqa._database import Database
from bertqa._native import library
from conftest import FIXTURES
from samples import run_python

TEXTS = {
    "lease": "Ann Smith signed the lease on 3 May. The rent is due on the first day of each month.",
    "boiler": "The heating costs 120 euros a month. Zo\u00eb Brown repaired the boiler.",
    "empty": "",
}


@pytest.fixture
def path(tmp_path):
    with bertqa.Collection(tmp_path / "notes.db") as notes:
        for name, text in TEXTS.items():
            notes.add(name, text, title=name.title(), fields={"length": len(text)})
    return tmp_path / "notes.db"


def test_asks_and_searches(path):
    with bertqa.Collection(path) as notes:
        result = notes.ask("Who repaired the boiler?", k=2)
        assert result.answer.text == "Zo\u00eb Brown" and not result.is_impossible and len(result.answers) == 2
        passage = result.passage(result.answer)
        assert (passage.name, passage.title, passage.fields) == ("boiler", "Boiler", {"length": 67})
        assert passage.text[result.answer.start : result.answer.end] == "Zo\u00eb Brown"
        assert TEXTS["boiler"].encode()[passage.start : passage.end].decode() == passage.text
        assert [hit.name for hit in notes.search("apartment contract")] == ["lease", "boiler"]
        assert [hit.name for hit in notes.search("apartment contract", path="b*")] == ["boiler"]
        assert [hit.name for hit in notes.search("lease", fields={"length": 67})] == ["boiler"]
        assert [hit.name for hit in notes.search("lease", fields={"length": "8*"}, path="*")] == ["lease"]
        assert notes.search("lease", fields={"length": 67, "year": 2024}) == []
        assert notes.ask("Who signed?", fields={"length": 67}).passages[0].name == "boiler"
        assert notes.search("boiler", path="nothing") == [] and notes.ask("Who?", path="nothing").answer is None
        assert notes.ask("What is the capital of Peru?").is_impossible
        for wrong in {"no_such_option": 1}, {"max_seq_len": "x"}:
            with pytest.raises((TypeError, bertqa.BertQAError)):
                notes.ask("What is the capital of Peru?", path="nothing", **wrong)
    with pytest.raises(ValueError, match="closed"):
        notes.search("x")


def test_documents_are_replaced_and_removed(path):
    with bertqa.Collection(path) as notes:
        notes.add("lease", "first")
        notes.add("lease", "Bob Jones signed the lease.")
        assert notes.ask("Who signed the lease?").answer.text == "Bob Jones"
        notes.remove("boiler")
        notes.remove("unknown")
        assert [hit.name for hit in notes.search("heating")] == ["lease"]
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    vectors = connection.execute("SELECT first, count FROM vectors").fetchall()
    passages = [id for (id,) in connection.execute("SELECT id FROM passages")]
    assert [first + i for first, count in vectors for i in range(count)] == passages
    connection.close()


def test_adding_does_not_compare_a_name_with_all_others(tmp_path):
    class Name(str):
        compared = 0
        __hash__ = str.__hash__

        def __eq__(self, other):
            Name.compared += 1
            return str.__eq__(self, other)

    with bertqa.Collection(tmp_path / "notes.db", words_only=True) as notes:
        for number in range(300):
            notes.add(Name(number), "A lease.")
    assert Name.compared < 300


def test_failures_leave_the_collection(path, tmp_path):
    with pytest.raises(ValueError, match="not a collection"):
        sqlite3.connect(tmp_path / "other.db").execute("CREATE TABLE a(b)").connection.commit()
        bertqa.Collection(tmp_path / "other.db")
    with bertqa.Collection(path) as notes:
        with pytest.raises(ValueError, match="1 to 1000"):
            notes.search("x", k=0)
        with pytest.raises(TypeError):
            notes.add("x", 3)
        assert len(notes.search("heating")) == 2
    other = bertqa.Context(FIXTURES / "tiny-bert-embedder")
    with bertqa.Collection(path, embedder=other) as notes, pytest.raises(bertqa.WrongModel, match="another model"):
        notes.search("heating")


def test_documents_are_not_added_with_another_model(path):
    other = bertqa.Context(FIXTURES / "tiny-bert-embedder")
    with pytest.raises(bertqa.WrongModel, match="another model"):
        with bertqa.Collection(path, embedder=other) as notes:
            notes.add("house", "Bob painted the house.")
    with bertqa.Collection(path) as notes:
        assert len(notes.search("heating")) == 2


def test_words_only(tmp_path):
    with bertqa.Collection(tmp_path / "words.db", words_only=True) as notes:
        notes.add("a", TEXTS["lease"])
        assert notes.ask("Who signed the lease?").answer.text == "Ann Smith"
        assert notes.search("apartment") == []


def test_names_of_files(tmp_path, monkeypatch):
    with bertqa.Collection(":memory:", words_only=True) as notes:
        notes.add("a", TEXTS["lease"])
        assert len(notes.search("lease")) == 1
    monkeypatch.chdir(tmp_path)
    for name in "file:x?mode=memory", b"file:y", pathlib.Path(":memory:"), tmp_path / "z.db":
        with bertqa.Collection(name, words_only=True) as notes:
            notes.add("a", TEXTS["lease"])
        with bertqa.Collection(name) as notes:
            assert len(notes.search("lease")) == 1
    assert sorted(file.name for file in tmp_path.iterdir()) == [":memory:", "file:x?mode=memory", "file:y", "z.db"]
    with pytest.raises(sqlite3.OperationalError, match="no/x.db: unable"):
        bertqa.Collection("no/x.db")
    (tmp_path / "text").write_text("no database at all, but long enough for one" * 100)
    with pytest.raises(sqlite3.DatabaseError, match="text: file is not a database"):
        bertqa.Collection("text")
    with pytest.raises(sqlite3.OperationalError):
        bertqa.Collection("")


def test_ids_of_passages(path):
    with bertqa.Collection(path) as notes:
        id = notes.search("boiler", k=1)[0].id
        assert notes.document(numpy.int64(id)) == notes.document(id) != []
        assert notes.document(1 << 70) == notes.document(-(1 << 70)) == []
        with pytest.raises(TypeError, match="id is '1', but must be an integer"):
            notes.document("1")


def test_another_thread_may_go_on(path):
    with bertqa.Collection(path, words_only=True) as notes:
        notes.add("lamp", "The lamp is green.")
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            assert pool.submit(notes.search, "lamp", k=1).result()[0].name == "lamp"
            pool.submit(notes.close).result()
    with bertqa.Collection(path) as notes:
        assert notes.search("lamp", k=1)[0].name == "lamp"


def test_threads_share_a_collection(tmp_path):
    embedder = bertqa.Context(FIXTURES / "tiny-bert-embedder")

    def use(thread):
        for number in range(100):
            notes.add(f"{thread}-{number}", f"The lamp {number} is green.")
            if number % 5 == 0:
                found = notes.search("lamp")
                notes.document(found[0].id)
                notes.remove(f"{thread}-{number}")

    with bertqa.Collection(tmp_path / "notes.db", embedder=embedder) as notes:
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(use, range(4)))
    connection = sqlite3.connect(tmp_path / "notes.db")
    names = {name for (name,) in connection.execute("SELECT name FROM documents")}
    assert names == {f"{thread}-{number}" for thread in range(4) for number in range(100) if number % 5}
    ids = [id for (id,) in connection.execute("SELECT id FROM passages ORDER BY id")]
    blocks = connection.execute("SELECT first, count FROM vectors ORDER BY first").fetchall()
    assert [first + i for first, count in blocks for i in range(count)] == ids
    connection.close()


def test_limits_of_ask(path):
    """They also end the writing of added documents, and the wait for another thread."""

    def count():
        return notes._database.execute("SELECT count(*) FROM documents").fetchone()[0]

    with bertqa.Collection(path) as notes:
        notes.add("lamp", "The lamp is green.")
        held, done = threading.Event(), threading.Event()

        def hold():
            with notes._alone():
                held.set()
                done.wait(60)

        holder, messages = threading.Thread(target=hold), set()
        for is_held in False, True:
            if is_held:
                holder.start()
                held.wait(60)
            for options, error in [
                (dict(timeout=0.03 if is_held else 0), bertqa.DeadlineExceeded),
                (dict(cancel=lambda: True), bertqa.Cancelled),
            ]:
                with pytest.raises(error) as caught:
                    notes.ask("What is green?", **options)
                messages.add(str(caught.value))
                assert count() == len(TEXTS)
        assert len(messages) == 2  # the package's own are those of the library
        done.set()
        holder.join()
        assert notes.ask("What is green?").answer.text == "The lamp" and count() == len(TEXTS) + 1


@pytest.mark.parametrize("statements", [["BEGIN IMMEDIATE"], ["BEGIN", "SELECT * FROM passages"]], ids=len)
def test_limits_and_signals_end_the_wait_for_other_connections(path, monkeypatch, statements):
    """A writer keeps others from beginning, a reader from committing."""

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(_database, "_PATIENCE", 3600)
    with (
        contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other,
        bertqa.Collection(path) as notes,
    ):
        notes.add("lamp", "The lamp is green.")
        for statement in statements:
            other.execute(statement).fetchall()
        with pytest.raises(bertqa.DeadlineExceeded):
            notes.ask("What is green?", timeout=0.3)
        polls = iter(range(1000))
        with pytest.raises(bertqa.Cancelled):
            notes.ask("What is green?", cancel=lambda: next(polls) > 500)
        before = signal.signal(signal.SIGALRM, interrupt)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            with pytest.raises(KeyboardInterrupt):
                notes.flush()
        finally:
            signal.signal(signal.SIGALRM, before)
        monkeypatch.setattr(_database, "_PATIENCE", 0)
        with pytest.raises(sqlite3.OperationalError, match="notes.db: database is locked"):
            notes.flush()
        other.execute("ROLLBACK")
        assert notes.ask("What is green?").answer.text == "The lamp"


def test_callbacks_may_change_the_documents_that_are_written(path):
    with bertqa.Collection(path) as notes:
        notes.add("lamp", "The lamp is green.")
        notes.add("chair", "The chair is blue.")
        changed = []

        def cancel():
            # SQLite allows no statement during its own polls.
            if not changed and not notes._database._is_polling:
                changed.append(True)
                notes.add("lamp", "The lamp is yellow.")
                notes.remove("chair")
            return False

        notes.ask("What is green?", cancel=cancel)
        assert changed and {hit.name for hit in notes.search("blue chair lamp", k=9)} == {
            "lamp",
            "lease",
            "boiler",
        }
        assert [hit.text for hit in notes.search("lamp", k=9) if hit.name == "lamp"] == ["The lamp is yellow."]


@pytest.fixture(scope="module")
def long_path(tmp_path_factory):
    path = tmp_path_factory.mktemp("long") / "notes.db"
    with bertqa.Collection(path, embedder=bertqa.Context(FIXTURES / "tiny-bert-embedder")) as notes:
        for number in range(600):
            notes.add(str(number), "the river", fields={"a": 1})
    return path


@pytest.mark.parametrize("stage", ["_allow", "_set_words", "_add_vectors"])
def test_limits_end_each_stage_of_a_search(long_path, monkeypatch, stage):
    with bertqa.Collection(long_path, embedder=bertqa.Context(FIXTURES / "tiny-bert-embedder")) as notes:
        run, begun = getattr(notes, stage), []

        def staged(*arguments):
            begun.append(stage)
            run(*arguments)
            pytest.fail(f"{stage} went on")

        monkeypatch.setattr(notes, stage, staged)
        with pytest.raises(bertqa.Cancelled):
            notes.ask("the river", fields={"a": 1}, cancel=lambda: bool(begun))
        assert not notes._database.in_transaction
        with pytest.raises(ZeroDivisionError):
            notes.ask("the river", fields={"a": 1}, cancel=lambda: begun and 1 // 0)
        monkeypatch.undo()
        assert len(notes.search("the river", fields={"a": 1})) == 10


def test_a_callback_cannot_use_the_database_in_a_search(long_path):
    """SQLite allows nothing of a connection whose statement runs, and would crash if it were closed."""
    for use in (lambda notes: notes.search("lamp")), bertqa.Collection.close:
        with (
            bertqa.Collection(long_path, embedder=bertqa.Context(FIXTURES / "tiny-bert-embedder")) as notes,
            pytest.raises(ValueError, match="a callback cannot"),
        ):
            notes.ask("the river", cancel=lambda: notes._database.in_transaction and use(notes))
        with bertqa.Collection(long_path) as notes:
            assert len(notes.document(1)) == 1


def test_documents_that_a_callback_adds(path):
    with bertqa.Collection(path) as notes:
        notes.add("lamp", "The lamp is green.")
        waiting = ["door", "lamp", "wall"]

        def cancel():
            if waiting:
                name = waiting.pop()
                notes.add(name, f"The {name} is red.")

        notes.ask("What is green?", cancel=cancel)
        assert notes._passage_count == sum(len(passages) for _, _, passages in notes._added.values())
        assert {notes.search(f"red {name}", k=1)[0].text for name in ("door", "lamp", "wall")} == {
            "The door is red.",
            "The lamp is red.",
            "The wall is red.",
        }


def test_interrupted_anywhere(tmp_path):
    """Ctrl-C at each line of add leaves a collection that can be used."""
    notes = bertqa.Collection(tmp_path / "notes.db", words_only=True)
    notes.add("first", "The lamp is green.")
    interrupted = 0
    while True:
        lines = 0

        def trace(frame, event, _):
            nonlocal lines
            if frame.f_code.co_filename != bertqa.Collection.add.__code__.co_filename:
                return None
            if event == "line":
                lines += 1
                if lines == interrupted:
                    raise KeyboardInterrupt
            return trace

        interrupted += 1
        before = sys.gettrace()
        sys.settrace(trace)
        try:
            notes.add("second", f"The wall {interrupted} is red.")
            break
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(before)
        assert [hit.text for hit in notes.search("lamp")] == ["The lamp is green."]
    assert interrupted > 20 and [hit.text for hit in notes.search("wall")] == [f"The wall {interrupted} is red."]
    notes.close()


def test_two_create_one_database(tmp_path, monkeypatch):
    """The second one before each statement of the first one."""
    execute = Database.execute
    for statement in range(2):
        path, statements = tmp_path / f"{statement}.db", 0

        def counted(*arguments):
            nonlocal statements
            statements += 1
            if statements == statement + 1:
                bertqa.Collection(path, words_only=True).close()
            return execute(*arguments)

        monkeypatch.setattr(Database, "execute", counted)
        with bertqa.Collection(path, words_only=True) as notes:
            notes.add("lamp", "The lamp is green.")
            assert len(notes.search("lamp")) == 1
        monkeypatch.undo()


def test_a_forked_process_opens_it_anew(path):
    """Even if another thread uses it, which does not go on in the child."""
    code = f"""
import bertqa, os, threading
notes = bertqa.Collection({str(path)!r})
notes.add("lamp", "The lamp is green.")
held, done = threading.Event(), threading.Event()
def hold():
    with notes._alone():
        held.set()
        done.wait()
holder = threading.Thread(target=hold)
holder.start()
held.wait()
child = os.fork()
if not child:
    try:
        notes.search("lamp")
    except ValueError as error:
        print(error, flush=True)
    notes.close()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
done.set()
holder.join()
notes.close()
"""
    result = run_python(code)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "this Collection was opened by the process that forked this one: open it anew\n"
    with bertqa.Collection(path) as notes:
        assert notes.search("lamp", k=1)[0].name == "lamp"


def test_what_a_collection_is_not_made_of(path):
    for arguments, message in [
        (dict(path=5), "path is 5, but must be a path"),
        (dict(path="a\0b"), "path is .*null character"),
        (dict(context="a"), "context must be of type Context, not str"),
        (dict(embedder="a"), "embedder must be of type Context, not str"),
    ]:
        with pytest.raises((TypeError, bertqa.InvalidArgument), match=message):
            bertqa.Collection(**{"path": path, **arguments})
    with bertqa.Collection(path) as notes:
        for copied in copy.copy, copy.deepcopy, pickle.dumps:
            with pytest.raises(TypeError, match="open its database again"):
                copied(notes)


def test_errors_name_the_database(path):
    with bertqa.Collection(path) as notes:
        notes._database.execute("PRAGMA busy_timeout = 0")
        notes.add("lamp", "The lamp is green.")
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        for call in (
            notes.flush,
            lambda: notes.search("lamp"),
            lambda: notes.remove("lamp"),
            lambda: notes.document(1),
        ):
            with pytest.raises(sqlite3.OperationalError, match="notes.db: database is locked"):
                call()
        other.close()
        assert notes.search("lamp", k=1)[0].name == "lamp"


def test_titles_count(tmp_path):
    """A passage is found by its document's title."""
    text = "Ann Smith signed on 3 May."
    with bertqa.Collection(tmp_path / "words.db", words_only=True) as notes:
        notes.add("a", text, title="The rental contract")
        assert [hit.text for hit in notes.search("contracts")] == [text]
        notes.add("a", text, title=" ")
        assert notes.search("contracts") == [] and notes.search("signed")[0].title is None
    with (
        bertqa.Context(task="embed") as embedder,
        bertqa.Collection(tmp_path / "all.db", embedder=embedder) as notes,
    ):
        notes.add("a", text, title="The rental contract")
        [hit] = notes.search("apartment")
        question, passage = (
            embedder.embed(each, normalize=True) for each in ("apartment", f"The rental contract\n{text}")
        )
        cosine = sum(a * b for a, b in zip(question, passage))
        assert hit.score == pytest.approx(library().search_score(cosine, 0.0), abs=0.01)


def test_scores_are_cosines(tmp_path):
    """Also of a model that does not make vectors of length 1."""
    with (
        bertqa.Context(FIXTURES / "tiny-longformer-embedder") as embedder,
        bertqa.Collection(tmp_path / "notes.db", embedder=embedder) as notes,
    ):
        texts = ["the river", "a king of france jumps over the lazy dog", "fox"]
        for text in texts:
            notes.add(text, text)
        assert abs(sum(x * x for x in embedder.embed("the river")) - 1) > 0.5
        query = embedder.embed("over", normalize=True)
        for hit in notes.search("over"):
            cosine = sum(a * b for a, b in zip(query, embedder.embed(hit.text, normalize=True)))
            share = 1.0 if "over" in hit.text.split() else 0.0
            assert hit.score == pytest.approx(library().search_score(cosine, share), abs=0.02)


def test_prompts_of_the_model(tmp_path):
    """The question is embedded as a query, and passages as documents."""
    directory = tmp_path / "model"
    shutil.copytree(FIXTURES / "tiny-bert-embedder", directory)
    prompts = {"query": "a king of france: ", "document": "the lazy dog "}
    (directory / "config_sentence_transformers.json").write_text(json.dumps({"prompts": prompts}))
    with (
        bertqa.Context(directory) as embedder,
        bertqa.Collection(tmp_path / "notes.db", embedder=embedder) as notes,
    ):
        notes.add("a", "the river")
        [hit] = notes.search("over")

        def cosine(query, document):
            pair = ("over", query), ("the river", document)
            return sum(
                a * b
                for a, b in zip(*(embedder.embed(text, prompt_name=name, normalize=True) for text, name in pair))
            )

        # No word is the same: the score is that of the cosine, of which int8 keeps two digits.
        found = [
            library().search_score(cosine(*names), 0.0)
            for names in (("query", "document"), ("query", None), (None, None))
        ]
    assert hit.score == pytest.approx(found[0], abs=0.01)
    assert min(abs(other - found[0]) for other in found[1:]) > 0.1


def test_what_cannot_be_written_is_refused_at_once(path):
    """What SQLite refuses would fail together with all documents that were added before."""
    with bertqa.Collection(path) as notes:
        notes.add("good", "The lamp is green.")
        for error, arguments in [
            (TypeError, dict(name=3)),
            (TypeError, dict(name=None)),
            (TypeError, dict(title=b"x")),
            (bertqa.InvalidArgument, dict(name="\ud800")),
            (bertqa.InvalidArgument, dict(title="\ud800")),
            (bertqa.InvalidArgument, dict(fields={"a": float("nan")})),
            (TypeError, dict(fields={"a": object()})),
            (TypeError, dict(fields=["a"])),
            (bertqa.InvalidArgument, dict(text=b"caf\xe9")),
        ]:
            with pytest.raises(error, match=f"^{[*arguments][0]} "):
                notes.add(**{"name": "bad", "text": "The clock stopped.", **arguments})
        with pytest.raises(TypeError, match="^name must"):
            notes.remove(3)
        with pytest.raises(bertqa.InvalidArgument, match="^name is"):
            notes.remove("\ud800")
        notes.add("later", "The clock stopped at ten.")
        assert sorted(hit.name for hit in notes.search("lamp clock", k=2)) == ["good", "later"]
        for error, arguments in [
            (TypeError, dict(path=5)),
            (bertqa.InvalidArgument, dict(path="\ud800")),
            (TypeError, dict(fields=5)),
            (bertqa.InvalidArgument, dict(fields={"a": float("inf")})),
        ]:
            with pytest.raises(error, match=f"^{[*arguments][0]} "):
                notes.search("lamp", **arguments)
            with pytest.raises(error, match=f"^{[*arguments][0]} "):
                notes.ask("What is green?", **arguments)
    with bertqa.Collection(path) as notes:
        assert notes.ask("When did the clock stop?").answer.text == "ten"


def test_the_first_passages_decide_about_vectors(tmp_path):
    """A collection whose model was not there at first, or that was left empty, is not one of words only."""
    path = tmp_path / "notes.db"
    closed = bertqa.Context(FIXTURES / "tiny-bert-embedder")
    closed.close()
    with bertqa.Collection(path, embedder=closed) as notes, pytest.raises(ValueError, match="closed"):
        notes.add("a", TEXTS["lease"])
    with bertqa.Collection(path) as first, bertqa.Collection(path) as second:
        first.add("a", TEXTS["lease"])
        second.add("b", TEXTS["boiler"])
        first.flush()
        second.flush()
        assert {hit.name for hit in second.search("apartment")} == {"a", "b"}
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT sum(count) FROM vectors").fetchone() == (2,)
    connection.close()


def test_a_search_is_of_one_state(path, monkeypatch):
    """Another program replaces all documents between a search's statements."""
    with bertqa.Collection(path) as notes:
        set_words = notes._set_words

        def replaced(*arguments):
            set_words(*arguments)
            with bertqa.Collection(path) as other:
                other._database.execute("PRAGMA busy_timeout = 0")
                for name, text in TEXTS.items():
                    try:
                        other.add(name, text)
                        other.flush()
                    except sqlite3.OperationalError:  # the search reads
                        other._added.clear()

        sqlite3.connect(path).execute("PRAGMA journal_mode = WAL").connection.close()
        monkeypatch.setattr(notes, "_set_words", replaced)
        assert {hit.name for hit in notes.search("boiler lease")} == {"lease", "boiler"}
        assert notes.ask("Who repaired the boiler?").answer.text == "Zo\u00eb Brown"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("DELETE FROM passages", "is missing"),
        ("UPDATE passages SET text = x'00'", "not str"),
        ("UPDATE passages SET start = 'x'", "not int"),
        ("UPDATE documents SET fields = '[]'", "not dict"),
        ("UPDATE documents SET fields = '{'", "the fields of passage .: is not dict"),
        ("UPDATE vectors SET scales = 'x'", "not bytes"),
        ("UPDATE vectors SET scales = x'00'", "do not fit"),
        ("UPDATE vectors SET count = 'x'", "not int"),
        (
            "UPDATE vectors SET count = 1, rows = substr(rows, 1, length(rows) / count), scales = x'0000c07f'",
            "not a finite number",
        ),
        ("UPDATE model SET fingerprint = 7", "not bytes"),
    ],
)
def test_databases_with_wrong_values(path, change, message):
    connection = sqlite3.connect(path)
    connection.execute(change).connection.commit()
    connection.close()
    with bertqa.Collection(path) as notes, pytest.raises((ValueError, bertqa.BertQAError), match=message):
        notes.search("lease boiler")
