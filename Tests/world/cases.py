"""Inputs as programs, systems and people write them, each with what the tool makes of it.

The secrets are mail addresses, which rules find without a model: SECRET is in the texts and has to go, KEPT is beside them
and has to stay. All other bytes of an output are those of the input."""

import dataclasses
import gzip
import json
import struct

SECRET = "ann.lee@example.org"
KEPT = "bob@example.net"
REDACT = ["--task=entities", "--patterns=email", "--redact", "--in-place"]


@dataclasses.dataclass
class Case:
    """Files for one run of the tool, and the expected output."""

    name: str
    files: dict[str, bytes]
    options: list[str]
    expected: bytes
    code: int = 0
    # Part of standard error; None for nothing there.
    complaint: str | None = None
    command: str = "filter"


def redacted(text):
    return text.replace(SECRET, "[EMAIL]")


def encoded(text, encoding, mark):
    return (("\ufeff" if mark else "") + text).encode(encoding)


def table(
    name, lines, end="\n", encoding="utf-8", mark=False, file="in.csv", options=(), delimiter=",", ends=True
):
    """Rows as their program spells them: the first names the columns; the result has one more column, the
    errors."""
    given = end.join(lines) + (end if ends else "")
    cells = [f"{delimiter}bertqa_error"] + [delimiter] * (len(lines) - 1)
    wanted = "".join(redacted(line) + cell + end for line, cell in zip(lines, cells))
    if not ends:
        # A last line without an end gets a line feed.
        wanted = wanted.removesuffix(end) + "\n"
    options = [*REDACT, *options]
    if encoding not in ("utf-8", "utf-16-le", "utf-16-be"):
        options.append(f"--encoding={encoding}")
    return Case(name, {file: encoded(given, encoding, mark)}, options, encoded(wanted, encoding, mark))


def lines(name, records, end="\n", encoding="utf-8", mark=False, options=(), code=0, complaint=None):
    """JSON lines."""
    text = "".join(record + end for record in records)
    data, wanted = encoded(text, encoding, mark), encoded(redacted(text), encoding, mark)
    return Case(name, {"in.jsonl": data}, [*REDACT, *options], wanted, code, complaint)


def text(name, content, encoding="utf-8", mark=False, options=()):
    """A text for `bertqa entities`; bytes are passed as they are."""
    if isinstance(content, str):
        data, wanted = encoded(content, encoding, mark), encoded(redacted(content), encoding, mark)
    else:
        data, wanted = content, content.replace(SECRET.encode(), b"[EMAIL]")
    options = ["--patterns=email", "--redact", *options]
    return Case(name, {"in.txt": data}, options, wanted, command="entities")


def refused(name, data, complaint, file="in", options=()):
    return Case(name, {file: data}, [*REDACT, *options], b"", 3, complaint)


def failed(name, data, records, complaint, file="in.jsonl", options=()):
    """Invalid records; in the output they are `records`."""
    return Case(name, {file: data}, [*REDACT, *options], records, 1, complaint)


# Spreadsheets and databases

GERMAN = ["id;text;Besitzer", f'1;"Grüße; von {SECRET}";{KEPT}', f"2;Straße 7, {SECRET};Jürgen", "3;;"]
ROWS = [
    "id,text,owner",
    f'1,"José said ""hi"" to {SECRET}, twice",{KEPT}',
    f"2,{SECRET},",
    '3,"plain ""x""","a,b"',
]
CELLS = ["id\ttext\towner", f"1\t  two  spaces, {SECRET}  \t{KEPT}", '2\t"quotes" are text\t', "3\t\\N\t\\N"]

TABLES = [
    table("Excel, CSV UTF-8", ROWS, "\r\n", mark=True),
    table("Excel, CSV UTF-8 of a German system", GERMAN, "\r\n", mark=True, delimiter=";", options=["--delimiter=;"]),
    table("Excel, CSV of a German system", GERMAN, "\r\n", "cp1252", delimiter=";", options=["--delimiter=;"]),
    table("Excel, CSV (MS-DOS)", GERMAN, "\r\n", "cp850", delimiter=";", options=["--delimiter=;"]),
    table("Excel, CSV (Macintosh)", ROWS, "\r", "macintosh"),
    table("Excel, Unicode text", [r.replace(",", "\t") for r in ROWS], "\r\n", "utf-16-le", True, "in.txt",
          ["--format=csv", "--delimiter=\\t"], "\t"),
    table("LibreOffice, all text in quotes", ['"id","text"', f'1,"Zoë,{SECRET}"', '2,"a\nb"'], "\n"),
    table("Google Sheets, no line end at the end", ["id,text", f"1,{SECRET}", "2,b"], "\r\n", ends=False),
    table("pandas with its index", [",text", f"0,{SECRET}", f'1,"a, {SECRET}"', '2,""'], "\n"),
    table("R, write.csv", ['"","text"', f'"1","{SECRET}"', '"2",NA'], "\n"),
    table("csv.writer with QUOTE_ALL", ['"id","text"', f'"1","{SECRET} ""x"""', '"2",""'], "\r\n"),
    table("PostgreSQL, COPY CSV", ["id,text,n", f'1,"{SECRET}\nnext line",', '2,"",1.50', "3,,"], "\n"),
    table("PostgreSQL, COPY as text", CELLS, "\n", file="in.tsv", delimiter="\t"),
    table("SQLite, .mode csv", ["id,text", f"1,'{SECRET}'", '2,"it\'s"'], "\r\n"),
    table("MySQL, --batch", ["id\ttext", f"1\tline\\nnext {SECRET}", "2\tNULL"], "\n", file="in.tsv", delimiter="\t"),
    table("PowerShell, Export-Csv", ['"id","text"', f'"1","Größe {SECRET}"'], "\r\n", "utf-16-le", True),
    table("big-endian", ROWS, "\n", "utf-16-be", True),
    table("UTF-32", ROWS, "\r\n", "utf-32-le", True),
    table("a table of an old Mac with tabs", [r.replace(",", "\t") for r in ["id,text", f"1,{SECRET}", "2,b"]], "\r",
          "macintosh", file="in.tsv", delimiter="\t"),
    table("a pipe between fields", ["id|text", f"1|{SECRET}"], "\n", options=["--delimiter=|"], delimiter="|"),
    table("blanks around fields", ["id, text ,n", f'1, "{SECRET}" ,2'], options=["--text-field", " text "]),
    table("quotes in the middle of fields", ["id,text", f'1,6" of {SECRET}', '2,a "b" c'], "\n"),
    table("Japanese", ["番号,text", f"1,表 {SECRET} ソ"], "\r\n", "shift_jis"),
    table("Chinese", ["编号,text", f"1,你好 {SECRET}"], "\r\n", "gb18030"),
    table("Traditional Chinese", ["編號,text", f"1,功許 {SECRET}"], "\r\n", "big5"),
    table("Korean", ["번호,text", f"1,안녕 {SECRET}"], "\n", "euc_kr"),
    table("Russian of Windows", ["номер,text", f"1,Привет {SECRET}"], "\r\n", "cp1251"),
    table("Russian of Unix", ["номер,text", f"1,Привет {SECRET}"], "\n", "koi8-r"),
    table("Polish", ["id,text", f"1,Zażółć {SECRET}"], "\n", "iso8859-2"),
    table("a state of its own", ["id,text", f"1,表 {SECRET}", "2,日本"], "\n", "iso2022_jp"),
]  # fmt: skip

PARTS = {
    "part-0.csv": b"\xef\xbb\xbftext,n\r\n" + f"{SECRET},1\r\n".encode(),
    "part-1.csv": b'\xef\xbb\xbf"text","n"\r' + f"{SECRET},2\r".encode(),
    "part-2.csv": encoded(f'text,"n"\n{SECRET},é\n', "utf-16-le", True),
    "part-3.csv": b"\xef\xbb\xbf",
}
TABLES += [
    Case("parts, each with a mark, and names in other quotes", PARTS, REDACT,
         b"\xef\xbb\xbftext,n,bertqa_error\r\n[EMAIL],1,\r\n[EMAIL],2,\r" + "[EMAIL],é,\n".encode()),
    Case("parts of JSON lines with marks",
         {name: encoded(f'{{"text":"{SECRET}"}}', *form) for name, form in {
             "a.jsonl": ("utf-8", True), "b.jsonl": ("utf-8", True), "c.jsonl": ("utf-16-be", True)}.items()},
         REDACT, b'\xef\xbb\xbf{"text":"[EMAIL]"}\n' + b'{"text":"[EMAIL]"}\n' * 2),
    Case("UTF-16 with a result beside it is UTF-8", {"in.csv": encoded(f"text\r\né {SECRET}\r\n", "utf-16-le", True)},
         ["--task=entities", "--patterns=email", "--redact"],
         f"text,bertqa_redacted,bertqa_error\r\né {SECRET},é [EMAIL],\r\n".encode()),
    Case("Latin-1 with a result beside it is UTF-8", {"in.jsonl": f'{{"text":"é {SECRET}"}}\n'.encode("latin-1")},
         ["--task=entities", "--patterns=email", "--redact", "--encoding=latin1"],
         f'{{"text":"é {SECRET}","bertqa":"é [EMAIL]"}}\n'.encode()),
]  # fmt: skip

# JSON lines

RECORD = {"text": f'José, 🦊 and {SECRET} \u2028 \\ / "x"', "owner": KEPT, "n": 1.5}
RECORDS = [
    lines("jq -c", [json.dumps(RECORD, ensure_ascii=False, separators=(",", ":"))]),
    lines("json.dumps", [json.dumps(RECORD)]),
    lines("PHP", [json.dumps(RECORD, separators=(",", ":")).replace(" / ", " \\/ ")]),
    lines("JSON.stringify, half a character", [f'{{"text":"cut \\ud83e, {SECRET}","n":1}}']),
    lines("PowerShell", [json.dumps(RECORD, ensure_ascii=False)], "\r\n", "utf-16-le", True),
    lines("Notepad", [json.dumps(RECORD, ensure_ascii=False)], "\r\n", mark=True),
    lines("Latin-1", [f'{{"text":"déjà {SECRET}","é":1}}'], encoding="latin-1", options=["--encoding=ISO-8859-1"]),
    lines("Docker", [f'{{"log":"from {SECRET}\\n","stream":"stderr","time":"2026-01-02T03:04:05.6Z"}}'],
          options=["--text-field=log"]),
    lines("GeoJSON", [f'{{"type":"Feature","properties":{{"note":"{SECRET}","by":"{KEPT}"}},"geometry":null}}'],
          options=["--text-field=properties.note"]),
    lines("Elasticsearch's bulk form", ['{"index":{"_id":"1"}}', f'{{"text":"{SECRET}"}}'], code=1,
          complaint="there is no field 'text'", options=["--on-error=pass"]),
    lines("blank lines, white space", ["", f' {{ "text" : "{SECRET}" , "a":[ ] }} ', "\t", '{"text":""}']),
    failed("journalctl, a message that is no text", b'{"text":[82,228]}\n', b'{"text":null,"text_error":"the field '
           b"'text' is an array, not a string\"}\n", "is an array"),
    failed("a key that comes twice", f'{{"text":"{SECRET}","a":1,"t\\u0065xt":"b"}}\n'.encode(),
           b'{"text":null,"a":1,"t\\u0065xt":null,"text_error":"the key \'text\' occurs twice"}\n', "the key 'text' occurs twice"),
    failed("a key on the way that comes twice", f'{{"a":{{"text":"{SECRET}"}},"a":{{"text":"b"}}}}\n'.encode(),
           b'{"a":{"text":null},"a":{"text":null},"a_error":"the key \'a.text\' occurs twice"}\n', "occurs twice",
           options=["--text-field=a.text"]),
    failed("a record of Latin-1 taken for UTF-8", f'{{"text":"é {SECRET}","b":"é"}}\n'.encode("latin-1"),
           b'{"text":null,"b":"\xe9","text_error":"not valid UTF-8: --encoding NAME reads another encoding"}\n',
           "not valid UTF-8"),
    failed("half a character of UTF-16", encoded(f'{{"text":"{SECRET} ', "utf-16-le", True) + b"\x3e\xd8"
           + '"}\r\n{"text":"b"}\r\n'.encode("utf-16-le"),
           encoded('{"text":null,"text_error":"not valid UTF-16LE"}\r\n{"text":"b"}\r\n', "utf-16-le", True),
           "not valid UTF-16LE"),
    failed("a byte that Windows-1252 does not have", f"text,b\nx,\x81{KEPT}\n".encode("latin-1"),
           f"text,b,bertqa_error\n,\x81{KEPT},not valid cp1252\n".encode("latin-1"), "not valid cp1252", "in.csv",
           ["--encoding=cp1252"]),
    failed("an array", f'[{{"text":"{SECRET}"}}]\n'.encode(), b'{"text":null,"text_error":"not a JSON object: expected '
           b"an object at byte 0; 'jq -c .[]' makes JSON lines of an array\"}\n", "jq -c .[]"),
    failed("JSON over several lines", b'{\n}\n', b'{"text":null,"text_error":"not a JSON object: expected a key in quotes '
           b"at byte 1, where the line ends; 'jq -c .' makes JSON lines of other JSON\"}\n" + b'{"text":null,"text_error":'
           b'"not a JSON object: expected an object at byte 0"}\n', "jq -c ."),
]  # fmt: skip

# Compressed files, and files without text


def skippable(content):
    return struct.pack("<II", 0x184D2A53, len(content)) + content


LINE = f'{{"text":"{SECRET}"}}\n'.encode()
DONE = b'{"text":"[EMAIL]"}\n'


def zstd(data):
    """A frame with one uncompressed block (RFC 8878)."""
    return struct.pack("<IBB", 0xFD2FB528, 0x20, len(data)) + struct.pack("<I", len(data) << 3 | 1)[:3] + data


COMPRESSED = [
    Case("gzip, two members", {"in.jsonl": gzip.compress(LINE) + gzip.compress(LINE)}, REDACT, DONE * 2),
    Case("gzip of nothing", {"in.jsonl.gz": gzip.compress(b"")}, REDACT, b""),
    Case("gzip of UTF-16", {"in.csv": gzip.compress(encoded(f"text\r\né {SECRET}\r\n", "utf-16-le", True))}, REDACT,
         encoded("text,bertqa_error\r\né [EMAIL],\r\n", "utf-16-le", True)),
    Case("zstd, frames", {"in.jsonl": zstd(LINE) + zstd(LINE)}, REDACT, DONE * 2),
    Case("zstd, a skippable frame first (pzstd)", {"in.jsonl": skippable(b"\1\0\0\0") + zstd(LINE)}, REDACT, DONE),
    Case("zstd, skippable frames alone", {"in.jsonl": skippable(b"") + skippable(b"abc")}, REDACT, b""),
    Case("zstd, a skippable frame between", {"in.csv": zstd(b"text\n") + skippable(b"x") + zstd(LINE[9:-3] + b"\n")},
         REDACT, b"text,bertqa_error\n[EMAIL],\n"),
]  # fmt: skip

ZIP = b"PK\x03\x04\x14\x00\x06\x00\x08\x00\x00\x00!\x00[Content_Types].xml"
REFUSED = [
    refused("Excel's own format", ZIP, "looks like a ZIP archive", "in.csv"),
    refused("Excel's old format", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(64), "save its table as CSV", "in.csv"),
    refused("Parquet", b"PAR1\x15\x04\x15\x10", "looks like a Parquet file"),
    refused("Arrow", b"ARROW1\0\0\xff\xff\xff\xff", "looks like an Arrow file"),
    refused("Avro", b"Obj\x01\x04\x14avro.codec", "looks like an Avro file"),
    refused("PDF", b"%PDF-1.7\n", "looks like a PDF document"),
    refused("SQLite", b"SQLite format 3\0" + bytes(84), "looks like an SQLite database"),
    refused("xz", b"\xfd7zXZ\0\0\4", "read it with 'xz -dc'"),
    refused("UTF-16 without a mark", LINE.decode().encode("utf-16-le"), "read it with --encoding UTF-16LE"),
    refused("UTF-16, not the encoding named", f"\ufeff{LINE.decode()}".encode("utf-16-le"), "without --encoding",
            options=["--encoding", "ISO-8859-1"]),
    refused("UTF-16 without a mark, not the encoding named", LINE.decode().encode("utf-16-be"), "--encoding UTF-16BE",
            options=["--encoding", "UTF-8"]),
    refused("UTF-32 with a mark", LINE.decode().encode("utf-32"), "read it with --encoding UTF-32"),
    refused("a semicolon between fields", f"id;text\n1;{SECRET}\n".encode(), "--delimiter ';' it has", "in.csv"),
    refused("a tab between fields", f"id\ttext\n1\t{SECRET}\n".encode(), "--delimiter '\\t' it has", "in.csv"),
    refused("a comma in a table with tabs", f"id,text\n1,{SECRET}\n".encode(), "with --format csv it has", "in.tsv"),
    refused("other columns than before", b"text,b\n1,2\n", "names other columns", "b.csv"),
]  # fmt: skip
REFUSED[-1].files["a.csv"] = b"text,c\n"
REFUSED[-1].expected = b"text,c,bertqa_error\n"

# Texts

MAIL = f"""From: Zoë <{SECRET}>\r
To: =?utf-8?q?J=C3=BCrgen?= <{SECRET}>\r
Subject: Re: the  fan\r
\r
On Monday {SECRET} wrote:\r
> It  failed.\t\r
>\r
-- \r
Ann\r
"""
TEXTS = [
    text("a mail", MAIL),
    text("a log with colours", f"\x1b[31mERROR\x1b[0m 10:00 user={SECRET} \x1b[K\n"),
    text("a manual page as man shows it", f"N\bNA\bAM\bME\bE\n     _\bf_\bi_\bl_\be  by <{SECRET}>\n\n\f"),
    text("the source of one", f".TH X 1\n.SH AUTHOR\n.MT {SECRET}\n.ME\n\\(bu \\-\\-help\n"),
    text("HTML", f'<p>Zo&euml;&nbsp;<a href="mailto:{SECRET}">\n{SECRET}</a>\xa0</p>'),
    text("mixed line ends, none at the end", f"a\r\nb\rc\n\n {SECRET}\u2028d\x85e\x0b\x0cf \t "),
    text("joiners, marks and both directions", f"e\u0301 👩\u200d🔬 \u202b{SECRET}\u202c שלום \ufeff\u00ad"),
    text("NULs", f"a\0b {SECRET}\0\0"),
    text("Notepad, UTF-16", f"Zoë\r\n{SECRET}\r\n", "utf-16-le", True),
    text("Notepad, UTF-16 big endian", f"Zoë\r\n{SECRET}\r\n", "utf-16-be", True),
    text("Notepad, UTF-8", f"Zoë\r\n{SECRET}\r\n", mark=True),
    text("Notepad, ANSI", f"Zoë “quotes” {SECRET}\r\n", "cp1252", options=["--encoding=WINDOWS-1252"]),
    text("bytes that are not text, by force", b"caf\xe9 \xff\xfe\xc3 " + SECRET.encode() + b" \xe2\x82", options=["--force"]),
]  # fmt: skip
for case in TEXTS[8:10]:
    case.complaint = "is UTF-16 and was converted"
TEXTS += [
    Case("Latin-1 taken for UTF-8", {"in.txt": f"\xe9 {SECRET}\n".encode("latin-1")}, ["--patterns=email", "--redact"],
         b"", 3, "not valid UTF-8, so names would be missed", command="entities"),
    Case("a byte that the encoding does not have", {"in.txt": b"\x81 a"}, ["--patterns=email", "--redact", "--encoding=cp1252"],
         b"", 3, "not valid cp1252", command="entities"),
]  # fmt: skip

CASES = [*TABLES, *RECORDS, *COMPRESSED, *REFUSED, *TEXTS]
