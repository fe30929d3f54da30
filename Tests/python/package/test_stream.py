"""answer_stream: in order, a batch at a time, in bounded memory."""

import itertools
import threading
import tracemalloc

import pytest

import bertqa
from bertqa import _stream
from samples import FOX, WHO, words


def pairs(count, seed=0):
    return [(f"who {i}", words(20 + i % 7, seed=seed + i)) for i in range(count)]


def counted(source, taken):
    for pair in source:
        taken.append(pair)
        yield pair


@pytest.mark.parametrize("batch_size", [1, 3, 32, 1000])
def test_results_are_those_of_a_batch_in_order(tiny, batch_size):
    given = pairs(40)
    wanted = tiny.answer_batch(given)
    for source in given, iter(given), (pair for pair in given), dict(given).items():
        assert list(tiny.answer_stream(source, batch_size=batch_size)) == wanted
    assert list(tiny.answer_stream([])) == []
    assert list(tiny.answer_stream(given[:3], top_k=2)) == tiny.answer_batch(given[:3], top_k=2)
    in_bytes = [("who", b"the river \xff has seen")]
    assert list(tiny.answer_stream(in_bytes)) == tiny.answer_batch(in_bytes)


def test_pairs_are_taken_as_results_are(tiny):
    taken = []
    stream = tiny.answer_stream(counted(pairs(100), taken), batch_size=4)
    assert taken == []
    for expected in [4] * 4 + [8] * 4 + [12]:
        next(stream)
        assert len(taken) == expected
    stream.close()
    assert len(taken) == 12
    endless = tiny.answer_stream(((WHO, FOX) for _ in itertools.count()), batch_size=4)
    assert len(list(itertools.islice(endless, 9))) == 9


def test_long_documents_make_small_batches(tiny, monkeypatch):
    monkeypatch.setattr(_stream, "BATCH_TEXT", 1000)
    sizes = []
    answer_batch = type(tiny).answer_batch

    def noted(self, batch, **options):
        sizes.append(len(batch))
        return answer_batch(self, batch, **options)

    monkeypatch.setattr(type(tiny), "answer_batch", noted)
    given = [("who", "the river " * 40)] * 7 + [("who", "the fox")] * 5
    assert len(list(tiny.answer_stream(given, batch_size=10))) == 12
    assert sizes == [3, 3, 6]


def test_memory_does_not_grow_with_the_stream(tiny):
    def peak(count):
        document = "the river has seen the fox. " * 40
        source = (("who", f"{i} {document}") for i in range(count))
        tracemalloc.start()
        for result in tiny.answer_stream(source, batch_size=8):
            assert result.answers
        highest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return highest

    peak(16)
    assert peak(400) < 1.5 * peak(40)


LONG = ("who " * 100, FOX)
OPTIONS = {"max_seq_len": 64, "doc_stride": 40, "max_question_len": 200}


def test_a_pair_that_fails(tiny):
    given = [*pairs(5), LONG, *pairs(5), LONG]
    found = list(tiny.answer_stream(given, batch_size=4, return_exceptions=True, **OPTIONS))
    wanted = tiny.answer_batch(given, return_exceptions=True, **OPTIONS)
    assert [isinstance(result, bertqa.BertQAError) for result in found] == [i in (5, 11) for i in range(12)]
    assert [r for r in found if not isinstance(r, bertqa.BertQAError)] == [
        r for r in wanted if not isinstance(r, bertqa.BertQAError)
    ]
    assert [found[i].item for i in (5, 11)] == [5, 11]
    assert [str(found[i]).partition(":")[0] for i in (5, 11)] == ["pairs[5]", "pairs[11]"]
    stream, results = tiny.answer_stream(given, batch_size=4, **OPTIONS), []
    with pytest.raises(bertqa.InvalidArgument, match="question") as caught:
        for result in stream:
            results.append(result)
    assert results == found[:5] and caught.value.item == 5


def test_a_source_that_fails_loses_nothing(tiny):
    given = pairs(6)

    def source():
        yield from given
        raise ZeroDivisionError

    results = []
    with pytest.raises(ZeroDivisionError):
        for result in tiny.answer_stream(source(), batch_size=4):
            results.append(result)
    assert results == tiny.answer_batch(given)


def test_wrong_arguments_are_refused_at_once(tiny):
    for arguments, error, message in [
        ({"no_such_option": 1}, TypeError, "unknown option"),
        ({"top_k": 0}, bertqa.InvalidArgument, "top_k"),
        ({"batch_size": 0}, bertqa.InvalidArgument, "batch_size is 0"),
        ({"batch_size": float("nan")}, TypeError, "batch_size is nan, but must be an integer"),
        ({"progress": 5}, TypeError, "progress must be a function"),
    ]:
        with pytest.raises(error, match=message):
            tiny.answer_stream(pairs(1), **arguments)
    with pytest.raises(TypeError, match="pairs is one text"):
        tiny.answer_stream("text")
    with pytest.raises(TypeError):
        tiny.answer_stream(5)


def test_progress_cancel_timeout(tiny):
    calls = []
    given = pairs(10)
    list(tiny.answer_stream(given, batch_size=4, progress=lambda stage, fraction: calls.append((stage, fraction))))
    assert {stage for stage, _ in calls} == {"pairs"} and [fraction for _, fraction in calls][-1] == 1
    assert [fraction for _, fraction in calls] == sorted({fraction for _, fraction in calls}) and (
        ("pairs", 0.4) in calls
    )
    calls.clear()
    list(tiny.answer_stream(iter(given), progress=lambda stage, fraction: calls.append((stage, fraction))))
    assert calls and calls[-1][1] == 1
    with pytest.raises(bertqa.DeadlineExceeded):
        next(tiny.answer_stream(given, timeout=0))
    stop = threading.Event()
    stream = tiny.answer_stream(given, batch_size=2, cancel=stop.is_set)
    next(stream)
    stop.set()
    next(stream)
    with pytest.raises(bertqa.Cancelled):
        next(stream)


def test_progress_of_a_batch(tiny):
    calls = []
    tiny.answer_batch(pairs(50), progress=lambda stage, fraction: calls.append(fraction))
    assert calls == sorted(calls) and calls[-1] == 1 and all(0 <= fraction <= 1 for fraction in calls)
