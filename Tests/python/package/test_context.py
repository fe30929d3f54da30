"""Contexts: their models, info, log, closing and pickling."""

import copy
import gc
import os
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import bertqa
from bertqa._context import INSTRUCTION_SETS
from conftest import FIXTURES, PREFIX
from samples import ANSWER, FOX, WHO, run_python, words


def test_info(context):
    info = context.info
    assert isinstance(info, bertqa.ModelInfo)
    assert os.path.samefile(info.directory, PREFIX / "share" / "bertqa" / "models" / "qa-minilm-l6")
    assert info.architecture == "BertForQuestionAnswering" and info.is_lowercase is True
    assert info.precision in ("f32", "bf16", "int8")
    assert info.isa in INSTRUCTION_SETS[1:]
    dimensions = (
        info.vocabulary_size, info.hidden_size, info.num_hidden_layers, info.num_attention_heads, info.intermediate_size,
        info.max_position_embeddings,
    )  # fmt: skip
    assert dimensions == (30522, 384, 6, 12, 1536, 512)
    with bertqa.Context(FIXTURES / "tiny-distilbert", threads=3, precision="f32", isa="portable") as other:
        info = other.info
    assert info.sequence is None
    assert info.architecture == "DistilBertForQuestionAnswering" and info.hidden_size == 32
    assert (info.threads, info.precision, info.isa) == (3, "f32", "portable")
    with bertqa.Context(FIXTURES / "tiny-bert-cased", tokenizer_only=True) as other:
        assert other.info.is_lowercase is False


def test_models_in_memory_and_of_open_directories(tiny, tmp_path):
    files = {path.name: path.read_bytes() for path in (FIXTURES / "tiny-bert").iterdir() if path.is_file()}
    expected = tiny.answer("who", FOX)
    with bertqa.Context(files, precision="f32") as context:
        del files
        gc.collect()
        assert context.info.directory == "" and context.answer("who", FOX) == expected
        assert pickle.loads(pickle.dumps(context)).answer("who", FOX) == expected
    directory = os.open(FIXTURES, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with bertqa.Context("tiny-bert", dir_fd=directory, precision="f32") as context:
            assert context.answer("who", FOX) == expected
            with pytest.raises(TypeError, match="opened with dir_fd cannot be .*: open it by its path"):
                pickle.dumps(context)
        with pytest.raises(bertqa.InvalidArgument):
            bertqa.Context("/tiny-bert", dir_fd=directory)
        with pytest.raises(
            FileNotFoundError, match="no-model: cannot open the directory: No such file or directory"
        ):
            bertqa.Context("no-model", dir_fd=directory)
    finally:
        os.close(directory)
    with pytest.raises(bertqa.Unsupported, match="in memory"):
        bertqa.Context({"config.json": b"{}"})
    with pytest.raises(bertqa.InvalidArgument):
        bertqa.Context({})
    with pytest.raises(TypeError, match="expected bytes"):
        bertqa.Context({"config.json": "{}"})


def test_tokenizer_only(tmp_path):
    with bertqa.Context(FIXTURES / "tiny-bert" / "vocab.txt", tokenizer_only=True) as context:
        assert context.tokenize("the river").tokens == ["the", "river"]
        info = context.info
        assert (info.architecture, info.precision, info.isa, info.hidden_size) == ("", "", "", 0)
        for call in (
            lambda: context.answer("who", FOX), lambda: context.prepare(FOX), lambda: context.logits([[1]]),
        ):  # fmt: skip
            with pytest.raises(bertqa.WrongModel, match="tokenizer_only"):
                call()
    for name in "topics-words", "shakespeare-lstm":
        with pytest.raises(bertqa.WrongModel, match="reads words, not tokens"):
            bertqa.Context(name, tokenizer_only=True)


def test_quantize(tiny, tmp_path):
    report = bertqa.quantize(FIXTURES / "tiny-bert", tmp_path / "int8", no_answer_threshold=1.5)
    assert isinstance(report, bertqa.QuantizeReport) and 0 < report.rms_error < report.rms_weight
    assert report.bytes_written == (tmp_path / "int8" / "model.safetensors").stat().st_size
    with bertqa.Context(tmp_path / "int8") as context:
        assert context.info.precision == "int8" and context.info.no_answer_threshold == 1.5
    with pytest.raises(bertqa.InvalidArgument):
        bertqa.quantize(tmp_path / "int8", tmp_path / "again")
    with pytest.raises(FileNotFoundError):
        bertqa.quantize(tmp_path / "none", tmp_path / "again")


def test_a_quantization_can_be_stopped_until_its_end(tmp_path):
    # config.json is the last file.
    with pytest.raises(bertqa.Cancelled):
        bertqa.quantize(
            FIXTURES / "tiny-bert",
            tmp_path / "int8",
            cancel=lambda: any(tmp_path.glob("int8.partial-*/config.json")),
        )
    assert list(tmp_path.iterdir()) == []


def test_log():
    lines = []
    with bertqa.Context(FIXTURES / "tiny-bert", log=lines.append, precision="f32"):
        pass
    assert lines and all("\n" not in line for line in lines)
    assert "BertForQuestionAnswering" in lines[-1] and "f32" in lines[-1] and len(lines) == 1
    with bertqa.Context(FIXTURES / "tiny-bert", log=lines.append, precision="int8"):
        pass
    assert "bertqa quantize" in lines[1] and "int8" in lines[2] and len(lines) == 3
    with bertqa.Context(log=lines.append):  # stored as int8
        pass
    assert len(lines) == 4

    def fails(line):
        raise RuntimeError("from log")

    with pytest.raises(RuntimeError, match="from log"):
        bertqa.Context(FIXTURES / "tiny-bert", log=fails)


def test_nothing_is_printed():
    code = f"""
import bertqa, os
os.close(0)
c = bertqa.Context()
assert c.answer({WHO!r}, {FOX!r}).answer.text == {ANSWER!r}
for wrong in [lambda: bertqa.Context("/no/such/model"), lambda: c.answer("a", "b", top_k=0)]:
    try: wrong()
    except bertqa.BertQAError: pass
    else: raise AssertionError
"""
    result = run_python(code)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_closing(tmp_path):
    context = bertqa.Context(FIXTURES / "tiny-bert")
    document = context.prepare(FOX)
    result = context.answer("who", FOX)
    tokens = context.tokenize(FOX)
    info = context.info
    with context as same:
        assert same is context
    context.close()
    for call in (
        lambda: context.answer("who", FOX), lambda: context.answer_batch([]), lambda: context.prepare(FOX),
        lambda: context.tokenize(FOX), lambda: context.piece(1), lambda: context.piece_id("the"),
        lambda: context.logits([[1]]), lambda: context.info, lambda: document.answer("who"),
        lambda: context.__enter__(), lambda: pickle.dumps(context), lambda: bertqa.tokenize_column(context, []),
        lambda: bertqa.SentenceEncoder(context),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="this Context was closed"):
            call()
    document.close()
    document.close()
    with pytest.raises(ValueError, match="this Document was closed"):
        document.answer("who")
    assert result.answer.text in FOX and tokens.tokens and info.hidden_size == 32


def test_document_outlives_the_variable_of_its_context():
    document = bertqa.Context(FIXTURES / "tiny-bert").prepare(FOX)
    gc.collect()
    assert document.answer("who").answer


def test_finalizers_of_a_cycle():
    """The garbage collector finalizes the objects of a cycle in any order, so one of them may use a freed object."""
    code = f"""
import bertqa, gc
class Owner:
    def __init__(self, owned, use):
        self.itself, self.owned, self.use = self, owned, use
    def __del__(self):
        try:
            self.use(self.owned)
        except ValueError as error:
            print(error)
tiny = {str(FIXTURES / "tiny-bert")!r}
Owner(bertqa.Context(tiny), lambda context: context.answer("who", {FOX!r}))
Owner(bertqa.Context(tiny), lambda context: context.info)
Owner(bertqa.Context(tiny).prepare({FOX!r}), lambda document: document.answer("who"))
Owner(bertqa.Labeler(bertqa.Context(tiny + "-embedder"), {{"a": "b"}}), lambda labeler: labeler.labels)
Owner(bertqa.Pseudonyms({{"[A_1]": "b"}}), lambda pseudonyms: pseudonyms.names())
Owner(bertqa.Context(task="predict").predict("O").state, lambda state: state.to_bytes())
gc.collect()
"""
    result = run_python(code)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "this object was closed by the garbage collector\n" * 6


def test_closing_under_running_calls():
    for _ in range(20):
        context = bertqa.Context(FIXTURES / "tiny-bert", precision="f32")
        document = context.prepare(words(3000))
        expected = document.answer("who")
        started = threading.Barrier(5)

        def ask():
            results = [document.answer("who")]
            started.wait()
            try:
                while True:
                    results.append(document.answer("who"))
            except ValueError as error:
                assert "closed" in str(error)
            return results

        with ThreadPoolExecutor(4) as pool:
            futures = [pool.submit(ask) for _ in range(4)]
            started.wait()
            document.close()
            context.close()
            for future in futures:
                assert all(result == expected for result in future.result())


def test_pickling(tmp_path, monkeypatch):
    monkeypatch.chdir(FIXTURES)
    context = bertqa.Context("tiny-bert", precision="f32", threads=2)
    from_bytes, encoder = (
        bertqa.Context(b"tiny-bert", precision="f32"),
        bertqa.SentenceEncoder("tiny-bert-embedder"),
    )
    document = context.prepare(FOX)
    expected = context.answer("who", FOX)
    assert pickle.loads(pickle.dumps(expected)) == expected
    assert pickle.loads(pickle.dumps(context.tokenize(FOX))) == context.tokenize(FOX)
    monkeypatch.chdir(tmp_path)
    again = pickle.loads(pickle.dumps(context))
    assert again.answer("who", FOX) == expected and again.info.threads == 2
    assert pickle.loads(pickle.dumps(from_bytes)).answer("who", FOX) == expected
    assert (pickle.loads(pickle.dumps(encoder)).encode(FOX) == encoder.encode(FOX)).all()
    for _ in range(2):
        with copy.copy(context) as copied:
            assert copied.answer("who", FOX) == expected
    assert pickle.loads(pickle.dumps(document)).answer("who") == expected
