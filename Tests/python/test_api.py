"""The Python package: every public name, against the library itself."""

import copy
import ctypes
import gc
import math
import multiprocessing
import os
import pickle
import random
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import bertqa
from bertqa import _errors, _native
from conftest import FIXTURES, PREFIX, ROOT

FOX = "The quick brown fox jumps over the lethargic dog."
WHO = "Who jumped over the dog?"
ANSWER = "The quick brown fox"
APOLLO = (ROOT / "examples" / "documents" / "apollo.txt").read_text(encoding="utf-8")
HEADER = (ROOT / "include" / "bertqa.h").read_text()
PIECES = (FIXTURES / "tiny-bert" / "vocab.txt").read_text(encoding="utf-8").splitlines()
SOME_WORDS = [piece for piece in PIECES if piece.isascii() and piece.isalpha() and len(piece) > 1]


def words(count, seed=0):
    return " ".join(random.Random(seed).choices(SOME_WORDS, k=count))


# What the package says of the library


def test_public_names():
    assert bertqa.__all__ == sorted(bertqa.__all__)
    for name in bertqa.__all__:
        assert getattr(bertqa, name).__doc__, name


def test_versions():
    numbers = [re.search(rf"BERTQA_VERSION_{part} (\d+)", HEADER)[1] for part in ("MAJOR", "MINOR", "PATCH")]
    assert bertqa.version() == ".".join(numbers)
    assert bertqa.abi_version() == int(re.search(r"BERTQA_ABI_VERSION (\d+)", HEADER)[1])
    project = (ROOT / "examples" / "python" / "pyproject.toml").read_text()
    assert f'version = "{bertqa.version()}"' in project


def test_statuses_and_names_are_the_headers():
    statuses = {int(n): name for name, n in re.findall(r"BERTQA_ERROR_(\w+) = (\d+)", HEADER)}
    internal = next(n for n, name in statuses.items() if name == "INTERNAL")
    assert set(_errors.BY_STATUS) | {internal} == set(statuses)
    for number, error in _errors.BY_STATUS.items():
        assert error.status == number and error.__name__ in bertqa.__all__
        name = {"IO": "MODELIOERROR"}.get(statuses[number], statuses[number].replace("_", ""))
        assert error.__name__.upper() == name
    for prefix, names in [
        ("PRECISION", dict(enumerate(bertqa._context.PRECISIONS))),
        ("ISA", dict(enumerate(bertqa._context.INSTRUCTION_SETS))),
        ("TASK", dict(enumerate(bertqa._context.TASKS, 1))),
        ("WINDOW_POOLING", dict(enumerate(bertqa._classify.WINDOW_POOLINGS))),
        ("PROBLEM", dict(enumerate(bertqa._classify.PROBLEM_TYPES[1:], 1))),
    ]:
        found = {int(n): name.lower() for name, n in re.findall(rf"BERTQA_{prefix}_(\w+) = (\d+)", HEADER)}
        assert found == names


def test_structs_are_the_headers(tmp_path):
    structs = {
        "bertqa_context_options": _native.ContextOptions, "bertqa_model_info": _native.ModelInfo,
        "bertqa_tokenize_options": _native.TokenizeOptions, "bertqa_answer_options": _native.AnswerOptions,
        "bertqa_answer_span": _native.AnswerSpan, "bertqa_answer_summary": _native.AnswerSummary,
        "bertqa_pair": _native.Pair, "bertqa_range": _native.Range, "bertqa_text": _native.TextPair,
        "bertqa_column": _native.Column,
        "bertqa_classify_options": _native.ClassifyOptions, "bertqa_label_score": _native.LabelScore,
        "bertqa_contribution": _native.Contribution, "bertqa_classify_summary": _native.ClassifySummary,
        "bertqa_train_options": _native.TrainOptions, "bertqa_training_report": _native.TrainingReport,
        "bertqa_embed_options": _native.EmbedOptions, "bertqa_example": _native.Example,
        "bertqa_labeler_options": _native.LabelerOptions, "bertqa_word": _native.Word,
        "bertqa_generate_options": _native.GenerateOptions, "bertqa_sequence_score": _native.SequenceScore,
    }  # fmt: skip
    assert set(structs) == set(re.findall(r"typedef struct (bertqa_\w+) \{", HEADER))
    lines, expected = [], []
    for name, struct in structs.items():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        expected.append(f"{name} {ctypes.sizeof(struct)}")
        for field, _ in struct._fields_:
            member = getattr(struct, field)
            place = f"offsetof({name}, {field}), sizeof((({name} *)0)->{field})"
            lines.append(f'printf("{name}.{field} %zu %zu\\n", {place});')
            expected.append(f"{name}.{field} {member.offset} {member.size}")
    source = tmp_path / "layout.c"
    source.write_text(
        "#include <bertqa.h>\n#include <stdio.h>\nint main(void) {\n" + "\n".join(lines) + "\nreturn 0;\n}\n"
    )
    subprocess.run(["cc", "-I", ROOT / "include", source, "-o", tmp_path / "layout"], check=True)
    output = subprocess.run([tmp_path / "layout"], check=True, capture_output=True, text=True).stdout
    assert output.splitlines() == expected


def run_python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True, timeout=300
    )


def test_unusable_libraries(tmp_path):
    source = tmp_path / "other.c"
    for content, message in [
        ("unsigned bertqa_abi_version(void) { return 2; }", "has ABI version 2; this package needs 1"),
        ("unsigned bertqa_abi_version(void) { return 1; }", "is not libbertqa, or one older than this package"),
        ("int nothing;", "is not libbertqa"),
        (None, "cannot load libbertqa"),
    ]:
        library = tmp_path / f"{len(message)}.so"
        if content:
            source.write_text(content)
            subprocess.run(["cc", "-shared", "-fPIC", source, "-o", library], check=True)
        result = run_python("import bertqa; bertqa.Context()", BERTQA_LIBRARY=str(library))
        assert result.returncode == 1 and "ImportError: " in result.stderr and message in result.stderr


# Answers


def test_answer(context):
    result = context.answer(WHO, FOX)
    assert isinstance(result, bertqa.Result) and len(result.answers) == 1
    answer = result.answer
    assert isinstance(answer, bertqa.Answer) and answer is result.answers[0]
    assert (answer.text, answer.start, answer.end) == (ANSWER, 0, 19)
    assert answer.byte_range == answer.utf16_range == (0, 19)
    assert (answer.sentence, answer.sentence_start, answer.sentence_end) == (FOX, 0, len(FOX))
    assert answer.score == pytest.approx(answer.start_logit + answer.end_logit, abs=1e-5)
    assert answer.gap == pytest.approx(answer.score - result.null_score, abs=1e-5)
    assert result.gap == answer.gap > result.no_answer_threshold
    assert result.no_answer_threshold == context.info.no_answer_threshold == pytest.approx(5.9)
    assert 0 < answer.probability < 1 and 0 < result.no_answer_probability < 1
    assert (result.window_count, result.skipped_windows) == (1, 0)
    flags = result.is_impossible, result.question_truncated, result.empty_question, result.empty_document
    assert flags == (False,) * 4


def test_probabilities_are_a_softmax_over_everything(tiny):
    result = tiny.answer("who", words(6), top_k=1000, align_to_words=False)
    scale = result.answer.probability / math.exp(result.answer.score)
    for answer in result.answers:
        assert answer.probability == pytest.approx(scale * math.exp(answer.score), rel=1e-4)
    assert result.no_answer_probability == pytest.approx(scale * math.exp(result.null_score), rel=1e-4)
    ids = [2, *tiny.tokenize("who").ids, 3, *tiny.tokenize(words(6)).ids, 3]
    second = ids.index(3) + 1
    [(start, end)] = tiny.logits([ids], [second])
    spans = [start[i] + end[j] for i in range(second, len(ids) - 1) for j in range(i, len(ids) - 1)]
    null = start[0] + end[0]
    assert result.null_score == pytest.approx(null, abs=1e-5)
    assert result.answer.score == pytest.approx(max(spans), abs=1e-5)
    assert 1 / scale == pytest.approx(sum(map(math.exp, [*spans, null])), rel=1e-4)


DOCUMENTS = {
    "ascii": FOX,
    "emoji": "🦊🦊 " + FOX.replace("quick", "quick 👩‍👩‍👧‍👦") + " 🐕",
    "combining marks": "Ñ e\u0301\u0323 " + FOX.replace("brown", "bro\u0308wn"),
    "composed": "É İ ß ﬁ 韓国 " + FOX,
    "right to left": "שָׁלוֹם עוֹלָם. السَّلامُ عَلَيْكُم. " + FOX,
    "inside right to left": "דג The quick brown fox jumps over the lethargic dog. עולם",
    "lone surrogates": "\ud800 x \udfff\udc00 " + FOX.replace("fox", "fox \udcff"),
    "controls": "\0\x1b\u200b\ufeff " + FOX.replace(" ", "\u3000"),
    "line breaks": FOX.replace(" ", "\r\n\t"),
    "answer at the end": "Over the lethargic dog jumped 🏃 the fox 🦊",
}


def check_ranges(answer, document):
    """All ranges of an answer cut the same text."""
    assert document[answer.start : answer.end] == answer.text
    assert document[answer.sentence_start : answer.sentence_end] == answer.sentence
    assert answer.sentence_start <= answer.start < answer.end <= answer.sentence_end
    if isinstance(document, bytes):
        assert answer.byte_range == (answer.start, answer.end)
        assert isinstance(answer.text, bytes) and isinstance(answer.sentence, bytes)
        units = [len(document[:n].decode(errors="replace").encode("utf-16-le")) // 2 for n in answer.byte_range]
        assert answer.utf16_range == tuple(units)
        return
    start, end = answer.byte_range
    assert document.encode(errors="replace")[start:end] == answer.text.encode(errors="replace")
    assert len(document[: answer.start].encode(errors="replace")) == start
    start, end = answer.utf16_range
    assert document.encode("utf-16-le", "surrogatepass")[2 * start : 2 * end] == answer.text.encode(
        "utf-16-le", "surrogatepass"
    )


@pytest.mark.parametrize("name", DOCUMENTS)
def test_ranges(context, name):
    document = DOCUMENTS[name]
    for answer in context.answer(WHO, document, top_k=5).answers:
        check_ranges(answer, document)
    best = context.answer(WHO, document).answer
    assert "fox" in best.text
    with context.prepare(document) as prepared:
        assert prepared.answer(WHO).answer == best
    [batched] = context.answer_batch([(WHO, document)])
    assert batched.answer == best
    data = document.encode(errors="replace")
    in_bytes = context.answer(WHO, data).answer
    check_ranges(in_bytes, data)
    assert in_bytes.byte_range == best.byte_range and in_bytes.utf16_range == best.utf16_range
    assert in_bytes.text == best.text.encode(errors="replace")


def test_ranges_of_random_texts(tiny):
    import text_cases

    checked = 0
    for document in text_cases.random_strings(11, 300):
        for text in document, document + "\udc80" + document:
            for answer in tiny.answer("what river", text, top_k=7).answers:
                check_ranges(answer, text)
                checked += 1
    for document in text_cases.random_bytes(12, 300):
        for answer in tiny.answer("what river", document, top_k=7).answers:
            check_ranges(answer, document)
            checked += 1
    assert checked > 1000


def test_invalid_bytes(context):
    document = b"\xff\xfe The quick \xe2\x82 brown fox jumps over the lethargic \xf0\x9f\xa6\x8a dog.\xc3"
    answer = context.answer(WHO.encode() + b"\xff", document).answer
    check_ranges(answer, document)
    assert b"quick \xe2\x82 brown" in answer.text
    question = WHO + "\ud800"
    assert context.answer(question, FOX).answer.text == ANSWER


def test_sentence(context):
    document = "It rained… 🌧 The cat, Mr. Smith's, slept. The quick brown fox jumps over the dog! Then it slept."
    answer = context.answer(WHO, document).answer
    assert answer.sentence == "The quick brown fox jumps over the dog!"
    check_ranges(answer, document)


def test_empty_texts(context):
    for empty in "", b"", " \n\t", "\0\x01", "\u0301":
        result = context.answer(WHO, empty)
        assert result.answers == [] and result.answer is None
        assert result.empty_document and result.is_impossible and not result.empty_question
        assert result.gap == -math.inf and result.no_answer_probability == 1 and result.window_count == 0
    for empty in "", b"", " ":
        result = context.answer(empty, FOX)
        assert result.answer is None and result.empty_question and result.is_impossible
    [one, two] = context.answer_batch([("", ""), (WHO, FOX)])
    assert one.answer is None and two.answer.text == ANSWER


def test_batch(context):
    documents = [FOX, "Ann jumped over the 🐕 dog. Bob slept.", b"Cleo jumped over the dog.", "", APOLLO[:6000]]
    pairs = [(question, document) for document in documents for question in (WHO, "Who slept?", "")]
    together = context.answer_batch(iter(pairs), top_k=2)
    assert together == [context.answer(question, document, top_k=2) for question, document in pairs]
    assert [together[i].answer.text for i in (0, 3, 4, 6)] == [ANSWER, "Ann", "Bob", b"Cleo"]
    assert context.answer_batch([]) == []


def test_batch_names_the_pair_that_failed(tiny):
    pairs = [("who", FOX), (words(60), FOX)]
    with pytest.raises(bertqa.InvalidArgument, match=r"pairs\[1\].*doc_stride"):
        tiny.answer_batch(pairs, max_seq_len=64, doc_stride=40)


def test_long_document_and_prepared_document(context):
    with context.prepare(APOLLO) as document:
        assert isinstance(document, bertqa.Document)
        assert document.text == APOLLO and document.context is context
        for question, expected in [
            ("What killed the crew of Apollo 1?", "cabin fire"),
            ("When was Skylab launched?", "1973"),
        ]:
            result = document.answer(question)
            assert result.answer.text == expected and result.window_count > 10
            check_ranges(result.answer, APOLLO)
        assert context.answer("When was Skylab launched?", APOLLO) == result


# Options


def test_top_k(context):
    results = [context.answer(WHO, FOX, top_k=k).answers for k in (1, 2, 3)]
    assert [len(answers) for answers in results] == [1, 2, 3]
    assert results[2][:1] == results[0] and results[2][:2] == results[1]
    scores = [answer.score for answer in results[2]]
    assert scores == sorted(scores, reverse=True)
    ranges = sorted((answer.start, answer.end) for answer in results[2])
    assert all(left[1] <= right[0] for left, right in zip(ranges, ranges[1:]))


@pytest.mark.parametrize("length, stride", [(128, 40), (64, 0), (32, 10), (8, 1)])
def test_windows(tiny, length, stride):
    document = words(300)
    room = length - 3 - 1
    count = len(tiny.tokenize(document).ids)
    result = tiny.answer("who", document, max_seq_len=length, doc_stride=stride)
    assert result.window_count == 1 + math.ceil((count - room) / (room - stride))


def test_max_answer_len(tiny):
    lengths = []
    for limit in 1, 2, 30:
        answers = tiny.answer("who", words(100), top_k=50, max_answer_len=limit, align_to_words=False).answers
        lengths.append(max(len(tiny.tokenize(answer.text).ids) for answer in answers))
        assert lengths[-1] <= limit
    assert lengths[0] == 1 and lengths[1] == 2 and lengths[2] > 2


def test_max_question_len(tiny):
    question = words(20)
    cut = " ".join(question.split()[:5])
    short = tiny.answer(question, FOX, max_question_len=5)
    assert short.question_truncated and not tiny.answer(question, FOX).question_truncated
    assert short.answers == tiny.answer(cut, FOX).answers != tiny.answer(question, FOX).answers


def test_n_best_size(tiny):
    document = words(60)
    exact = tiny.answer("who", document, top_k=20).answers
    assert len(exact) > 10
    assert len(tiny.answer("who", document, top_k=20, n_best_size=1).answers) <= 1
    assert len(tiny.answer("who", document, top_k=20, n_best_size=3).answers) <= 3
    assert tiny.answer("who", document, n_best_size=60).answer.byte_range == exact[0].byte_range


def test_handle_impossible_answer_and_no_answer_threshold(context):
    gap = context.answer(WHO, FOX).gap
    for threshold, impossible in (gap + 0.1, True), (gap - 0.1, False), (-math.inf, False), (math.inf, True):
        result = context.answer(WHO, FOX, no_answer_threshold=threshold)
        assert result.is_impossible is impossible and result.answer.text == ANSWER
        assert result.no_answer_threshold == pytest.approx(threshold)
        strict = context.answer(WHO, FOX, no_answer_threshold=threshold, handle_impossible_answer=True)
        assert strict.is_impossible is impossible and len(strict.answers) == (0 if impossible else 1)
        assert strict.gap == gap
    default = context.answer(WHO, FOX, no_answer_threshold=None)
    assert default.no_answer_threshold == context.info.no_answer_threshold


def test_align_to_words(tiny):
    document = " ".join(word + ending for word, ending in zip(words(80).split(), ["xq", "7z", "qj"] * 30))
    aligned = tiny.answer("who", document, top_k=100).answers
    free = tiny.answer("who", document, top_k=100, align_to_words=False).answers

    def whole(answer):
        return f" {document} "[answer.start] == " " == f" {document} "[answer.end + 1]

    assert all(map(whole, aligned)) and not all(map(whole, free))


def test_max_windows(context):
    question = "What killed the crew of Apollo 1?"
    whole = context.answer(question, APOLLO)
    part = context.answer(question, APOLLO, max_windows=4)
    assert (part.window_count, part.skipped_windows) == (4, whole.window_count - 4) and whole.skipped_windows == 0
    assert part.answer.text == whole.answer.text == "cabin fire"


def test_wrong_options(tiny):
    for options, message in [
        ({"top_k": 0}, "top_k is 0, but must be 1 to 1000"),
        ({"top_k": 1 << 32 | 1}, "top_k is 4294967297, which does not fit in 32 bits"),
        ({"max_seq_len": 7}, "max_seq_len is 7, but must be 8 to"),
        ({"doc_stride": -1}, "doc_stride is -1, but must be 0 to"),
        ({"max_answer_len": 0}, "max_answer_len is 0"),
        ({"max_question_len": 0}, "max_question_len is 0"),
        ({"n_best_size": -1}, "n_best_size is -1"),
        ({"max_windows": -1}, "max_windows is -1, but must be at least 0"),
    ]:
        for call in (
            lambda: tiny.answer("who", FOX, **options),
            lambda: tiny.answer_batch([("who", FOX)], **options),
            lambda: tiny.prepare(FOX).answer("who", **options),
        ):
            with pytest.raises(bertqa.InvalidArgument, match=re.escape(message)):
                call()
    with pytest.raises(TypeError, match="unknown option 'topk'; known: top_k, max_seq_len"):
        tiny.answer("who", FOX, topk=1)
    for options in {"top_k": "1"}, {"top_k": 1.0}, {"no_answer_threshold": "1"}:
        with pytest.raises(TypeError):
            tiny.answer("who", FOX, **options)
    for options in bertqa.AnswerOptions, bertqa.ClassifyOptions:
        fields = [name for name, _ in getattr(_native, options.__name__)._fields_]
        assert set(options.__annotations__) == set(fields) - {"struct_size", "cancel_user"}


@pytest.mark.parametrize("wrong", [None, 1, bytearray(b"x"), ["x"]])
def test_texts_are_str_or_bytes(tiny, wrong):
    for call in (
        lambda: tiny.answer(wrong, FOX), lambda: tiny.answer("who", wrong), lambda: tiny.prepare(wrong),
        lambda: tiny.answer_batch([("who", wrong)]), lambda: tiny.tokenize(wrong), lambda: tiny.piece_id(wrong),
    ):  # fmt: skip
        with pytest.raises(TypeError, match="expected str or bytes"):
            call()


# Cancellation and log


def test_cancel(tiny):
    polls = []

    def after_three():
        polls.append(threading.get_ident())
        return len(polls) > 3

    document = words(50000)
    with pytest.raises(bertqa.Cancelled, match="cancelled") as caught:
        tiny.answer("who", document, cancel=after_three)
    assert caught.value.status == 7
    assert len(polls) >= 4 and set(polls) == {threading.get_ident()}
    for call in (
        lambda: tiny.answer_batch([("who", document)] * 2, cancel=lambda: True),
        lambda: tiny.prepare(document).answer("who", cancel=lambda: True),
    ):
        with pytest.raises(bertqa.Cancelled):
            call()
    assert tiny.answer("who", document[:2000], cancel=lambda: None) == tiny.answer("who", document[:2000])


def test_exceptions_of_cancel_come_out(tiny):
    class Mine(Exception):
        pass

    for error in Mine, KeyboardInterrupt:
        def fails():
            raise error("stop")

        with pytest.raises(error, match="stop"):
            tiny.answer("who", words(5000), cancel=fails)
    assert tiny.answer("who", words(10)).answer


def test_signals_end_a_call_that_can_be_cancelled():
    code = f"""
import bertqa, os, signal
context = bertqa.Context({str(FIXTURES / "tiny-bert")!r}, threads=1)
polls = 0
def cancel():
    global polls
    polls += 1
    if polls == 3:
        signal.raise_signal(signal.SIGINT)
    return polls > 4
document = {words(1000)!r} * 300
try:
    context.answer("who", document, cancel=cancel)
except KeyboardInterrupt:
    print("interrupted inside of cancel")
signal.signal(signal.SIGALRM, signal.default_int_handler)
try:
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    while True:
        context.answer("who", document, cancel=lambda: False)
except KeyboardInterrupt:
    print("interrupted anywhere")
"""
    result = run_python(code)
    assert (result.stdout, result.stderr) == ("interrupted inside of cancel\ninterrupted anywhere\n", "")


def test_log():
    lines = []
    with bertqa.Context(FIXTURES / "tiny-bert", log=lines.append, precision="f32"):
        pass
    assert lines and all("\n" not in line for line in lines)
    assert "BertForQuestionAnswering" in lines[-1] and "f32" in lines[-1]

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


# Contexts


def test_info(context):
    info = context.info
    assert isinstance(info, bertqa.ModelInfo)
    assert os.path.samefile(info.directory, PREFIX / "share" / "bertqa" / "models" / "qa-minilm-l6")
    assert info.architecture == "BertForQuestionAnswering" and info.lowercase is True
    assert info.precision in ("f32", "bf16", "int8")
    assert info.isa in ("portable", "avx2", "avx512", "avx512_vnni")
    dimensions = (
        info.vocab_size, info.hidden_size, info.num_hidden_layers, info.num_attention_heads, info.intermediate_size,
        info.max_position_embeddings,
    )  # fmt: skip
    assert dimensions == (30522, 384, 6, 12, 1536, 512)
    with bertqa.Context(FIXTURES / "tiny-distilbert", threads=3, precision="f32", isa="portable") as other:
        info = other.info
    assert info.architecture == "DistilBertForQuestionAnswering" and info.hidden_size == 32
    assert (info.threads, info.precision, info.isa) == (3, "f32", "portable")
    with bertqa.Context(FIXTURES / "tiny-bert-cased", tokenizer_only=True) as other:
        assert other.info.lowercase is False


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


def test_errors_of_models(tmp_path):
    with pytest.raises(bertqa.ModelIOError, match="no-model.*No such file") as caught:
        bertqa.Context(tmp_path / "no-model")
    assert isinstance(caught.value, OSError) and caught.value.status == 2
    model = tmp_path / "model"
    model.mkdir()
    for file in (FIXTURES / "tiny-bert").iterdir():
        (model / file.name).write_bytes(file.read_bytes())
    (model / "model.safetensors").write_bytes(b"\xff" * 100)
    with pytest.raises(bertqa.InvalidModel, match="model.safetensors") as caught:
        bertqa.Context(model)
    assert isinstance(caught.value, ValueError)
    config = (model / "config.json").read_text()
    (model / "config.json").write_text(config.replace("BertForQuestionAnswering", "GPT2LMHeadModel"))
    with pytest.raises(bertqa.Unsupported, match="GPT2LMHeadModel"):
        bertqa.Context(str(model))


def test_errors_of_arguments(tiny):
    for arguments, message in [
        ({"threads": -1}, "threads is -1, but must be 0 to 1024"),
        ({"threads": 1 << 32}, "does not fit in 32 bits"),
        ({"precision": "f16"}, "precision is 'f16', but must be one of auto, f32, bf16, int8"),
        ({"isa": "mmx"}, "isa is 'mmx', but must be one of auto, portable"),
        ({"model": "a\0b"}, "null character"),
    ]:
        with pytest.raises(bertqa.InvalidArgument, match=re.escape(message)):
            bertqa.Context(**arguments)
    with pytest.raises(bertqa.TooLarge, match="2147483647"):
        tiny.tokenize(bytes(1 << 31))


@pytest.mark.parametrize("error", [*_errors.BY_STATUS.values(), bertqa.BertQAError])
def test_exceptions(error):
    made = error("what was wrong")
    assert isinstance(made, bertqa.BertQAError) and str(made) == "what was wrong"
    again = pickle.loads(pickle.dumps(made))
    assert type(again) is error and again.args == made.args and again.status == made.status
    assert bertqa.BertQAError("later", 77).status == 77


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
        lambda: context.__enter__(), lambda: pickle.dumps(context),
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


def test_closing_under_running_calls():
    for _ in range(20):
        context = bertqa.Context(FIXTURES / "tiny-bert", precision="f32")
        document = context.prepare(words(3000))
        expected = document.answer("who")
        started = threading.Barrier(5)

        def ask():
            started.wait()
            results = []
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
    document = context.prepare(FOX)
    expected = context.answer("who", FOX)
    assert pickle.loads(pickle.dumps(expected)) == expected
    assert pickle.loads(pickle.dumps(context.tokenize(FOX))) == context.tokenize(FOX)
    monkeypatch.chdir(tmp_path)
    again = pickle.loads(pickle.dumps(context))
    assert again.answer("who", FOX) == expected and again.info.threads == 2
    for _ in range(2):
        with copy.copy(context) as copied:
            assert copied.answer("who", FOX) == expected
    assert pickle.loads(pickle.dumps(document)).answer("who") == expected


# Vocabulary and tokens (test_tokenizer.py compares them with the reference)


def test_tokenize(tiny):
    tokens = tiny.tokenize("The rivers 🦊 éa")
    assert isinstance(tokens, bertqa.Tokens)
    assert tokens.tokens == ["the", "river", "##s", "[UNK]", "e", "##a"]
    assert tokens.offsets == [(0, 3), (4, 9), (9, 10), (11, 12), (13, 14), (14, 15)]
    assert tokens.byte_offsets == [(0, 3), (4, 9), (9, 10), (11, 15), (16, 18), (18, 19)]
    assert [tiny.piece_id(piece) for piece in tokens.tokens] == tokens.ids
    in_bytes = tiny.tokenize("The rivers 🦊 éa".encode())
    assert in_bytes.offsets == in_bytes.byte_offsets == tokens.byte_offsets and in_bytes.ids == tokens.ids
    assert len(tiny.tokenize("[SEP]").ids) > 1
    assert tiny.tokenize("[SEP]", parse_special_tokens=True).ids == [3]
    assert tiny.tokenize("") == bertqa.Tokens([], [], [], [])
    assert tiny.tokenize("\ud800a").offsets == [(0, 1), (1, 2)]


def test_vocabulary(tiny):
    assert [tiny.piece(id) for id in range(tiny.info.vocab_size)] == PIECES
    assert [tiny.piece_id(piece) for piece in PIECES] == list(range(len(PIECES)))
    assert tiny.piece_id("国".encode()) == PIECES.index("国")
    for unknown in "", "the ", "theriver", "The":
        assert tiny.piece_id(unknown) is None
    for id in -1, len(PIECES), 1 << 32:
        with pytest.raises(IndexError, match=f"id {id} is not in the vocabulary"):
            tiny.piece(id)


def test_wrong_windows(tiny):
    for arguments, message in [
        (([[1, 2], []],), "window_lengths[1] is 0"),
        (([[1] * 129],), "window_lengths[0] is 129, but must be 1 to 128"),
        (([[1, 197]],), "ids[1] is 197, but must be 0 to 196"),
        (([[1, -1]],), "ids[1] is -1"),
        (([[1 << 32]],), "out of range"),
        (([[1]], [2]), "second_segments[0] is 2"),
        (([[1]], [-1]), "out of range"),
        (([[1]], []), "second_segments must have one entry per window"),
    ]:
        with pytest.raises(bertqa.InvalidArgument, match=re.escape(message)):
            tiny.logits(*arguments)
    assert tiny.logits([]) == []


# Threads and processes


def test_threads(context):
    questions = [WHO, "What did the fox jump over?", "Which colour is the fox?", "How is the dog?"]
    documents = [FOX, APOLLO[:3000], DOCUMENTS["emoji"]]
    pairs = [(question, document) for question in questions for document in documents]
    expected = context.answer_batch(pairs)
    jobs = random.Random(5).choices(range(len(pairs)), k=160)
    with ThreadPoolExecutor(16) as pool:
        results = pool.map(lambda i: context.answer(*pairs[i]), jobs)
        assert all(result == expected[i] for i, result in zip(jobs, results))


def test_number_of_threads_changes_no_bit():
    document = APOLLO[:8000]
    results = []
    for threads in 1, 2, 7:
        with bertqa.Context(threads=threads) as context:
            results.append(context.answer(WHO, document, top_k=5))
            results.append(context.answer_batch([(WHO, FOX), (WHO, document)], top_k=5)[1])
    assert all(result == results[0] for result in results)


def test_gil_is_released_during_calls():
    """The library's call waits, in C, for a semaphore that another Python thread posts."""
    code = f"""
import ctypes, threading, bertqa
from bertqa import _native
libc = ctypes.CDLL(None)
semaphore = ctypes.create_string_buffer(64)
assert libc.sem_init(semaphore, 0, 0) == 0
context = bertqa.Context({str(FIXTURES / "tiny-bert")!r})
call = bertqa._answer.answer_options({{}})
call.struct.cancel = ctypes.cast(libc.sem_wait, _native.CANCEL)
call.struct.cancel_user = ctypes.addressof(semaphore)
answers, done, posts = ctypes.c_void_p(), False, 0

def post():
    global posts
    while not done:
        libc.sem_post(semaphore)
        posts += 1

thread = threading.Thread(target=post, daemon=True)
inside = bertqa._native.library().answer
thread.start()
status = inside(context._handle.pointer, b"who", 3, b"the river", 9, call.pointer, ctypes.byref(answers))
done = True
assert status == 0 and posts > 0
"""
    blocked = code.replace(
        "inside = bertqa._native.library().answer",
        "inside = ctypes.PyDLL(bertqa._native._path()).bertqa_answer\n"
        "inside.argtypes = bertqa._native.library().answer.argtypes",
    ).replace("    global posts\n", "    global posts\n    import time; time.sleep(1)\n")
    assert run_python(code).returncode == 0
    with pytest.raises(subprocess.TimeoutExpired):  # the proof that holding the GIL would be noticed
        subprocess.run([sys.executable, "-c", blocked], timeout=10, capture_output=True)


def ask_inherited(pair):
    return inherited.answer(*pair)


def ask_pickled(arguments):
    context, pair = arguments
    return context.answer(*pair)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes(method):
    global inherited
    pairs = [(WHO, FOX), ("When was Skylab launched?", APOLLO[-9000:]), (WHO, DOCUMENTS["emoji"])]
    with bertqa.Context(threads=2) as inherited:
        expected = inherited.answer_batch(pairs)
        with multiprocessing.get_context(method).Pool(2) as pool:
            if method == "fork":
                results = pool.map(ask_inherited, pairs * 2)
            else:
                results = pool.map(ask_pickled, [(inherited, pair) for pair in pairs * 2])
        assert results == expected * 2
        assert inherited.answer_batch(pairs) == expected


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_memory_is_flat(tiny):
    """10,000 calls of each kind after 1,000 to warm up: at most 2 MiB more."""
    document, prepared = words(40), tiny.prepare(words(40))

    def calls(count):
        for i in range(count):
            tiny.answer("who", document, top_k=3)
            tiny.answer("who", document, cancel=lambda: False)
            prepared.answer("what river")
            tiny.tokenize(document)
            tiny.prepare(document)
            tiny.logits([[2, 5, 3, 6, 3]], [3])
            tiny.answer_batch([("who", "the river"), ("what", "")])
            for wrong in (lambda: tiny.answer("who", document, top_k=0), lambda: bertqa.Context("/no/model")):
                with pytest.raises(bertqa.BertQAError):
                    wrong()
        gc.collect()

    calls(1000)
    before = resident_bytes()
    calls(10000)
    assert resident_bytes() - before < 2 << 20


def test_contexts_come_and_go(tiny):
    """300 contexts after 30 to warm up: at most 2 MiB more."""

    def create(count):
        for _ in range(count):
            with bertqa.Context(FIXTURES / "tiny-bert", precision="f32") as context:
                context.answer("who", "the river")

    create(30)
    before = resident_bytes()
    create(300)
    assert resident_bytes() - before < 2 << 20


def test_daemon_threads_at_exit():
    """The interpreter ends while a thread is inside the library."""
    code = f"""
import bertqa, threading
context = bertqa.Context()
document = context.prepare(open({str(ROOT / "examples/documents/apollo.txt")!r}).read())
inside = threading.Event()
def ask():
    while True:
        document.answer("When was Skylab launched?", cancel=lambda: inside.set())
threading.Thread(target=ask, daemon=True).start()
inside.wait()
"""
    for _ in range(5):
        result = run_python(code)
        assert result.returncode == 0, result.stderr
