"""`bertqa predict` and `bertqa generate`, as a user runs them."""

import json
import subprocess

import pytest

import bertqa
from cli import environment, run, run_json
from conftest import FIXTURES, TOOL
from samples import CONTINUATIONS


@pytest.mark.parametrize("prompt", CONTINUATIONS)
def test_continuations(prompt):
    expected = CONTINUATIONS[prompt] + "\n"
    assert run("generate", prompt)[0] == expected
    assert run("generate", *prompt.split())[0] == expected
    assert run("generate", input=prompt.encode())[0] == expected


def test_words_come_as_they_are_generated():
    command = [TOOL, "generate", "O", "Romeo"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment(), bufsize=0)
    first = process.stdout.read(1)
    rest = process.stdout.read()
    assert (first + rest).decode() == CONTINUATIONS["O Romeo"] + "\n"
    assert process.wait() == 0
    process.stdout.close()


def test_options():
    drawn = run("generate", "O", "--temperature", "1", "--seed", "7", "--top-p", "0.95")[0]
    assert run("generate", "O", "--temperature=1", "--seed=7", "--top-p=.95")[0] == drawn
    with bertqa.Context(task="predict") as context:
        assert drawn == context.generate("O", temperature=1.0, seed=7, top_p=0.95).text + "\n"
    assert run("generate", "O", "--temperature", "1", "-k", "1")[0] == run("generate", "O")[0]
    assert run("generate", "O Romeo", "--max-words", "3")[0] == ", Romeo ,\n"


def test_json():
    [record] = run_json("generate", "O Romeo zyzzyva , Romeo", "--max-words", "2")
    assert record["prompt"] == "O Romeo zyzzyva , Romeo" and record["unknown_count"] == 1
    assert record["stop"] == "limit"
    assert record["text"] == " ".join(word["text"] for word in record["words"]) and len(record["words"]) == 2
    assert set(record["words"][0]) == {"text", "id", "probability", "log_probability"}
    assert run_json("generate", "But soft")[0]["stop"] == "end"
    [record] = run_json("predict", "O", "-k", "3")
    assert [word["text"] for word in record["words"]] == [",", "God", "Romeo"] and record["is_unknown"] is False
    assert run_json("predict", "zyzzyva")[0]["is_unknown"] is True


def test_next():
    lines = [line.split("\t") for line in run("predict", "O")[0].splitlines()]
    assert len(lines) == 10 and lines[0][1] == ","
    assert [float(p) for p, _ in lines] == sorted((float(p) for p, _ in lines), reverse=True)


def test_score(tmp_path):
    text = "O Romeo, Romeo!\nthe computer says no\n\nO"
    file = tmp_path / "lines.txt"
    file.write_text(text)
    output = run("predict", "--score", "--file", file)[0]
    assert run("predict", "--score", input=text.encode())[0] == output
    lines = [line.split("\t") for line in output.splitlines()]
    assert [line[4] for line in lines] == text.split("\n")
    assert [line[2:4] for line in lines] == [["4", "0"], ["3", "1"], ["0", "0"], ["0", "0"]]
    assert float(lines[0][0]) < 20 < 500 < float(lines[1][0]) and lines[2][0] == "nan"
    records = run_json("predict", "--score", "--include-end", "-f", file, "-f", "-", input=b"O\n")
    found = [(record["line"], record["word_count"]) for record in records]
    assert found == [(1, 5), (2, 4), (3, 0), (4, 1), (1, 1)]
    assert records[2]["perplexity"] is None and records[4]["file"] == "-"
    [record] = run_json("predict", "--score", "O", "Romeo")
    assert (record["file"], record["text"], record["word_count"]) == (None, "O Romeo", 1) and "line" not in record
    # A file that cannot be read does not keep the others from being scored.
    named = "".join(f"{file}\t{line}\n" for line in output.splitlines())
    assert run("predict", "--score", "-f", tmp_path / "missing", "-f", file, code=3)[0] == named


def test_rank(tmp_path):
    readings = b"the computer\ngood night.\nRomeo.\n"
    lines = [line.split("\t") for line in run("predict", "--rank", "Good night,", input=readings)[0].splitlines()]
    assert lines[0][2] == "good night." and {line[2] for line in lines} == set(readings.decode().split("\n")[:-1])
    averages = [float(total) / int(words) for total, words, _ in lines]
    assert averages == sorted(averages, reverse=True)
    file = tmp_path / "readings.txt"
    file.write_bytes(readings)
    records = run_json("predict", "--rank", "Good night,", "--file", file)
    assert [record["text"] for record in records] == [line[2] for line in lines]
    given = readings.decode().split("\n")
    assert [record["line"] for record in records] == [given.index(line[2]) + 1 for line in lines]


def test_models_of_characters():
    model = FIXTURES / "tiny-lstm-characters"
    options = ["abc", "--temperature", "2", "--seed", "4", "--max-words", "30"]
    text = json.loads(run("generate", "-m", model, *options, "--json")[0])["text"]
    assert run("generate", "-m", model, *options)[0] == text + "\n"


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["generate", "O", "--max-words", "0"], "--max-words is 0"),
        (["generate", "O", "--temperature", "-1"], "temperature is -1"),
        (["generate", "O", "--temperature", "hot"], "takes a number"),
        (["generate", "O", "--top-p", "2"], "--top-p is 2"),
        (["generate", "O", "--seed", "-1"], "--seed takes a whole number"),
        (["generate", "O", "--precise"], "--precise"),
        (["predict", "O", "-k", "0"], "--top-k is 0"), (["predict", "--rank"], "--rank needs the TEXT"),
        (["predict", "--rank", "--score"], "use either --score or --rank"),
        (["predict", "O", "--include-end"], "--include-end needs --score or --rank"),
        (["predict", "O", "--score", "-k", "2"], "--top-k cannot be used with --score"),
    ],
)  # fmt: skip
def test_wrong_usage(arguments, message):
    assert message in run(*arguments, code=2)[1]


@pytest.mark.parametrize("command", [["generate", "--max-words", "2"], ["predict", "-k", "1"]])
def test_a_text_without_words_is_skipped(tmp_path, command):
    texts = [("a", "O Romeo"), ("b", " \n"), ("c", "Good night")]
    for name, text in texts:
        (tmp_path / name).write_text(text)
    output, errors = run(*command, "--json", *(f"--file={tmp_path / name}" for name, _ in texts), code=3)
    records = [json.loads(line) for line in output.splitlines()]
    assert [(record["file"], record["prompt"]) for record in records] == [
        (str(tmp_path / name), text) for name, text in texts if text.strip()
    ]
    assert "b: there is no word to continue from" in errors and "--help" not in errors
    assert "there is no word to continue from" in run(command[0], "", code=3)[1]


def test_a_line_above_a_limit_is_skipped(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("O Romeo\n" + "good night " * 9 + "\nO Juliet\n")
    second.write_text("But soft\n")
    options = ["--json", "--max-document-tokens", "5"]
    output, errors = run("predict", "--score", *options, f"--file={first}", f"--file={second}", code=3)
    assert [json.loads(line)["text"] for line in output.splitlines()] == ["O Romeo", "O Juliet", "But soft"]
    assert "first: line 2: " in errors
    assert (
        "first: line 2: "
        in run("predict", "--rank", "O", *options, f"--file={second}", f"--file={first}", code=3)[1]
    )


@pytest.mark.parametrize("options", [["predict"], ["predict", "--json"], ["tokenize"], ["tokenize", "--json"]])
def test_texts_before_a_failure_are_printed(tmp_path, options):
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("Good night")
    second.write_bytes(b"%PDF-1.4")
    if options[0] == "predict":
        second.write_bytes(b"")
    else:
        options = [*options, "--max-document-tokens=2"]
        second.write_text("one two three")
    column = "" if "--json" in options else f"{first}\t"
    alone = "".join(f"{column}{line}\n" for line in run(*options, "-f", first)[0].splitlines())
    assert alone and run(*options, "-f", first, "-f", second, code=None)[0] == alone


def test_wrong_models(tmp_path):
    assert "LSTMLanguageModel" in run("predict", "O", "-m", FIXTURES / "tiny-bert", code=3)[1]
    assert "f32" in run("predict", "O", "--precision", "int8", code=3)[1]
    assert "cannot answer" in run("answer", "-q", "Who?", "-m", FIXTURES / "tiny-lstm", code=3)[1]
    assert run("predict", "--rank", "O", "-f", tmp_path / "missing", code=3)[0] == ""
