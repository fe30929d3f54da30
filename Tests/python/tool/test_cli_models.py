"""`bertqa tokenize`, `bertqa info` and `bertqa quantize`."""

import pathlib
import subprocess
import sys

import pytest

from cli import FOX, MODEL, environment, run, run_json
from conftest import PACKAGE, TOOL
from samples import TINY

# tokenize


def test_tokenize():
    rows = [line.split("\t") for line in run("tokenize", "--file", FOX)[0].splitlines()]
    text = FOX.read_text()
    tokenizers = pytest.importorskip("tokenizers")
    reference = tokenizers.BertWordPieceTokenizer(str(MODEL / "vocab.txt")).encode(text, add_special_tokens=False)
    assert [int(row[0]) for row in rows] == reference.ids
    assert [row[1] for row in rows] == reference.tokens
    assert [(int(row[2]), int(row[3])) for row in rows] == reference.offsets
    assert [int(line) for line in run("tokenize", "--ids", "-f", FOX)[0].split()] == reference.ids
    [record] = run_json("tokenize", input=text.encode())
    assert record == {
        "file": "-",
        "ids": reference.ids,
        "tokens": reference.tokens,
        "bytes": [list(pair) for pair in reference.offsets],
    }


def test_special_tokens_are_text_unless_asked_for():
    assert len(run("tokenize", "--ids", input=b"[SEP]")[0].split()) == 3
    assert run("tokenize", "--parse-special-tokens", input=b"[SEP]")[0] == "102\t[SEP]\t0\t5\n"


def test_tokenize_with_a_vocabulary_alone():
    assert run("tokenize", "-m", MODEL / "vocab.txt", "-f", FOX) == run("tokenize", "--file", FOX)


def test_tokenize_of_nothing_and_of_anything():
    assert run("tokenize", input=b"") == ("", "")
    assert run_json("tokenize", input=b"") == [{"file": "-", "ids": [], "tokens": [], "bytes": []}]
    everything = bytes(range(256)) * 8
    [record] = run_json("tokenize", input=everything)
    assert all(0 <= start < end <= len(everything) for start, end in record["bytes"])
    assert run("tokenize", "--file", "missing.txt", code=3)[0] == ""


# info


def test_info():
    [record] = run_json("info", "--threads", "1", "--isa", "portable", "--precision", "f32")
    assert record["architecture"] == "BertForQuestionAnswering"
    assert (record["hidden_size"], record["num_hidden_layers"], record["vocab_size"]) == (384, 6, 30522)
    assert (record["threads"], record["isa"], record["precision"]) == (1, "portable", "f32")
    assert record["lowercase"] is True and record["max_position_embeddings"] == 512
    lines = dict(line.split(maxsplit=1) for line in run("info")[0].splitlines())
    assert set(lines) == set(record)
    assert pathlib.Path(lines["model"]).samefile(MODEL)
    assert lines["precision"] != "auto" and lines["isa"] != "auto"


def test_check_needs_the_package_and_transformers(tmp_path):
    """Tests/parity/test_variants.py has what it compares."""
    errors = run("info", "--check", TINY, code=3, env=environment(PATH=str(tmp_path)))[1]
    assert "--check needs Python 3 and its package bertqa" in errors
    assert "--json cannot be used with --check" in run("info", "--json", "--check", TINY, code=2)[1]
    (tmp_path / "python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (tmp_path / "python3").chmod(0o755)
    (tmp_path / "torch.py").write_text("raise ImportError('no torch here')")
    found = environment(PATH=str(tmp_path), PYTHONPATH=f"{tmp_path}:{PACKAGE}")
    output, errors = run("info", "--check", TINY, code=3, env=found)
    assert output == "" and "needs torch, transformers and sentence-transformers: no torch here" in errors


def test_default_model_of_a_tool_found_through_path(tmp_path):
    result = subprocess.run(
        ["bertqa", "info"], env=environment(PATH=str(TOOL.parent)), cwd=tmp_path, capture_output=True
    )
    assert result.returncode == 0, result.stderr


def test_default_model_from_the_environment(tmp_path):
    alone = tmp_path / "bertqa"
    alone.symlink_to(TOOL)
    assert subprocess.run([alone, "info"], env=environment(), capture_output=True).returncode == 0
    alone.unlink()
    alone.write_bytes(TOOL.read_bytes())
    alone.chmod(0o755)
    if any(pathlib.Path(prefix, "share/bertqa").exists() for prefix in ("/usr", "/usr/local")):
        pytest.skip("a default model is installed")
    result = subprocess.run([alone, "info"], env=environment(), capture_output=True)
    assert result.returncode == 3 and b"BERTQA_MODEL" in result.stderr
    result = subprocess.run([alone, "info"], env=environment(BERTQA_MODEL=str(MODEL)), capture_output=True)
    assert result.returncode == 0


# quantize


def files(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_quantize(tmp_path):
    numpy = pytest.importorskip("numpy")
    load_file = pytest.importorskip("safetensors.numpy").load_file
    new = tmp_path / "new"
    [report] = run_json("quantize", TINY, new, "--no-answer-threshold", "2.5")
    old_tensors, tensors = load_file(TINY / "model.safetensors"), load_file(new / "model.safetensors")
    squares = errors = count = 0
    for name, old in old_tensors.items():
        if tensors[name].dtype == numpy.int8:
            scale = tensors[f"{name}_scale"]
            assert scale.shape == old.shape[:1] and tensors[name].min() >= -127
            change = tensors[name] * scale[:, None].astype("f8") - old
            squares, errors, count = (
                squares + (old.astype("f8") ** 2).sum(),
                errors + (change**2).sum(),
                count + old.size,
            )
        else:
            assert (tensors[name] == old).all() and tensors[name].dtype == numpy.float32
    assert report["tensors"] == len(tensors) and report["int8_weights"] == count > 0
    assert report["bytes_after"] == (new / "model.safetensors").stat().st_size < report["bytes_before"]
    assert report["rms_weight"] == pytest.approx((squares / count) ** 0.5, rel=1e-4)
    assert report["rms_error"] == pytest.approx((errors / count) ** 0.5, rel=1e-3)
    assert report["rms_error"] < 0.02 * report["rms_weight"]

    [old_info], [info] = run_json("info", "-m", TINY), run_json("info", "-m", new)
    assert info["no_answer_threshold"] == 2.5
    assert {k: v for k, v in info.items() if k not in ("model", "no_answer_threshold", "precision")} == {
        k: v for k, v in old_info.items() if k not in ("model", "no_answer_threshold", "precision")
    }
    run("answer", "-m", new, "-q", "what", FOX, code=None)
    text = run("quantize", TINY, tmp_path / "again")[0]
    assert dict(line.split() for line in text.splitlines()) == {name: str(value) for name, value in report.items()}


def test_quantize_overwrites_nothing(tmp_path):
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "notes.txt").write_text("precious")
    assert "not empty" in run("quantize", TINY, taken, code=2)[1]
    assert files(taken) == {"notes.txt": b"precious"} and [*tmp_path.iterdir()] == [taken]


def test_quantize_of_what_cannot_be(tmp_path):
    assert run("quantize", tmp_path / "missing", tmp_path / "new", code=3)[0] == ""
    run("quantize", TINY, tmp_path / "no" / "where", code=3)
    truncated = tmp_path / "truncated"
    truncated.mkdir()
    for name, content in files(TINY).items():
        (truncated / name).write_bytes(content[:1000] if name == "model.safetensors" else content)
    assert "model.safetensors" in run("quantize", truncated, tmp_path / "new", code=3)[1]
    assert [*tmp_path.iterdir()] == [truncated]
