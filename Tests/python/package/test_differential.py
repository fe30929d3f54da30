"""One question, many ways: random options on random texts give the same, whichever way the library is asked.

A batch and its items alone, one thread and several, prepared documents, copies of the model, columns and the filter
give the same bits; instruction sets agree with the portable one within the bound of f32. BERTQA_CASES is how many
cases there are of each task, by default 60; `make test-long` has 2,000."""

import array
import dataclasses
import json
import os
import random
import struct

import pytest

import bertqa
from conftest import FIXTURES, available_isas
from filtering import run
from samples import DOCUMENTS, SOME_WORDS

CASES = int(os.environ.get("BERTQA_CASES", "60"))
FAMILIES = ["bert", "distilbert", "roberta", "albert", "mpnet", "deberta", "modernbert"]
#: Of a logit that one instruction set gives and another, of models whose logits are about 1.
BOUND = 2e-4


def text(draw):
    """A document: words, with other characters now and then."""
    kind = draw.random()
    if kind < 0.05:
        return ""
    if kind < 0.15:
        return clean(draw.choice(list(DOCUMENTS.values())))
    if kind < 0.2:
        return draw.choice(["!", "x", "\u0301", "\u200d", "가", "\n", "a."]) * draw.randrange(1, 400)
    words = draw.choices(SOME_WORDS, k=draw.choice([1, 5, 40, 200]))
    for place in range(0, len(words), draw.randrange(3, 30)):
        words[place] = draw.choice(["É", "don't", "1066,", "end.", "中文", "🦊", "x" * 120, "Mr."])
    return draw.choice([" ", " ", "\n"]).join(words)


def damaged(draw, document):
    """Bytes that are not all valid UTF-8."""
    data = bytearray(document.encode())
    for _ in range(draw.randrange(3)):
        data.insert(draw.randrange(len(data) + 1), draw.choice([0x80, 0xC3, 0xF0, 0xFF, 0]))
    return bytes(data)


def answer_options(draw):
    choices = {
        "top_k": [1, 1, 2, 5],
        "max_seq_len": [32, 64, 100, 128],
        "doc_stride": [0, 1, 8, 12],
        "max_answer_len": [1, 3, 30, 100],
        "max_question_len": [3, 10, 16],
        "n_best_size": [0, 1, 20],
        "max_windows": [0, 1, 2],
        "handle_impossible_answer": [False, True],
        "align_to_words": [False, True],
        "no_answer_threshold": [-1.5, 0.0, 2.0],
    }
    return {name: draw.choice(values) for name, values in choices.items() if draw.random() < 0.4}


def window_options(draw):
    options = {"max_seq_len": draw.choice([16, 40, 128]), "doc_stride": draw.choice([0, 1, 5])}
    return {name: value for name, value in options.items() if draw.random() < 0.5}


def plain(value):
    """A result with all its parts, comparable to the bit."""
    if isinstance(value, bertqa.BertQAError):
        return type(value), value.argument
    return dataclasses.astuple(value)


def outcome(call, *arguments, **options):
    try:
        return plain(call(*arguments, **options))
    except bertqa.BertQAError as error:
        return plain(error)


def f32(number):
    return struct.unpack("f", struct.pack("f", number))[0]


class Models:
    """A model of each family, loaded in several ways."""

    def __init__(self, suffix):
        self.suffix = suffix
        self.loaded = {}

    def draw(self, draw):
        """Returns the model's directory, the context to compare with, and the others."""
        directory = FIXTURES / f"tiny-{draw.choice(FAMILIES)}{self.suffix}"
        if not directory.exists():
            directory = FIXTURES / f"tiny-bert{self.suffix}"
        if directory not in self.loaded:
            ways = [{"threads": 1}, {"threads": 4}, {"threads": 3, "load": "copy"}]
            self.loaded[directory] = [bertqa.Context(directory, precision="f32", **way) for way in ways]
        return directory, self.loaded[directory][0], self.loaded[directory][1:]


def of_filter(directory, task, records, options):
    """Runs the filter on records. Returns a list of results."""
    arguments = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if name == "align_to_words":
            arguments += [] if value else ["--no-align-to-words"]
        elif isinstance(value, bool):
            arguments += [option] if value else []
        else:
            arguments += [f"{option}={value}"]
    data = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    common = ["filter", f"--task={task}", "-m", directory, "--precision=f32", "--quiet"]
    output, _ = run(*common, *arguments, input=data, code=None)
    return [json.loads(line)["bertqa"] for line in output.splitlines()]


def seeds(count):
    return pytest.mark.parametrize("seed", range(count))


@seeds(CASES)
def test_answers(seed):
    draw = random.Random(seed)
    directory, reference, others = ANSWERING.draw(draw)
    options = answer_options(draw)
    documents = [text(draw) for _ in range(draw.randrange(1, 5))]
    are_bytes = draw.random() < 0.2
    if are_bytes:
        documents = [damaged(draw, document) for document in documents]
    pairs = [(text(draw)[:100], draw.choice(documents)) for _ in range(draw.randrange(1, 8))]
    expected = [outcome(reference.answer, question, document, **options) for question, document in pairs]
    for context in [reference, *others]:
        try:
            found = context.answer_batch(pairs, return_exceptions=True, **options)
        except bertqa.BertQAError as error:  # of the options: of each pair, then
            found = [error] * len(pairs)
        assert [plain(result) for result in found] == expected
    prepared = {document: others[0].prepare(document) for document in documents}
    for (question, document), single in zip(pairs, expected, strict=True):
        assert outcome(prepared[document].answer, question, **options) == single
    if are_bytes or any(isinstance(single[0], type) for single in expected):
        return  # Columns and records are UTF-8; or a failure, of options that do not go together.
    results = [reference.answer(question, document, **options) for question, document in pairs]
    if options.get("top_k", 1) == 1:
        questions, texts = (pyarrow.array(parts) for parts in zip(*pairs))
        rows = bertqa.answer_column(others[0], questions, texts, **options).to_pylist()
        for row, result in zip(rows, results, strict=True):
            assert row["is_impossible"] == result.is_impossible
            best = result.answer
            same = (
                ("answer", "text"),
                ("start",) * 2,
                ("end",) * 2,
                ("score",) * 2,
                ("probability",) * 2,
                ("gap",) * 2,
            )
            assert all(row[name] == (getattr(best, field) if best else None) for name, field in same)
    if seed % 5 == 0:
        records = [{"question": question, "text": document} for question, document in pairs]
        for found, result in zip(of_filter(directory, "answer", records, options), results, strict=True):
            assert found["is_impossible"] == result.is_impossible
            assert f32(found["null_score"]) == result.null_score
            assert [(tuple(a["bytes"]), f32(a["score"]), f32(a["probability"])) for a in found["answers"]] == [
                (answer.byte_range, answer.score, answer.probability) for answer in result.answers
            ]


@seeds(CASES)
def test_classifications(seed):
    draw = random.Random(seed)
    directory, reference, others = CLASSIFYING.draw(draw)
    options = window_options(draw)
    if draw.random() < 0.3:
        options["window_pooling"] = draw.choice(["mean", "max"])
    texts = [text(draw) for _ in range(draw.randrange(1, 8))]
    expected = [outcome(reference.classify, single, **options) for single in texts]
    for context in [reference, *others]:
        assert [plain(result) for result in context.classify_batch(texts, **options)] == expected
    rows = bertqa.classify_column(others[0], pyarrow.array(texts), **options).to_pylist()
    results = reference.classify_batch(texts, **options)
    for row, result in zip(rows, results, strict=True):
        assert (row["label"], row["probability"]) == (result.scores[0].label, result.scores[0].probability)
        by_id = sorted(result.scores, key=lambda score: score.id)
        assert row["probabilities"] == [score.probability for score in by_id]
    if seed % 5 == 0:
        records = [{"text": single} for single in texts]
        for found, result in zip(of_filter(directory, "classify", records, options), results, strict=True):
            assert [(label["label"], f32(label["logit"])) for label in found["labels"]] == [
                (score.label, score.logit) for score in result.scores
            ]


@seeds(CASES)
def test_entities(seed):
    draw = random.Random(seed)
    directory, reference, others = TAGGING.draw(draw)
    options = window_options(draw)
    options["aggregation"] = draw.choice(["none", "simple", "first", "average", "max", "model"])
    if draw.random() < 0.3:
        options["threshold"] = draw.choice([0.3, 0.5])
    texts = [text(draw) for _ in range(draw.randrange(1, 8))]
    results = [reference.entities(single, **options) for single in texts]
    for context in [reference, *others]:
        assert [plain(found) for found in context.entities_batch(texts, **options)] == [plain(r) for r in results]
    rows = bertqa.entities_column(others[0], pyarrow.array(texts), **options).to_pylist()
    for row, result in zip(rows, results, strict=True):
        names = ["label", "text", "start", "end", "score"]
        assert row == [{name: getattr(entity, name) for name in names} for entity in result.entities]
    if seed % 5 == 0:
        records = [{"text": single} for single in texts]
        for found, result in zip(of_filter(directory, "entities", records, options), results, strict=True):
            assert [(e["label"], tuple(e["bytes"]), f32(e["score"])) for e in found["entities"]] == [
                (entity.label, entity.byte_range, entity.score) for entity in result.entities
            ]


@seeds(CASES)
def test_embeddings(seed):
    draw = random.Random(seed)
    directory, reference, others = EMBEDDING.draw(draw)
    options = {"pooling": ["mean", "cls", "model"], "normalize": [True, False], "truncate": [True, False]}
    options = {name: draw.choice(values) for name, values in options.items() if draw.random() < 0.4}
    texts = [text(draw) for _ in range(draw.randrange(1, 8))]
    expected = [reference.embed([single], **options)[0] for single in texts]
    for context in [reference, *others]:
        assert list(context.embed(texts, **options)) == expected
    if seed % 5 == 0:
        records = [{"text": single} for single in texts]
        if options.pop("normalize", None) is not None:
            expected = [reference.embed([single], **options)[0] for single in texts]
        found = of_filter(directory, "embed", records, options)
        assert [array.array("f", vector) for vector in found] == expected


@seeds(CASES)
def test_instruction_sets(seed):
    """Random tokens and texts in each instruction set, compared with the portable one."""
    draw = random.Random(seed)
    isa = draw.choice(available_isas()[1:] or ["portable"])
    name = draw.choice(FAMILIES)
    first, second = (CONTEXTS(f"tiny-{name}", isa=which) for which in ("portable", isa))
    windows = []
    for _ in range(draw.randrange(1, 6)):
        length = draw.randrange(1, first.info.max_position_embeddings // 2)
        windows.append([draw.randrange(first.info.vocabulary_size) for _ in range(length)])
    for window, other in zip(first.logits(windows), second.logits(windows), strict=True):
        for side, numbers in zip(window, other, strict=True):
            assert max(abs(a - b) for a, b in zip(side, numbers)) <= BOUND
    texts = [text(draw) for _ in range(3)]
    first, second = (CONTEXTS("tiny-bert-embedder", isa=which) for which in ("portable", isa))
    for vector, other in zip(first.embed(texts, normalize=True), second.embed(texts, normalize=True), strict=True):
        assert max(abs(a - b) for a, b in zip(vector, other)) <= BOUND


@seeds(CASES)
def test_sequences(seed):
    """Generation, likelihood and ranking, step by step and at once, on each instruction set."""
    draw = random.Random(seed)
    name = draw.choice(["tiny-lstm", "tiny-gru", "tiny-lstm-characters"])
    contexts = [CONTEXTS(name, isa=isa) for isa in available_isas()]
    texts = [" ".join(draw.choices(SOME_WORDS, k=draw.randrange(1, 20))) for _ in range(4)]
    scores = [[context.likelihood(single) for single in texts] for context in contexts]
    for others in scores[1:]:
        for score, other in zip(scores[0], others, strict=True):
            assert (score.word_count, score.unknown_count) == (other.word_count, other.unknown_count)
            assert abs(score.log_likelihood - other.log_likelihood) <= BOUND * max(1, score.word_count)
    context = contexts[0]
    order = context.rank(texts[0], texts[1:])
    assert sorted(item.index for item in order) == [0, 1, 2]
    whole = context.generate(texts[0], max_words=8, seed=seed, temperature=1.0)
    assert plain_words(context.generate(texts[0], max_words=8, seed=seed, temperature=1.0)) == plain_words(whole)
    assert plain_words(CONTEXTS(name, threads=3, isa="portable").generate(
        texts[0], max_words=8, seed=seed, temperature=1.0)) == plain_words(whole)  # fmt: skip


def plain_words(generation):
    return [(word.id, word.text, word.probability) for word in generation.words]


def clean(single):
    """Without unpaired surrogates, which columns of strings cannot have."""
    return single.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


pyarrow = pytest.importorskip("pyarrow")
ANSWERING, CLASSIFYING = Models(""), Models("-classifier")
TAGGING, EMBEDDING = Models("-entities"), Models("-embedder")
KEPT = {}


def CONTEXTS(name, **options):
    key = name, *options.items()
    if key not in KEPT:
        KEPT[key] = bertqa.Context(FIXTURES / name, precision="f32", **options)
    return KEPT[key]
