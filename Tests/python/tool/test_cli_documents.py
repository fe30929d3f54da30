"""The documents of the commands: the text of pages, mail and Markdown, also from standard input."""

import gzip
import json

import pytest

from cli import environment, needs_gmime, needs_libxml2, needs_md4c, run, run_json
from indexed import rows

BODY = "<p>Ann&nbsp;Smith built\n the <b>Lark</b>.</p>\n<p>It is green.</p>"
PAGE = f"<!DOCTYPE html>\n<html><head><script>var builder = 'Bob';</script></head><body>{BODY}</body></html>"
XML_PAGE = f"\ufeff<?xml version='1.0'?>\n<!-- a > b --><HTML lang='en'>{BODY}</HTML>"
PAGE_TEXT = "Ann\u00a0Smith built the Lark.\n\nIt is green."
MAIL = (
    "From: Bob <bob@example.org>\nMessage-ID: <1@example.org>\nSubject: =?utf-8?q?The_L=C3=A4rk?=\n"
    "Content-Type: text/plain;\n\tcharset=utf-8\nContent-Transfer-Encoding: base64\n\nQW5uIFNtaXRoIGJ1aWx0IHRoZSBMYXJrLgo=\n"
)
MAIL_TEXT = "The L\u00e4rk\n\nAnn Smith built the Lark."
NOTE = "# The *Lark*\n\n[Ann](ann.md) **Smith** &amp; son\nbuilt the [[Lark]].\n"
NOTE_TEXT = "# The Lark\n\nAnn Smith & son\nbuilt the Lark.\n"
QUESTION = "Who built the Lark?"


def check(document, text, **options):
    """Asks about a file or standard input, of which this text is read."""
    (record,) = run_json("answer", "-q", QUESTION, document, **options)
    found = record["answers"][0]
    assert "Smith" in found["text"]
    for part in found, found["sentence"]:
        start, end = part["bytes"]
        assert text.encode()[start:end].decode() == part["text"]


@pytest.mark.parametrize(
    "name, content, text",
    [
        pytest.param("page.html", PAGE, PAGE_TEXT, marks=needs_libxml2),
        pytest.param("page.htm", BODY, PAGE_TEXT, marks=needs_libxml2),
        pytest.param("report?id=3", PAGE, PAGE_TEXT, marks=needs_libxml2),
        pytest.param("page.1", XML_PAGE, PAGE_TEXT, marks=needs_libxml2),
        pytest.param("a.eml", MAIL, MAIL_TEXT, marks=needs_gmime),
        pytest.param("17", MAIL, MAIL_TEXT, marks=needs_gmime),
        pytest.param("18", MAIL.replace("Message-ID: <1@example.org>", "MIME-Version: 1.0"), MAIL_TEXT,
                     marks=needs_gmime),
        pytest.param("19", "Received: from a\r\n\tby b\r\n" + MAIL.replace("\n", "\r\n"), MAIL_TEXT,
                     marks=needs_gmime),
        pytest.param("a.md", NOTE, NOTE_TEXT, marks=needs_md4c),
        ("tags.txt", f"See <html>: {BODY}", f"See <html>: {BODY}"),
        ("letter.txt", "From: Bob\nSubject: Lark\n\nAnn Smith built it.", "From: Bob\nSubject: Lark\n\nAnn Smith built it."),
    ],
)  # fmt: skip
def test_text_of_documents(tmp_path, name, content, text):
    """By the name or the content, also compressed and from a pipe."""
    path, packed = tmp_path / name, tmp_path / f"{name}.gz"
    path.write_bytes(content.encode())
    packed.write_bytes(gzip.compress(content.encode()))
    check(path, text)
    check(packed, text)
    if not name.startswith(("a.", "page.h")):  # by the content alone
        check("-", text, input=content.encode())
        with path.open("rb") as file:
            check("-", text, input=None, stdin=file)
    plain = tmp_path / "plain.txt"
    plain.write_text(text)
    for command in ["classify", "--json"], ["embed"]:
        found, expected = (json.loads(run(*command, "-f", file)[0]) for file in (path, plain))
        assert found | {"file": None} == expected | {"file": None}
    run("index", "--words-only", tmp_path / "x.db", path)
    assert "".join(text for (text,) in rows(tmp_path / "x.db", "SELECT text FROM passages")) == text.strip()


@needs_gmime
def test_a_mailbox_is_one_text(tmp_path):
    """A message that cannot be read is reported; the others are read."""
    (tmp_path / "libxml2.so.2").write_bytes(b"no library")
    env = environment(LD_LIBRARY_PATH=str(tmp_path))
    inbox = tmp_path / "inbox"
    line = "From a Fri May  3 10:00:00 2024\n"
    inbox.write_text(
        f"{line}Subject: lamp\n\nThe lamp is green.\n\n{line}Content-Type: text/html\n\n<p>Bern\n"
        f"{line}Subject: Lark\n\nAnn Smith built the Lark.\n"
    )
    output, errors = run("answer", "-q", QUESTION, "-q", "Which colour is the lamp?", inbox, code=3, env=env)
    assert output == f"{QUESTION}\tSmith\nWhich colour is the lamp?\tgreen\n"
    problem = errors
    assert problem.startswith(f"bertqa: {inbox}: message 2: HTML needs ") and problem.count("\n") == 1
    output, errors = run("ask", inbox, input=f"{QUESTION}\n".encode(), code=3, env=env)
    assert output.endswith("\tSmith\n") and errors == problem
    output, errors = run("classify", "--file", inbox, code=3, env=env)
    assert output and errors == problem
    output, errors = run("embed", "--file", inbox, code=3, env=env)
    assert output and errors == problem
    output, errors = run("embed", "--format", "npy", "--file", inbox, code=3, env=env)
    assert output == "" and errors == problem


@pytest.mark.parametrize(
    "library, package, name",
    [
        ("libxml2.so.2", "libxml2", "a.html"),
        ("libgmime-3.0.so.0", "libgmime-3.0-0", "a.eml"),
        ("libgmime-3.0.so.0", "libgmime-3.0-0", "a"),  # the message has the letter
    ],
)
def test_documents_without_their_library(tmp_path, library, package, name):
    (tmp_path / library).write_bytes(b"no library")
    (tmp_path / name).write_text(MAIL)
    (tmp_path / "b.txt").write_text("Ann Smith built the Lark.")
    output, errors = run(
        "answer", "-q", QUESTION, name, "b.txt", code=3,
        env=environment(LD_LIBRARY_PATH=str(tmp_path)), cwd=tmp_path,
    )  # fmt: skip
    assert output == "b.txt\tAnn Smith\n"
    assert errors.startswith(f"bertqa: {name}: ") and package in errors


@pytest.mark.parametrize("command", [["answer", "-q", QUESTION], ["ask"]])
def test_markdown_without_its_library(tmp_path, command):
    """It is read as text, with one note for all files."""
    (tmp_path / "libmd4c.so.0").write_bytes(b"no library")
    files = [tmp_path / "a.md", tmp_path / "b.md"]
    for file in files:
        file.write_text("# The *lamp*\n\nIt is **green**.\n")
    found, errors = run(
        *command, "--json", *files, input=QUESTION.encode(), env=environment(LD_LIBRARY_PATH=str(tmp_path)), code=1
    )
    assert found and "libmd4c0" in errors and len(errors.splitlines()) == 1


@pytest.mark.parametrize(
    "name, start, part",
    [
        pytest.param("page.html", "<h1>", "1<button>", marks=needs_libxml2),
        pytest.param("page.html", "<dl><dt>", "1 <button></button>", marks=needs_libxml2),
        pytest.param("note.md", "<h1>\n", "1<button></button>", marks=needs_md4c),
        pytest.param("note.md", "<h1>a\n", "1<button></button>", marks=needs_md4c),
    ],
)
def test_headings_of_many_buttons(tmp_path, name, start, part):
    """Takes minutes if each button searches its heading for letters from the beginning."""
    path = tmp_path / name
    path.write_text(start + part * ((4 << 20) // len(part)))
    run("classify", "--file", path, code=None)
