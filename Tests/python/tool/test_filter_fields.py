"""`bertqa filter --fields`: a compact result with the same values as the whole one."""

import csv
import io
import json

import pytest

from conftest import FIXTURES
from filtering import compact, run

FOX = "The quick 🦊 jumps over the lethargic dog. It slept."
RECORD = compact({"text": FOX}) + b"\n"
WHO = ["filter", "-q", "Who jumps over the dog?"]
CLASSIFY = ["filter", "--task=classify", "-m", FIXTURES / "tiny-bert-classifier"]


def result(*arguments, input=RECORD):
    return json.loads(run(*arguments, input=input)[0])["bertqa"]


def row(*arguments, text=FOX):
    """The result's columns of a table."""
    table = io.StringIO()
    csv.writer(table).writerows([["text"], [text]])
    output, _ = run(*arguments, "--format=csv", input=table.getvalue().encode())
    header, values = csv.reader(io.StringIO(output.decode()))
    assert header[-1] == "bertqa_error" and values[-1] == ""
    return {name.removeprefix("bertqa_"): value for name, value in zip(header[1:-1], values[1:-1])}


def cells(fields):
    """The values as a table spells them."""
    return {
        name: "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in fields.items()
    }


def names_in_help(task):
    text = " ".join(run("filter", "--help")[0].decode().split())
    return text.split(f"with --task {task}: ")[1].split(";")[0].split(". start")[0].split(", ")


def flat_answer(found, answer):
    first = {} if answer is None else answer
    start, end = first.get("code_points", [None] * 2)
    byte_start, byte_end = first.get("bytes", [None] * 2)
    utf16_start, utf16_end = first.get("utf16", [None] * 2)
    return {
        "question": found["question"],
        "answer": first.get("text"),
        "sentence": first.get("sentence", {}).get("text"),
        "score": first.get("score"),
        "probability": first.get("probability"),
        "gap": first.get("gap", found["gap"]),
        "start": start,
        "end": end,
        "byte_start": byte_start,
        "byte_end": byte_end,
        "utf16_start": utf16_start,
        "utf16_end": utf16_end,
        **{name: found[name] for name in ("is_impossible", "null_score", "no_answer_probability", "window_count")},
    }


@pytest.mark.parametrize("text", [FOX, "", "Nothing here."])
def test_answers(text):
    record = compact({"text": text}) + b"\n"
    options = [*WHO, "--handle-impossible-answer"]
    found = result(*options, input=record)
    expected = flat_answer(found, found["answers"][0] if found["answers"] else None)
    names = names_in_help("answer")
    assert names == list(expected)
    assert result(*options, "--fields", ",".join(names), input=record) == expected
    assert row(*options, "--fields", ",".join(names), text=text) == cells(expected)


def test_several_answers_are_an_array():
    found = result(*WHO, "-k", "3")
    expected = [
        {name: flat_answer(found, answer)[name] for name in ("probability", "answer")}
        for answer in found["answers"]
    ]
    assert len(expected) == 3
    assert result(*WHO, "-k", "3", "--fields=probability, answer") == expected
    # In the order in which they are named.
    assert list(result(*WHO, "--fields=probability,answer")) == ["probability", "answer"]


def test_several_questions():
    first, second = result(*WHO, "-q", "What slept?", "--fields=answer,question")
    assert first == result(*WHO, "--fields=answer,question")
    assert second["question"] == "What slept?"
    assert row(*WHO, "-q", "What slept?", "--fields=answer") == {
        "1_answer": first["answer"],
        "2_answer": second["answer"],
    }


def test_labels():
    found = result(*CLASSIFY)
    names = names_in_help("classify")
    whole = {name: found[name] for name in names[4:]}
    labels = [label | whole for label in found["labels"]]
    assert names == list(labels[0])
    options = [*CLASSIFY, "--fields", ",".join(names)]
    assert result(*options) == result(*options, "-k", "1") == labels[0]
    assert result(*options, "-k", "2") == labels[:2]
    assert row(*options) == cells(labels[0])
    output, _ = run(*CLASSIFY, "-k", "1", "--fields=label,probability", input=RECORD)
    best = found["labels"][0]
    assert output == RECORD[:-2] + b',"bertqa":%s}\n' % compact(
        {"label": best["label"], "probability": best["probability"]}
    )


def test_entities():
    options = ["filter", "--task=entities", "--patterns=all"]
    record = compact({"text": "🦊 a@example.org, 10.0.0.1"})
    found = result(*options, input=record)["entities"]
    names = names_in_help("entities")
    expected = [
        dict(
            zip(
                names,
                [e["label"], e["text"], *e["code_points"], *e["bytes"], *e["utf16"]]
                + [e[name] for name in ("score", "rule", "checksum", "context")],
            )
        )
        for e in found
    ]
    assert len(expected) == 2 and len(names) == 12
    assert result(*options, "--fields", ",".join(names), input=record) == expected
    cell = row(*options, "--fields=text,label", text="a@example.org")["entities"]
    assert json.loads(cell) == [{"text": "a@example.org", "label": "EMAIL"}]
    assert result(*options, "--fields=label", input=b'{"text":""}') == []


def test_vectors_and_tokens():
    options = ["filter", "--task=embed", "-m", FIXTURES / "tiny-bert-embedder"]
    vector = result(*options)
    assert result(*options, "--fields=window_count,embedding") == {"window_count": 1, "embedding": vector}
    assert names_in_help("embed") == ["embedding", "window_count"]
    cell = row(*options, "--fields=window_count,embedding")
    assert cell["window_count"] == "1" and [float(x) for x in cell["embedding"].split()] == vector
    options = ["filter", "--task=tokenize", "-m", FIXTURES / "tiny-bert"]
    found = result(*options)
    assert names_in_help("tokenize") == ["ids", "tokens", "bytes", "token_count"]
    expected = {"token_count": len(found["ids"])} | found
    assert result(*options, "--fields=token_count,ids,tokens,bytes") == expected
    cell = row(*options, "--fields=token_count,ids,tokens,bytes")
    assert cell["ids"].split() == [str(n) for n in found["ids"]] and cell["token_count"] == str(len(found["ids"]))
    assert json.loads(cell["tokens"]) == found["tokens"] and json.loads(cell["bytes"]) == found["bytes"]


@pytest.mark.parametrize("fields", ["lable", "label,", "", "label,label", "answer"])
def test_unknown_fields_are_refused_with_the_list(fields):
    [error] = run(*CLASSIFY, "--fields", fields, code=2)[1]
    assert error.startswith(
        "bertqa: --fields takes label, id, probability, logit, problem_type, is_too_short, is_none, distinct_word_count, "
        f"window_count, separated by commas and each once with --task classify, not '{fields}'"
    )


def test_what_it_does_not_go_with():
    options = ["filter", "--task=entities", "--patterns=all", "--redact", "--fields=label"]
    assert "--fields cannot be used with --redact" in run(*options, code=2)[1][0]
    assert (
        "--fields cannot be used with --ids"
        in run("filter", "--task=tokenize", "--ids", "--fields=ids", code=2)[1][0]
    )


def test_a_checkpoint_is_of_the_same_fields(tmp_path):
    source = tmp_path / "in"
    source.write_bytes(RECORD)
    options = [*CLASSIFY, source, "-o", tmp_path / "out", "--resume", tmp_path / "checkpoint"]
    run(*options, "--fields=label")
    run(*options, "--fields= label")
    assert "other arguments" in run(*options, "--fields=label,id", code=3)[1][0]
