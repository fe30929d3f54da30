"""Properties of the tool's input and output on inputs that Hypothesis makes; Python's csv and json are the
oracles. One process of the tool reads all records of an example."""

import csv
import io
import json

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import bertqa
from conftest import LONG
from filtering import TOKENS, compact, run

settings.register_profile(
    "tool",
    derandomize=not LONG,
    max_examples=400 if LONG else 25,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("tool")

REDACT = ["filter", "--task=entities", "--patterns=email", "--redact", "--in-place"]
SECRETS = ["a@example.org", "ann.lee+x@mail.example.com"]
MARK = "[EMAIL]"

# No "@", so that the rules find only the secrets.
characters = st.characters(exclude_categories=["Cs"], exclude_characters="@\0")
plain = st.text(characters | st.sampled_from("\",;\t \\/\r\n'é🦊\u0301\u200d\u2028"), max_size=12)
# Texts with secrets between spaces.
texts = st.lists(plain | st.sampled_from([f" {secret} " for secret in SECRETS]), max_size=5).map("".join)


def redacted(text):
    for secret in SECRETS:
        text = text.replace(secret, MARK)
    return text


def written(rows, **dialect):
    table = io.StringIO()
    csv.writer(table, **dialect).writerows(rows)
    return table.getvalue()


def read(table, **dialect):
    return list(csv.reader(io.StringIO(table, newline=""), **dialect))


# Tables


@given(
    st.lists(st.tuples(texts, texts), max_size=8),
    st.sampled_from(",;|\t"),
    st.sampled_from([("\r\n", csv.QUOTE_MINIMAL), ("\r", csv.QUOTE_ALL), ("\n", csv.QUOTE_NONNUMERIC)]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "gb18030"]),
)
def test_tables(rows, delimiter, form, encoding):
    end, quoting = form

    def row(cells):
        """Returns the row without its end, which follows the cell of the error."""
        return written([cells], delimiter=delimiter, quoting=quoting, lineterminator=end).removesuffix(end)

    head = row(["other", "text"])
    table = head + end + "".join(row(cells) + end for cells in rows)
    options = ["--format=csv", "--delimiter", "\\t" if delimiter == "\t" else delimiter]
    if encoding == "gb18030":
        options.append(f"--encoding={encoding}")
    output, errors = run(*REDACT, *options, input=table.encode(encoding))
    assert errors == []
    expected = "".join(row([other, redacted(text)]) + delimiter + end for other, text in rows)
    assert output.decode(encoding) == f"{head}{delimiter}bertqa_error{end}{expected}"
    found = read(output.decode(encoding), delimiter=delimiter)
    assert found[1:] == [[other, redacted(text), ""] for other, text in rows]


@given(st.lists(st.text(st.sampled_from('aé,"\r\n '), max_size=9), max_size=6))
def test_what_is_nearly_a_table(rows):
    """Rows with incorrect quotes, read as Python reads them."""
    table = "id,text\n" + "\n".join(rows) + "\n"
    # A quote that is open at the end is another matter.
    assume(read(table + "x,y") != read(table) and read(table + "x,y")[-1] == ["x", "y"])
    output, _ = run(*TOKENS, "--format=csv", "--on-error=drop", "--quiet", input=table.encode(), code=None)
    expected = [row for row in read(table) if len(row) == 2]
    assert [row[:2] for row in read(output.decode()) if row] == expected


@given(st.lists(st.lists(texts.map(lambda text: text.translate(dict.fromkeys(map(ord, "\t\r\n"), " "))),
                         min_size=2, max_size=2), max_size=6))  # fmt: skip
def test_tables_without_quotes(rows):
    table = "other\ttext\n" + "".join("\t".join(row) + "\n" for row in rows)
    output, _ = run(*REDACT, "--format=tsv", input=table.encode())
    assert output.decode() == "other\ttext\tbertqa_error\n" + "".join(f"{a}\t{redacted(b)}\t\n" for a, b in rows)


# JSON

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
records = st.tuples(
    st.dictionaries(st.text(), values, max_size=4),
    texts,
    st.booleans(),
    st.sampled_from([(",", ":"), (" , ", " : ")]),
)


@given(st.lists(records, max_size=8))
def test_json_lines(examples):
    given_lines, expected = [], []
    for value, text, is_ascii, separators in examples:
        value = value | {"text": text}
        line = json.dumps(value, ensure_ascii=is_ascii, separators=separators).encode("utf-8", "surrogatepass")
        given_lines.append(line)
        replaced = json.dumps(value | {"text": redacted(text)}, ensure_ascii=is_ascii, separators=separators)
        expected.append(replaced.encode("utf-8", "surrogatepass"))
    data = b"".join(line + b"\n" for line in given_lines)
    assert (
        run(*REDACT, input=data)[0].splitlines(keepends=False)
        == b"".join(e + b"\n" for e in expected).splitlines()
    )
    # A member more, and nothing else.
    output, _ = run(*TOKENS, "--output-field=the result", input=data)
    for line, found in zip(given_lines, output.splitlines(), strict=True):
        assert found.startswith(line[:-1]) and json.loads(found) == json.loads(line) | {
            "the result": json.loads(found)["the result"]
        }


@given(st.lists(st.tuples(texts, st.randoms(use_true_random=False)), max_size=6))
def test_escapes_stay_as_they_are_spelled(examples):
    """Each character of a string can be spelled in several ways."""

    def spell(text, random):
        parts = []
        for character in text:
            units = character.encode("utf-16-be")
            escaped = "".join(f"\\u{units[i]:02x}{units[i + 1]:02X}" for i in range(0, len(units), 2))
            short = {"\n": "\\n", "\t": "\\t", '"': '\\"', "\\": "\\\\", "/": "\\/", "\r": "\\r"}.get(character)
            choices = [escaped] + ([short] if short else [])
            if character >= " " and character not in '"\\':
                choices += [character] * 3
            parts.append(random.choice(choices))
        return "".join(parts)

    given_lines, expected = [], []
    for text, random in examples:
        kept, spelled = redacted(text).split(MARK), []
        for part in kept:
            spelled.append(spell(part, random))
        secrets = [secret for secret in text.split() if secret in SECRETS]
        assume(len(secrets) == len(kept) - 1)
        line = spelled[0]
        for secret, part in zip(secrets, spelled[1:]):
            line += spell(secret, random) + part
        given_lines.append(f'{{"text" : "{line}"}}\n')
        expected.append(f'{{"text" : "{MARK.join(spelled)}"}}\n')
    assert run(*REDACT, input="".join(given_lines).encode())[0].decode() == "".join(expected)


# Texts and ranges


@given(st.lists(texts, min_size=1, max_size=10))
def test_ranges_in_three_units(examples):
    data = b"".join(compact({"text": text}) + b"\n" for text in examples)
    output, _ = run("filter", "--task=entities", "--patterns=email", input=data)
    for text, line in zip(examples, output.splitlines(), strict=True):
        found = json.loads(line)["bertqa"]["entities"]
        assert [entity["text"] for entity in found] == [word for word in text.split() if word in SECRETS]
        for entity in found:
            utf16 = text.encode("utf-16-le")
            start, end = entity["utf16"]
            assert text.encode()[slice(*entity["bytes"])].decode() == entity["text"]
            assert text[slice(*entity["code_points"])] == entity["text"]
            assert utf16[2 * start : 2 * end].decode("utf-16-le") == entity["text"]


@given(texts, st.sampled_from(["utf-8", "utf-16", "utf-16-be", "utf-32-le", "gb18030"]))
def test_redaction_of_a_text(text, encoding):
    assume(text)
    options = [] if encoding in ("utf-8", "utf-16") else [f"--encoding={encoding}"]
    output, _ = run("entities", "--patterns=email", "--redact", "--force", "-f", "-", *options,
                    input=text.encode(encoding))  # fmt: skip
    assert output == redacted(text).encode(encoding)
    assert bertqa.redact(text, bertqa.patterns(text, "email")) == redacted(text)
