"""`bertqa index`, `bertqa search` and `bertqa ask` of a collection."""

import csv
import ctypes
import gzip
import json
import mailbox
import os
import signal
import sqlite3
import subprocess
import time
from email.message import EmailMessage

import pytest

import bertqa
from cli import environment, run
from conftest import LONG, TOOL

LEASE = "# The lease\n\nAnn Smith signed the lease on 3 May.\n\nThe rent is due on the first day of each month.\n"
HEATING = "The heating costs 120 euros a month in winter.\nThe boiler was repaired by Zo\u00eb Brown.\n"
MAIL = [
    {"id": "m1", "text": "The train to Bern leaves at noon."},
    {"id": "m2", "text": "Carla won the chess tournament in Oslo."},
    {"id": "m3", "text": None},
]


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    (folder / "house").mkdir(parents=True)
    (folder / "house" / "lease.md").write_text(LEASE)
    (folder / "heating.txt").write_text(HEATING)
    (folder / ".hidden.txt").write_text("The password is swordfish.")
    with gzip.open(folder / "mail.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(mail) + "\n" for mail in MAIL)
    return folder


@pytest.fixture
def collection(notes, tmp_path):
    path = tmp_path / "notes.db"
    assert (
        run("index", path, "--id-field", "id", notes)[0]
        == "3 new, 0 changed, 0 unchanged, 0 gone; 4 passages read, 4 in all\n"
    )
    return path


def rows(path, sql, *values):
    with sqlite3.connect(path) as connection:
        return connection.execute(sql, values).fetchall()


def check_whole(path):
    """The tables agree with one another."""
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO words(words, rank) VALUES ('integrity-check', 1)")
    connection.rollback()
    passages = [id for (id,) in connection.execute("SELECT id FROM passages ORDER BY id")]
    vectors = []
    for first, count, data, scales in connection.execute(
        "SELECT first, count, rows, scales FROM vectors ORDER BY first"
    ):
        assert len(data) == 384 * count and len(scales) == 4 * count
        vectors += range(first, first + count)
    assert vectors == passages
    assert connection.execute(
        "SELECT count(*) FROM documents WHERE file IS NOT NULL AND file NOT IN (SELECT id FROM files)"
    ).fetchone() == (0,)
    connection.close()


def ask(path, question, *options, code=0):
    return json.loads(run("ask", *options, "--json", path, question, code=code)[0])


def test_a_model_that_is_missing_leaves_no_collection(notes, tmp_path):
    run("index", "-m", "no-such-model", tmp_path / "notes.db", notes, code=3)
    assert not (tmp_path / "notes.db").exists()


def test_answers_and_their_places(collection, notes):
    check_whole(collection)
    result = ask(collection, "Who signed the lease?")
    answer = result["answers"][0]
    assert answer["text"] == "Ann Smith" and not result["is_impossible"]
    assert answer["file"] == str(notes / "house" / "lease.md") and answer["line"] == 3
    assert answer["title"] == "The lease" and answer["name"] is None
    assert answer["sentence"]["text"] == "Ann Smith signed the lease on 3 May."
    start, end = (answer["passage_start"] + byte for byte in answer["bytes"])
    assert LEASE.encode()[start:end] == b"Ann Smith"
    answer = ask(collection, "Where did Carla win?")["answers"][0]
    assert (answer["text"], answer["name"], answer["line"]) == ("Oslo", "m2", None)
    output, _ = run("ask", collection, "Who repaired the boiler?")
    assert output.split("\t")[::3] == [f"{notes}/heating.txt:2", "Zo\u00eb Brown\n"]
    # Questions through a pipe, two answers each.
    output, _ = run("ask", "-k", "2", collection, input=b"Who signed the lease?\nWhat does the heating cost?\n")
    assert [line.split("\t")[1] for line in output.splitlines()] == ["Who signed the lease?"] * 2 + [
        "What does the heating cost?"
    ] * 2


def test_what_is_no_answer(collection):
    result = ask(collection, "What is the capital of Peru?", code=1)
    assert result["is_impossible"]
    assert "probably no answer" in run("ask", collection, "What is the capital of Peru?", code=1)[1]


def test_search(collection, notes):
    first = run("search", collection, "heating", "costs")[0].splitlines()[0].split("\t")
    assert first[1] == f"{notes}/heating.txt:1" and first[2].startswith("The heating costs 120 euros")
    # By meaning: no word is the same.
    hits = [
        json.loads(line)
        for line in run("search", "--json", "-k", "2", collection, "apartment contract")[0].splitlines()
    ]
    assert len(hits) == 2 and hits[0]["file"].endswith("lease.md") and hits[0]["score"] > hits[1]["score"]
    assert LEASE.encode()[slice(*hits[0]["bytes"])].decode() == hits[0]["text"]
    # Filters.
    paths = run("search", "--path", "*.jsonl.gz", collection, "heating")[0]
    assert paths.count("\n") == 2 and "heating.txt" not in paths
    assert run("search", "--path", "nothing", collection, "heating", code=1)[0] == ""
    assert ask(collection, "Who signed the lease?", "--path", "*heating*", code=1)["is_impossible"]
    # The words of a question are no operators.
    run("search", collection, 'NEAR( AND "x" * -lease')


def test_only_what_changed_is_read(collection, notes):
    index = ["index", collection, "--id-field", "id", notes]
    assert run(*index)[0] == "0 new, 0 changed, 3 unchanged, 0 gone; 0 passages read, 4 in all\n"
    os.utime(notes / "heating.txt")
    assert run(*index)[0].startswith("0 new, 0 changed, 3 unchanged, 0 gone; 0 passages")
    (notes / "heating.txt").write_text(HEATING.replace("Zo\u00eb Brown", "Tim Gray"))
    (notes / "house" / "lease.md").unlink()
    (notes / "new.txt").write_text("The garden has forty roses.")
    assert run(*index)[0] == "1 new, 1 changed, 1 unchanged, 1 gone; 2 passages read, 4 in all\n"
    check_whole(collection)
    assert ask(collection, "Who repaired the boiler?")["answers"][0]["text"] == "Tim Gray"
    assert ask(collection, "How many roses has the garden?")["answers"][0]["text"] == "forty"
    # Without files only what is gone leaves.
    (notes / "new.txt").unlink()
    assert run("index", collection)[0].startswith("0 new, 0 changed, 0 unchanged, 1 gone")
    check_whole(collection)


def test_files_that_became_something_else(tmp_path):
    folder, path = tmp_path / "folder", tmp_path / "x.db"
    folder.mkdir()
    files = [folder / f"{number}.txt" for number in range(4)]
    for number, file in enumerate(files):
        file.write_text(f"Box {number} holds {number * 7} screws.")
    run("index", "--words-only", path, folder)
    for file in files[:3]:
        file.unlink()
    files[0].mkdir()
    (files[0] / "a.txt").write_text("The lamp is green.")
    os.mkfifo(files[1])
    files[2].symlink_to(files[2])
    assert run("index", "--words-only", path, folder, code=3) == (
        "1 new, 0 changed, 1 unchanged, 3 gone; 1 passages read, 2 in all\n",
        f"bertqa: {files[2]}: Too many levels of symbolic links\n",
    )


def test_other_options_read_files_again(tmp_path):
    """Those that concern a file. Problems say which option to change, and then it must count."""
    path, lines, text = tmp_path / "x.db", tmp_path / "lines.jsonl", tmp_path / "a.txt"
    lines.write_text('{"body": "The lamp is green.", "year": 2024}\n')
    text.write_text("The clock stopped at ten.")
    index = ["index", "--words-only", path, tmp_path]
    assert "no field 'text'" in run(*index, "--exclude", "x.db*", code=3)[1]
    body = [*index, "--text-field", "body", "--exclude", "x.db*"]
    assert run(*body)[0] == "0 new, 1 changed, 1 unchanged, 0 gone; 1 passages read, 2 in all\n"
    assert "2 unchanged" in run(*body)[0]
    assert "1 changed, 1 unchanged" in run(*body, "--field", "year")[0]
    assert rows(path, "SELECT fields FROM documents WHERE fields IS NOT NULL") == [('{"year":"2024"}',)]
    os.utime(text)
    os.utime(lines)
    assert "2 unchanged" in run(*body, "--field", "year")[0]
    assert "1 changed, 1 unchanged" in run(*body, "--field", "year", "--convert", ".txt=cat {}")[0]
    assert "0 changed, 2 unchanged" in run(*body, "--field", "year", "--convert", ".txt=cat {}")[0]
    assert "2 changed, 0 unchanged" in run(*body, "--encoding", "latin1")[0]


def test_deleting_by_any_sqlite_keeps_it_whole(collection):
    with sqlite3.connect(collection) as connection:
        connection.execute("DELETE FROM documents WHERE name = 'm1'")
    check_whole(collection)
    assert "Bern" not in run("search", collection, "Bern")[0]


def test_what_cannot_be_read_is_listed(collection, notes, tmp_path):
    (notes / "picture.png").write_bytes(b"\x89PNG\r\n" + bytes(100))
    (notes / "latin.txt").write_bytes("Die M\u00fchle geh\u00f6rt Ern\u00f6.".encode("latin-1") * 3)
    (notes / "wrong.jsonl").write_text('{"text": "The lamp is green."}\n{broken\n{"other": 1}\n')
    (notes / os.fsdecode(b"\xff.txt")).write_text("x")
    os.symlink(notes, notes / "loop")
    os.mkfifo(notes / "fifo")
    output, errors = run("index", collection, notes, tmp_path / "missing", code=3)
    assert output.startswith("1 new")
    for part in (
        "picture.png: looks like a picture",
        "wrong.jsonl: line 2",
        "wrong.jsonl: line 3",
        "latin.txt: not valid UTF-8",
        "its name is not valid UTF-8",
        "missing: No such file",
    ):
        assert part in errors, errors
    assert ask(collection, "What colour is the lamp?")["answers"][0]["text"] == "green"
    check_whole(collection)
    run("index", collection, "--encoding", "latin1", notes / "latin.txt")
    assert ask(collection, "Who owns the M\u00fchle?", code=None)["answers"]


def test_patterns_converters_and_standard_input(tmp_path, notes):
    path = tmp_path / "chosen.db"
    assert run("index", path, "--include", "*.md", notes)[0].startswith("1 new")
    assert run("index", path, "--exclude", "house", "--exclude", "*.gz", notes)[0].startswith("1 new")
    odd = tmp_path / "it's $HOME.rot"
    odd.write_text("Gur xrl vf va gur qenjre.")
    assert run("index", path, "--convert", ".rot=tr A-Za-z N-ZA-Mn-za-m < {}", odd)[0].startswith("1 new")
    assert ask(path, "Where is the key?")["answers"][0]["text"] == "in the drawer"
    odd.write_text("changed")
    assert "'false' failed: exit status 1" in run("index", path, "--convert", ".rot=false", odd, code=3)[1]
    assert run("index", path, "-", input=b"The bicycle is in the cellar.")[0].startswith("1 new")
    assert ask(path, "Where is the bicycle?")["answers"][0]["file"] == "-"
    check_whole(path)


def test_html(tmp_path):
    path, page = tmp_path / "pages.db", tmp_path / "page.html"
    page.write_text(
        "<html><head><title>Our  boats &amp; ships</title><script>var a = 'red';</script></head><body><nav>Home</nav>"
        "<h1>Boats</h1><p>The <b>Lark</b> was built<br>in 1912.<p>It is owned by Zo\u00eb.<table><tr><td>a<td>b</table>"
    )
    deep = tmp_path / "deep.html"
    deep.write_text("<div>" * 50_000 + "The anchor weighs nine tons." + "</div>" * 10)
    run("index", path, page, deep)
    assert rows(path, "SELECT title FROM documents ORDER BY id") == [("Our boats & ships",), (None,)]
    answer = ask(path, "Who owns the Lark?")["answers"][0]
    assert answer["text"] == "Zo\u00eb" and answer["title"] == "Our boats & ships"
    text = "\n".join(text for (text,) in rows(path, "SELECT text FROM passages"))
    assert "var a" not in text and "Home" not in text and "Lark was built\nin 1912." in text


def test_a_page_that_libxml2_would_cut(tmp_path):
    """It reads 10 MB of text between two tags."""
    path, page = tmp_path / "pages.db", tmp_path / "log.html"
    page.write_text(f"<title>A &bogus; B</title><pre>{'lamp ' * 2_100_000}The clock stopped.</pre>")
    errors = run("index", "--words-only", path, page, code=3)[1]
    assert "log.html: the page has 10 MB of text without a tag" in errors
    page.write_text(f"<title>A &bogus; B</title><pre>{'lamp <b>is</b> ' * 100_000}The clock stopped.</pre>")
    run("index", "--words-only", path, page)
    assert rows(path, "SELECT title FROM documents") == [("A &bogus; B",)]
    assert "The clock stopped." in run("search", path, "clock stopped")[0]


def message(subject, *parts, **headers):
    """Returns a message with alternative parts: (subtype, text, charset, transfer encoding)."""
    mail = EmailMessage()
    mail["Subject"] = subject
    for name, value in headers.items():
        mail[name.replace("_", "-")] = value
    for subtype, text, charset, encoding in parts:
        add = mail.set_content if mail.get_payload() is None else mail.add_alternative
        add(text, subtype=subtype, charset=charset, cte=encoding)
    return mail


def has_gmime():
    try:
        ctypes.CDLL("libgmime-3.0.so.0")
    except OSError:
        return False
    return True


needs_gmime = pytest.mark.skipif(not has_gmime(), reason="GMime is not installed (libgmime-3.0-0)")


@needs_gmime
def test_mail(tmp_path):
    path, folder = tmp_path / "mail.db", tmp_path / "mail"
    folder.mkdir()
    boiler = message(
        "Gr\u00fc\u00dfe: der Kessel \u2013 the boiler",
        (
            "plain",
            "The boiler was repaired by Zo\u00eb Brown for 120 \u20ac.\n",
            "iso-8859-15",
            "quoted-printable",
        ),
        ("html", "<p>See the <b>picture</b>.", "utf-8", "base64"),
        From="Zo\u00eb Brown <zoe@example.org>",
        To="ann@example.org, bob@example.org",
        Date="Fri, 03 May 2024 10:00:00 +0200",
        Message_ID="<1@example.org>",
    )
    boiler.add_attachment(b"\x89PNG" * 99, maintype="image", subtype="png", filename="boiler.png")
    (folder / "boiler.eml").write_bytes(boiler.as_bytes())
    page = message("A page", ("html", "<p>The <b>lease</b> was signed<br>by Ann Smith.", "utf-8", "base64"))
    empty = message(
        "Fwd: the clock",
        ("plain", "\u00a0\n", "utf-8", "8bit"),
        ("html", "<p>It stopped at ten.", "utf-8", "7bit"),
    )
    forward = message("Look at this", ("plain", "Below.\n", "utf-8", "7bit"))
    forward.add_attachment(boiler)
    inbox = mailbox.mbox(folder / "INBOX")
    for mail in (page, empty, forward):
        inbox.add(mail)
    inbox.close()
    (folder / "old.mbox.gz").write_bytes(gzip.compress((folder / "INBOX").read_bytes()))
    maildir = mailbox.Maildir(folder / "Sent")
    maildir.add(
        message("Garden", ("plain", "The garden has forty roses.\n", "utf-8", "8bit"), From="ann@example.org")
    )
    assert run("index", path, folder)[0].startswith("4 new, 0 changed, 0 unchanged, 0 gone; 8 passages")
    check_whole(path)
    mails = rows(
        path,
        "SELECT f.path, d.name, d.title, d.fields, group_concat(p.text, '') FROM documents d JOIN files f ON f.id = d.file "
        "JOIN passages p ON p.document = d.id GROUP BY d.id",
    )
    texts = {(os.path.basename(file), name): (title, fields, text) for file, name, title, fields, text in mails}
    title, fields, text = texts["boiler.eml", None]
    assert title == "Gr\u00fc\u00dfe: der Kessel \u2013 the boiler"
    assert text == title + "\n\nThe boiler was repaired by Zo\u00eb Brown for 120 \u20ac."
    assert json.loads(fields) == {
        "from": "Zo\u00eb Brown <zoe@example.org>",
        "to": "ann@example.org, bob@example.org",
        "date": "2024-05-03T10:00:00+02:00",
        "message_id": "1@example.org",
    }
    assert texts["INBOX", "1"] == ("A page", None, "A page\n\nThe lease was signed\nby Ann Smith.")
    assert texts["INBOX", "2"][2] == "Fwd: the clock\n\nIt stopped at ten."
    assert texts["INBOX", "3"][2] == f"Look at this\n\nBelow.\n\n{text}"
    assert texts["old.mbox.gz", "1"] == texts["INBOX", "1"]
    assert "forty roses" in str(texts.values())
    answer = ask(path, "Who signed the lease?", "--path", "*INBOX")["answers"][0]
    assert (answer["text"], answer["name"], answer["title"]) == ("Ann Smith", "1", "A page")
    # Filters by fields.
    found = run("search", "--field", "from=*zoe@example.org*", "--field", "date=2024-*", path, "roses")[0]
    assert found.count("\n") == 1 and "boiler.eml" in found
    assert run("search", "--field", "from=*carla*", path, "roses", code=1)[0] == ""
    assert "NAME=PATTERN" in run("search", "--field", "from", path, "roses", code=2)[1]


@needs_gmime
def test_messages_behind_what_is_none(tmp_path):
    """Lines of a text that begin with "From " are not always marked. What they cut off is listed, and nothing behind it is
    lost."""
    path, inbox = tmp_path / "mail.db", tmp_path / "inbox.mbox"
    mail = "From a@example.org Fri May  3 10:00:00 2024\nSubject: {0}\n\nThe lamp of {0} is green.\n{1}\n"
    texts = [
        "",
        "From here on\nit is another colour.\n",
        "",
        "From Bern\r\n\r\nto Thun.\n",
        "x" * 70_000 + "\n",
        "",
    ]
    inbox.write_text("".join(mail.format(name, text) for name, text in zip("ABCDEF", texts)))
    output, errors = run("index", "--words-only", path, inbox, code=3)
    assert errors == f"bertqa: {inbox}: message 3: does not begin with a header\n"
    found = rows(
        path, "SELECT DISTINCT d.name, title FROM documents d JOIN passages p ON p.document = d.id ORDER BY d.id"
    )
    assert found == [
        ("1", "A"), ("2", "B"), ("4", "C"), ("5", "D"), ("6", None), ("7", "E"), ("8", "F")
    ]  # fmt: skip
    # The same if it is compressed, and if the last message is none.
    packed = tmp_path / "old.mbox.gz"
    packed.write_bytes(gzip.compress(inbox.read_bytes() + b"From there\nno header\n"))
    errors = run("index", "--words-only", path, packed, code=3)[1]
    assert "old.mbox.gz: message 9: does not" in errors and errors.count("\n") == 2
    assert len(rows(path, "SELECT 1 FROM documents")) == 14


@needs_gmime
def test_mail_that_is_none(tmp_path):
    path, folder = tmp_path / "mail.db", tmp_path / "mail"
    folder.mkdir()
    (folder / "empty.mbox").write_bytes(b"")
    (folder / "letter.txt").write_text("From Bern to Thun the train takes twenty minutes.\nIt leaves at noon.\n")
    (folder / "broken.eml").write_bytes(
        b"Subject: =?utf-8?q?half\nContent-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/plain; "
        b"charset=no-such\nContent-Transfer-Encoding: base64\n\nVGhlIGxhbXAgaXMgZ3JlZW4u!!\n--x\nContent-Type: message/rfc822\n\n"
    )
    (folder / "deep.eml").write_bytes(
        b"Subject: deep\n"
        + b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (i, i) for i in range(3000))
    )
    (folder / "nothing.eml").write_bytes(b"\x00\xff no header at all")
    output, errors = run("index", path, folder, code=3)
    assert output.startswith("4 new") and "nothing.eml: is no mail" in errors and errors.count("\n") == 1, errors
    check_whole(path)
    texts = "\n".join(text for (text,) in rows(path, "SELECT text FROM passages"))
    assert "From Bern to Thun" in texts and "The lamp is green." in texts
    assert rows(path, "SELECT line FROM passages WHERE text LIKE 'From Bern%'") == [(1,)]


def test_mail_without_its_library(tmp_path):
    """A library that cannot be loaded in place of GMime is the file's problem, which names the package."""
    (tmp_path / "libgmime-3.0.so.0").write_bytes(b"no library")
    (tmp_path / "a.eml").write_bytes(b"Subject: a\n\nThe lamp is green.\n")
    (tmp_path / "b.txt").write_text("The clock stopped at ten.")
    output, errors = run(
        "index",
        tmp_path / "x.db",
        tmp_path / "a.eml",
        tmp_path / "b.txt",
        code=3,
        env=environment(LD_LIBRARY_PATH=str(tmp_path)),
    )
    assert output.startswith("1 new") and "a.eml: mail needs the library GMime" in errors
    assert "libgmime-3.0-0" in errors


def test_fields_of_records(tmp_path):
    path, table = tmp_path / "table.db", tmp_path / "reports.csv"
    table.write_text(
        "text,year,author,id\nThe lamp is green.,2023,Ann,a\nThe lamp is red.,2024,Bob,b\nThe lamp is blue.,2024,Carla,c\n"
    )
    run(
        "index", "--id-field", "id", "--field", "year", "--field", "author", "--title-field", "author", path, table
    )  # fmt: skip
    assert rows(path, "SELECT name, title FROM documents") == [("a", "Ann"), ("b", "Bob"), ("c", "Carla")]
    assert json.loads(rows(path, "SELECT fields FROM documents WHERE name = 'b'")[0][0]) == {
        "year": "2024",
        "author": "Bob",
    }

    def found(*options, code=0):
        return [
            line.split(": ")[1][0] for line in run("search", *options, path, "lamp", code=code)[0].splitlines()
        ]

    assert sorted(found()) == ["a", "b", "c"]
    assert sorted(found("--field", "year=2024")) == ["b", "c"]
    assert found("--field", "year=202?", "--field", "author=[A-B]*", "--field", "year=*3") == ["a"]
    assert found("--field", "year=2024", "--path", "*.txt", code=1) == found("--field", "other=*", code=1) == []
    answer = ask(path, "Which colour has the lamp?", "--field", "author=Bob")["answers"][0]
    assert answer["text"] == "red"
    # Titles count: in the words, and in the vectors as in Python's.
    assert "The lamp is blue." in run("search", "-k", "1", path, "Carla")[0]
    with bertqa.Collection(tmp_path / "same.db") as same:
        for name, colour, author in ("a", "green", "Ann"), ("b", "red", "Bob"), ("c", "blue", "Carla"):
            same.add(name, f"The lamp is {colour}.", title=author)
    vectors = "SELECT rows, scales FROM vectors"
    assert rows(path, vectors) == rows(tmp_path / "same.db", vectors)


@pytest.mark.parametrize("ending", [".jsonl", ".csv"])
def test_records_may_lack_a_title_and_fields(tmp_path, ending):
    path, file = tmp_path / "table.db", tmp_path / ("reports" + ending)
    records = [
        {"id": "a", "text": "The lamp is green.", "title": "Lamps", "year": 2023},
        {"id": "b", "text": "The lamp is red.", "title": None, "year": None},
        {"id": "c", "text": None, "title": "No text", "year": 2024},
        {"id": None, "text": "The lamp is grey.", "title": "No id", "year": 2024},
        {"id": "e", "text": "The lamp is blue."},
    ]
    with open(file, "w", newline="") as output:
        if ending == ".csv":
            writer = csv.DictWriter(output, records[0])
            writer.writeheader()
            writer.writerows(records)
        else:
            output.writelines(json.dumps(record) + "\n" for record in records)
    output, errors = run(
        "index", "--id-field", "id", "--title-field", "title", "--field", "year", path, file, code=3
    )  # fmt: skip
    assert output.startswith("1 new") and "the field 'id' is empty" in errors and len(errors.splitlines()) == 1
    assert rows(path, "SELECT name, title, fields FROM documents") == [
        ("a", "Lamps", '{"year":"2023"}'), ("b", None, None), ("e", None, None)
    ]  # fmt: skip


def test_words_only(tmp_path, notes):
    path = tmp_path / "words.db"
    run("index", "--words-only", path, notes)
    assert rows(path, "SELECT count(*) FROM vectors") == [(0,)]
    assert ask(path, "Who signed the lease?")["answers"][0]["text"] == "Ann Smith"
    assert run("search", path, "apartment contract", code=1)[0] == ""
    assert "has no vectors" in run("index", path, notes, code=3)[1]


def test_other_databases(tmp_path, collection, notes):
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE a(b)")
    for command in (["index", other, notes], ["search", other, "a"]):
        assert "no collection" in run(*command, code=3)[1]
    empty = tmp_path / "empty.db"
    empty.touch()
    assert "no collection" in run("search", empty, "a", code=3)[1] and empty.stat().st_size == 0
    text = tmp_path / "text.db"
    text.write_text("no database at all, but long enough for one" * 100)
    assert "not a database" in run("index", text, notes, code=3)[1]
    assert text.read_text().startswith("no database at all")
    with sqlite3.connect(collection) as connection:
        connection.execute("PRAGMA user_version = 2")
    assert "version 2" in run("search", collection, "a", code=3)[1]


def test_records_of_another_database(tmp_path):
    """An answer is from one column of one record; columns that are not indexed are not read."""
    path = tmp_path / "reports.db"
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE VIRTUAL TABLE reports USING fts5(title, body, tag UNINDEXED, tokenize = 'porter unicode61')"
        )
        connection.execute(
            "INSERT INTO reports VALUES ('Report 7', 'Read Committed is the level that Ann Lee chose.', 'Report by Moses')"
        )
    names = {}
    for answer in ask(path, "Who chose the level?", "-k", "9", code=None)["answers"]:
        names.setdefault(answer["file"], answer["text"])
    assert names[f"{path}, reports 1, body"] == "Ann Lee"
    assert not any("tag" in name for name in names) and not any("Report 7 Read" in text for text in names.values())


def test_a_limit_of_time_ends_a_database_s_work_too(tmp_path):
    path = tmp_path / "x.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            "CREATE VIEW v(id, body) AS SELECT 1, 'The lamp is green.'; "
            "CREATE VIRTUAL TABLE f USING fts5(body, content='v', content_rowid='id'); "
            "INSERT INTO f(f) VALUES ('rebuild'); DROP VIEW v; "
            "CREATE VIEW v(id, body) AS WITH RECURSIVE r(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM r) "
            "SELECT n, 'x' FROM r"
        )
    errors = run("ask", "--timeout", "0.2", path, "What is green?", "the lamp", code=3)[1]
    assert errors == "bertqa: took longer than --timeout allows\n"


def test_second_writer_is_told_of_the_first(tmp_path):
    path, fifo = tmp_path / "held.db", tmp_path / "slow"
    os.mkfifo(fifo)
    with subprocess.Popen(
        [TOOL, "index", path, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
    ) as first:
        while not path.exists() or path.stat().st_size == 0:
            time.sleep(0.01)
        assert f"process {first.pid} is writing it" in run("index", path, code=3)[1]
        first.communicate(b"The clock stopped at ten.")
    assert first.returncode == 0
    run("index", path)
    assert ask(path, "When did the clock stop?")["answers"][0]["text"] in ("ten", "at ten")


def test_killed_runs_go_on(tmp_path):
    """A run that is killed at any time leaves a whole database, and the last one completes it."""
    folder, path = tmp_path / "folder", tmp_path / "killed.db"
    folder.mkdir()
    for number in range(60):
        (folder / f"{number:02}.txt").write_text(
            f"Box {number} holds {number * 7} screws.\n\n" * (1 + number % 40)
        )
    command = [TOOL, "index", path, folder]
    kills = 0
    for attempt in range(200 if LONG else 25):
        process = subprocess.Popen(
            command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(0.02 + 0.013 * (attempt % 23))
        if process.poll() is None:
            kills += 1
        process.send_signal(signal.SIGKILL)
        process.wait()
        if path.exists() and path.stat().st_size and attempt % 5 == 0:
            assert rows(path, "PRAGMA integrity_check") == [("ok",)]
        if attempt % 7 == 6:
            (folder / f"{attempt % 60:02}.txt").write_text(f"Box {attempt} was opened in year {attempt}.")
    assert kills > 5
    output, _ = run("index", path, folder)
    check_whole(path)
    assert rows(path, "SELECT count(*) FROM files WHERE hash IS NULL") == [(0,)]
    assert rows(path, "SELECT count(*) FROM files") == [(60,)]
    fresh = tmp_path / "fresh.db"
    run("index", fresh, folder)
    texts = "SELECT f.path, p.start, p.text FROM passages p JOIN documents d ON d.id = p.document JOIN files f ON f.id = d.file ORDER BY 1, 2"
    assert rows(path, texts) == rows(fresh, texts)


def test_text_that_is_not_utf8_is_listed(tmp_path):
    """SQLite's text is UTF-8, without which other programs cannot read it."""
    path, odd = tmp_path / "x.db", tmp_path / "odd.rot"
    (tmp_path / "latin.txt").write_bytes("Die M\u00fchle geh\u00f6rt Ern\u00f6.".encode("latin-1") * 3)
    (tmp_path / "latin.csv").write_bytes("text,year\nDie M\u00fchle,1\nThe mill,2\n".encode("latin-1"))
    (tmp_path / "cut.jsonl").write_text('{"text": "The mill \\ud83d is old", "year": "\\udc00"}\n')
    odd.write_bytes(b"x")
    errors = run("index", path, "--field", "year", "--convert", ".rot=printf 'M\\374hle' #", tmp_path, code=3)[1]
    for part in (
        "latin.txt: not valid UTF-8: --encoding NAME",
        "latin.csv: line 2: not valid UTF-8: --encoding NAME",
        "odd.rot: 'printf 'M\\374hle' #' printed text that is not valid UTF-8",
    ):
        assert part in errors, errors
    assert errors.count("\n") == 3
    for text, fields in rows(path, "SELECT text, fields FROM passages p JOIN documents d ON d.id = p.document"):
        assert text.encode() and json.loads(fields)["year"].encode()


def test_byte_order_marks_and_empty_headings(tmp_path):
    path, folder = tmp_path / "x.db", tmp_path / "folder"
    folder.mkdir()
    (folder / "a.md").write_text("\ufeff# The owl\n\nIt sleeps all day.")
    (folder / "b.md").write_text("#  \n\nThe gnu runs.")
    (folder / "c.txt").write_text("\ufeff")
    (folder / "d.jsonl").write_text('{"text": "The elk eats.", "title": " "}')
    run("index", "--words-only", "--title-field", "title", path, folder)
    documents = (
        "SELECT d.title, p.start, p.text FROM passages p JOIN documents d ON d.id = p.document ORDER BY p.id"
    )
    assert rows(path, documents) == [
        ("The owl", 3, "# The owl\n\nIt sleeps all day."),
        (None, 0, "#  \n\nThe gnu runs."),
        (None, 0, "The elk eats."),
    ]


def test_what_is_no_database_or_no_text(tmp_path, notes, collection):
    for command in ("index", notes), ("index", "/dev/null", notes):
        assert "is no regular file: the collection comes first" in run(*command, code=3)[1]
    assert "DB is a file" in run("index", "-", notes, code=2)[1]
    assert "is no regular file" in run("search", notes, "lease", code=3)[1]
    assert "No such file" in run("search", tmp_path / "nothing.db", "lease", code=3)[1]
    for text in "", " \n", "\u00a0\u3000":
        assert "TEXT is empty" in run("search", collection, text, code=2)[1]
        assert "the question is empty" in run("ask", collection, text, code=2)[1]
    (notes / "picture.txt").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(99))
    assert "a picture; --exclude leaves it out" in run("index", collection, "--id-field", "id", notes, code=3)[1]


def test_long_headings_end_before_a_character(tmp_path):
    for letters in range(190, 200):
        (tmp_path / f"{letters}.md").write_text("# " + letters * "a" + "\u00e4\u20ac\U0001f98a" * 20 + "\n")
    run("index", "--words-only", tmp_path / "x.db", tmp_path)
    titles = [title for (title,) in rows(tmp_path / "x.db", "SELECT title FROM documents")]
    assert len(titles) == 10 and not any("\ufffd" in title for title in titles)
    assert all(195 <= len(title.encode()) <= 198 for title in titles)


def test_files_of_the_far_future(tmp_path):
    """Nanoseconds since 1970 do not fit into 64 bits after 2262."""
    (tmp_path / "late.txt").write_text("The clock stopped at ten.")
    os.utime(tmp_path / "late.txt", (1 << 34, 1 << 34))
    assert run("index", "--words-only", tmp_path / "x.db", tmp_path / "late.txt")[0].startswith("1 new")
    assert "1 unchanged" in run("index", "--words-only", tmp_path / "x.db", tmp_path / "late.txt")[0]


def test_converters_do_not_read_standard_input(tmp_path):
    odd = tmp_path / "a.rot"
    odd.write_text("x")
    output, _ = run(
        "index", tmp_path / "x.db", "--convert", ".rot=cat; echo The lamp is green. #", odd, "-", input=b"The clock stopped."
    )  # fmt: skip
    assert output.startswith("2 new")
    assert rows(tmp_path / "x.db", "SELECT text FROM passages ORDER BY text") == [
        ("The clock stopped.",), ("The lamp is green.",)
    ]  # fmt: skip


def test_passages_of_documents_that_were_written_together(tmp_path):
    """A long document is written in several transactions, between which another program may add its own."""
    path = tmp_path / "notes.db"
    texts = [f"Box {number} holds {number * 7} green screws." for number in range(9)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    run("index", path, tmp_path / "a.jsonl")
    first = rows(path, "SELECT min(id) FROM documents")[0][0]
    with sqlite3.connect(path) as connection:
        # Every third passage belongs to the first document.
        connection.execute("UPDATE passages SET document = ? WHERE id % 3 = 1", (first,))
        connection.execute("UPDATE documents SET file = NULL, name = 'long' WHERE id = ?", (first,))
    found = [line.split("\t")[1] for line in run("search", "--path", "*o*", path, "box")[0].splitlines()]
    assert len(found) == 9 and found.count("long") == 3
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM documents WHERE name = 'long'")
    check_whole(path)
    assert rows(path, "SELECT count(*) FROM passages") == [(6,)]
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM files")
    check_whole(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("UPDATE passages SET start = 9223372036854775807", "is missing or has no place"),
        ("UPDATE passages SET start = -1", "is missing or has no place"),
        ("UPDATE passages SET line = 9223372036854775807", "is missing or has no place"),
        ("UPDATE vectors SET first = first + 100", "is missing or has no place"),
        ("UPDATE vectors SET count = -1", "do not fit"),
        ("UPDATE vectors SET count = 9223372036854775807", "do not fit"),
        (
            "UPDATE vectors SET count = 1, rows = substr(rows, 1, length(rows) / count), scales = x'0000c07f'",
            "not a finite number",
        ),
        (
            "UPDATE vectors SET count = 1, rows = substr(rows, 1, length(rows) / count), scales = x'0000807f'",
            "not a finite number",
        ),
        ("UPDATE vectors SET first = 9223372036854775807", "too high"),
        ("UPDATE model SET fingerprint = x'00'", "another model"),
    ],
)
def test_databases_with_wrong_numbers(collection, change, message):
    with sqlite3.connect(collection) as connection:
        connection.execute(change)
    for command in ["search"], ["ask"], ["search", "--json"], ["ask", "--json"]:
        assert message in run(*command, collection, "Who pays the rent of the lease?", code=3)[1]


ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT"


@pytest.mark.parametrize(
    "change",
    [
        "DROP TABLE vectors",
        "DROP TRIGGER file_removed",
        "DROP INDEX documents_of_file",
        "ALTER TABLE files ADD COLUMN owner",
        f"DROP TABLE vectors; CREATE VIEW vectors AS {ENDLESS} n AS first, 1 AS count, '' AS rows, '' AS scales FROM r",
        f"ALTER TABLE passages RENAME TO p; CREATE VIEW passages AS {ENDLESS} n AS id, 1 AS document, 0 AS start, "
        "1 AS end, 1 AS line, 'x' AS text FROM r",
        f"DROP VIEW texts; CREATE VIEW texts AS {ENDLESS} n AS id, 'x' AS title, 'x' AS text FROM r",
        "PRAGMA writable_schema = 1; UPDATE sqlite_master SET type = 'view', rootpage = 0, "
        f"sql = 'CREATE VIEW words_idx AS {ENDLESS} 1 AS segid, 1 AS term, n AS pgno FROM r' WHERE name = 'words_idx'",
        f"CREATE TRIGGER slow BEFORE DELETE ON files BEGIN INSERT INTO model {ENDLESS} n, n, n, n FROM r; END",
    ],
)
def test_tables_and_triggers_of_another_program(collection, notes, change):
    """A view or trigger may run without end."""
    with sqlite3.connect(collection) as connection:
        connection.executescript(change)
    (notes / "heating.txt").unlink()
    for command in (["search", collection, "lease"], ["ask", collection, "Who?"], ["index", collection]):
        assert "are not those of a collection" in run(*command, code=3)[1]
    with pytest.raises(ValueError, match="are not those of a collection"):
        bertqa.Collection(collection)


def test_further_tables(collection, notes):
    with sqlite3.connect(collection) as connection:
        connection.executescript(
            "CREATE TABLE tags(file, tag); CREATE VIEW tagged AS SELECT * FROM files JOIN tags ON file = path; "
            "CREATE INDEX files_by_time ON files(modified); VACUUM"
        )
    assert ask(collection, "Who signed the lease?")["answers"][0]["text"] == "Ann Smith"
    run("index", collection, "--id-field", "id", notes)


def test_a_name_is_a_path(tmp_path, notes):
    """SQLite takes these names for others than those of files."""
    for name in ":memory:", "file:x?mode=memory", "file:y.db":
        path = tmp_path / name
        run("index", "--words-only", name, notes, cwd=tmp_path)
        assert rows(path, "SELECT count(*) FROM files") == [(3,)]
        assert run("ask", name, "Who signed the lease?", cwd=tmp_path)[0].endswith("\tAnn Smith\n")
        path.unlink()
        with bertqa.Collection(path) as collection:
            collection.add("a", "The lamp is green.")
        assert run("search", name, "lamp", cwd=tmp_path)[0].endswith("\tThe lamp is green.\n")


def test_a_database_that_cannot_be_written_ends_the_run(tmp_path):
    """It is not the problem of a file, and no further files are read."""
    path = tmp_path / "x.db"
    (tmp_path / "a.txt").write_text("The lamp is green.")
    run("index", "--words-only", path, tmp_path / "a.txt")
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE UNIQUE INDEX one ON files(settings)")
    big = "\n\n".join(f"Box {number} holds {number * 7} screws. {'x ' * 120}" for number in range(20000))
    (tmp_path / "b.txt").write_text(big)
    (tmp_path / "c.txt").write_text("The clock stopped at ten.")
    errors = run("index", "--words-only", path, tmp_path / "b.txt", tmp_path / "c.txt", code=3)[1]
    assert errors == f"bertqa: {path}: SQLite: UNIQUE constraint failed: files.settings\n"


def test_a_file_that_another_program_removes_while_it_is_read(tmp_path):
    path = tmp_path / "x.db"
    texts = [json.dumps({"text": f"Box {number} holds {number * 7} screws."}) + "\n" for number in range(20000)]
    index = [TOOL, "index", "--words-only", "--format", "jsonl", path, "-"]
    process = subprocess.Popen(index, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True)
    # The first batch has 8,192 passages.
    process.stdin.write("".join(texts[:10000]))
    process.stdin.flush()
    for _ in range(3000):
        time.sleep(0.02)
        if path.exists() and rows(path, "SELECT count(*) FROM sqlite_master")[0][0]:
            if rows(path, "SELECT count(*) FROM passages")[0][0] >= 8192:
                break
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM files")
    errors = process.communicate("".join(texts[10000:]))[1]
    assert process.returncode == 3
    assert errors == f"bertqa: {path}: another program removed the file that is being read: index it again\n"
    assert rows(path, "SELECT count(*) FROM passages") == rows(path, "SELECT count(*) FROM documents") == [(0,)]
    run(*index[1:], input="".join(texts).encode())
    assert rows(path, "SELECT count(*) FROM passages") == [(20000,)]
