"""`bertqa embed`, as a user runs it."""

import io
import json
import pathlib
import shutil
import subprocess

import numpy
import pytest
from safetensors.numpy import load_file, save_file

import bertqa
from cli import FOX, environment, run, run_records
from conftest import FIXTURES, TOOL

MODEL = FIXTURES / "tiny-bert-embedder"
EMBED = ["embed", "-m", MODEL, "--precision", "f32"]
TEXTS = ["the dog", "", "a king of france", "é \U0001f98a"]


@pytest.fixture(scope="module")
def expected():
    with bertqa.Context(MODEL, precision="f32") as context:
        yield context


def run_bytes(*arguments, input=b""):
    result = subprocess.run(
        [TOOL, *EMBED, *arguments], input=input, capture_output=True, timeout=300, env=environment()
    )
    assert (result.returncode, result.stderr) == (0, b"")
    return result.stdout


def test_files_and_standard_input(tmp_path, expected):
    other = tmp_path / "other.txt"
    other.write_text("the dog\n")
    records = [
        json.loads(line)
        for line in run(*EMBED, "-f", FOX, "-f", other, "-f", "-", input=b"a king")[0].splitlines()
    ]
    assert [record["file"] for record in records] == [str(FOX), str(other), "-"]
    texts = [FOX.read_text(), "the dog", "a king"]
    assert [record["embedding"] for record in records] == [pytest.approx(list(expected.embed(t))) for t in texts]
    assert run(*EMBED, input=b"a king")[0] == run(*EMBED, "-", input=b"a king")[0]
    [record] = run_records(*EMBED, "a", "king")
    assert record["file"] is None and record["embedding"] == pytest.approx(list(expected.embed("a king")))


def test_lines_in_every_format(expected):
    text = "\n".join(TEXTS).encode()
    vectors = numpy.asarray(expected.embed(TEXTS))
    records = run_records(*EMBED, "--lines", input=text)
    assert [(record["file"], record["line"]) for record in records] == [("-", 1), ("-", 2), ("-", 3), ("-", 4)]
    # Printed numbers read back as the same floats.
    assert numpy.array([record["embedding"] for record in records], dtype="f4").tobytes() == vectors.tobytes()
    assert run_bytes("--lines", "--format", "raw", input=text + b"\n") == vectors.astype("<f4").tobytes()
    loaded = numpy.load(io.BytesIO(run_bytes("--lines", "--format=npy", input=text)))
    assert loaded.dtype == numpy.float32 and loaded.tobytes() == vectors.tobytes()
    assert loaded.shape == vectors.shape
    empty = numpy.load(io.BytesIO(run_bytes("--lines", "--format=npy")))
    assert empty.shape == (0, 16)


def test_many_lines(expected):
    texts = [f"the river {i} of the {i * i} kings" for i in range(2500)]
    output = run_bytes("--lines", "--format", "raw", input="\n".join(texts).encode())
    assert output == numpy.asarray(expected.embed(texts)).tobytes()


def test_options(expected):
    text = "the king of france " * 30
    for arguments, options in [
        (["--pooling", "cls"], {"pooling": "cls"}),
        (["--pooling=model", "--normalize"], {"normalize": True}),
        (["--no-normalize", "--pooling", "mean"], {"normalize": False}),
        (["--truncate"], {"truncate": True}),
        (["--max-seq-len", "64"], {"max_seq_len": 64}),
        (["--threads", "1"], {}),
    ]:
        output = run_bytes("--format", "raw", *arguments, input=text.encode())
        assert output == expected.embed(text, **options).tobytes(), arguments


@pytest.mark.parametrize(
    "arguments, complaint",
    [
        (["--pooling", "max"], "--pooling takes model, mean, cls, not 'max'"),
        (["--format", "csv"], "--format takes json, npy, raw, not 'csv'"),
        (["--max-seq-len", "7"], "--max-seq-len is 7"),
        (["--max-seq-len", "many"], "--max-seq-len takes a whole number"),
    ],
)
def test_wrong_usage(arguments, complaint):
    output, errors = run(*EMBED, *arguments, code=2)
    assert output == "" and complaint in errors and "; try 'bertqa embed --help'\n" in errors


@pytest.mark.parametrize("options", [[], ["--tokens"], ["--lines"]], ids=str)
def test_a_text_that_fails_is_skipped(tmp_path, options):
    """Rows of the other formats have no names, so a row that is missing would be taken for another."""
    texts = {"a": "the fox", "long": "the lazy dog and the king", "c": "the king"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    command = [*EMBED, *options, "--max-document-tokens", "4"]
    files = [argument for name in ["a", "missing", "long", "c"] for argument in ("-f", tmp_path / name)]
    output, errors = run(*command, *files, code=3)
    alone = [run(*command, "-f", tmp_path / name)[0] for name in ["a", "c"]]
    assert output == "".join(alone) and alone[0] != alone[1]
    assert [name in line for name, line in zip(["missing", "long"], errors.splitlines())] == [True, True]
    if "--tokens" not in options:
        assert run(*command, "--format", "npy", *files, code=3)[0] == ""
        assert run(*command, "--format", "raw", "-f", tmp_path / "a", "-f", tmp_path / "long", code=3)[0] == ""


def test_what_cannot_be(tmp_path):
    assert "…Model" in run("embed", "-m", FIXTURES / "tiny-bert", "text", code=3)[1]
    assert "…ForQuestionAnswering" in run("answer", "-m", MODEL, "-q", "a", FOX, code=3)[1]


def test_default_model(tmp_path):
    [record] = run_records("embed", "Where is the key?")
    vector = numpy.array(record["embedding"])
    assert vector.shape == (384,) and abs(numpy.linalg.norm(vector) - 1) < 1e-5
    texts = b"Where is the key?\nI cannot find what opens the door.\nThe soup was cold."
    output = run("embed", "--lines", input=texts)[0]
    key, door, soup = (numpy.array(json.loads(line)["embedding"]) for line in output.splitlines())
    assert key == pytest.approx(vector) and key @ door > key @ soup + 0.1
    alone = tmp_path / "bertqa"
    alone.write_bytes(TOOL.read_bytes())
    alone.chmod(0o755)
    if not any(pathlib.Path(prefix, "share/bertqa").exists() for prefix in ("/usr", "/usr/local")):
        # BERTQA_MODEL names a model that answers, not one that embeds.
        result = subprocess.run(
            [alone, "embed", "text"], env=environment(BERTQA_MODEL=str(MODEL)), capture_output=True
        )
        assert result.returncode == 3 and b"embed-minilm-l6" in result.stderr


def test_info_and_quantize(tmp_path):
    record = json.loads(run("info", "-m", MODEL, "--json")[0])
    assert (record["architecture"], record["task"], record["embedding_length"]) == ("BertModel", "embed", 16)
    record = json.loads(run("info", "-m", FIXTURES / "tiny-bert-classifier", "--json")[0])
    assert (record["task"], record["labels"]) == ("classify", ["calm", "glad", "sad"])
    run("quantize", MODEL, tmp_path / "int8")
    exact = numpy.frombuffer(run_bytes("--format", "raw", "--file", FOX), dtype="f4")
    result = subprocess.run(
        [TOOL, "embed", "-m", tmp_path / "int8", "--format", "raw", "--file", FOX], capture_output=True
    )
    assert 0.99 < exact @ numpy.frombuffer(result.stdout, dtype="f4") < 1.01
    assert run("quantize", "--no-answer-threshold", "1", MODEL, tmp_path / "other", code=2)[1]


def test_prompts(tmp_path, expected):
    model = tmp_path / "model"
    shutil.copytree(MODEL, model)
    (model / "config_sentence_transformers.json").write_text('{"prompts": {"query": "a king "}}')
    command = ["embed", "-m", model, "--precision", "f32", "dog"]
    for options, text in (
        (["--prompt-name", "query"], "a king dog"),
        (["--prompt", "the "], "the dog"),
        ([], "dog"),
    ):
        record = json.loads(run(*command, *options)[0])
        assert record["embedding"] == pytest.approx(list(expected.embed(text)))
    _, errors = run(*command, "--prompt-name", "other", code=2)
    assert '--prompt-name is "other"' in errors


def test_info(tmp_path):
    """What a model's files say, and what was left out of its checkpoint."""
    model = tmp_path / "model"
    shutil.copytree(MODEL, model)
    settings = {"prompts": {"query": "a king ", "b": "", "c\x1b[31m\n": "x"}, "default_prompt_name": "b"}
    (model / "config_sentence_transformers.json").write_text(json.dumps(settings))
    tensors = load_file(model / "model.safetensors")
    save_file(tensors | {"cls.predictions.bias": numpy.zeros(3, "f4")}, model / "model.safetensors")
    info = json.loads(run("info", "--json", "-m", model)[0])
    assert (info["family"], info["task"], info["tokenizer"]) == ("Bert", "embed", "WordPiece from vocab.txt")
    assert (info["pooling"], info["normalize"], info["max_seq_length"]) == ("mean", True, 32)
    assert (info["prompt_query"], info["default_prompt_name"]) == ("a king ", "b")
    assert "cls.predictions.bias" in info["ignored_tensors"].split(", ")
    shown = run("info", "-m", model)[0]
    assert "\nprompt_c [31m " in shown and "\x1b" not in shown
    plain = json.loads(run("info", "--json", "-m", MODEL)[0])
    assert "cls.predictions.bias" not in plain.get("ignored_tensors", "") and "prompt_query" not in plain


def test_tokens(tmp_path):
    """One object per text, with its tokens and their vectors; other formats are for vectors of texts."""
    [record] = run_records(*EMBED, "--tokens", "the dog")
    assert record["tokens"] == ["[CLS]", "the", "dog", "[SEP]"]
    assert [len(vector) for vector in record["embeddings"]] == [16] * 4
    assert (
        "those of tokens are printed as json" in run(*EMBED, "--tokens", "--format", "npy", "the dog", code=2)[1]
    )
    colbert = tmp_path / "colbert"
    shutil.copytree(MODEL, colbert, ignore=shutil.ignore_patterns("modules.json", "?_*"))
    weights = load_file(colbert / "model.safetensors")
    save_file(weights | {"linear.weight": numpy.eye(8, 16, dtype="f4")}, colbert / "model.safetensors")
    config = json.loads((colbert / "config.json").read_text())
    config |= {"architectures": ["HF_ColBERT"], "model_type": "bert"}
    (colbert / "config.json").write_text(json.dumps(config))
    metadata = {"query_token_id": "king", "doc_token_id": "dog", "query_maxlen": 9, "doc_maxlen": 30, "dim": 8}
    (colbert / "artifact.metadata").write_text(json.dumps(metadata))
    [query] = run_records("embed", "-m", colbert, "--prompt-name", "query", "a")
    assert query["tokens"] == ["[CLS]", "king", "a", "[SEP]", *["[MASK]"] * 5] and len(query["embeddings"][8]) == 8
    info = json.loads(run("info", "--json", "-m", colbert)[0])
    assert (info["output"], info["query_length"], info["document_length"]) == ("token vectors", 9, 30)
    assert info["architecture"] == "HF_ColBERT" and "pooling" not in info
