"""`bertqa index`: pages, mail, records, encodings and converters."""

import binascii
import contextlib
import csv
import gzip
import json
import mailbox
import os
import resource
import subprocess
from email.message import EmailMessage

import pytest

import bertqa
from cli import environment, needs_gmime, needs_libxml2, needs_md4c, run
from indexed import ask, check_whole, rows


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


@pytest.mark.parametrize(
    "page, text",
    [
        (
            "<p>Run:<pre>\nmake\tall\n\n  make test \n</pre>All\n done.",
            "Run:\n\nmake\tall\n\n  make test\n\nAll done.",
        ),
        (
            "<table><caption>Prices<tr><th>Pear<td> 2 <td><tr><td>Fig<td>3</table>after",
            "Prices\n\nPear\t2\nFig\t3\n\nafter",
        ),
        (
            "<table><tr><th><th>2023<th>2024<tr><td>Oslo<td> <td>7<tr><td><tr><td>Rome<td></table>",
            "2023\t2024\nOslo\t\t7\nRome",
        ),
        (
            "<p><![if !supportLists]>1. <![endif]>a<!--[if mso]><b>b</b><![endif]-->c<!--[if !mso]><!-->d<!--<![endif]-->",
            "1. acd",
        ),
        ("<script>//<![CDATA[ x = 1;</script>a<p><![CDATA[b</p>c", "a\n\n<![CDATA[b\n\nc"),
        (
            "<table><tr><td><p>Pear</p></td><td><p>2</p></td></tr><tr><td><p>a</p><p>b</p></td><td>c</td></tr></table>",
            "Pear\t2\na\n\nb\n\nc",
        ),
        (
            "<p hidden>a<p style='color: red; display : none'>b<div hidden><pre>c</pre></div> <b style=x>d\n e</b>",
            "d e",
        ),
        ("<fieldset><legend>Name</legend>Ann</fieldset><center>Bob</center>Carla", "Name\n\nAnn\n\nBob\n\nCarla"),
        (
            "<div role=navigation>Next</div><h2>Boats<a href='#boats'>¶</a></h2>b <a href='#x'><b>#</b></a>",
            "Boats\n\nb",
        ),
        ("<a href='#one'>One #</a> <a href='http://x.org'>#</a> <a href='#n'>1</a>", "One # # 1"),
        ("<audio>no sound</audio><datalist><option>x</datalist>a", "a"),
        ("don&#146;t &#150; stop", "don\u2019t \u2013 stop"),
        (
            "<h2><button>Why?</button></h2>a<dl><dt>1. <button><b>How?</b></button><dd>b</dl><button>Buy</button>"
            "<h3>Setup <button>Copy</button></h3>c<details><summary><button>Who?</button></summary>d</details>"
            "<h4>[2] | _<sup>1</sup> <button>When?</button><button>Copy</button></h4>",
            "Why?\n\na\n\n1. How?\n\nb\n\nSetup\n\nc\n\nWho?\n\nd\n\n[2] | _\u00b9 When?",
        ),
        (
            "6.022 &times; 10<sup>23</sup>, 10<sup>\u22123</sup>, 25<sup><a href='#f'>1</a></sup> euros, Ca<sup>2+</sup>,"
            " H<sub>2</sub>O, 2<sup>n</sup>, 1<sup>st</sup>, a<sup>[1]</sup>, b<sup>1,2</sup>",
            "6.022 \u00d7 10\u00b2\u00b3, 10\u207b\u00b3, 25\u00b9 euros, Ca\u00b2\u207a, H2O, 2\u207f, 1st, a[1], b\u00b9,\u00b2",
        ),
        (
            "&dollar;5&period;&NewLine;&check; &lbrace;&ccaron;&rbrace; &deg C &copy 2&nbsp5 &pound5; caf&eacute &notin; &ne;"
            " &amp;dollar; &amp5; &lt;b&gt; &ltb&GT &nosuch; &notno; AT&T &apos;",
            "$5. \u2713 {\u010d} \u00b0 C \u00a9 2\u00a05 \u00a35; caf\u00e9 \u2209 \u2260"
            " &dollar; &5; <b> <b> &nosuch; &notno; AT&T '",
        ),
        ("<p>a<p>\0b\0c<p title='\0'>d", "a\n\nb c\n\nd"),
    ],
)
def test_text_of_pages(tmp_path, page, text):
    (tmp_path / "page.html").write_text(page)
    run("index", "--words-only", tmp_path / "x.db", tmp_path / "page.html")
    assert rows(tmp_path / "x.db", "SELECT text FROM passages") == [(text,)]


@pytest.mark.parametrize(
    "charset, encoding, text",
    [
        ("iso-8859-1", "windows-1252", "\u201cIt costs 5 \u20ac\u201d"),
        (None, "windows-1252", "don\u2019t"),
        ("iso-8859-1", "utf-8", "Zo\u00eb"),
        ("iso-2022-jp", "iso-2022-jp", "\u6771\u4eac"),
        ("utf-16", "utf-8", "a lamp"),
        ("utf-16", "utf-16", "a lamp"),
        ("koi8-r", "koi8-r", "\u041c\u043e\u0441\u043a\u0432\u0430"),
        ("GB2312", "gbk", "\u6731\u9555\u57fa"),
        ("shift_jis", "cp932", "\u2460\u6771\u4eac"),
        ("x-sjis", "cp932", "\u6771\u4eac"),
        ("ks_c_5601-1987", "cp949", "\ub620\ubc29"),
        ("euc-jp", "euc-jp", "\u6771\u4eac"),
        ("big5", "big5", "\u53f0\u5317"),
        ("windows-1251", "windows-1251", "\u041c\u043e\u0441\u043a\u0432\u0430"),
        ("no-such", "windows-1252", "caf\u00e9"),
    ],
)
@pytest.mark.parametrize(
    "head",
    [
        "<head><meta charset={0}><title>{1}</title></head><p>{1}",
        "<head><title>{1}</title><META Content='text/html; Charset = \"{0}\"' http-equiv=Content-Type></head><p>{1}",
        "<?xml version='1.0' encoding='{0}'?><html><head><title>{1}</title></head><body><p>{1}</p></body></html>",
    ],
    ids=["first", "last", "xml"],
)
def test_encodings_of_pages(tmp_path, charset, encoding, text, head):
    page = tmp_path / "page.html"
    page.write_bytes(head.format(charset or "", text).encode(encoding))
    run("index", "--words-only", tmp_path / "x.db", page)
    assert rows(tmp_path / "x.db", "SELECT d.title, p.text FROM documents d, passages p") == [(text, text)]


@pytest.mark.parametrize("charset", [None, "utf-8", "iso-8859-1"])
@pytest.mark.parametrize("options", [(), ("--encoding", "utf-8")])
def test_single_wrong_bytes_of_pages(tmp_path, charset, options):
    """They do not change how the rest is read."""
    page = tmp_path / "page.html"
    declared = f"<meta charset={charset}>" if charset else ""
    text = (
        f"{declared}<title>Zo\u00eb</title><p>K\u00f6ln \u2013 caf".encode()
        + b"\xe9 \x93 <p>"
        + "M\u00fcnchen".encode()
    )
    page.write_bytes(text)
    run("index", "--words-only", *options, tmp_path / "x.db", page)
    assert rows(tmp_path / "x.db", "SELECT d.title, p.text FROM documents d, passages p") == [
        ("Zo\u00eb", "K\u00f6ln \u2013 caf\u00e9 \u201c\n\nM\u00fcnchen")
    ]


@pytest.mark.parametrize(
    "charset, wrong",
    [
        ("windows-1252", b"\x9d"),
        ("gb2312", b"\xff"),
        ("shift_jis", b"\xa0"),
        ("iso-2022-jp", b"\x1b$B\x2d\x21\x1b(B"),
    ],
)
def test_bytes_that_an_encoding_lacks(tmp_path, charset, wrong):
    """Nothing behind them is lost."""
    page = f"<meta charset={charset}><p>The lamp ".encode() + wrong + b" is green.<p>It is new."
    (tmp_path / "page.html").write_bytes(page)
    header = f"Subject: a\nMIME-Version: 1.0\nContent-Type: text/plain; charset={charset}\n\n"
    (tmp_path / "b.eml").write_bytes(header.encode() + b"The lamp " + wrong + b" is green.\n\nIt is new.")
    _, errors = run("index", "--words-only", tmp_path / "x.db", tmp_path)
    texts = [
        text.replace("a\n\n", "", 1)
        for (text,) in rows(tmp_path / "x.db", "SELECT text FROM passages ORDER BY id")
    ]
    assert errors == "" and texts == ["The lamp \ufffd is green.\n\nIt is new."] * 2


def test_pages_that_are_none(tmp_path):
    """Pages may have control characters, but a PDF document is none, and UTF-16 without a mark needs its name."""
    path, folder = tmp_path / "x.db", tmp_path / "pages"
    folder.mkdir()
    korean = "<meta charset=iso-2022-kr><p>" + "\ud55c\uae00 \uae38 " * 99
    (folder / "a.html").write_bytes(korean.encode("iso-2022-kr"))
    (folder / "b.html").write_bytes(b"%PDF-1.4\n")
    (folder / "c.html").write_bytes("<p>The lamp is green.".encode("utf-16-le"))
    output, errors = run("index", "--words-only", path, folder, code=3)
    assert output.startswith("1 new") and errors.count("\n") == 2
    assert (
        "b.html: looks like a PDF document" in errors
        and "c.html: looks like UTF-16 without a byte order mark" in errors
    )
    run("index", "--words-only", "--encoding", "utf-16le", path, folder / "c.html")
    assert rows(path, "SELECT text FROM passages ORDER BY id DESC LIMIT 1") == [("The lamp is green.",)]


@pytest.mark.parametrize(
    "page", ["<pre>" + "lamp " * 2_100_000, "<p>a" + "<font>" * 300, "<div>" * 100_000], ids=len
)
def test_pages_that_libxml2_would_cut(page, tmp_path):
    """By default, it ends at 256 levels of elements, which may be open by mistake, and at 10 MB of text."""
    path, file = tmp_path / "pages.db", tmp_path / "page.html"
    file.write_text(f"<title>A &bogus; B</title>{page}The clock stopped.")
    run("index", "--words-only", path, file)
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
    assert run("index", path, folder)[0].startswith("4 new, 0 changed, 0 unchanged, 0 gone; passages: 8 read")
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


UUENCODED = b"".join(binascii.b2a_uu(bytes(range(start, start + 45))) for start in range(0, 200, 45))
ARMOUR = b"Version: GnuPG v1\n\niQEzBAEBCAAdFiEE+/x\n=abcd\n-----END PGP SIGNATURE-----\n"


@needs_gmime
@pytest.mark.parametrize(
    "kind, content, text",
    [
        ("text/plain", "Zo\u00eb".encode(), "Zo\u00eb"),
        ("text/plain; charset=us-ascii", "Zo\u00eb".encode(), "Zo\u00eb"),
        ("text/plain; charset=utf-8", "\u201cZo\u00eb\u201d".encode("cp1252"), "\u201cZo\u00eb\u201d"),
        ("text/plain; charset=iso-8859-1", "\u201cZo\u00eb\u201d".encode("cp1252"), "\u201cZo\u00eb\u201d"),
        ("text/plain; charset=iso-8859-1", "\u201cZo\u00eb\u201d".encode(), "\u201cZo\u00eb\u201d"),
        ("text/html; charset=iso-8859-1", "<p>Zo\u00eb".encode(), "Zo\u00eb"),
        ("text/plain; charset=iso-2022-jp", "\u6771\u4eac".encode("iso-2022-jp"), "\u6771\u4eac"),
        (
            "text/plain; charset=utf-8",
            "Zo\u00eb, K\u00f6ln, ".encode() + b"caf\xe9",
            "Zo\u00eb, K\u00f6ln, caf\u00e9",
        ),
        ("text/html", "<p>Zo\u00eb, K\u00f6ln, ".encode() + b"caf\xe9", "Zo\u00eb, K\u00f6ln, caf\u00e9"),
        (
            "text/plain; charset=utf-8",
            "\xc9\xa0\xbb, \xe9t\xe9, d\xe9j\xe0".encode("latin-1"),
            "\xc9\xa0\xbb, \xe9t\xe9, d\xe9j\xe0",
        ),
        ("text/plain; charset=no-such", "Zo\u00eb".encode("latin-1"), "Zo\u00eb"),
        ("text/plain", "\ufeffThe lamp".encode("utf-16-le"), "The lamp"),
        ("text/plain; charset=utf-8", "\ufeffThe lamp".encode("utf-16-be"), "The lamp"),
        ("text/plain; charset=utf-16le", "The lamp is green".encode("utf-16-le"), "The lamp is green"),
        (
            "text/plain; charset=iso-2022-kr",
            ("\ud55c\uae00 \uae38 " * 9).encode("iso-2022-kr"),
            ("\ud55c\uae00 \uae38 " * 9).strip(),
        ),
        ("text/rtf", rb"{\rtf1\ansi The lamp}", ""),
        ("text/plain; charset=iso-8859-1", b"%PDF-1.4\n1 0 obj", ""),
        ("text/plain; charset=utf-8", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), ""),
        ("text/plain", b"\x13 caf\xe9" * 9, "\x13 caf\xe9" * 9),
        ("text/plain; charset=gb2312", "\u6731\u9555\u57fa".encode("gbk"), "\u6731\u9555\u57fa"),
        ("text/plain; charset=Shift_JIS", "\u2460\u6771\u4eac".encode("cp932"), "\u2460\u6771\u4eac"),
        ("text/plain; charset=ks_c_5601-1987", "\ub620\ubc29".encode("cp949"), "\ub620\ubc29"),
        ("text/plain; charset=koi8-r", "\u041c\u0430\u0439".encode("koi8-r"), "\u041c\u0430\u0439"),
        ("text/plain", b"a\0b", "a b"),
        ("text/plain", b"a\nbegin 644 my b.jpg\n" + UUENCODED + b"`\nend\nc", "a\nc"),
        ("text/plain", b"begin 644 a\nThe lamp\nend", "begin 644 a\nThe lamp\nend"),
        ("text/plain", b"a\r\n-----BEGIN PGP SIGNATURE-----\r\n" + ARMOUR.replace(b"\n", b"\r\n") + b"b", "a\nb"),
        ("text/plain", b"-----BEGIN PGP SIGNATURE-----\na b", "-----BEGIN PGP SIGNATURE-----\na b"),
        ("text/plain", b"-----BEGIN A-----\na b\n-----END A-----", "-----BEGIN A-----\na b\n-----END A-----"),
        ("text/html", "<meta charset=koi8-r><p>\u041c\u0430\u0439".encode("koi8-r"), "\u041c\u0430\u0439"),
        ("text/html; charset=koi8-r", "<p>\u041c\u0430\u0439".encode("koi8-r"), "\u041c\u0430\u0439"),
        ("text/x-patch", b"+ a lamp", "+ a lamp"),
        ("text/calendar", b"SUMMARY:Lamps", "SUMMARY:Lamps"),
        ("image/svg+xml", b"<svg>", ""),
        ("application/octet-stream; name=a.log", "gr\u00fcn".encode(), "gr\u00fcn"),
        ("application/octet-stream", "gr\u00fcn".encode("latin-1"), ""),
        ("application/octet-stream", "\ufeffgr\u00fcn".encode("utf-16-le"), "gr\u00fcn"),
        ("application/octet-stream", bytes(range(256)), ""),
        ("application/json", '{"city": "K\u00f6ln"}'.encode(), '{"city": "K\u00f6ln"}'),
        ("application/xml", "<city>K\u00f6ln</city>".encode(), "<city>K\u00f6ln</city>"),
        ("application/octet-stream", b"PK\3\4 The lamp", ""),
        ("multipart/mixed", b"--x\n\nThe lamp", "--x\n\nThe lamp"),
        ("multipart/alternative; boundary=y", b"--x\n\nThe lamp", "--x\n\nThe lamp"),
    ],
)
def test_parts_of_mail(tmp_path, kind, content, text):
    header = f"Subject: lamp\nMIME-Version: 1.0\nContent-Type: {kind}\nContent-Transfer-Encoding: 8bit\n\n"
    (tmp_path / "a.eml").write_bytes(header.encode() + content)
    run("index", "--words-only", tmp_path / "x.db", tmp_path / "a.eml")
    assert rows(tmp_path / "x.db", "SELECT text FROM passages") == [(f"lamp\n\n{text}".strip(),)]


@needs_gmime
@pytest.mark.parametrize("has_picture", [False, True])
@pytest.mark.parametrize(
    "plain, count, is_read",
    [
        ("Your program does not show pages.\nhttps://example.org/" + "a" * 200, 1, False),
        ("\u90ae\u4ef6\u4e0d\u652f\u6301", 1, False),
        ("The lease was signed by Ann Smith, in the old mill.", 1, True),
        ("The lease was signed <https://example.org/lease> by Ann in the mill.", 1, True),
        ("The lease was signed by Ann. " * 50, 50, True),
        ("The lease was signed by Ann. " * 40, 50, False),
    ],
)
def test_alternatives_of_mail(tmp_path, plain, count, is_read, has_picture):
    """Newsletters have plain text that says only where the page is."""
    mail = message("", ("plain", plain, "utf-8", "8bit"))
    page = "The lease was signed by Ann Smith, in the old mill behind the station. " * count
    mail.add_alternative(f"<style>{'a' * 999}</style><p>{page}", subtype="html")
    if has_picture:
        mail.get_payload()[1].add_related(b"\x89PNG", maintype="image", subtype="png")
    (tmp_path / "a.eml").write_bytes(mail.as_bytes())
    run("index", "--words-only", tmp_path / "x.db", tmp_path / "a.eml")
    passages = [text for (text,) in rows(tmp_path / "x.db", "SELECT text FROM passages")]
    assert " ".join(passages).split() == (plain if is_read else page).split()


@needs_gmime
def test_byte_order_marks_of_mail(tmp_path):
    """Programs of Windows write them before the first header."""
    mark = "\ufeff".encode()
    (tmp_path / "a.eml").write_bytes(mark + b"From: ann@example.org\nSubject: clock\n\nIt stopped.\n")
    mails = b"".join(b"From a Fri May  3 10:00:00 2024\nSubject: %c\n\nLamp %c.\n\n" % (n, n) for n in b"bcd")
    mails = mails.replace(b"\n\nLamp c", b"\n\nFrom here\nLamp c")
    (tmp_path / "b.mbox.gz").write_bytes(gzip.compress(mark + mails))
    (tmp_path / "inbox").write_bytes(mark + mails)
    (tmp_path / "mark.eml").write_bytes(mark)
    assert run("index", "--words-only", tmp_path / "x.db", tmp_path)[1] == ""
    found = rows(tmp_path / "x.db", "SELECT d.name, p.text FROM documents d JOIN passages p ON p.document = d.id")
    box = [("1", "b\n\nLamp b."), ("2", "c\n\nFrom here\nLamp c."), ("3", "d\n\nLamp d.")]
    assert found == [(None, "clock\n\nIt stopped."), *box, *box]


@needs_gmime
@pytest.mark.parametrize("ending", [".mht", ".MHTML"])
def test_pages_in_the_form_of_mail(tmp_path, ending):
    """Browsers save pages with their pictures and style sheets so."""
    page = EmailMessage()
    page["From"], page["Subject"] = "<Saved by Blink>", "Lamps \u2013 a page"
    page.set_content("<title>x</title><p>The lamp is\ngr\u00fcn.", subtype="html", cte="quoted-printable")
    page.add_related("p { color: red }", subtype="css")
    page.add_related(b"\x89PNG", maintype="image", subtype="png")
    (tmp_path / ("a" + ending)).write_bytes(page.as_bytes())
    run("index", "--words-only", tmp_path / "x.db", tmp_path)
    title = "Lamps \u2013 a page"
    assert rows(tmp_path / "x.db", "SELECT d.title, p.text FROM documents d, passages p") == [
        (title, f"{title}\n\nThe lamp is gr\u00fcn.")
    ]


@needs_gmime
def test_archives_of_mail(tmp_path):
    """Marked lines of mbox files, addresses that are none, and an invitation whose last form is a calendar."""
    invitation = message(
        "", ("html", "<p>Come at ten.", "utf-8", "7bit"), ("calendar", "SUMMARY:x", "utf-8", "7bit")
    )
    (tmp_path / "list.txt").write_text(
        "From ann at example.org  Fri May  3 10:00:00 2024\nFrom: ann at example.org (Ann Smith)\nSubject: lamp\n\n"
        ">From here on it is green.\n>>From me\n> From you\n>From\n\n"
        f"From bob Fri May  3 10:00:00 2024\nFrom: Bob <bob@example.org>\n{invitation}"
    )
    run("index", "--words-only", tmp_path / "x.db", tmp_path / "list.txt")
    fields = "json_extract(d.fields, '$.from')"
    found = rows(
        tmp_path / "x.db", f"SELECT {fields}, p.text FROM documents d JOIN passages p ON p.document = d.id"
    )
    assert found == [
        ("ann at example.org (Ann Smith)", "lamp\n\nFrom here on it is green.\n>From me\n> From you\n>From"),
        ("Bob <bob@example.org>", "Come at ten."),
    ]


@needs_gmime
def test_lines_of_texts_that_begin_as_messages_do(tmp_path):
    """A line "From " without a date and a sender, or with no header behind it, belongs to the text."""
    path, inbox = tmp_path / "mail.db", tmp_path / "inbox.mbox"
    mail = "From a@example.org Fri May  3 10:00:00 2024\nSubject: {0}\n\nThe lamp of {0} is green.\n{1}"
    texts = [
        "",
        "From here on\nit is another colour.\n",
        "From our side:\nPrice: 500 euros\nDelivery: Monday\n",
        "From Bern\r\n\r\nto Thun.\n",
        "x" * 70_000 + "\nFrom Monday on\nWe: meet\n",
        "From 10:00 until 2024\nit is closed.\n",
        "",
    ]
    inbox.write_text("".join(mail.format(name, text) + "\n" for name, text in zip("ABCDEFG", texts)))
    others = (
        "From nobody\nSubject: H\n\nh\n",
        "From Ann Smith\nFrom: ann@example.org\nMessage-ID: <1@example.org>\nSubject: I\n\ni\n",
        "From - Mon Jan 01 00:00:00 1965\r\nX-Mozilla-Status: 0001\r\nSubject: J\r\n\r\nj\r\n",
    )
    packed = tmp_path / "old.mbox.gz"
    packed.write_bytes(gzip.compress(inbox.read_bytes() + "\n".join(others).encode() + b"From there\nno header\n"))
    assert run("index", "--words-only", path, inbox, packed)[1] == ""
    for name, titles in (inbox, "ABCDEFG"), (packed, "ABCDEFGHIJ"):
        found = rows(
            path,
            "SELECT title, group_concat(text, char(10)) FROM files f JOIN documents d ON d.file = f.id"
            f" JOIN passages p ON p.document = d.id WHERE f.path = '{name}' GROUP BY d.id ORDER BY d.id",
        )
        assert [title for title, _ in found] == [*titles]
        for (_, text), written in zip(found, texts):
            assert " ".join(text.split()).endswith(("green. " + " ".join(written.split())).strip()[-60:])
        assert name == inbox or found[-1][1].endswith("j\nFrom there\nno header")


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
    with contextlib.closing(mailbox.MMDF(folder / "mmdf")) as box:
        box.add(message("lamp", ("plain", "It is green.", "utf-8", "7bit")))
    made = subprocess.run(["sed", "/\\x01/d", folder / "mmdf"], stdout=subprocess.PIPE, check=True).stdout
    (folder / "made").write_bytes(made)
    output, errors = run("index", path, folder, code=3)
    assert output.startswith("5 new") and "nothing.eml: is not mail" in errors and errors.count("\n") == 2, errors
    assert "mmdf: looks like mail in MMDF format: make an mbox file of it, with \"sed '/\\x01/d'\"; --ex" in errors
    check_whole(path)
    texts = "\n".join(text for (text,) in rows(path, "SELECT text FROM passages"))
    assert "From Bern to Thun" in texts and "The lamp is green." in texts and "lamp\n\nIt is green." in texts
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
    (folder / "b").write_text("#  \n\nThe gnu runs.")
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


@pytest.mark.parametrize(
    "name, text, title",
    [
        ("a.md", "# The owl #\n\nIt sleeps.", "The owl"),
        ("a.md", "# F#\n## Types\n", "F#"),
        ("a.md", "\r\nThe owl\r\n=======\r\n\r\nIt sleeps.\r\n", "The owl"),
        ("a.rst", "=======", None),
        ("a.md", "---\ntags: [x]\ntitle: 'The owl: a life'\n---\n# Another\n", "The owl: a life"),
        ("a.md", "---\ntags: [x]\n---\n\n# The owl\n", "The owl"),
        ("a.md", "---\r\ntitle: >-\r\n  The owl:\r\n  a life\r\ntags: [x]\r\n---\r\n", "The owl: a life"),
        ("a.md", "---\ntitle: |\n  > The owl\n---\n", "> The owl"),
        ("a.md", "---\ntitle: 'The\n  owl'\nsubtitle:\n  a life\n---\n", "The owl"),
        ("a.md", "---\ntitles: [x]\ntitle:\n---\n\n# The owl\n", "The owl"),
        ("a.md", '+++\ntags = ["x"]\ntitle  = "The owl: a = b"\n+++\n# Another\n', "The owl: a = b"),
        ("a.md", "+++\ndraft = true\n+++\n\n# The owl\n", "The owl"),
        ("a.md", "---\ntags: [x]\n...\n\n# The owl\n\n---\n", "The owl"),
        ("a.md", "<!-- a\ncomment -->\n[![Build](x)](y)\n\n# The owl\n", "The owl"),
        ("a.rst", ".. _owl:\n.. Copyright\n   Ann\n\n*******\nThe owl\n*******\n", "The owl"),
        ("a.rst.gz", "The owl\n~~~~~~~\n", "The owl"),
        ("README", "The owl\n-------\n", "The owl"),
        ("notes.txt", "# The owl\n\nIt sleeps.", "The owl"),
        ("notes.txt", "# The settings\n# of the owl\nowl = 1\n", None),
        ("notes.txt", "The owl sleeps.\n\n-----\n", None),
        ("notes.txt", "-----\n\n# The owl\n", None),
        ("owl.conf", "# The settings\nowl = 1\n", None),
        ("owl.py", "# -*- coding: utf-8 -*-\nowl = 1\n", None),
    ],
)
def test_titles_of_texts(tmp_path, name, text, title):
    data = text.encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    run("index", "--words-only", tmp_path / "x.db", tmp_path / name)
    assert rows(tmp_path / "x.db", "SELECT title FROM documents") == [(title,)]


def test_long_headings_end_before_a_character(tmp_path):
    for letters in range(190, 200):
        (tmp_path / f"{letters}.md").write_text("# " + letters * "a" + "\u00e4\u20ac\U0001f98a" * 20 + "\n")
    run("index", "--words-only", tmp_path / "x.db", tmp_path)
    titles = [title for (title,) in rows(tmp_path / "x.db", "SELECT title FROM documents")]
    assert len(titles) == 10 and not any("\ufffd" in title for title in titles)
    assert all(195 <= len(title.encode()) <= 198 for title in titles)


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


def test_a_converter_that_prints_more_than_fits_into_memory(tmp_path):
    odd = tmp_path / "a.rot"
    odd.write_text("x")
    limit = 1 << 30
    errors = run(
        "index", "--words-only", tmp_path / "x.db", "--convert", ".rot=yes", odd, code=4,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )[1]  # fmt: skip
    assert "not enough memory for" in errors


@pytest.mark.parametrize(
    "form, content, text",
    [
        ("text", "<p>The <b>lamp</b>&nbsp;is&lt;", "<p>The <b>lamp</b>&nbsp;is&lt;"),
        pytest.param("html", "<p>The\n<b>lamp</b>&#32;is&lt;<li>ä", "The lamp is<\n\nä", marks=needs_libxml2),
        pytest.param("markdown", "The **lamp** [is](x) ä\n\n* b", "The lamp is ä\n\n- b", marks=needs_md4c),
    ],
)
def test_form_of_the_text_of_records(tmp_path, form, content, text):
    """Records with another form of text are read again."""
    path, records, table = tmp_path / "x.db", tmp_path / "a.jsonl", tmp_path / "a.csv"
    records.write_text(json.dumps({"text": content}) + "\n")
    table.write_text('text\n"' + content + '"\n')
    command = ["index", "--words-only", path, records, table]
    assert run(*command)[0].startswith("2 new")
    read = run(*command, "--text-format", form)[0]
    assert read.startswith("0 new, 0 changed" if form == "text" else "0 new, 2 changed")
    assert rows(path, "SELECT text FROM passages") == [(text,)] * 2
