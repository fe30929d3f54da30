"""Answers and their options."""

import math
import re

import pytest

import bertqa
from bertqa._handle import Closable
from samples import ANSWER, APOLLO, DOCUMENTS, FOX, WHO, words


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
    assert result.no_answer_threshold == context.info.no_answer_threshold == pytest.approx(-0.7)
    assert 0 < answer.probability < 1 and 0 < result.no_answer_probability < 1
    assert (result.window_count, result.skipped_window_count) == (1, 0)
    flags = result.is_impossible, result.is_question_truncated, result.is_question_empty, result.is_document_empty
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
        assert result.is_document_empty and result.is_impossible and not result.is_question_empty
        assert result.gap == -math.inf and result.no_answer_probability == 1 and result.window_count == 0
    for empty in "", b"", " ":
        result = context.answer(empty, FOX)
        assert result.answer is None and result.is_question_empty and result.is_impossible
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
            assert result.answer.text == expected and result.skipped_window_count > 5
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
    assert short.is_question_truncated and not tiny.answer(question, FOX).is_question_truncated
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
    zero = context.answer(WHO, FOX, no_answer_threshold=0)
    assert zero.no_answer_threshold == 0
    default = context.answer(WHO, FOX, no_answer_threshold=None)
    assert default.no_answer_threshold == context.info.no_answer_threshold


def test_align_to_words(tiny):
    document = " ".join(word + ending for word, ending in zip(words(80).split(), ["xq", "7z", "qj"] * 30))
    aligned = tiny.answer("who", document, top_k=100).answers
    free = tiny.answer("who", document, top_k=100, align_to_words=False).answers

    def whole(answer):
        return f" {document} "[answer.start] == " " == f" {document} "[answer.end + 1]

    assert all(map(whole, aligned)) and not all(map(whole, free))


def test_partial(context):
    question = "What happened to Apollo 13?"
    with pytest.raises(bertqa.DeadlineExceeded):
        context.answer(question, APOLLO, timeout=0)
    late = context.answer(question, APOLLO, timeout=0, partial=True)
    assert late.stop == "deadline" and late.answers == [] and late.is_impossible and late.window_count == 0
    windows = []
    found = context.answer(
        question, APOLLO * 20, partial=True, max_windows=-1, progress=lambda stage, done: windows.append(done),
        cancel=lambda: len(windows) > 2,
    )  # fmt: skip
    assert found.stop == "cancelled" and 0 < found.window_count < found.window_count + found.skipped_window_count
    assert found.answers
    whole = context.answer(question, APOLLO, partial=True, timeout=1000)
    assert whole == context.answer(question, APOLLO)
    first, second = context.answer_batch([(question, APOLLO)] * 2, partial=True, timeout=0)
    assert first == second == late


def test_max_windows(context):
    question = "What killed the crew of Apollo 1?"
    whole = context.answer(question, APOLLO, max_windows=-1)
    assert whole.skipped_window_count == 0 and whole.stop == "all"
    part = context.answer(question, APOLLO, max_windows=4)
    assert (part.window_count, part.skipped_window_count) == (4, whole.window_count - 4) and part.stop == "limit"
    default = context.answer(question, APOLLO)
    assert default.window_count < whole.window_count and default.stop == "enough"
    assert part.answer.text == whole.answer.text == default.answer.text == "cabin fire"


def test_several_documents(context):
    documents = [FOX, "", APOLLO]
    result = context.answer_documents("What killed the crew of Apollo 1?", documents)
    answer = result.answer
    assert answer.document_index == 2 and answer.text == "cabin fire" == APOLLO[answer.start : answer.end]
    assert answer.sentence == APOLLO[answer.sentence_start : answer.sentence_end]
    assert context.answer_documents(WHO, iter(documents)).answer.document_index == 0
    for prepared in [context.prepare(text) for text in documents], [FOX, context.prepare(""), APOLLO]:
        assert context.answer_documents("What killed the crew of Apollo 1?", prepared) == result
    assert context.answer_documents(WHO, [FOX]) == context.answer(WHO, FOX)
    as_bytes = context.answer_documents(WHO, [b"", FOX.encode()]).answer
    assert as_bytes.text == b"The quick brown fox" and as_bytes.document_index == 1
    assert context.answer_documents(WHO, ["", ""]).is_document_empty
    for wrong, error in ([], bertqa.InvalidArgument), (FOX, TypeError), ([FOX, 1], TypeError):
        with pytest.raises(error):
            context.answer_documents(WHO, wrong)


def test_documents_that_another_thread_closes(context, monkeypatch):
    """A call holds what it uses: each object is closed as soon as the call has seen that it is open."""
    opened = Closable._opened

    def closed_then(self):
        handle = opened(self)
        if self is not context:
            self.close()
        return handle

    documents = [FOX, APOLLO]
    wanted = context.answer_documents(WHO, documents)
    prepared = [context.prepare(text) for text in documents]
    monkeypatch.setattr(Closable, "_opened", closed_then)
    assert context.answer_documents(WHO, prepared) == wanted
    with pytest.raises(ValueError, match="this Document was closed"):
        context.answer_documents(WHO, prepared)


def test_the_document_at_fault_is_named(context, tiny):
    for documents, options, error in [
        ([FOX, "", APOLLO], {"max_document_tokens": 50}, bertqa.TooLarge),
        ([context.prepare(FOX), context.prepare(""), tiny.prepare(FOX)], {}, bertqa.InvalidArgument),
    ]:
        with pytest.raises(error, match=r"^documents\[2\]: ") as caught:
            context.answer_documents(WHO, documents, **options)
        assert caught.value.item == 2
        with pytest.raises(error) as caught:
            context.answer_documents(WHO, documents[2:], **options)
        assert caught.value.item is None


def test_limits_hold_for_texts_among_prepared_documents(context):
    documents = [context.prepare(FOX), APOLLO]
    for options in {"max_document_tokens": 50}, {"max_bytes": 5000}:
        with pytest.raises(bertqa.TooLarge):
            context.answer_documents(WHO, documents, **options)


def test_wrong_options(tiny):
    for options, message in [
        ({"top_k": 0}, "top_k is 0, which is outside of its range; pass None for the default"),
        ({"top_k": 1 << 32 | 1}, "top_k is 4294967297, which does not fit in 32 bits"),
        ({"max_seq_len": 7}, "max_seq_len is 7, but must be at least 8"),
        ({"top_k": -1}, "top_k is -1, but must be 1 to 1000"),
        ({"doc_stride": -2}, "doc_stride is -2, but must be"),
        ({"max_answer_len": 0}, "max_answer_len is 0"),
        ({"max_question_len": 0}, "max_question_len is 0"),
        ({"align_to_words": 2}, "align_to_words is 2, but must be True or False"),
        ({"max_bytes": -1}, "max_bytes is -1"),
        ({"n_best_size": -1}, "n_best_size is -1"),
        ({"max_windows": -2}, "max_windows is -2, but must be at least -1"),
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
    for cancel in True, "x":
        with pytest.raises(TypeError, match="cancel must be a function"):
            tiny.answer("who", FOX, cancel=cancel)


def test_errors_carry_what_was_wrong(tiny):
    with pytest.raises(bertqa.InvalidArgument) as caught:
        tiny.answer("who", FOX, top_k=-1)
    assert (caught.value.argument, caught.value.item) == ("top_k", None)
    with pytest.raises(bertqa.InvalidArgument) as caught:
        tiny.answer_batch([("who", FOX), (words(60), FOX)], max_seq_len=64, doc_stride=40)
    assert caught.value.item == 1


def test_a_pair_that_fails_does_not_lose_the_others(tiny):
    options = {"max_seq_len": 64, "doc_stride": 40}
    pairs = [("who", FOX), (words(60), FOX), ("what", FOX), (words(61), FOX)]
    results = tiny.answer_batch(pairs, return_exceptions=True, **options)
    assert [results[0], results[2]] == [tiny.answer("who", FOX, **options), tiny.answer("what", FOX, **options)]
    for item in 1, 3:
        assert isinstance(results[item], bertqa.InvalidArgument) and results[item].item == item
    assert "doc_stride" in str(results[1])
    with pytest.raises(bertqa.InvalidArgument):
        tiny.answer_batch(pairs, **options)
    with pytest.raises(bertqa.InvalidArgument):  # wrong for all of them
        tiny.answer_batch(pairs, return_exceptions=True, top_k=-1)
    with tiny.prepare(FOX) as document:
        questions = [question for question, _ in pairs]
        again = document.answer_batch(questions, return_exceptions=True, **options)
        assert again[0] == results[0] and again[2] == results[2]
        assert [str(again[item]) for item in (1, 3)] != ["", ""] and again[3].item == 3
        assert document.answer_batch([]) == []
        with pytest.raises(TypeError, match="one text"):
            document.answer_batch("who")


@pytest.mark.parametrize("wrong", [None, 1, ["x"]])
def test_a_text_that_is_none_is_named(tiny, wrong):
    prepared = tiny.prepare(FOX)
    for name, call in (
        ("question", lambda: tiny.answer(wrong, FOX)),
        ("document", lambda: tiny.answer("who", wrong)),
        ("document", lambda: tiny.prepare(wrong)),
        ("question", lambda: prepared.answer(wrong)),
        ("questions[1]", lambda: prepared.answer_batch(["who", wrong])),
        ("documents[1]", lambda: tiny.answer_documents("who", [FOX, wrong])),
        ("documents[1]", lambda: tiny.answer_documents("who", [prepared, wrong])),
        ("pairs[1][0]", lambda: tiny.answer_batch([("who", FOX), (wrong, FOX)])),
        ("pairs[1][1]", lambda: list(tiny.answer_stream([("who", FOX), ("who", wrong)]))),
        ("text", lambda: tiny.tokenize(wrong)),
        ("piece", lambda: tiny.piece_id(wrong)),
    ):
        with pytest.raises(TypeError) as failure:
            call()
        assert str(failure.value) == f"{name}: expected str or bytes, got {type(wrong).__name__}"


@pytest.mark.parametrize(
    "wrong",
    ["ab", b"ab", ("who",), ("who", FOX, "x"), 1, {"question": "who", "document": FOX}, {"who", FOX}],
)
def test_pairs_are_questions_and_documents(tiny, wrong):
    with pytest.raises(TypeError, match=r"expected \(question, document\), got "):
        tiny.answer_batch([("who", FOX), wrong])
    stream = tiny.answer_stream([("who", FOX), wrong])
    assert next(stream) == tiny.answer("who", FOX)
    with pytest.raises(TypeError, match=r"expected \(question, document\), got "):
        next(stream)


@pytest.mark.parametrize(
    "question, document, expected",
    [
        ("What is Jane's address?", "Ann is away. Write to jane.doe@example.org, please.", "jane.doe@example.org"),
        (
            "How much did it cost?",
            "The new bridge, built in May, cost US$1,200.50 million.",
            "US$1,200.50 million",
        ),
        ("How fast is the train?", "The train goes at 60 km/h and stops twice.", "60 km/h"),
        ("When does the shop close?", "It opens at noon. The shop closes at 6:00 p.m.", "6:00 p.m."),
    ],
)
def test_edges_cut_no_expression(context, question, document, expected):
    answer = context.answer(question, document).answer
    assert expected in answer.text and document.encode()[slice(*answer.byte_range)].decode() == answer.text
    raw = context.answer(question, document, align_to_words=False).answer
    assert raw.score == answer.score and raw.probability == answer.probability and raw.text in answer.text


def test_no_answer_is_punctuation_alone(tiny):
    document = "- (who) ... ! | \u2014 5 | \u20ac"
    texts = {answer.text for answer in tiny.answer("who", document, top_k=1000, max_answer_len=1).answers}
    assert texts == {"who", "\u20ac", "5"}
    nothing = tiny.answer("who", "... !? |")
    assert nothing.answer is None and nothing.is_impossible and not nothing.is_document_empty
