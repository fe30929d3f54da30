"""--timeout, --max-bytes and --max-document-tokens: the limits of one call, in every command that works on
texts."""

import json
import re
import resource
import subprocess
import sys

import pytest

from conftest import FIXTURES, TOOL
from filtering import DONE, RECORD, TOKENS, compact, environment, run, summary

TEXT = "the king of france jumped over the quick brown dog " * 400
LATE = "took longer than --timeout allows"
LARGE = "--max-bytes is 64, but the call already needs "
LONG = "--max-document-tokens is 3, but a text has more tokens: split it or raise the limit"


def model(name):
    return ["-m", FIXTURES / name]


# Every command with a model of seconds, and how it names what was above the limit: a file, or nothing.
COMMANDS = {
    "answer": ["answer", "-q", "who?", *model("tiny-bert")],
    "classify": ["classify", *model("tiny-bert-classifier"), "-f"],
    "entities": ["entities", *model("tiny-bert-entities"), "-f"],
    "embed": ["embed", *model("tiny-bert-embedder"), "-f"],
    "predict": ["predict", *model("tiny-lstm"), "-f"],
    "score": ["predict", "--score", *model("tiny-lstm"), "-f"],
    "generate": ["generate", *model("tiny-lstm"), "-f"],
    "tokenize": ["tokenize", *model("tiny-bert"), "-f"],
}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize(
    "limit, complaint", [("--timeout=0", LATE), ("--max-bytes=64", LARGE), ("--max-document-tokens=3", LONG)]
)
def test_what_is_above_a_limit_is_told(name, limit, complaint, tmp_path):
    file = tmp_path / "text"
    file.write_text(TEXT)
    output, errors = run(*COMMANDS[name], file, limit, code=3)
    place = f"{file}: line 1" if name == "score" else file
    assert errors[0].startswith(f"bertqa: {place}: {complaint}") and len(errors) == 1
    # A continuation may have begun; what is embedded is told first.
    assert output == b""
    wide = ["--timeout=3600", "--max-bytes=1G", "--max-document-tokens=1000000"]
    assert run(*COMMANDS[name], file, *wide, code=None) == run(*COMMANDS[name], file, code=None)


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - {"embed"}))
def test_the_other_files_are_done(name, tmp_path):
    files = [tmp_path / part for part in ("long", "short")]
    files[0].write_text(TEXT)
    files[1].write_text("the king jumped over a dog")
    given = files if name == "answer" else [files[0], "-f", files[1]]
    output, errors = run(*COMMANDS[name], *given, "--max-document-tokens=30", code=3)
    assert len(errors) == 1 and "max-document-tokens" in errors[0] and str(files[0]) in errors[0]
    assert output and str(files[0]).encode() not in output


@pytest.mark.parametrize(
    "arguments",
    [
        *([*command, "/dev/zero"] for command in COMMANDS.values()),
        ["classify", "--force", "--encoding=UTF-16LE", "-f", "/dev/zero"],
        ["entities", "--rules=/dev/zero", "a"],
        ["filter", "--task=classify", "--format=csv", "/dev/zero"],
        ["restore", "--mapping=/dev/null", "/dev/zero"],
        ["restore", "--mapping=/dev/null", "--format=csv", "/dev/zero"],
        ["restore", "--mapping=/dev/zero"],
        ["train-classifier", "-o", "model", "/dev/zero"],
        ["train-classifier", "--format=csv", "-o", "model", "/dev/zero"],
    ],
    ids=lambda arguments: " ".join(str(argument) for argument in arguments if "tiny" not in str(argument)),
)
def test_an_endless_file_is_refused(arguments, tmp_path):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (512 << 20, 512 << 20))

    result = subprocess.run(
        [TOOL, *arguments], input=b"", capture_output=True, timeout=60, env=environment(), preexec_fn=limit,
        cwd=tmp_path,
    )  # fmt: skip
    assert result.returncode in (3, 4) and result.stdout == b"", result
    assert re.fullmatch(rb"bertqa: .*(not enough memory for|has more than|looks like) .*\n", result.stderr)
    assert list(tmp_path.iterdir()) == []


def test_a_generation_that_takes_too_long_keeps_its_words(tmp_path):
    prompt = tmp_path / "prompt"
    prompt.write_text("O")
    # The most probable words repeat without an end; a million of them take seconds.
    endless = ["--max-words=1000000", "--temperature=0", "--timeout=0.1"]
    output, errors = run("generate", *model("tiny-lstm"), *endless, "-f", prompt, "-f", prompt, code=3)
    assert errors == [f"bertqa: {prompt}: {LATE}"] * 2
    words = [len(line.split()) for line in output.splitlines()]
    assert len(words) == 2 and all(0 < count < 1_000_000 for count in words)


def test_a_ranking_is_one_call(tmp_path):
    lines = tmp_path / "lines"
    lines.write_text("good night\ngood light\n" * 200)
    arguments = ["predict", "--rank", *model("tiny-lstm"), "Good night,", "-f", lines]
    assert run(*arguments, "--timeout=0", code=3)[1] == [f"bertqa: {LATE}"]
    assert LARGE in run(*arguments, "--max-bytes=64", code=3)[1][0]
    assert run(*arguments, "--timeout=3600") == run(*arguments)


def test_questions_above_a_limit_are_told_and_the_next_is_asked(tmp_path):
    file = tmp_path / "text"
    file.write_text(TEXT)
    output, errors = run(
        "ask", *model("tiny-bert"), file, "--max-document-tokens=3", input=b"who?\nwhere?\n", code=1
    )
    assert output == b"" and len(errors) == 2 and all("--max-document-tokens is 3" in error for error in errors)
    assert run("ask", *model("tiny-bert"), file, "--timeout=0", input=b"who?\n", code=1)[1] == [f"bertqa: {LATE}"]


def test_quantize_in_time(tmp_path):
    arguments = ["quantize", FIXTURES / "tiny-bert", tmp_path / "int8"]
    assert run(*arguments, "--timeout=0", code=3)[1] == [f"bertqa: {LATE}"]
    assert not (tmp_path / "int8").exists()
    run(*arguments, "--timeout=3600")


def test_training(tmp_path):
    data, held = tmp_path / "data.jsonl", tmp_path / "held.jsonl"
    texts = ["a goal in the match", "the vote on the bill"] * 20
    lines = [compact({"text": text, "label": text[:3]}) + b"\n" for text in texts]
    data.write_bytes(b"".join(lines))
    held.write_bytes(compact({"text": "word " * 50, "label": "the"}) + b"\n" + lines[0])
    target = tmp_path / "model"
    arguments = ["train-classifier", data, "-o", target]
    for limit, complaint in [("--timeout=0", LATE), ("--max-bytes=64", "--max-bytes is 64, but")]:
        # Skipping goes for records, not for what ends the training.
        for skip in [], ["--on-error=skip"]:
            errors = run(*arguments, limit, *skip, code=3)[1]
            assert complaint in errors[0] and len(errors) == 1, errors
            assert not target.exists()
    assert "line 1: --max-document-tokens is 2" in run(*arguments, "--max-document-tokens=2", code=3)[1][0]
    long = ["--holdout", held, "--max-document-tokens=10", "--on-error=skip"]
    assert run(*arguments, *long, "--timeout=3600", "--max-bytes=1G")[1] == []


@pytest.mark.parametrize("features", ["words", "embedding"])
def test_texts_of_a_training_do_not_add_up_twice(features, tmp_path):
    """What the training holds counts once, however many texts there are, and so does each held-out text."""
    data, held = tmp_path / "data.jsonl", tmp_path / "held.jsonl"
    texts = ["a goal in the match", "the vote on the bill"] * 2000
    data.write_bytes(b"".join(compact({"text": text, "label": text[:3]}) + b"\n" for text in texts))
    held.write_bytes(data.read_bytes() * 4)
    arguments = ["train-classifier", data, "--holdout", held, "-o", tmp_path / "model", "--folds=0"]
    if features == "embedding":
        arguments += ["--features=embedding", *model("tiny-bert-embedder")]
    assert run(*arguments, "--max-bytes=3M")[1] == []


def test_the_vectors_of_each_slice_have_the_memory_for_themselves(tmp_path):
    lines = tmp_path / "lines"
    arguments = ["embed", "--tokens", "--lines", *model("tiny-bert-embedder"), "-f", lines, "--max-bytes=1M"]
    lines.write_text("the king of france jumped\n" * 1024)
    once = run(*arguments)[0]
    lines.write_text("the king of france jumped\n" * 4096)
    assert run(*arguments)[0].count(b"\n") == 4 * once.count(b"\n")


# The filter: limits of each record


@pytest.mark.parametrize("batch", [1, 3, 64])
@pytest.mark.parametrize(
    "task, name",
    [("answer", "tiny-bert"), ("classify", "tiny-bert-classifier"), ("embed", "tiny-bert-embedder"),
     ("entities", "tiny-bert-entities"), ("tokenize", "tiny-bert")],
)  # fmt: skip
def test_a_record_above_a_limit_fails_alone(task, name, batch, tmp_path):
    """Whatever else is in the batch; records below the limit are not added up."""
    arguments = ["filter", "--task", task, *model(name), f"--batch-size={batch}", "--stats", tmp_path / "stats"]
    arguments += ["-q", "who?"] if task == "answer" else []
    small, large = compact({"text": "the king of france"}) + b"\n", compact({"text": TEXT}) + b"\n"
    data = small * 10 + large + small * 10
    expected = run(*arguments, input=data)[0].splitlines()
    for limit, complaint in [
        ("--max-bytes=6000", "--max-bytes is 6000, but"), ("--max-document-tokens=20", "max-document-tokens")
    ]:  # fmt: skip
        output, errors = run(*arguments, limit, input=data, code=1)
        output = output.splitlines()
        assert output[:10] == expected[:10] and output[11:] == expected[11:]
        record = json.loads(output[10])
        assert record["bertqa"] is None and complaint in record["bertqa_error"]
        assert len(errors) == 1 and "line 11:" in errors[0]
        assert summary(tmp_path / "stats")["failed_by_kind"]["refused"] == 1


def test_a_redaction_above_a_limit_fails_alone():
    arguments = ["filter", "--task=entities", "--patterns=email", "--redact", "--output-field=text"]
    small, large = compact({"text": "ana@x.es"}) + b"\n", compact({"text": "ana@x.es" + 9000 * " x"}) + b"\n"
    output, errors = run(*arguments, "--max-bytes=9000", input=small + large + small, code=1)
    redacted = compact({"text": "[EMAIL]"})
    first, failed, last = output.splitlines()
    assert first == last == redacted and "--max-bytes is 9000, but" in json.loads(failed)["text_error"]
    assert len(errors) == 1 and "line 2:" in errors[0]
    assert run(*arguments, "--max-bytes=1M", input=small)[0] == redacted + b"\n"


MEASURE = """import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:])
_, status, usage = os.wait4(process.pid, 0)
assert os.waitstatus_to_exitcode(status) in (0, 1)
print(usage.ru_maxrss)
"""


@pytest.mark.parametrize("form", ["jsonl", "csv"])
@pytest.mark.parametrize("record_bytes", [1 << 12, 1 << 22])
def test_the_process_stays_within_the_limit(form, record_bytes, tmp_path):
    """Results that take fifty times the text are refused, or only a few are in memory at once."""

    def peak(text, *limit):
        record = f'{{"text": "{text}"}}\n' if form == "jsonl" else f"{text}\n"
        path = tmp_path / f"in.{form}"
        path.write_text(("" if form == "jsonl" else "text\n") + record * max(1, (1 << 22) // record_bytes))
        command = [
            TOOL,
            "filter",
            "--task=entities",
            "--patterns=all",
            "--quiet",
            *limit,
            path,
            "-o",
            tmp_path / "out",
        ]
        # A process begins with the peak of the one that started it: a small one starts the tool.
        small = [sys.executable, "-c", MEASURE, *command]
        result = subprocess.run(small, env=environment(), stdout=subprocess.PIPE, check=True)
        return int(result.stdout) * 1024

    dense, dull = "::1 " * (record_bytes // 4), "abc " * (record_bytes // 4)
    limit = 16 << 20
    growth = peak(dense, f"--max-bytes={limit}") - peak(dull, f"--max-bytes={limit}")
    assert growth < limit + (4 << 20), growth
    # Without a limit it is as much as there is.
    if record_bytes > 1 << 20:
        assert peak(dense) - peak(dull) > 4 * limit


def test_a_record_that_takes_too_long_fails(tmp_path):
    arguments = [*TOKENS, "--timeout=0", "--stats", tmp_path / "stats", "--batch-size=4"]
    output, errors = run(*arguments, input=RECORD * 10, code=1)
    assert [json.loads(line) for line in output.splitlines()] == [
        {"text": "a b", "bertqa": None, "bertqa_error": LATE}
    ] * 10
    assert len(errors) == 10 and all(LATE in error for error in errors)
    assert summary(tmp_path / "stats")["failed_by_kind"]["deadline_exceeded"] == 10
    assert run(*TOKENS, "--timeout=3600", input=RECORD * 10)[0] == DONE * 10


def test_records_beside_one_that_takes_too_long_are_done(tmp_path):
    """Three megabytes with a question each take minutes; 5 seconds are far more than the others need."""
    question = [f"-q=who {number}" for number in range(50)]
    arguments = ["filter", *model("tiny-bert"), *question, "--isa=portable", "--threads=1", "--timeout=5"]
    small, large = compact({"text": "the king"}) + b"\n", compact({"text": TEXT * 150}) + b"\n"
    output, errors = run(*arguments, "--batch-size=2", input=small + large + small, code=1)
    first, second, third = map(json.loads, output.splitlines())
    assert first == third and len(first["bertqa"]) == 50
    assert second["bertqa_error"] == LATE and len(errors) == 1


def test_limits_are_part_of_what_a_checkpoint_is_of(tmp_path):
    source = tmp_path / "in"
    source.write_bytes(RECORD)
    arguments = [*TOKENS, source, "-o", tmp_path / "out", "--resume", tmp_path / "c"]
    run(*arguments, "--timeout=60")
    for other in [], ["--timeout=61"], ["--timeout=60", "--max-bytes=1M"]:
        assert "other arguments" in run(*arguments, *other, code=3)[1][0]
    run(*arguments, "--timeout=60.0")


@pytest.mark.parametrize(
    "arguments, complaint",
    [
        (["--timeout=-1"], "--timeout is -1, but must be 0 seconds or more"),
        (["--timeout=soon"], "--timeout takes a number"),
        (["--max-bytes=0"], "--max-bytes takes a number of bytes"),
        (["--max-document-tokens=0"], "--max-document-tokens is 0, but must be at least 1"),
    ],
)
def test_wrong_usage(arguments, complaint):
    for command in [COMMANDS["classify"][:-1], TOKENS]:
        assert complaint in run(*command, *arguments, input=b"a", code=2)[1][0]
