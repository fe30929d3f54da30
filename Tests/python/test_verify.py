"""bertqa info --verify: the default models and their SHA256SUMS, and what is found where they differ."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess

import pytest

from conftest import PREFIX, ROOT, clean_environment

TOOL = PREFIX / "bin" / "bertqa"
MODELS = PREFIX / "share" / "bertqa" / "models"


def verify(*arguments, code=0, tool=TOOL):
    """Standard output and error of `bertqa info --verify`. It must not wait for anything."""
    command = [tool, "info", "--verify", *arguments]
    result = subprocess.run(command, capture_output=True, timeout=60, env=clean_environment())
    assert result.returncode == code, (result.returncode, result.stdout, result.stderr)
    return result.stdout.decode(), result.stderr.decode()


def findings(directory, code=0):
    """{file: finding} of the one directory."""
    result = json.loads(verify("--json", directory, code=code)[0])
    [model] = result["models"]
    assert model["model"] == str(directory)
    assert result["verified"] == model["verified"] == (code == 0)
    return model["files"]


def write_manifest(directory, names):
    lines = [f"{hashlib.sha256((directory / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    (directory / "SHA256SUMS").write_text("".join(lines))


@pytest.fixture
def model(tmp_path):
    """A directory with its manifest; what the files hold does not matter here."""
    directory = tmp_path / "model"
    (directory / "1_Pooling").mkdir(parents=True)
    names = ["config.json", "1_Pooling/config.json", "vocab.txt"]
    for name in names:
        (directory / name).write_text(name)
    write_manifest(directory, names)
    return directory


# The committed models


def test_committed_manifests_are_up_to_date():
    """Fails when a model was changed without `make manifests`."""
    result = subprocess.run([ROOT / "Scripts" / "manifests.sh", "--check"], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    assert sorted(path.parent.name for path in ROOT.glob("models/*/SHA256SUMS")) == sorted(
        path.name for path in (ROOT / "models").iterdir()
    )


def test_the_check_of_manifests_can_fail(tmp_path):
    shutil.copytree(ROOT / "Scripts", tmp_path / "Scripts")
    shutil.copytree(ROOT / "models" / "topics-words", tmp_path / "models" / "topics-words")
    check = [tmp_path / "Scripts" / "manifests.sh", "--check"]
    assert subprocess.run(check).returncode == 0
    with open(tmp_path / "models" / "topics-words" / "config.json", "a") as file:
        file.write(" ")
    result = subprocess.run(check, capture_output=True, text=True)
    assert result.returncode == 1 and "topics-words" in result.stderr and "make manifests" in result.stderr
    subprocess.run(check[:1], check=True)
    assert subprocess.run(check).returncode == 0
    assert findings(tmp_path / "models" / "topics-words")["config.json"] == "ok"


def test_default_models():
    models = sorted(path.name for path in MODELS.iterdir())
    text = verify()[0]
    assert sorted(pathlib.Path(line.split("\t")[1].split(": ")[0]).name for line in text.splitlines()) == models
    assert all(line.startswith("ok\t") for line in text.splitlines())
    result = json.loads(verify("--json")[0])
    assert result["verified"] is True and len(result["models"]) == len(models)
    for model in result["models"]:
        listed = {
            line.split("  ")[1]: "ok"
            for line in (pathlib.Path(model["model"]) / "SHA256SUMS").open().read().split("\n")[:-1]
        }
        assert model["files"] == listed


def test_a_damaged_installation(tmp_path):
    """One bit of a model is not what it was; the tool beside it says so. Then a model lacks its configuration."""
    (tmp_path / "bin").mkdir()
    shutil.copy(TOOL, tmp_path / "bin")
    installed = tmp_path / "share" / "bertqa" / "models"
    shutil.copytree(MODELS / "topics-words", installed / "topics-words")
    shutil.copytree(MODELS / "shakespeare-lstm", installed / "shakespeare-lstm")
    tool = tmp_path / "bin" / "bertqa"
    verify(tool=tool)
    weights = installed / "topics-words" / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[300_000] ^= 4
    weights.write_bytes(data)
    (installed / "shakespeare-lstm" / "config.json").unlink()
    text, error = verify(tool=tool, code=3)
    prefix = os.path.realpath(tmp_path)
    lines = [line.replace(f"{prefix}/bin/../", "") for line in text.splitlines()]
    assert lines == [
        "changed\tshare/bertqa/models/topics-words/model.safetensors",
        "missing\tshare/bertqa/models/shakespeare-lstm/config.json",
    ]
    assert error.startswith("bertqa: not as SHA256SUMS says: ") and "topics-words" in error and "lstm" in error


# What differs


def test_sha256_sizes(tmp_path):
    """Around the ends of blocks, where the padding changes, against Python's; with the standard's own examples."""
    assert hashlib.sha256(b"abc").hexdigest().startswith("ba7816bf8f01cfea")
    contents = [b"abc", b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", b"\xff" * 1_000_003]
    contents += [
        bytes(i * 7 % 251 for i in range(size)) for size in [*range(130), 65_535, 65_536, 65_537, 131_073]
    ]
    for index, content in enumerate(contents):
        (tmp_path / f"{index}").write_bytes(content)
    write_manifest(tmp_path, [f"{index}" for index in range(len(contents))])
    assert set(findings(tmp_path).values()) == {"ok"}


def test_changed_missing_extra(model):
    assert findings(model) == {"1_Pooling/config.json": "ok", "config.json": "ok", "vocab.txt": "ok"}
    assert verify("-m", model)[0] == f"ok\t{model}: 3 files\n"
    (model / "1_Pooling" / "config.json").write_text("another")
    (model / "vocab.txt").unlink()
    (model / "tokenizer.json").write_text("{}")
    assert findings(model, code=3) == {
        "1_Pooling/config.json": "changed", "config.json": "ok", "tokenizer.json": "extra", "vocab.txt": "missing",
    }  # fmt: skip
    text, error = verify(model, code=3)
    assert text == (
        f"changed\t{model}/1_Pooling/config.json\nextra\t{model}/tokenizer.json\nmissing\t{model}/vocab.txt\n"
    )
    assert error == f"bertqa: not as SHA256SUMS says: {model}\n"


def test_several_directories(model):
    other = model.parent / "other"
    shutil.copytree(model, other)
    (other / "vocab.txt").write_text("")
    assert verify(model, other, code=3)[0] == f"ok\t{model}: 3 files\nchanged\t{other}/vocab.txt\n"


def test_links(model):
    """As in a cache of downloads, a file may be a link to one elsewhere; its contents count."""
    (model / "vocab.txt").rename(model.parent / "blob")
    (model / "vocab.txt").symlink_to("../blob")
    assert findings(model)["vocab.txt"] == "ok"
    (model.parent / "blob").write_text("changed")
    assert findings(model, code=3)["vocab.txt"] == "changed"
    (model.parent / "blob").unlink()
    assert findings(model, code=3)["vocab.txt"] == "missing"


def test_what_could_wait_or_go_round(model):
    (model / "vocab.txt").unlink()
    os.mkfifo(model / "vocab.txt")
    os.mkfifo(model / "fifo")
    (model / "loop").symlink_to("loop")
    (model / "up").symlink_to("..")
    (model / "config.json").unlink()
    (model / "config.json").symlink_to("/dev/zero")
    assert findings(model, code=3) == {
        "1_Pooling/config.json": "ok", "config.json": "special", "fifo": "extra", "up": "extra",
        "vocab.txt": "special",
    }  # fmt: skip


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "lists no file"),
        ("nonsense\n", "line 1 is not"),
        (f"{'0' * 64}  a\n{'0' * 64}  a\n", "line 2 names a again"),
        (f"{'0' * 64}  ../a\n", "line 1 is not"),
        (f"{'0' * 64}  /etc/passwd\n", "line 1 is not"),
        (f"{'0' * 64}  a/./b\n", "line 1 is not"),
        (f"{'0' * 63}g  a\n", "line 1 is not"),
        (f"{'0' * 64}  \n", "line 1 is not"),
        (f"\\{'0' * 64}  a\\nb\n", "line 1 is not"),
        ("x" * (1 << 20) + "\n", "has more than 1048576 bytes"),
    ],
)
def test_malformed_manifests(model, text, message):
    (model / "SHA256SUMS").write_text(text)
    output, error = verify(model, code=3)
    assert output == "" and f"{model}/SHA256SUMS" in error and message in error


def test_the_manifest_itself(model):
    (model / "SHA256SUMS").unlink()
    assert "no such file" in verify(model, code=3)[1]
    os.mkfifo(model / "SHA256SUMS")
    verify(model, code=3)
    verify(model.parent / "nowhere", code=3)


def test_lists_of_sha256sum_in_binary_mode(model):
    list_files = "sha256sum --binary config.json 1_Pooling/config.json vocab.txt > SHA256SUMS"
    subprocess.run(list_files, shell=True, cwd=model, check=True)
    assert set(findings(model).values()) == {"ok"}


def test_usage(model):
    for arguments in (["--threads", "2"], ["--precision", "f32"], ["--isa", "portable"]):
        assert "exclude each other" in verify(*arguments, model, code=2)[1]
