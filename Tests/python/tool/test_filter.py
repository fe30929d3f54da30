"""`bertqa filter`: one record out for each record in, in order, with every other byte unchanged."""

import csv
import io
import json
import random
import re
import struct

import pytest

import bertqa
from conftest import FIXTURES
from filtering import TOKENS, compact, parse, run, summary, text_of
from samples import FOX, TINY, WHO


@pytest.fixture(scope="module")
def ids(context):
    """The ids that --ids returns for a text."""
    return lambda text: compact(list(context.tokenize(text_of(text)).ids))


def spliced(record, result):
    """A JSON object with the member "bertqa" before its closing brace."""
    end = record.rindex(b"}")
    comma = b"" if parse(record) == {} else b","
    return record[:end] + comma + b'"bertqa":' + result + record[end:]


# The output


def test_answers_are_those_of_the_api(context):
    documents = [FOX, "🦊 naïve… Ann jumped over the dog 🐕. It slept.", "", FOX * 40]
    records = [{"id": i, "question": WHO, "text": text} for i, text in enumerate(documents)]
    output, errors = run("filter", input=b"".join(compact(record) + b"\n" for record in records))
    assert errors == []
    for line, record in zip(output.splitlines(), records, strict=True):
        found = json.loads(line)
        result = context.answer(WHO, record["text"])
        bertqa = found.pop("bertqa")
        assert found == record and bertqa["question"] == WHO
        assert [answer["text"] for answer in bertqa["answers"]] == [answer.text for answer in result.answers]
        for answer, expected in zip(bertqa["answers"], result.answers, strict=True):
            assert answer["probability"] == pytest.approx(expected.probability)
            assert record["text"].encode()[slice(*answer["bytes"])].decode() == answer["text"]
            assert record["text"][slice(*answer["code_points"])] == answer["text"]
        assert bertqa["is_impossible"] == result.is_impossible
        assert bertqa["window_count"] == result.window_count


def test_answering_is_what_the_answer_command_does():
    record = compact({"text": FOX}) + b"\n"
    options = [
        "-k",
        "3",
        "--max-answer-len",
        "4",
        "--no-answer-threshold",
        "1",
        "--max-seq-len",
        "64",
        "--doc-stride=9",
    ]
    output, _ = run("filter", "-q", WHO, *options, input=record)
    expected = json.loads(run("answer", "--json", "-q", WHO, *options, input=FOX.encode())[0])
    del expected["file"]
    assert json.loads(output)["bertqa"] == expected
    assert len(expected["answers"]) == 3


def test_several_questions_give_an_array():
    record = compact({"text": FOX, "q": [{"who": WHO}]}) + b"\n"
    output, _ = run("filter", "-q", "What?", "--question-field", "/q/0/who", "-q", WHO, input=record)
    results = json.loads(output)["bertqa"]
    assert [result["question"] for result in results] == ["What?", WHO, WHO]
    assert results[1] == results[2] == json.loads(run("filter", "-q", WHO, input=record)[0])["bertqa"]


def test_results_do_not_depend_on_batches_and_threads():
    generator = random.Random(5)
    words = FOX.split()
    lines = b"".join(
        compact({"text": " ".join(generator.choices(words, k=generator.randrange(1, 900))), "question": WHO})
        + b"\n"
        for _ in range(40)
    )
    outputs = {
        run("filter", "-m", TINY, *options, input=lines)[0]
        for options in ([], ["--batch-size", "1"], ["--threads", "1"], ["--batch-size=7", "--threads=2"])
    }
    assert len(outputs) == 1


def test_tokens(context):
    output, _ = run(*TOKENS[:3], *TOKENS[4:], input=compact({"text": "naïve 🦊"}))
    tokens = context.tokenize("naïve 🦊")
    bertqa = json.loads(output)["bertqa"]
    assert bertqa["ids"] == list(tokens.ids) and len(bertqa["tokens"]) == len(bertqa["ids"]) == len(
        bertqa["bytes"]
    )


@pytest.mark.parametrize("model", ["tiny-bert-classifier", "tiny-distilbert-classifier", "tiny-bert-regression"])
def test_classes_are_those_of_the_api(model):
    texts = ["", "a fox", "The quick brown fox. " * 60]
    with bertqa.Context(FIXTURES / model) as context:
        expected = [context.classify(text, window_pooling="max", max_seq_len=32, doc_stride=8) for text in texts]
        pair = context.classify(("a fox", "a dog"))
    options = ["filter", "--task", "classify", "-m", FIXTURES / model]
    windows = ["--window-pooling=max", "--max-seq-len=32", "--doc-stride=8"]
    output, _ = run(*options, *windows, input=b"".join(compact({"text": text}) + b"\n" for text in texts))
    for line, text, result in zip(output.splitlines(), texts, expected, strict=True):
        found = json.loads(line)["bertqa"]
        printed = json.loads(run("classify", "--json", *windows, "-m", FIXTURES / model, input=text.encode())[0])
        assert found == {key: value for key, value in printed.items() if key != "file"}
        assert [label["label"] for label in found["labels"]] == [score.label for score in result.scores]
        assert found["labels"][0]["logit"] == pytest.approx(result.scores[0].logit, rel=1e-6)
    best = ["--top-k", "1", "--second-field", "b.0"]
    [label] = json.loads(run(*options, *best, input=b'{"text":"a fox","b":["a dog"]}')[0])["bertqa"]["labels"]
    assert (label["label"], label["logit"]) == (
        pair.scores[0].label,
        pytest.approx(pair.scores[0].logit, rel=1e-6),
    )
    header, row = rows_of(run(*options, "--format=csv", "--second-field=b", input=b"text,b\na fox,a dog\n")[0])
    assert header[2:] == ["bertqa_label", "bertqa_probability", "bertqa_error"] and row[2] == pair.scores[0].label
    number = pair.scores[0].logit if "regression" in model else pair.scores[0].probability
    assert float(row[3]) == pytest.approx(number, rel=1e-6)


@pytest.mark.parametrize("model", ["tiny-bert-embedder", "tiny-distilbert-embedder"])
def test_vectors_are_those_of_the_api(model):
    texts = ["", "a fox", "The quick brown fox. " * 60]
    with bertqa.Context(FIXTURES / model) as context:
        expected = [list(context.embed(text, pooling="cls", normalize=True)) for text in texts]
    options = ["filter", "--task=embed", "-m", FIXTURES / model, "--pooling=cls", "--normalize"]
    output, _ = run(*options, input=b"".join(compact({"text": text}) + b"\n" for text in texts))
    for line, vector in zip(output.splitlines(), expected, strict=True):
        assert json.loads(line)["bertqa"] == pytest.approx(vector, rel=1e-6, abs=1e-9)
    _, row = rows_of(run(*options, "--format=tsv", input=b"text\na fox\n")[0], delimiter="\t")
    assert [float(number) for number in row[1].split()] == pytest.approx(expected[1], rel=1e-6, abs=1e-9)


# Data that passes through unchanged

NASTY = [
    b'{"text":"a"}',
    b' \t{ "text" : "a" , "n":1.000e+05, "N":-0 ,"t":true, "z":null } \t',
    b'{"text":"caf\\u00e9 \\ud83e\\udd8a \\"x\\" \\/ \\\\ \\b\\f\\n\\r\\t"}',
    b'{"text":"lone \\ud800 and \\udfff\\ud83e and \\ud83e\\u0041"}',
    b'{"t\\u0065xt":"an escaped key"}',
    b'{"text":"first","text":"the last one counts"}',
    b'{"text":"\\u0000 NUL"}',
    b'{"text":"invalid \xff\xfe \xe2\x82 UTF-8 \xf0\x9f\xa6","\xff":"\xc3"}',
    b'{"text":"\xf0\x9f\xa6\x8a \xe2\x80\xa8 \xc2\x85"}',
    b'{"text":"","a":{"b":[{},[],[[]],{"text":"another"},"}{][,:"]}}',
    b'{"big":123456789012345678901234567890.1e-999,"text":"a","e":1E5,"f":0.10}',
    b'{"text":"a"}\r',
    b'{"a":' + b"[" * 900 + b"]" * 900 + b',"text":"deep"}',
]


@pytest.mark.parametrize("record", NASTY)
def test_every_other_byte_stays(record, ids):
    expected = spliced(record, ids(parse(record, "replace")["text"])) + b"\n"
    assert run(*TOKENS, input=record + b"\n") == (expected, [])


def test_the_result_replaces_what_was_there(ids):
    cases = [
        (b'{"bertqa" : [1, {"a":2}] ,"text":"a"}', b'{"bertqa" : %s ,"text":"a"}'),
        (b'{"text":"a","b\\u0065rtqa":"x"}', b'{"text":"a","b\\u0065rtqa":%s}'),
        (b'{"bertqa":1,"text":"a","bertqa":2 }', b'{"bertqa":1,"text":"a","bertqa":%s }'),
        (b'{"text":"a","x":{"bertqa":1}}', b'{"text":"a","x":{"bertqa":1},"bertqa":%s}'),
    ]
    output, errors = run(*TOKENS, input=b"\n".join(record for record, _ in cases))
    assert output.splitlines() == [expected % ids("a") for _, expected in cases] and errors == []


@pytest.mark.parametrize(
    "record, expected",
    [
        (b'{"text":"a"}', b'{"text":"a","r":{"x y":{"0":%s}}}'),
        (b'{"text":"a","r":{}}', b'{"text":"a","r":{"x y":{"0":%s}}}'),
        (b'{"r":{"x y":{"0":7}},"text":"a"}', b'{"r":{"x y":{"0":%s}},"text":"a"}'),
        (b'{"r":{"x y":[7,8]},"text":"a"}', b'{"r":{"x y":[%s,8]},"text":"a"}'),
        (
            b'{"r":{"x y":{"0":7}},"r":{"z":0},"text":"a"}',
            b'{"r":{"x y":{"0":7}},"r":{"z":0,"x y":{"0":%s}},"text":"a"}',
        ),
        (b'{"r":{"x y":[]},"text":"a"}', None),
        (b'{"r":"text","text":"a"}', None),
        (b'{"r":{"x y":{}},"r":1,"text":"a"}', None),
    ],
)
@pytest.mark.parametrize("name", ["r.x y.0", "/r/x y/0"])
def test_results_inside_objects(record, expected, name, ids):
    if expected is None:
        errors = run(*TOKENS, "--output-field", name, "--on-error=drop", input=record, code=1)[1]
        assert errors == [f"bertqa: line 1: there is no place for '{name}': what should hold it is not an object"]
    else:
        assert run(*TOKENS, "--output-field", name, input=record) == (expected % ids("a") + b"\n", [])


def test_fields_by_path(ids):
    record = b'{"a.b":"dotted","a":{"b":["zero","one"],"c/d~":{"":"empty"}},"0":"digit"}'
    for path, text in [
        ("/a.b", "dotted"), ("a.b.1", "one"), ("/a/b/0", "zero"), ("/a/c~1d~0/", "empty"), ("0", "digit")
    ]:  # fmt: skip
        assert run(*TOKENS, "--text-field", path, input=record)[0] == spliced(record, ids(text)) + b"\n"
    for path in ["a.b.2", "a.b.00", "a.b.x", "b", "/a/b/0/0", "/a/b/-"]:
        assert "there is no field" in run(*TOKENS, "--text-field", path, input=record, code=1)[1][0]


def test_lines(ids):
    a = spliced(b'{"text":"a"}', ids("a"))
    assert run(*TOKENS, input=b"") == (b"", [])
    assert run(*TOKENS, input=b'{"text":"a"}') == (a + b"\n", [])
    assert run(*TOKENS, input=b'\n{"text":"a"}\r\n \t\r\n\n{"text":"a"}\n\n') == (
        b"\n" + a + b"\r\n \t\r\n\n" + a + b"\n\n",
        [],
    )
    assert run(*TOKENS, input=b'\xef\xbb\xbf{"text":"a"}\n') == (b"\xef\xbb\xbf" + a + b"\n", [])


def test_reads_and_writes_files(tmp_path, ids):
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_bytes(b'{"text":"a"}\n')
    target.write_bytes(b"x" * 1000)
    assert run(*TOKENS, source, "--output", target, input=b"ignored") == (b"", [])
    assert target.read_bytes() == spliced(b'{"text":"a"}\n', ids("a"))
    assert "cannot be both read and written" in run(*TOKENS, source, "-o", source, code=2)[1][0]
    assert source.read_bytes() == b'{"text":"a"}\n'
    assert "No such file" in run(*TOKENS, tmp_path / "missing", code=3)[1][0]
    assert "is a directory" in run(*TOKENS, tmp_path, code=3)[1][0]


# Records behind their length


def framed(record):
    return struct.pack(">I", len(record)) + record


def test_length_prefixed(ids):
    records = [b'{"text":"a\\nb",\n"n":1}', b'{"text":"x"}', b" {} "]
    output, errors = run(*TOKENS, "--format", "length-prefixed", input=b"".join(map(framed, records)), code=1)
    expected = [spliced(record, ids(parse(record)["text"])) for record in records[:2]] + [
        b' {"bertqa":null,"bertqa_error":"there is no field \'text\'"} '
    ]
    assert output == b"".join(map(framed, expected))
    assert errors == ["bertqa: record 3: there is no field 'text'"]


@pytest.mark.parametrize("tail", [b"\0", b"\0\0\0", b"\0\0\0\x05", b"\0\0\0\x05abcd", b"\xff\xff\xff\xff{}"])
def test_length_prefixed_that_ends_early(tail, ids, tmp_path):
    whole = framed(b'{"text":"a"}')
    letters = tmp_path / "letters"
    output, errors = run(
        *TOKENS, "--format=length-prefixed", f"--on-error=dead-letter={letters}", input=whole + tail, code=1
    )
    assert output == framed(spliced(b'{"text":"a"}', ids("a")))
    assert errors == ["bertqa: record 2: the input ends inside the record"]
    # The length is that of what is there, so that what is written after it can be read.
    kept = framed(tail[4:])
    assert letters.read_bytes() == kept
    output, _ = run(*TOKENS, "--format=length-prefixed", "--on-error=pass", input=whole + tail, code=1)
    assert output.endswith(kept)


# Tables


def rows_of(data, **dialect):
    return list(csv.reader(io.StringIO(data.decode("utf-8", "replace"), newline=""), **dialect))


def test_csv(ids):
    table = b'id,"text"\r\n1,"The ""quick"" fox,\njumps"\r\n\r\n2,plain\n"3",""'
    output, errors = run(*TOKENS, "--format", "csv", input=table)
    cells = [ids(text).strip(b"[]").replace(b",", b" ") for text in ('The "quick" fox,\njumps', "plain", "")]
    assert output == (
        b'id,"text",bertqa_ids,bertqa_error\r\n1,"The ""quick"" fox,\njumps",%s,\r\n\r\n2,plain,%s,\n"3","",%s,\n'
        % tuple(cells)
    )
    assert errors == []


def test_answers_in_a_table(context):
    table = b"text,question\n%s,%s\n,\n" % (FOX.encode(), WHO.encode())
    header, row, empty = rows_of(run("filter", "--format=csv", "--output-field", "out", input=table)[0])
    names = ["answer", "score", "probability", "start", "end", "is_impossible"]
    assert header == ["text", "question", *(f"out_{name}" for name in [*names, "error"])]
    answer = context.answer(WHO, FOX).answer
    assert row[2] == answer.text and float(row[4]) == pytest.approx(answer.probability)
    assert FOX[int(row[5]) : int(row[6])] == answer.text and row[7] == "false"
    assert empty[2:] == ["", "", "", "", "", "true", ""]
    several = rows_of(run("filter", "--format=csv", "-q", WHO, "-q", "x", input=table)[0])
    assert several[0][2:] == [f"bertqa_{n}_{name}" for n in (1, 2) for name in names] + ["bertqa_error"]
    assert several[1][2:8] == row[2:8]


def test_cells_are_quoted_where_they_must_be():
    table = b'text\n"""a, b"" is\nall there is."\n'
    [_, row] = rows_of(
        run("filter", "--format=csv", "-q", "What is there?", "--max-answer-len=100", input=table)[0]
    )
    assert row[1] in row[0] and row[1] != "" and len(row) == 8
    [_, row] = rows_of(
        run("filter", "--format=tsv", "-q", "What?", input=b'text\n"a" b\x0bc\n')[0],
        delimiter="\t",
        quoting=csv.QUOTE_NONE,
    )
    assert row[0] == '"a" b\x0bc' and len(row) == 8


def test_tsv_has_no_quotes(ids):
    table = b'text\tn\n"a\tb"\n\t\n'
    output, _ = run(*TOKENS, "--format", "tsv", input=table)
    cell = ids('"a').strip(b"[]").replace(b",", b" ")
    assert output == b'text\tn\tbertqa_ids\tbertqa_error\n"a\tb"\t%s\t\n\t\t\t\n' % cell


@pytest.mark.parametrize("option, delimiter", [(";", b";"), ("\\t", b"\t"), ("|", b"|")])
def test_delimiters(option, delimiter, ids):
    table = b'n%btext\n1%b"x%b""y"\n'.replace(b"%b", delimiter)
    output, _ = run(*TOKENS, "--format", "csv", "--delimiter", option, input=table)
    cell = ids(f'x{delimiter.decode()}"y').strip(b"[]").replace(b",", b" ")
    assert (
        output
        == table.replace(b"\n", delimiter + b"bertqa_ids" + delimiter + b"bertqa_error\n", 1)[:-1]
        + delimiter
        + cell
        + delimiter
        + b"\n"
    )


def test_rows_that_do_not_fit(tmp_path):
    table = b'id,text\n1\n2,a,b\n3,ok\n4,"open\n5,x\n'
    letters = tmp_path / "letters"
    outputs = {}
    for policy in ["null", "pass", "drop"]:
        output, errors = run(
            *TOKENS, "--format=csv", "--id-field=id", "--on-error", policy, f"--on-error=dead-letter={letters}",
            input=table, code=1,
        )  # fmt: skip
        assert errors == [
            "bertqa: line 2 (1): the number of columns is 1, not 2 as in the first row",
            "bertqa: line 3 (2): the number of columns is 3, not 2 as in the first row",
            "bertqa: line 5: the input ends inside the record",
        ]
        outputs[policy] = output.splitlines()
    assert outputs["drop"][1].startswith(b"3,ok,") and len(outputs["drop"]) == 2
    assert outputs["null"][1:3] == [
        b'1,,,"the number of columns is 1, not 2 as in the first row"',
        b'2,a,b,,"the number of columns is 3, not 2 as in the first row"',
    ]
    assert outputs["null"][4] == b",,,the input ends inside the record"
    assert outputs["pass"][1:3] == [b"1", b"2,a,b"] and outputs["pass"][4:] == [b'4,"open', b"5,x", b'"']
    # The names of the columns once, and the rows of each of the three runs. An open quote does not take in the next.
    assert letters.read_bytes() == b"id,text\n" + 3 * b'1\n2,a,b\n4,"open\n5,x\n"\n'
    large = ["--max-record-bytes=20", "--on-error=pass", f"--on-error=dead-letter={letters}"]
    row = b'6,"%s' % (b"x" * 100_000)
    letters.unlink()
    output, _ = run(*TOKENS, "--format=csv", *large, input=b"id,text\n" + row, code=1)
    assert output.endswith(b"\n" + row + b'"\n') and letters.read_bytes() == b"id,text\n" + row + b'"\n'


def test_columns_that_are_not_there():
    assert run(*TOKENS, "--format=csv", input=b"a,b\n1,2\n", code=3) == (
        b"",
        ["bertqa: the table has no column 'text'; its first line names 'a', 'b'"],
    )
    errors = run(*TOKENS, "--format=csv", input=b"text,bertqa_ids\n", code=3)[1]
    assert errors == ["bertqa: the table has a column 'bertqa_ids' already: choose another --output-field"]
    long = b"text," + b"x" * 100
    errors = run(*TOKENS, "--format=csv", "--max-record-bytes=50", input=long, code=3)[1]
    assert errors == ["bertqa: standard input: the first line has more than 50 bytes"]
    # A checkpoint contains the first line.
    long += b"x" * (16 << 20) + b"\n"
    errors = run(*TOKENS, "--format=csv", input=long, code=3)[1]
    assert errors == ["bertqa: standard input: the first line has more than 16777216 bytes"]
    assert run(*TOKENS, "--format=csv") == (b"", [])
    assert run(*TOKENS, "--format=csv", input=b"\xef\xbb\xbftext\r\n") == (
        b"\xef\xbb\xbftext,bertqa_ids,bertqa_error\r\n",
        [],
    )


def test_random_tables_read_as_python_reads_them(tmp_path, ids):
    generator = random.Random(11)
    for _ in range(20):
        rows = [
            b",".join(
                bytes(
                    generator.choices(
                        b'ab,"\n\r \xc3\xa9', weights=[9, 9, 1, 2, 1, 1, 2, 1, 1], k=generator.randrange(8)
                    )
                )
                for _ in range(2)
            )
            for _ in range(50)
        ]
        table = b"id,text\n" + b"\n".join(rows) + b"\n"
        # Python ends a line at a lone carriage return, too.
        table = re.sub(rb"\r(?!\n)", b"r", table)
        stats = tmp_path / "stats"
        output = run(*TOKENS, "--format=csv", "--on-error=drop", "--stats", stats, input=table, code=None)[0]
        expected = [row for row in rows_of(table)[1:] if row]
        # A quote that is open at the end swallows what follows it.
        closed = [row for row in expected if len(row) == 2]
        found = rows_of(output)[1:]
        numbers = summary(stats)
        if numbers["failed_by_kind"]["truncated"] and len(expected[-1]) == 2:
            closed.pop()
        assert [row[:2] for row in found if row] == closed
        for row in found:
            if row and "\ufffd" not in row[1]:
                assert row[2] == ids(row[1]).decode().strip("[]").replace(",", " ")


# Usage


@pytest.mark.parametrize(
    "arguments, complaint",
    [
        (["--task", "sing"], "--task takes answer, classify, entities, embed, tokenize, not 'sing'"),
        (["--format", "xml"], "--format takes jsonl, csv, tsv, length-prefixed, not 'xml'"),
        (["--text-field", "a..b"], "--text-field takes a name, a path such as a.b.0 or a JSON Pointer"),
        (["--text-field", ""], "--text-field takes"),
        (["--text-field", "a", "--text-field", "b"], "--text-field is given twice, but a run reads one field"),
        (["--text-field", "/a~2"], "--text-field takes"),
        (["--on-error", "panic"], "--on-error takes null, pass, drop, fail or dead-letter=FILE, not 'panic'"),
        (["--on-error", "dead-letter="], "--on-error takes"),
        (["--max-record-bytes", "0"], "--max-record-bytes takes a number of bytes, 1 to"),
        (["--max-document-bytes", "9999999999G"], "--max-document-bytes takes a number of bytes, 1 to"),
        (["--max-record-bytes", "64k"], "such as 64M, not '64k'"),
        (["--batch-size", "0"], "--batch-size is 0, but must be 1 to 10000"),
        (["--format", "jsonl", "--delimiter", ";"], "needs --format csv"),
        (["--format", "csv", "--delimiter", ";;"], "--delimiter takes one character"),
        (["--format", "csv", "-k", "2"], "a table has room for one answer or label"),
        (["--task=classify", "--format=csv", "-k", "2"], "a table has room for one answer or label"),
        (["--task=classify", "--format=csv", "--contributions=1"], "--contributions needs JSON records"),
        (["--task=classify", "--fields=label", "--contributions=1"], "and no --fields"),
        (["--task=classify", "--multi-label"], "--multi-label needs --labels"),
        (["--task=entities", "--patterns=all", "--nested"], "--nested needs a model"),
        (["--task=classify", "--top-k", "0"], "--top-k is 0, but must be at least 1"),
        (["--task=classify", "--contributions", "-1"], "--contributions is -1, but must be at least 0"),
        (["--ids"], "--ids cannot be used with --task answer"),
        (["--task", "tokenize", "-q", "x"], "--question cannot be used with --task tokenize"),
        (["--resume", "c"], "--resume needs input files and --output"),
        (["--max-seq-len", "7"], "--max-seq-len is 7, but must be at least 8"),
        (["-q", "long " * 99, "--max-question-len=99", "--max-seq-len=80", "--doc-stride=9"], "leave"),
        (["a.csv", "b.jsonl"], "a.csv and b.jsonl have names of different formats: choose one with --format"),
        (["--follow", "a", "b"], "--follow takes one input file"),
        (["-o", "a", "--stats", "a"], "a cannot be written for two purposes"),
    ],
)
def test_wrong_usage(arguments, complaint):
    output, [error] = run("filter", *arguments, code=2)
    assert output == b"" and complaint in error and error.endswith("; try 'bertqa filter --help'")


def test_models_that_cannot(tmp_path):
    from conftest import TOOL

    model = TOOL.parents[1] / "share/bertqa/models/qa-minilm-l6"
    target = tmp_path / "out"
    target.write_bytes(b"precious")
    errors = run("filter", "--task", "classify", "-m", model, "-o", target, code=3)[1]
    assert "cannot classify" in errors[0]
    assert target.read_bytes() == b"precious"
