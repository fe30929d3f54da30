"""The tool's behaviour for files without text and for paths that are not model directories."""

import io
import json
import pathlib
import random
import shutil
import subprocess
import tarfile

import pytest

from cli import FOX, environment, run, run_json, run_records
from conftest import TOOL
from samples import TINY, WHO

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 90000000\n"
SENTENCE = "The quick brown fox jumps over the lethargic dog. Zo\xeb saw it, \u00e9t\u00e9 comme hiver, and \U0001f98a too."


def archive(text, form):
    """Returns a tar archive of one text."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=form) as tar:
        member = tarfile.TarInfo("a.txt")
        member.size = len(text)
        tar.addfile(member, io.BytesIO(text))
    return file.getvalue()


NO_TEXT = {
    "a PDF document": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< /Type /Catalog >>\nendobj\n",
    "a Git LFS pointer": POINTER,
    "a ZIP archive": b"PK\x03\x04\x14\x00\x06\x00" + bytes(64),
    "a Parquet file": b"PAR1\x15\x04" + bytes(64),
    "a tar archive": archive(SENTENCE.encode() * 1000, tarfile.GNU_FORMAT),
    "a tar archive: unpack it": archive(SENTENCE.encode() * 1000, tarfile.USTAR_FORMAT),
    "compressed with bzip2": b"BZh91AY&SY" + bytes(range(64)),
    "an SQLite database": b"SQLite format 3\0" + bytes(84),
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(64),
    "UTF-16 without a byte order mark: read it with --encoding UTF-16LE": SENTENCE.encode("utf-16-le"),
    "UTF-16 without a byte order mark: read it with --encoding UTF-16BE": SENTENCE.encode("utf-16-be"),
    "UTF-32": SENTENCE.encode("utf-32"),
    "a binary file": random.Random(5).randbytes(100_000),
    "a binary file, not text": b"".join(place.to_bytes(4, "big") for place in range(70_000, 1_000_000, 37)),
}


@pytest.mark.parametrize("kind", NO_TEXT)
def test_what_is_no_text_is_told(kind, tmp_path):
    file = tmp_path / "file"
    file.write_bytes(NO_TEXT[kind])
    output, errors = run("answer", "-q", WHO, file, FOX, code=3)
    assert output == f"{FOX}\tThe quick brown fox\n"
    assert (
        errors.startswith(f"bertqa: {file}: looks like {kind}") and "--force" in errors and errors.count("\n") == 1
    )
    assert run("answer", "-q", WHO, input=NO_TEXT[kind], code=3)[1].startswith(
        "bertqa: standard input: looks like"
    )
    for command in ["classify", "-f"], ["embed", "-f"], ["entities", "--patterns", "email", "-f"]:
        assert f"looks like {kind}" in run(*command, file, code=3)[1]
    run("tokenize", "-f", file)


@pytest.mark.parametrize("kind", NO_TEXT)
def test_force_reads_on(kind, tmp_path):
    file = tmp_path / "file"
    file.write_bytes(NO_TEXT[kind])
    result = subprocess.run(
        [TOOL, "answer", "--force", "--json", "-q", WHO, file], capture_output=True, env=environment()
    )
    assert result.returncode in (0, 1) and b"looks like" not in result.stderr
    for answer in json.loads(result.stdout)["answers"]:
        assert NO_TEXT[kind][slice(*answer["bytes"])].decode(errors="replace") == answer["text"]


@pytest.mark.parametrize(
    "text",
    [
        SENTENCE.encode(),
        b"\xef\xbb\xbf" + SENTENCE.encode(),
        "Le ma\xeetre \xe9tait l\xe0, pr\xe8s de la for\xeat, o\xf9 le renard dormait.".encode("latin-1"),
        b"\x1b[1mbold\x1b[0m text of a terminal, with \x08 back spaces and \x0c pages \x08\x08\x08",
        b"a\0b\0", b"\xff\0\xfe", b"one NUL\0 in a text of some length is no reason to refuse it",
        "\u6f22\u5b57\u304b\u306a\u4ea4\u3058\u308a\u6587".encode(),
    ],
)  # fmt: skip
def test_texts_are_read(text):
    assert "looks like" not in run("answer", "-q", WHO, "--json", input=text, code=None)[1]


@pytest.mark.parametrize("order", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    "text", [SENTENCE, "\u6f22\u5b57\u304b\u306a\u4ea4\u3058\u308a\u6587\u3067\u3059\u3002" * 9]
)
def test_utf16_with_a_mark_is_converted(order, text, tmp_path):
    file = tmp_path / "windows.txt"
    file.write_bytes(("\ufeff" + text).encode(order))
    [record] = run_json("answer", "-q", WHO, file, code=None)
    [answer] = record["answers"]
    assert text.encode()[slice(*answer["bytes"])].decode() == answer["text"]
    assert text[slice(*answer["code_points"])] == answer["text"]
    expected = run("answer", "-q", WHO, input=text.encode(), code=None)[0]
    output, errors = run("answer", "-q", WHO, file, code=None)
    assert output == expected
    assert errors.startswith(f"bertqa: note: {file} is UTF-16 and was converted: ranges count in UTF-8\n")
    # Half a pair, and half a unit that makes it no UTF-16 at all.
    half = ("\ufeff" + "a fox").encode(order) + "\ud83e".encode(order, "surrogatepass")
    run("tokenize", "-f", "-", input=half)


def test_a_name_of_the_hub_is_told(tmp_path):
    for command in ["answer", "-q", WHO, FOX], ["tokenize", "a"], ["info"]:
        output, errors = run(*command, "-m", "some-org/some.model_v2", code=3)
        assert output == "" and "Hugging Face Hub" in errors and "this library downloads nothing" in errors
    # A path whose directory is there is one that was mistyped.
    (tmp_path / "models").mkdir()
    assert "Hub" not in run("info", "-m", "models/mistyped", code=3, cwd=tmp_path)[1]
    assert "Hub" not in run("info", "-m", tmp_path / "a", code=3)[1]


def test_a_mistyped_name_of_a_model_is_told(tmp_path):
    for command in ["answer", "-q", WHO, FOX], ["tokenize", "a"], ["embed", "a"]:
        output, errors = run(*command, "-m", "embed-minilm", code=3)
        assert (output, errors) == (
            "", "bertqa: embed-minilm: cannot open, and no model of this name is installed: No such file or directory\n",
        )  # fmt: skip
        errors = run(*command, "-m", tmp_path / "a", code=3)[1]
        assert errors == f"bertqa: {tmp_path}/a: cannot open: No such file or directory\n"


@pytest.mark.parametrize("option", ["--encoding=latin1", "--force"])
def test_options_of_files_are_refused_for_texts(option):
    for command in "classify", "embed", "entities", "predict", "generate":
        assert f"{option.partition('=')[0]} is for files" in run(command, option, "a text", code=2)[1]


def test_pointers_in_the_place_of_models_are_told(tmp_path):
    model = tmp_path / "model"
    shutil.copytree(TINY, model)
    (model / "model.safetensors").unlink()
    (model / "model.safetensors").write_bytes(POINTER)
    for path in model, model / "model.safetensors":
        errors = run("info", "-m", path, code=3)[1]
        assert "is a Git LFS pointer" in errors and "git lfs pull" in errors
    (tmp_path / "file").write_text("a")
    assert "is a file, not a model's directory" in run("info", "-m", tmp_path / "file", code=3)[1]


def test_the_library_tells_of_them_too(tmp_path):
    import bertqa

    with pytest.raises(OSError, match="Hugging Face Hub"):
        bertqa.Context("some-org/some-model")
    pointer = pathlib.Path(tmp_path / "tokenizer.json")
    pointer.write_bytes(POINTER)
    with pytest.raises(bertqa.BertQAError, match="is a Git LFS pointer"):
        bertqa.Context(tmp_path, tokenizer_only=True)


@pytest.mark.parametrize("command", [
    ["classify"], ["entities"], ["generate", "--max-words", "3"], ["predict", "-k", "3"], ["predict", "--score"],
    ["predict", "--rank", "O"], ["tokenize"], ["tokenize", "--ids"],
], ids=" ".join)  # fmt: skip
def test_lines_begin_with_the_file_if_there_are_several(command, tmp_path):
    texts = {"a": "The government won the election in Paris.\n", "b": "Arsenal won the match in London.\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    files = [tmp_path / name for name in texts]
    alone = [f"{file}\t{line}" for file in files for line in run(*command, "-f", file)[0].splitlines()]
    assert len(alone) >= len(files)
    together = run(*command, *(f"--file={file}" for file in files))[0].splitlines()
    if "--rank" in command:
        alone, together = sorted(alone), sorted(together)
    assert together == alone


@pytest.mark.parametrize("command", [
    ["classify", "--json", "-k", "9", "-m", TINY.with_name("tiny-modernbert-classifier")],
    ["embed", "-m", TINY.with_name("tiny-modernbert-embedder")],
    ["predict", "--json", "-m", TINY.with_name("tiny-lstm-characters")],
    ["generate", "--json", "--max-words", "5", "-m", TINY.with_name("tiny-lstm-characters")],
], ids=lambda command: command[0])  # fmt: skip
def test_marks_and_line_ends_of_a_file_are_no_text(command):
    """Models of bytes and of characters would read them as words."""
    expected = run_records(*command, "abc fox king")
    for mark in (b"", b"\xef\xbb\xbf"):
        for end in (b"", b"\n", b"\r\n"):
            assert run_records(*command, "--file", "-", input=mark + b"abc fox king" + end) == [
                {**record, "file": "-"} for record in expected
            ]


@pytest.mark.parametrize("command", [
    ["embed", "--lines", "-m", TINY.with_name("tiny-modernbert-embedder")],
    ["predict", "--score", "--json", "-m", TINY.with_name("tiny-lstm-characters")],
    ["predict", "--rank", "a", "--json", "-m", TINY.with_name("tiny-lstm-characters")],
], ids=["embed", "score", "rank"])  # fmt: skip
def test_lines_with_other_ends(command):
    lines = [b"abc", b"the fox", b"", b"a king"]
    if "embed" not in command:
        lines.remove(b"")
    expected = run_records(*command, "--file", "-", input=b"\n".join(lines) + b"\n")
    assert len(expected) == len(lines)
    text = b"\xef\xbb\xbf" + b"\r\n".join(lines) + b"\r\n"
    assert run_records(*command, "--file", "-", input=text) == expected
