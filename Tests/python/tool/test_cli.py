"""The command-line tool, as a user runs it: help, answers, options, terminals."""

import json
import os
import re
import shutil
import signal
import struct
import subprocess

import pytest

from cli import APOLLO, COMMANDS, FOX, HIGHLIGHT, environment, run, run_json, run_on_terminal, run_records
from conftest import ROOT, TOOL
from samples import TINY, VERSION, WHO

# Help and version


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command(command):
    text, errors = run(command, "--help")
    assert text.startswith(f"Usage: bertqa {command}") and errors == ""
    assert run(command, "-h")[0] == text == run("help", command)[0]
    assert max(map(len, text.splitlines())) <= 80
    assert command == "help" or "Exit codes: 0 " in text


def test_overview():
    text = run("--help")[0]
    assert text == run("help")[0] == run("-h")[0]
    for command in COMMANDS:
        assert re.search(rf"^  {command} +[a-z]", text, re.M)


@pytest.mark.parametrize("command", [[], *[[name] for name in COMMANDS]])
@pytest.mark.parametrize("option", ["--version", "-V"])
def test_version_everywhere(command, option):
    assert run(*command, option)[0] == f"bertqa {VERSION}\n"


def test_every_help_ends_in_two_examples():
    for text in run("--help")[0], *(run(command, "--help")[0] for command in COMMANDS):
        examples = text.rpartition("\nExamples:\n")[2].splitlines()
        assert len(examples) == 4, examples
        for purpose, line in zip(examples[::2], examples[1::2]):
            assert purpose.startswith("  # ") and "bertqa " in line


def test_manual_page_is_made_from_the_tables():
    manual = ROOT / "docs" / "man" / "bertqa.1"
    assert run("manual")[0] == manual.read_text(), "write it anew: make manual"
    in_manual = set(re.findall(r"Fl (?:\w , )?\\-([a-z][a-z\\-]+)", manual.read_text()))
    for command in COMMANDS:
        for option in re.findall(r"--([a-z][a-z-]+)", run(command, "--help")[0]):
            assert option.replace("-", "\\-") in in_manual


def members(value):
    """The names of all members of JSON values, also within others."""
    if isinstance(value, dict):
        return set(value).union(*map(members, value.values()))
    return set().union(*map(members, value)) if isinstance(value, list) else set()


def test_manual_page_names_the_members_of_json(tmp_path):
    manual = run("manual")[0].partition(".Sh JSON\n")[2].partition(".Sh ENVIRONMENT\n")[0]
    known = set(re.findall(r"\w+", manual))
    data, collection = tmp_path / "data.jsonl", tmp_path / "x.db"
    texts = {"sport": "the team won the match", "money": "the shares of the bank fell"}
    data.write_text(
        "".join(json.dumps({"text": t, "label": k}) + "\n" for k, t in texts.items() for _ in range(5))
    )
    holdout = tmp_path / "holdout.jsonl"
    shutil.copy(data, holdout)
    run("index", "--words-only", collection, FOX)
    train = ["train-classifier", data, "--holdout", holdout, "-o"]
    reports = [["info"], ["quantize", TINY, tmp_path / "a"], [*train, tmp_path / "b"]]
    for index, report in enumerate(reports):
        lines = run(*report)[0].splitlines()
        [record] = run_json(*report[:-1], tmp_path / f"{index}") if index else run_json(*report)
        named = {line.split()[0] for line in lines if line}
        assert members(record) - known <= named, report
    personal = "tel. 80991098, a@b.de, 4111 1111 1111 1111"
    for command in [
        ["answer", "-q", WHO, FOX], ["ask", collection, WHO], ["search", collection, "fox"],
        ["classify", "--contributions", "2", "-f", APOLLO], ["entities", "Ada Lovelace"],
        ["entities", "--patterns=all", personal], ["entities", "--patterns=all", "--redact", personal],
        ["tokenize", "a fox"], ["predict", "O"], ["predict", "--score", "-f", FOX], ["predict", "--rank", "O", "-f", FOX],
        ["generate", "--max-words=2", "O"],
    ]:  # fmt: skip
        assert members(run_json(*command)) <= known, command
    for command in ["embed", "a"], ["embed", "--lines", "-f", FOX], ["embed", "--tokens", "a"]:
        assert members(run_records(*command)) <= known, command
    stats, report = tmp_path / "stats", tmp_path / "report"
    run(
        "filter",
        "--task=entities",
        "--patterns=all",
        "--stats",
        stats,
        "--report",
        report,
        input=b'{"text":"a@b.de"}',
    )
    assert members(json.loads(stats.read_text())) <= known
    assert set(json.loads(report.read_text())) <= known


def test_manual_page_is_well_formed():
    groff = shutil.which("groff")
    if not groff:
        pytest.skip("groff is not installed")
    page = ROOT / "docs" / "man" / "bertqa.1"
    result = subprocess.run([groff, "-mandoc", "-Tutf8", "-ww", page], capture_output=True, text=True)
    assert result.stderr == ""
    assert "--max-errors" in re.sub("\x1b\\[[0-9;]*m|.\b", "", result.stdout)


# answer


def test_answers_a_file_and_standard_input():
    for arguments, text in [([FOX], b""), ([], FOX.read_bytes()), (["-"], FOX.read_bytes())]:
        assert run("answer", "--question", WHO, *arguments, input=text) == ("The quick brown fox\n", "")


@pytest.mark.parametrize(
    "question, answer",
    [
        ("Why was Apollo 13 aborted?", "an oxygen tank explosion"),
        ("What killed the crew of Apollo 1?", "cabin fire"),
        ("When was Skylab launched?", "1973"),
    ],
)
def test_answers_from_a_long_document(question, answer):
    [record] = run_json("answer", "-q", question, APOLLO)
    assert record["skipped_window_count"] > 5 and " ".join(record["answers"][0]["text"].split()) == answer


def test_columns():
    second = "What did the fox jump over?"
    sentence = FOX.read_text().strip()
    assert run("answer", "-q", WHO, FOX, "-", input=b"Ann jumped over the dog.")[0].splitlines() == [
        "-\tAnn",
        f"{FOX}\tThe quick brown fox",
    ]
    lines = run("answer", "-q", WHO, "-q", second, FOX)[0].splitlines()
    assert [line.split("\t")[0] for line in lines] == [WHO, second]
    probability, answer, context = run("answer", "-q", WHO, "--sentence", FOX)[0].rstrip("\n").split("\t")
    assert re.fullmatch(r"[01]\.\d{4}", probability) and (answer, context) == ("The quick brown fox", sentence)


def test_top_k():
    [record] = run_json("answer", "-q", WHO, "-k", "3", FOX)
    answers = record["answers"]
    assert len(answers) == 3
    assert answers == sorted(answers, key=lambda answer: -answer["score"])
    ranges = sorted(answer["bytes"] for answer in answers)
    assert all(left[1] <= right[0] for left, right in zip(ranges, ranges[1:]))
    lines = run("answer", "-q", WHO, "--top-k=3", FOX)[0].splitlines()
    assert [line.split("\t")[1] for line in lines] == [answer["text"] for answer in answers]
    assert [float(line.split("\t")[0]) for line in lines] == [round(a["probability"], 4) for a in answers]


def test_json_is_complete_and_consistent():
    text = "🦊 naïve… The quick brown 🦊 fox jumps over the lethargic dog 🐕. It slept."
    record, other = run_json("answer", "-q", WHO, "-q", "Who slept?", "-", input=text.encode())
    assert set(record) == {
        "file", "question", "answers", "is_impossible", "null_score", "gap", "no_answer_probability",
        "window_count", "skipped_window_count", "stop", "is_question_truncated", "is_question_empty", "is_document_empty",
    }  # fmt: skip
    assert (record["file"], record["question"], other["question"]) == ("-", WHO, "Who slept?")
    [answer] = record["answers"]
    assert set(answer) == {
        "text", "bytes", "code_points", "utf16", "sentence", "score", "probability", "gap"
    }  # fmt: skip
    cut = {
        "bytes": lambda start, end: text.encode()[start:end].decode(),
        "code_points": lambda start, end: text[start:end],
        "utf16": lambda start, end: text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le"),
    }
    for unit, slice_of in cut.items():
        assert slice_of(*answer[unit]) == answer["text"]
    assert answer["text"] in answer["sentence"]["text"]
    assert cut["bytes"](*answer["sentence"]["bytes"]) == answer["sentence"]["text"]
    assert answer["gap"] == pytest.approx(answer["score"] - record["null_score"], abs=1e-4)
    assert record["gap"] == answer["gap"]
    assert 0 < answer["probability"] + record["no_answer_probability"] <= 1 + 1e-6
    assert record["window_count"] == 1 and record["skipped_window_count"] == 0
    assert record["stop"] == "all"
    assert record["is_question_truncated"] is record["is_question_empty"] is record["is_document_empty"] is False


def test_numbers_are_the_shortest_that_read_back():
    line = run("answer", "-q", WHO, "--json", FOX)[0]
    for number in re.findall(r'"(?:score|gap|probability|null_score)":([-0-9.e]+)', line):
        single = struct.unpack("f", struct.pack("f", float(number)))[0]
        digits = len(number.split("e")[0].replace("-", "").replace(".", "").strip("0"))
        shortest = next(
            n for n in range(1, 10) if struct.pack("f", float(f"{single:.{n}g}")) == struct.pack("f", single)
        )
        assert digits == shortest, number


def test_white_space_and_control_characters():
    text = b"Ann\r\n \t\x1b[7m\xc2\x9b Smith\x00Jones jumped over the lethargic dog."
    [record] = run_json("answer", "-q", WHO, input=text)
    assert record["answers"][0]["text"] == "Ann\r\n \t\x1b[7m\x9b Smith\x00Jones"
    assert run("answer", "-q", WHO, input=text)[0] == "Ann [7m Smith Jones\n"
    line = run("answer", "-q", WHO, "--sentence", input=text)[0]
    assert line.count("\n") == 1 and line.count("\t") == 2 and not re.search("[\x00-\x08\x0b-\x1f\x80-\x9f]", line)


def test_invalid_utf8():
    text = b"\xff\xfe The quick \xe2\x82 brown \xf0\x9f\xa6\x8a fox jumps over the lethargic dog.\xc3"
    [record] = run_json("answer", "-q", WHO, input=text)
    [answer] = record["answers"]
    start, end = answer["bytes"]
    assert text[start:end].decode(errors="replace") == answer["text"]
    start, end = answer["code_points"]
    assert text.decode(errors="replace")[start:end] == answer["text"]
    assert run("answer", "-q", WHO, input=text)[0] == answer["text"] + "\n"
    [record] = run_json("answer", "-q", WHO.encode() + b"\xff", input=text)
    assert record["question"] == WHO + "\ufffd" and record["answers"] == [answer]


def test_impossible_questions():
    never = ["answer", "-q", WHO, "--handle-impossible-answer", "--no-answer-threshold", "1e9", FOX]
    assert run(*never, code=1) == ("", f"bertqa: no answer to '{WHO}'\n")
    [record] = run_json(*never, code=1)
    assert record["answers"] == [] and record["is_impossible"] is True and record["gap"] < 1e9
    always = ["answer", "-q", WHO, "--handle-impossible-answer", "--no-answer-threshold", "-1e9", FOX]
    assert run(*always)[0] == "The quick brown fox\n"
    # The best guess nevertheless, with the code for none.
    [record] = run_json("answer", "-q", WHO, "--no-answer-threshold", "1e9", FOX, code=1)
    assert record["is_impossible"] is True and len(record["answers"]) == 1


@pytest.mark.parametrize("text", [b"", b" \n\t\n", b"\x00\x01"])
def test_nothing_to_read(text):
    output, errors = run("answer", "-q", WHO, input=text, code=1)
    assert output == "" and errors == f"bertqa: no answer to '{WHO}': there is no text\n"
    [record] = run_json("answer", "-q", WHO, input=text, code=1)
    assert record["answers"] == [] and record["is_document_empty"] is True and record["gap"] is None


def test_nothing_to_ask():
    assert run("answer", "-q", "", FOX, code=1) == ("", "bertqa: no answer to ''\n")
    [record] = run_json("answer", "-q", " ", FOX, code=1)
    assert record["is_question_empty"] is True


def test_one_answered_document_is_enough(tmp_path):
    empty = tmp_path / "empty.txt"
    empty.write_bytes(b"")
    assert run("answer", "-q", WHO, empty, FOX) == (f"{FOX}\tThe quick brown fox\n", "")
    assert run("answer", "-q", WHO, empty, empty, code=1)[0] == ""


def test_unreadable_files_do_not_stop_the_others(tmp_path):
    missing = tmp_path / "missing.txt"
    output, errors = run("answer", "-q", WHO, missing, FOX, tmp_path, code=3)
    assert output == f"{FOX}\tThe quick brown fox\n"
    first, second = errors.splitlines()
    assert first == f"bertqa: cannot read {missing}: No such file or directory"
    assert second == f"bertqa: {tmp_path}: is a directory, not a file: name its files"


def test_a_document_beyond_the_limit_is_refused(tmp_path):
    huge = tmp_path / "huge.txt"
    with open(huge, "wb") as file:
        file.truncate(1 << 31)
    for command in ["answer", "-q", WHO], ["tokenize", "--file"]:
        assert run(*command, huge, code=3) == (
            "",
            f"bertqa: {huge} has more than 2147483647 bytes, the most that a text may have: split it\n",
        )


def test_file_names_need_not_be_utf8(tmp_path):
    name = os.fsencode(tmp_path) + b"/\xff\n.txt"
    with open(name, "wb") as file:
        file.write(FOX.read_bytes())
    [record, _] = run_json("answer", "-q", WHO, name, FOX)
    assert record["file"] == f"{tmp_path}/\ufffd\n.txt"
    assert run("answer", "-q", WHO, name, FOX)[0].splitlines()[0] == f"{tmp_path}/\ufffd .txt\tThe quick brown fox"
    os.rename(name, name + b"x")
    assert "\ufffd" in run("answer", "-q", WHO, name, code=3)[1]


def test_partial():
    question = ["answer", "-q", "What happened to Apollo 13?", "--timeout", "1e-6", APOLLO]
    assert "took longer" in run(*question, code=3)[1]
    record = json.loads(run(*question, "--partial", "--json", code=1)[0])
    assert record["stop"] == "deadline" and record["answers"] == []


def test_windows_options():
    [record] = run_json("answer", "-q", "What happened to Apollo 13?", "--max-windows", "2", APOLLO)
    assert record["window_count"] == 2 and record["skipped_window_count"] > 10
    [whole] = run_json("answer", "-q", WHO, APOLLO, "--max-seq-len", "512", "--doc-stride=0", code=1)
    [parts] = run_json("answer", "-q", WHO, APOLLO, "--max-seq-len", "128", "--doc-stride", "32", code=1)
    assert 2 * whole["window_count"] < parts["window_count"]
    [record] = run_json("answer", "-q", WHO, FOX, "--max-answer-len", "1", "--no-align-to-words", code=None)
    assert len(record["answers"][0]["text"].split()) == 1
    [record] = run_json("answer", "-q", "who " * 9, FOX, "--max-question-len", "5", code=None)
    assert record["is_question_truncated"] is True
    [record] = run_json("answer", "-q", WHO, FOX, "--n-best-size", "1", "-k", "20", code=None)
    assert len(record["answers"]) == 1


def test_options_as_getopt_long_reads_them(tmp_path):
    dashed = tmp_path / "-q"
    dashed.write_bytes(FOX.read_bytes())
    expected = "The quick brown fox\n"
    assert run("answer", FOX, "--ques=" + WHO)[0] == expected
    assert run("answer", f"-q{WHO}", "-k1", FOX)[0] == expected
    assert run("answer", f"-q{WHO}", "--", "-q", cwd=tmp_path)[0] == expected


@pytest.mark.parametrize(
    "arguments, complaint",
    [
        ([], "no command was given"),
        (["--json"], "unknown option '--json'"),
        (["tell"], "no command is called 'tell';"),
        (["anwser"], "no command is called 'anwser' (did you mean 'answer'?);"),
        (["help", "filtre"], "no command is called 'filtre' (did you mean 'filter'?);"),
        (["help", "tell"], "no command is called 'tell'"),
        (["help", "answer", "info"], "one command at a time"),
        (["answer", FOX], "no --question was given"),
        (["answer", "-q"], "option '-q' needs a value"),
        (["answer", "--question"], "option '--question' needs a value"),
        (["answer", "-q", WHO, "--bogus"], "unknown option '--bogus';"),
        (["answer", "-q", WHO, "--max", "3"], "option '--max' may be --max-answer-len or --max-seq-len or"),
        (["answer", "-q", WHO, "--sentense"], "unknown option '--sentense' (did you mean '--sentence'?);"),
        (["answer", "-é"], "unknown option '-é'"),
        (["answer", "-hé"], "unknown option '-hé'"),
        (["answer", "-q", WHO, "--topk=3"], "unknown option '--topk=3' (did you mean '--top-k'?);"),
        (["answer", "-q", WHO, "-x"], "unknown option '-x'"),
        (["answer", "-q", WHO, "--json=yes"], "option '--json' takes no value"),
        (["answer", "-q", WHO, "-k", "many"], "--top-k takes a whole number, not 'many'"),
        (["answer", "-q", WHO, "-k", "9" * 30], "--top-k takes a whole number, not"),
        (["answer", "-q", WHO, "-k", "0", FOX], "--top-k is 0, but must be 1 to 1000"),
        (["answer", "-q", WHO, "-k", "1001", "missing"], "--top-k is 1001, but must be 1 to 1000"),
        (["answer", "-q", WHO, "--max-seq-len", "7", FOX], "--max-seq-len is 7, but must be at least 8"),
        (["answer", "-q", WHO, "--doc-stride", "-1", FOX], "--doc-stride is -1, but must be 0 to"),
        (["answer", "-q", WHO, "--max-answer-len", "0", FOX], "--max-answer-len is 0, but must be 1 to"),
        (["answer", "-q", WHO, "--max-question-len", "0", FOX], "--max-question-len is 0, but must be 1 to"),
        (["answer", "-q", WHO, "--max-windows", "-2", FOX], "--max-windows is -2, but must be at least -1"),
        (["answer", "-q", WHO, "--n-best-size", "-1", FOX], "--n-best-size is -1, but must be 0 to"),
        (["answer", "-q", WHO, "--no-answer-threshold", "nan"], "--no-answer-threshold takes a number, not 'nan'"),
        (["answer", "-q", WHO, "--threads", "-1", FOX], "threads is -1, but must be 0 to 1024"),
        (["answer", "-q", WHO, "--precision", "f64"], "--precision takes auto, f32, bf16, int8, not 'f64'"),
        (
            ["answer", "-q", WHO, "--isa", "mmx"],
            "--isa takes auto, portable, avx2, avx512, avx512_vnni, avx512_vnni_bf16, avx2_vnni, "
            "neon, neon_dotprod, neon_i8mm_bf16, avx512_amx, not 'mmx'",
        ),
        (["answer", "-q", WHO, "--color=red"], "--color takes auto, always, never, not 'red'"),
        (["tokenize", "text", "--file", FOX], "give either a text or --file"),
        (["tokenize", "--ids", "--json"], "use either --ids or --json"),
        (["answer", "-q", WHO, "--partial", FOX], "--partial needs --timeout"),
        (["classify", "--multi-label", "text"], "--multi-label needs --labels"),
        (["classify", "--hypothesis-template={}", "text"], "--hypothesis-template needs --labels"),
        *(
            (["entities", "--patterns=all", option, "text"], f"{option.partition('=')[0]} needs a model")
            for option in ("--aggregation=max", "--nested", "--max-seq-len=64", "--doc-stride=2")
        ),
        (["info", FOX], f"unexpected operand '{FOX}'"),
        (["quantize", "one"], "needs two directories"),
        (["quantize", "one", "two", "three"], "needs two directories"),
    ],
)
def test_wrong_usage(arguments, complaint):
    output, errors = run(*arguments, code=2)
    assert output == "" and complaint in errors
    assert re.search(r"; try 'bertqa( [a-z]+)? --help'\n$", errors) and errors.count("\n") == 1


@pytest.mark.parametrize(
    "command",
    [["answer", "-q", WHO], ["ask", FOX], ["classify"], ["embed"], ["entities"], ["predict"], ["predict", "--score"],
     ["predict", "--rank", "O"], ["generate"], ["filter", "-q", WHO], ["filter", "--task=classify"]],
)  # fmt: skip
def test_a_model_for_something_else_is_told_before_any_text_is_read(command):
    model = TINY.with_name("tiny-lstm" if command[0] not in ("predict", "generate") else "tiny-bert")
    reading, writing = os.pipe()
    os.write(writing, b"O\n")
    _, errors = run(*command, "-m", model, code=3, input=None, stdin=reading)
    assert errors.startswith(f"bertqa: {model} has the architecture ") and ", which cannot " in errors
    assert os.read(reading, 10) == b"O\n"
    os.close(reading), os.close(writing)


@pytest.mark.parametrize("command", [["answer", "-q", WHO, FOX], ["tokenize", "-f", FOX], ["info"]])
def test_unusable_models(command, tmp_path):
    output, errors = run(*command, "--model", tmp_path / "missing", code=3)
    assert output == "" and str(tmp_path / "missing") in errors
    (tmp_path / "config.json").write_text("{")
    (tmp_path / "vocab.txt").write_text("")
    assert run(*command, "-m", tmp_path, code=3)[0] == ""


# Terminals, pipes, full disks


@pytest.mark.parametrize("options", [[], ["--sentence"], ["-k", "1"]])
def test_a_terminal_shows_the_answer_once_in_its_sentence(options):
    command = ["answer", "-q", WHO, *options, FOX]
    shown = run_on_terminal(*command)
    assert HIGHLIGHT.findall(shown) == ["The quick brown fox"]
    probability, _, sentence = HIGHLIGHT.sub(r"\1", shown).rstrip().partition("  ")
    assert [probability, "The quick brown fox", sentence] == run(*command, "--sentence")[0].rstrip().split("\t")
    assert shown.count("\n") == 1 and shown.count("quick") == 1
    for arguments, variables in [
        ([], {"NO_COLOR": "1"}),
        ([], {"TERM": "dumb"}),
        (["--color=never"], {}),
    ]:
        plain = run_on_terminal(*command, *arguments, **variables)
        assert "\x1b" not in plain and "  [The quick brown fox] jumps over" in plain
    assert "\x1b" in run_on_terminal(*command, NO_COLOR="")


def test_highlight_elsewhere_than_on_a_terminal():
    command = ["answer", "-q", WHO, "--sentence", FOX]
    assert "\x1b" not in run(*command)[0]
    for arguments in ["--color=always"], ["--color"]:
        assert HIGHLIGHT.findall(run(*command, *arguments, env=environment(NO_COLOR="1"))[0])


def test_of_several_files_the_best_is_first(tmp_path):
    dull = tmp_path / "dull.txt"
    dull.write_text("Nothing happened. A cat slept near the house.")
    for order in [dull, FOX], [FOX, dull]:
        output, errors = run("answer", "-q", WHO, *order)
        assert output.splitlines()[0] == f"{FOX}\tThe quick brown fox" and output.count("\n") == 2 and errors == ""
        records = run_json("answer", "-q", WHO, *order)
        assert [record["file"] for record in records] == [str(FOX), str(dull)]
        assert records[0]["gap"] > records[1]["gap"]
    # Question by question.
    two = run("answer", "-q", "Who slept?", "-q", WHO, FOX, dull)[0].splitlines()
    assert [line.split("\t")[:2] for line in two] == [
        [str(dull), "Who slept?"], [str(FOX), "Who slept?"], [str(FOX), WHO], [str(dull), WHO],
    ]  # fmt: skip


def test_what_is_probably_no_answer_is_told():
    question = "What is the capital of Peru?"
    output, errors = run("answer", "-q", question, "-q", WHO, FOX, code=1)
    assert output.count("\n") == 2
    assert errors == (
        f"bertqa: the text does not seem to answer '{question}': the best passage is probably no answer\n"
    )
    # A script learns it by the exit code; with several files the best of them counts.
    assert run("answer", "-q", question, "--json", FOX, code=1)[1] == ""
    assert run("answer", "-q", WHO, "--json", FOX)[1] == ""
    assert run("answer", "-q", WHO, APOLLO, FOX)[1] == ""
    assert run("answer", "-q", question, "--no-answer-threshold", "-1e9", FOX)[1] == ""


def test_progress_of_long_work_is_shown_and_wiped():
    slowly = ["--threads", "1", "--isa", "portable", "--precision", "f32", "--max-windows", "10"]
    command = ["answer", "-q", WHO, *slowly, APOLLO]
    shown = run_on_terminal(*command, terminal_error=True, columns=500, code=1)
    bar = r"\d+ of 10 windows, \d+(\.\d)? /s, \d+ s( left)? \[#*\.*\]"
    assert re.search(rf"\r{re.escape(str(APOLLO))}: {bar}\x1b\[K", shown)
    assert all(len(found) == 20 for found in re.findall(r"\[([#.]+)\]", shown))
    shown, _, note = shown.rpartition("\r\x1b[K")
    assert "\n" not in shown and note.endswith("probably no answer\r\n")
    narrow = run_on_terminal(*command, terminal_error=True, columns=20, code=1)
    drawn = narrow.rpartition("\r\x1b[K")[0]
    assert max(len(line.replace("\x1b[K", "")) for line in drawn.split("\r")) == 19


def test_short_work_shows_no_progress():
    assert run_on_terminal("answer", "-q", WHO, FOX, terminal_error=True) == ""


@pytest.mark.parametrize(
    "command",
    [
        ["answer", "-q", WHO, FOX],
        ["answer", "-q", WHO, "--json", FOX],
        ["tokenize", "-f", APOLLO],
        ["info"],
        ["--help"],
    ],
)
def test_full_disk(command):
    with open("/dev/full", "wb") as full:
        result = subprocess.run([TOOL, *command], stdout=full, stderr=subprocess.PIPE, env=environment())
    assert result.returncode == 4
    assert result.stderr == b"bertqa: cannot write standard output: No space left on device\n"


@pytest.mark.parametrize("prepare, code", [(None, -signal.SIGPIPE), ("ignore", 4)])
def test_closed_pipe_is_quiet(prepare, code):
    def ignore():
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)

    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run(
        [TOOL, "tokenize", "--file", APOLLO], stdout=writer, stderr=subprocess.PIPE, env=environment(),
        restore_signals=prepare is None, preexec_fn=ignore if prepare else None,
    )  # fmt: skip
    os.close(writer)
    assert (result.returncode, result.stderr) == (code, b"")


def test_closed_standard_output():
    result = subprocess.run(["sh", "-c", f'"{TOOL}" --version >&-'], stderr=subprocess.PIPE, env=environment())
    assert result.returncode == 4 and b"cannot write standard output" in result.stderr
