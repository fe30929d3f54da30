"""`bertqa ask`: by a person at a terminal, through a pipe, of a database; and the page in the browser."""

import fcntl
import gzip
import os
import pty
import re
import select
import sqlite3
import struct
import subprocess
import termios

import pytest

from cli import APOLLO, FOX, HIGHLIGHT, environment, needs_library, needs_libxml2, run
from conftest import PACKAGE, ROOT, TOOL
from demo_page import asked_documents
from samples import WHO

TEXT = """The quick brown fox jumps over the lethargic dog. It was in May.

Zo\u00eb cleaned the fan at noon. Her address is zoe@example.org, if you
want to write to her. The pump failed because its bearing had run dry.
"""
FAN = "Who cleaned the fan?"
UP = "\x1b[A"


class Typist:
    """A person at a terminal in which the tool runs."""

    def __init__(self, *arguments, columns=100, **variables):
        self.controller, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.modes = termios.tcgetattr(terminal)
        self.seen = ""
        self.process = subprocess.Popen(
            [TOOL, "ask", *arguments], stdin=terminal, stdout=terminal, stderr=terminal,
            env=environment(**{"TERM": "xterm"} | variables), start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )  # fmt: skip
        self.terminal = terminal

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.terminal)
        os.close(self.controller)

    def type(self, keys):
        os.write(self.controller, keys.encode() if isinstance(keys, str) else keys)

    def see(self, pattern):
        """Returns the output up to a match of the pattern, which must appear."""
        while not (match := re.search(pattern, self.seen)):
            assert select.select([self.controller], [], [], 30)[0], self.seen
            self.seen += os.read(self.controller, 65536).decode(errors="replace")
        before, self.seen = self.seen[: match.end()], self.seen[match.end() :]
        return before

    def end(self, code=0):
        assert self.process.wait(timeout=30) == code
        assert termios.tcgetattr(self.terminal) == self.modes


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    return path


# Through a pipe


def test_questions_through_a_pipe(text):
    lines = f"{FAN}\n\n  n \nWhat is her address?\r\n{WHO}"
    output, errors = run("ask", text, input=lines.encode())
    rows = [line.split("\t") for line in output.splitlines()]
    assert [row[0] for row in rows] == [FAN, FAN, "What is her address?", WHO]
    assert [rows[index][2] for index in (0, 2, 3)] == ["Zo\u00eb", "zoe@example.org", "The quick brown fox"]
    assert all(re.fullmatch(r"[01]\.\d{4}", row[1]) for row in rows) and rows[0][1] > rows[1][1]
    assert errors == ""
    assert run("ask", text, input=b"") == ("", "")
    assert run("ask", text, input=f"{FAN}\nq\n{WHO}\n".encode())[0].count("\n") == 1


def test_best_over_all_files_is_first(text):
    output = run("ask", FOX, text, APOLLO, input=f"{FAN}\nn\n{WHO}\n".encode())[0].splitlines()
    assert output[0].startswith(f"{text}\t{FAN}\t") and output[0].endswith("\tZo\u00eb")
    assert output[2].endswith("\tThe quick brown fox") and len(output) == 3


def test_what_is_no_answer(text, tmp_path):
    output, errors = run("ask", text, input=b"n\nWhat is the capital of Peru?\n", code=1)
    assert output.count("\n") == 1
    assert errors.splitlines() == [
        "bertqa: ask something first",
        "bertqa: the text does not seem to answer this: the best passage is probably no answer",
    ]
    peru = ["ask", "--handle-impossible-answer", text]
    assert run(*peru, input=b"What is the capital of Peru?\n", code=1) == (
        "", "bertqa: no answer to 'What is the capital of Peru?'\n",
    )  # fmt: skip
    assert "there is no further answer" in run("ask", "-k", "1", text, input=f"{FAN}\nn\n".encode())[1]
    pdf = tmp_path / "a.pdf"
    pdf.write_bytes(b"%PDF-1.4\n" + bytes(100))
    assert "PDF" in run("ask", pdf, input=b"", code=3)[1]


@pytest.mark.parametrize(
    "arguments, complaint",
    [
        ([], "no FILE was given"),
        (["-k", "0", FOX], "--top-k is 0"),
        (["--passages", "0", FOX], "--passages is 0"),
        (["--color=blue", FOX], "--color takes"),
        (["--no-such", FOX], "unknown option"),
        (["--table", "a", FOX], f"--table is for another database, but {FOX} is a text"),
        (["--passages", "1", FOX], f"--passages is for a collection or another database, but {FOX} is a text"),
        *[
            ([option, "a=b", FOX], f"{option} is for a collection, but ")
            for option in ("--path", "--field", "--embed-model")
        ],
        (["--browser", "-k", "1", FOX], "--top-k cannot be used with --browser"),
    ],
)
def test_wrong_usage(arguments, complaint):
    assert complaint in run("ask", *arguments, code=2)[1]


# At a terminal


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_conversation(text, line_end):
    text.write_text(TEXT, newline=line_end)
    with Typist(text) as typist:
        assert "Type a question." in typist.see(r"\? ")
        typist.type(f"{FAN}\r")
        shown = typist.see(r"\(n: next answer\)")
        assert HIGHLIGHT.findall(shown)[0] == "Zo\u00eb" and "cleaned the fan at noon." in shown
        assert f"{text}, line 3" in shown and re.search(r"0\.\d{4}  ", shown)
        # In its context: the paragraph, and no more of the text.
        assert "Her address is zoe@example.org" in shown and "brown fox" not in shown
        typist.type("n\r")
        assert HIGHLIGHT.findall(typist.see(r"\(n: next answer\)"))[0] != "Zo\u00eb"
        typist.type("What is the capital of Peru?\r")
        typist.see("probably no answer")
        typist.type("q\r")
        typist.end()


@needs_libxml2
def test_a_page_has_no_lines(tmp_path):
    """Its text has other lines than the file."""
    page = tmp_path / "page.html"
    page.write_text("\n\n<p>The lamp is red.</p>\n<p>Zo\u00eb cleaned the fan.</p>")
    with Typist(page, columns=1000) as typist:
        typist.see("\\? $")
        typist.type(f"{FAN}\n")
        assert re.search(rf"\d  {page}(  \(n|\r)", typist.see("\\? $"))
        typist.type("q\n")
        typist.end()


def test_without_colour_the_answer_is_in_brackets(text):
    for variables in {"NO_COLOR": "1"}, {"TERM": "dumb"}:
        with Typist(text, **variables) as typist:
            typist.see(r"\? ")
            typist.type(f"{FAN}\n")
            shown = typist.see("next answer")
            assert "[Zo\u00eb] cleaned" in shown and "\x1b[1" not in shown
            typist.type("q\n")
            typist.end()


def test_the_conversation_of_the_document(monkeypatch):
    """The lines of docs/answers.md are those on a terminal; the probability depends on the instruction set."""
    page = (ROOT / "docs" / "answers.md").read_text()
    [(files, lines)] = re.findall(r"^```\n\$ bertqa ask (.*?)\n(.*?)^```$", page, re.M | re.S)
    monkeypatch.chdir(FOX.parent)
    with Typist(*files.split(), TERM="dumb") as typist:
        shown = typist.see(r"this help\r\n\? ")
        typist.type(f"{WHO}\n")
        shown += typist.see(r"next answer\)\r\n\? $")
        typist.type("q\n")
        typist.end()
    probability = re.compile(r"0\.\d{4}")
    [printed], [documented] = probability.findall(shown), probability.findall(lines)
    assert float(printed) == pytest.approx(float(documented), abs=0.05)
    lines = lines.replace(documented, printed)
    assert [line.rstrip() for line in shown.splitlines()] == [line.rstrip() for line in lines.splitlines()]


needs_libedit = needs_library("libedit.so.2", "libedit2")


@needs_libedit
def test_lines_are_edited(text):
    """Shown by the effect: "q" quits, and an earlier question is answered again."""
    with Typist(text) as typist:
        typist.see(r"\? ")
        typist.type(f"{FAN}\r")
        typist.see(r"\(n: next answer\)")
        typist.type(f"Zo\u00eb\u6f22\x15{UP}\r")
        assert HIGHLIGHT.findall(typist.see(r"\(n: next answer\)"))[0] == "Zo\u00eb"
        typist.type("qx\x7f\r")
        typist.end()


@pytest.mark.parametrize("library", [b"", None])
def test_the_modes_of_the_terminal_are_restored(tmp_path, library):
    """With libedit, and if it cannot be loaded."""
    if library is not None:
        (tmp_path / "libedit.so.2").write_bytes(library)
    with Typist(FOX, LD_LIBRARY_PATH=str(tmp_path)) as typist:
        typist.see(r"\? ")
        typist.type(f"{WHO}\r")
        assert "The quick brown fox" in HIGHLIGHT.findall(typist.see("next answer"))
        typist.type("q\r")
        typist.end()


def test_the_document_may_be_standard_input(text):
    reader, writer = os.pipe()
    os.write(writer, TEXT.encode())
    os.close(writer)
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [TOOL, "ask", "-"], stdin=reader, stdout=terminal, stderr=terminal, env=environment(TERM="dumb"),
        start_new_session=True, preexec_fn=lambda: fcntl.ioctl(1, termios.TIOCSCTTY, 0),
    )  # fmt: skip
    os.close(reader)
    os.write(controller, f"{FAN}\n\x04".encode())
    assert process.wait(timeout=300) == 0
    os.close(terminal)
    shown = b""
    while "[Zo\u00eb]".encode() not in shown:  # at the end of what was shown, reading fails
        shown += os.read(controller, 65536)
    os.close(controller)
    refused = subprocess.run(
        [TOOL, "ask", "-"], input=b"", capture_output=True, env=environment(), start_new_session=True
    )
    assert refused.returncode == 2 and b"the questions come from a terminal" in refused.stderr


# Databases


def database(path, table="documents", columns="body", passages=()):
    connection = sqlite3.connect(path)
    connection.execute(f"CREATE VIRTUAL TABLE \"{table}\" USING fts5({columns}, tokenize='porter')")
    marks = ",".join("?" * len(columns.split(",")))
    connection.executemany(f'INSERT INTO "{table}" VALUES ({marks})', passages)
    connection.commit()
    connection.close()
    return path


PASSAGES = [
    ("The pump in hall 3 failed at noon because its bearing had run dry.",),
    ("Nothing to report. Ann was on duty.",),
    ("The fan failed due to dust, and Zo\u00eb cleaned it.",),
    *[(f"Hall {i} was cleaned, and a fan was seen there.",) for i in range(4, 60)],
]


def test_a_database_is_asked(tmp_path):
    path = database(tmp_path / "reports.db", passages=PASSAGES)
    output, errors = run("ask", path, input=f"{FAN}\nWhy did the pump fail?\n".encode())
    first, second = (line.split("\t") for line in output.splitlines())
    assert first[0] == f"{path}, documents 3" and first[1] == FAN and first[3] == "Zo\u00eb"
    assert second[0] == f"{path}, documents 1" and "bearing had run dry" in second[3] and errors == ""
    # Words that no passage has; syntax of FTS5; no word at all.
    nothing = b'xylophone\n" xylo NEAR(*) -\n???!\n'
    output, errors = run("ask", path, input=nothing, code=1)
    assert "no text has these words" in errors and "SQLite" not in errors
    # Nothing is written.
    os.chmod(path, 0o400)
    assert run("ask", path, input=FAN.encode())[0].startswith(f"{path}, documents 3\t")


def test_names_with_quotes(tmp_path):
    """To Swift a quote with an accent is another character than a quote, but not to SQLite."""
    passages = [("The fox jumped over the dog.",)]
    path = database(tmp_path / "d.db", 'a""\u0301', columns='"b""\u0301 c"', passages=passages)
    assert run("ask", path, "Who jumped over the dog?")[0].endswith("\tThe fox\n")


def test_the_passages_that_are_read(tmp_path):
    path = database(tmp_path / "reports.db", passages=PASSAGES)

    def passages(count):
        options = ["--passages", count, "-k", "1000", "--max-windows=-1"]
        rows = run("ask", *options, path, input=(f"{FAN}\n" + "n\n" * 999).encode())[0].splitlines()
        # The place and the text; the probability is a share of all that was read.
        return rows[0].split("\t")[::3], {row.split("\t")[0] for row in rows}

    (best, every), (best_of_few, few) = passages("60"), passages("3")
    assert len(every) > 50 and len(few) == 3 and few < every and best == best_of_few


def test_indexes_are_found_by_name(tmp_path):
    path = database(tmp_path / "a.db", 'odd "" name', "title,body", [("Fans", PASSAGES[2][0])])
    assert run("ask", path, input=FAN.encode())[0].endswith("\tZo\u00eb\n")
    database(path, "letters", passages=PASSAGES[:2])
    errors = run("ask", path, input=FAN.encode(), code=3)[1]
    assert "several full-text indexes" in errors and "letters" in errors and "--table" in errors
    assert run("ask", path, "--table", 'odd " name', input=FAN.encode())[0].endswith("\tZo\u00eb\n")
    assert "no full-text index 'no'" in run("ask", path, "--table", "no", input=FAN.encode(), code=3)[1]
    database(path, passages=PASSAGES)
    assert run("ask", path, input=FAN.encode())[0].endswith("\tZo\u00eb\n")
    assert "one database at a time" in run("ask", path, FOX, code=2)[1]
    for option in "--path", "--field", "--embed-model":
        errors = run("ask", option, "a=b", path, FAN, code=2)[1]
        assert errors.startswith(f"bertqa: {option} is for a collection, but {path} is another database; ")
    assert "--encoding is for a text, but " in run("ask", "--encoding", "latin1", path, FAN, code=2)[1]


def test_databases_that_cannot_be_asked(tmp_path):
    plain = tmp_path / "plain.db"
    with sqlite3.connect(plain) as connection:
        connection.execute("CREATE TABLE a(b)")
    connection.close()
    assert "CREATE VIRTUAL TABLE documents USING fts5" in run("ask", plain, input=b"", code=3)[1]
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"SQLite format 3\0" + bytes(range(256)) * 16)
    assert "is not a database" in run("ask", broken, input=b"", code=3)[1]
    # A failure of one question does not end the conversation.
    late = tmp_path / "late.db"
    with sqlite3.connect(late) as connection:
        connection.executescript("""
            CREATE TABLE gone(body); INSERT INTO gone VALUES ('Ann came and Zoë went.');
            CREATE VIRTUAL TABLE late USING fts5(body, content='gone');
            INSERT INTO late(late) VALUES ('rebuild'); DROP TABLE gone;
        """)
    connection.close()
    output, errors = run("ask", late, input=b"Who came?\nWho went?\n", code=1)
    assert output == "" and errors.count(f"bertqa: {late}: SQLite: ") == 2


@pytest.mark.parametrize("options", ["", ", columnsize=0", ", detail=none", ", tokenize='porter'"])
def test_an_index_without_texts_is_refused(tmp_path, options):
    """A contentless index finds passages but has no text: the tool says why and what to do, not "no answer"."""
    path = tmp_path / "contentless.db"
    with sqlite3.connect(path) as connection:
        connection.execute(f"CREATE VIRTUAL TABLE documents USING fts5(title, body, content=''{options})")
        assert run("ask", path, input=b"What is it?\n", code=1)[0] == "", "an empty index is no failure"
        connection.execute(f"INSERT INTO documents(rowid, title, body) VALUES (1, 'Fans', '{PASSAGES[2][0]}')")
    connection.close()
    arguments = {"input": FAN.encode(), "code": 1 if "columnsize" in options else 3}
    output, errors = run("ask", path, **arguments)
    assert output == "" and "'documents' has no texts to read" in errors
    assert "content='TABLE'" in errors and "'rebuild'" in errors
    # Do as the message says.
    with sqlite3.connect(path) as connection:
        connection.executescript(f"""
            CREATE TABLE reports(id INTEGER PRIMARY KEY, body TEXT);
            INSERT INTO reports VALUES (3, '{PASSAGES[2][0]}');
            DROP TABLE documents;
            CREATE VIRTUAL TABLE documents USING fts5(body, content='reports', content_rowid='id');
            INSERT INTO documents(documents) VALUES ('rebuild');""")
    connection.close()
    assert run("ask", path, input=FAN.encode())[0].endswith("\tZo\u00eb\n")


def test_without_sqlite_there_is_a_message(tmp_path):
    (tmp_path / "libsqlite3.so.0").write_bytes(b"")
    path = database(tmp_path / "reports.db", passages=PASSAGES)
    errors = run("ask", path, input=b"", code=3, env=environment(LD_LIBRARY_PATH=str(tmp_path)))[1]
    assert "libsqlite3.so.0, which cannot be used here (" in errors
    assert run("ask", FOX, input=WHO.encode(), env=environment(LD_LIBRARY_PATH=str(tmp_path)))[0]


# The page


@needs_libxml2
def test_the_browser_page_has_the_texts_as_answer_reads_them(tmp_path):
    page, letter = tmp_path / "page.html", tmp_path / "letter.txt.gz"
    page.write_text("<title>T</title><p>Zo&euml; cleaned the <b>fan</b>.")
    letter.write_bytes(gzip.compress("Zo\u00eb came.".encode("latin-1")))
    process = subprocess.Popen(
        [TOOL, "ask", "--browser", "--encoding", "latin1", "--", page, "-", letter], text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env=environment(BROWSER="true", PYTHONPATH=str(PACKAGE), PYTHONUNBUFFERED="1"),
    )  # fmt: skip
    with process:
        process.stdin.write("It rained.")
        process.stdin.close()
        assert asked_documents(process) == [
            ("page.html", "Zo\u00eb cleaned the fan."),
            ("Standard input", "It rained."),
            ("letter.txt.gz", "Zo\u00eb came."),
        ]


def test_the_browser_page_opens_databases(text, tmp_path):
    path, python = tmp_path / "notes.db", tmp_path / "python3"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE t (x)")
    python.write_text('#!/bin/sh\ncase $1 in -m) echo "$@";; esac\n')
    python.chmod(0o755)
    output = run("ask", "--browser", path, text, env=environment(PATH=f"{tmp_path}:/bin:/usr/bin"))[0]
    assert re.fullmatch(rf"-m bertqa.demo --browser --texts=-,\d+ -- {path} {text}\n", output)
    output = run("ask", "--browser", env=environment(PATH=f"{tmp_path}:/bin:/usr/bin"))[0]
    assert output == "-m bertqa.demo --browser --\n"


@pytest.mark.parametrize("option", ["--model", "--embed-model"])
def test_the_browser_page_has_the_models(option, text):
    result = subprocess.run(
        [TOOL, "ask", "--browser", option, "no/such-model", text], capture_output=True, timeout=60,
        env=environment(PYTHONPATH=str(PACKAGE)),
    )  # fmt: skip
    assert result.returncode == 1 and b"no/such-model" in result.stderr


def test_without_the_package_there_is_a_message(tmp_path):
    errors = run("ask", "--browser", FOX, code=3, env=environment(PATH=str(tmp_path)))[1]
    assert "--browser needs Python 3 and its package bertqa" in errors
    python = tmp_path / "python3"
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    errors = run("ask", "--browser", FOX, code=3, env=environment(PATH=f"{tmp_path}:/bin:/usr/bin"))[1]
