"""answer_column and classify_column, checked by the libraries whose columns they take."""

import gc
import random
import weakref

import pandas
import polars
import pyarrow
import pytest

import bertqa
from bertqa import _arrow, _columns, _native
from columns import FIELDS, QUESTION, expected, texts
from conftest import FIXTURES
from samples import SOME_WORDS


@pytest.fixture(scope="module")
def context():
    with bertqa.Context(FIXTURES / "tiny-bert") as context:
        yield context


TYPES = [pyarrow.string(), pyarrow.large_string(), pyarrow.string_view(), pyarrow.binary(), pyarrow.large_binary()]


@pytest.mark.parametrize("kind", TYPES + [pyarrow.binary_view()], ids=str)
def test_arrow_types(context, kind):
    documents = texts(70)
    column = pyarrow.array([d if d is None or "string" in str(kind) else d.encode() for d in documents], kind)
    result = bertqa.answer_column(context, QUESTION, column)
    result.validate(full=True)
    assert [field.name for field in result.type] == FIELDS
    assert result.to_pylist() == expected(context, [QUESTION] * 70, documents)


def test_slices_start_where_they_say(context):
    documents = texts(41)
    column = pyarrow.array(documents)
    for start, count in (0, 41), (1, 40), (7, 9), (8, 16), (40, 1), (41, 0):
        result = bertqa.answer_column(context, QUESTION, column.slice(start, count))
        result.validate(full=True)
        assert result.to_pylist() == expected(context, [QUESTION] * count, documents[start : start + count])


def test_chunks_of_both_columns_need_not_match(context):
    documents, questions = texts(30, seed=1), [random.Random(i).choice(SOME_WORDS) for i in range(30)]
    questions[3] = None

    def chunked(values, *cuts):
        return pyarrow.chunked_array(
            [values[a:b] for a, b in zip((0, *cuts), (*cuts, len(values)))], pyarrow.string()
        )

    result = bertqa.answer_column(context, chunked(questions, 4, 4, 19), chunked(documents, 1, 17))
    result.validate(full=True)
    assert isinstance(result, pyarrow.ChunkedArray)
    assert result.to_pylist() == expected(context, questions, documents)
    for other, amount in (questions[:-1], "fewer"), (questions + ["who"], "more"):
        with pytest.raises(bertqa.InvalidArgument, match=f"{amount} questions than documents"):
            bertqa.answer_column(context, chunked(other, 2), chunked(documents, 1))


@pytest.mark.parametrize("documents", [[], [None], [""], [None] * 9], ids=repr)
def test_nothing_to_answer(context, documents):
    columns = [pyarrow.array(documents, pyarrow.string()), pyarrow.nulls(len(documents))]
    for column in columns:
        result = bertqa.answer_column(context, QUESTION, column)
        result.validate(full=True)
        assert len(result) == len(documents)
    empty = bertqa.answer_column(context, QUESTION, pyarrow.chunked_array([], pyarrow.string()))
    assert len(empty) == 0


def test_polars(context):
    documents = texts(25, seed=2)
    series = polars.concat([polars.Series("d", documents[:9]), polars.Series("d", documents[9:])], rechunk=False)
    result = bertqa.answer_column(context, QUESTION, series)
    assert isinstance(result, polars.Series)
    assert result.to_list() == expected(context, [QUESTION] * 25, documents)
    frame = polars.DataFrame({"d": series}).with_columns(answer=result)
    answers = [None if row is None else row["answer"] for row in result.to_list()]
    assert frame["answer"].struct.field("answer").to_list() == answers


@pytest.mark.parametrize("dtype", [object, "str", "string[pyarrow]", "large_string[pyarrow]"])
def test_pandas(context, dtype):
    documents = texts(25, seed=3)
    series = pandas.Series(documents, index=range(100, 125), name="d", dtype=dtype)
    result = bertqa.answer_column(context, QUESTION, series)
    assert list(result.index) == list(series.index) and result.name == "d"
    wanted = expected(context, [QUESTION] * 25, documents)
    assert pyarrow.array(result.array).to_pylist() == wanted


def test_lists_need_no_library(context):
    documents = texts(10, seed=4)
    column = bertqa.answer_column(context, [QUESTION] * 10, documents)
    assert len(column) == 10
    assert pyarrow.array(column).to_pylist() == expected(context, [QUESTION] * 10, documents)
    with pytest.raises(ValueError, match="taken over already"):
        column.__arrow_c_array__()


def test_options_and_errors(context):
    documents = pyarrow.array(texts(8, seed=5))
    options = {"no_answer_threshold": 1e9, "handle_impossible_answer": True}
    result = bertqa.answer_column(context, QUESTION, documents, **options).to_pylist()
    assert result == expected(context, [QUESTION] * 8, documents.to_pylist(), **options)
    assert all(row is None or row["answer"] is None and row["is_impossible"] for row in result)
    for column, message in [
        (pyarrow.array([1, 2]), 'type "l"'),
        (pyarrow.array([["a"]]), r"cast it to utf8"),
    ]:
        with pytest.raises(bertqa.InvalidArgument, match=message):
            bertqa.answer_column(context, QUESTION, column)
    with pytest.raises(bertqa.InvalidArgument, match="top_k"):
        bertqa.answer_column(context, QUESTION, documents, top_k=1001)
    with pytest.raises(bertqa.Cancelled):
        bertqa.answer_column(context, QUESTION, documents, cancel=lambda: True)
    with pytest.raises(bertqa.WrongModel):
        bertqa.classify_column(context, documents)


def test_what_is_no_column_is_refused_before_the_work(context):
    index, frame = pandas.Index(["a", "b"]), pandas.DataFrame({"d": ["a"]})
    for wrong, message in [
        ("a text", "documents must be a column"),
        (b"a text", "documents must be a column"),
        (index, r"documents is a pandas Index.*to_series\(\)"),
        (frame, "documents is a pandas DataFrame.*one of its columns"),
        (["a", 3], "row 1: expected str or bytes, got int"),
    ]:
        with pytest.raises(TypeError, match=message):
            bertqa.answer_column(context, QUESTION, wrong, cancel=pytest.fail)
        with pytest.raises(TypeError, match=message.replace("documents", "texts")):
            bertqa.classify_column(context, wrong, cancel=pytest.fail)
    with pytest.raises(TypeError, match="context must be of type Context, not str"):
        bertqa.answer_column(QUESTION, ["a"], context)
    with pytest.raises(TypeError, match="questions is a pandas Index"):
        bertqa.answer_column(context, index, ["a", "b"])
    # Rows are paired by position, and these belong to each other by their index.
    questions, documents = pandas.Series(["a", "b"], [0, 1]), pandas.Series(["a", "b"], [1, 0])
    with pytest.raises(bertqa.InvalidArgument, match="questions and documents have different indexes"):
        bertqa.answer_column(context, questions, documents)
    assert len(bertqa.answer_column(context, questions.tolist(), documents)) == 2


def test_all_of_pandas_missing_values_are_nulls(context):
    missing = pandas.Series(["the river", pandas.NA, None, float("nan")], dtype=object)
    result = bertqa.answer_column(context, QUESTION, missing)
    rows = pyarrow.array(result.array).to_pylist()
    assert rows == expected(context, [QUESTION] * 4, ["the river", None, None, None])
    assert bertqa.answer_column(context, QUESTION, [*missing, pandas.NaT]).to_pylist() == [*rows, None]
    # A column without a value, as read_csv returns it, and texts that pyarrow refuses.
    for nothing in (
        pandas.Series([float("nan")] * 2),
        pandas.Series([], dtype="float64"),
        pandas.Series([float("nan")] * 2, dtype="category"),
        pandas.Series([pandas.NA] * 2, dtype="Int64"),  # read_csv with dtype_backend="numpy_nullable"
    ):
        assert bertqa.answer_column(context, QUESTION, nothing).isna().all()
    objects = pandas.Series(["\ud800 the river", b"the river", 1.5], dtype=object, index=[7, 7, 8])
    assert bertqa.answer_column(context, QUESTION, objects[:2]).index.tolist() == [7, 7]
    with pytest.raises(TypeError, match="row 2: expected str or bytes, got float"):
        bertqa.answer_column(context, QUESTION, objects)


@pytest.mark.parametrize("dtype", [None, "category"])
def test_series_that_arrow_lacks_are_named(context, dtype):
    with pytest.raises(bertqa.InvalidArgument, match="documents cannot be read as Arrow data"):
        bertqa.answer_column(context, QUESTION, pandas.Series([1j, None], dtype=dtype))


def test_subclasses_of_a_series_are_series(context):
    class Own(pandas.Series):
        pass

    column = Own(["the river", None, b"the fox"], index=[7, 7, 8], name="d", dtype=object)
    result = bertqa.answer_column(context, QUESTION, column)
    pandas.testing.assert_series_equal(result, bertqa.answer_column(context, QUESTION, pandas.Series(column)))
    with pytest.raises(bertqa.InvalidArgument, match="different indexes"):
        bertqa.answer_column(context, column.reset_index(drop=True), column)


def test_sparse_series_are_read_as_dense_ones(context):
    """Arrow has no sparse type, and pandas exports none."""
    dense = pandas.Series(["the river", None, None, "the fox"], dtype=object, index=[7, 7, 8, 9], name="d")
    for fill in None, "the river":
        sparse = dense.astype(pandas.SparseDtype(object, fill))
        result = bertqa.answer_column(context, QUESTION, sparse)
        pandas.testing.assert_series_equal(result, bertqa.answer_column(context, QUESTION, dense))
    assert bertqa.answer_column(context, QUESTION, sparse[:0]).empty
    with pytest.raises(bertqa.InvalidArgument, match='documents is of Arrow type "l"'):
        bertqa.answer_column(context, QUESTION, pandas.Series([0, 1], dtype="Sparse[int64]"))


@pytest.mark.parametrize("make", [pyarrow.array, polars.Series, pandas.Series], ids=lambda make: make.__module__)
def test_big_chunks_are_cut(context, monkeypatch, make):
    """A call of the library gets few rows, whatever the chunks of the column."""
    monkeypatch.setattr(_columns, "ROWS", 7)
    documents = texts(40, seed=8)
    column = make(documents)
    calls = []
    answer_arrow = _columns.library().answer_arrow

    class Counting:
        def __getattr__(self, name):
            return getattr(_native.library(), name)

        def answer_arrow(self, handle, questions, documents, *rest):
            rows = _arrow.ArrowArray.from_address(documents.array)
            calls.append(rows.length)
            return answer_arrow(handle, questions, documents, *rest)

    monkeypatch.setattr(_columns, "library", Counting)
    result = bertqa.answer_column(context, QUESTION, column)
    assert type(result).__module__.split(".")[0] == type(column).__module__.split(".")[0]
    assert calls == [7] * 5 + [5]
    if not isinstance(result, pyarrow.Array):
        result = pyarrow.array(result)
    assert result.to_pylist() == expected(context, [QUESTION] * 40, documents)


def test_the_row_at_fault_is_the_columns(context, monkeypatch):
    monkeypatch.setattr(_columns, "ROWS", 7)
    questions = pyarrow.array([QUESTION] * 30 + [" ".join([QUESTION] * 20)])
    documents = pyarrow.array(["the river"] * 31)
    with pytest.raises(bertqa.InvalidArgument) as caught:
        bertqa.answer_column(context, questions, documents, max_seq_len=64, doc_stride=40)
    assert caught.value.item == 30


def test_invalid_utf8_gives_valid_columns(context):
    column = pyarrow.array([b"the \xff river \xe2\x82", b"\x80"], pyarrow.binary())
    result = bertqa.answer_column(context, "river", column)
    result.validate(full=True)
    found = result.to_pylist()
    assert found == expected(context, ["river"] * 2, ["the \ufffd river \ufffd", "\ufffd"])
    assert found[0]["answer"] == "the"


def test_inputs_are_read_in_place_and_nothing_is_kept(context):
    documents = pyarrow.array(texts(2000, seed=6) * 10)
    gc.collect()
    before = pyarrow.total_allocated_bytes()
    chunk = next(_arrow.chunks(documents, "documents"))
    assert chunk.array.buffers[2] == documents.buffers()[2].address
    del chunk
    for taken in True, False:
        column = bertqa.answer_column(context, QUESTION, documents.to_pylist()[:50])
        capsules = column.__arrow_c_array__()
        if taken:
            pyarrow.Array._import_from_c_capsule(*capsules).validate(full=True)
        gone = weakref.ref(column)
        del column, capsules
        gc.collect()
        _arrow.release_unused()
        assert gone() is None and not _arrow._exported
    assert pyarrow.total_allocated_bytes() == before


def test_classify_column():
    documents = ["The striker scored twice in the second half.", None, "no", "", "Shares of the bank fell."] * 3
    with bertqa.Context(task="classify") as topics:
        labels = topics.info.labels
        for column in pyarrow.array(documents), polars.Series("d", documents), pandas.Series(documents):
            result = bertqa.classify_column(topics, column)
            assert type(result).__module__.split(".")[0] == type(column).__module__.split(".")[0]
            result = result if isinstance(result, pyarrow.Array) else pyarrow.array(result)
            result.validate(full=True)
            for row, document in zip(result.to_pylist(), documents, strict=True):
                if document is None:
                    assert row is None
                    continue
                found = topics.classify(document)
                if found.is_too_short:
                    assert row == {"label": None, "probability": None, "probabilities": None}
                    continue
                probabilities = [found.probabilities[label] for label in labels]
                assert row == {
                    "label": found.label, "probability": found.probability, "probabilities": probabilities,
                }  # fmt: skip
        with pytest.raises(bertqa.InvalidArgument, match="contributions"):
            bertqa.classify_column(topics, ["a"], contributions=1)


NAMES = ["a.b", "q\"`'x", "sp ace", "", "bödy 🦊", "answer", "select"]


@pytest.mark.parametrize("name", NAMES)
def test_results_have_the_column_s_name(name):
    """Whatever the name is, and although the result's fields have their own names."""
    with (
        bertqa.Context(FIXTURES / "tiny-bert") as context,
        bertqa.Context(FIXTURES / "tiny-bert-classifier") as other,
    ):
        calls = [
            lambda column: bertqa.answer_column(context, QUESTION, column),
            lambda column: bertqa.answer_column(context, QUESTION, column, top_k=2),
            lambda column: bertqa.tokenize_column(context, column),
            lambda column: bertqa.classify_column(other, column),
        ]
        for call in calls:
            for series in pandas.Series(["the river", None], name=name), polars.Series(name, ["the river", None]):
                assert call(series).name == name
            table = pyarrow.table({name: ["the river", None]})
            assert len(call(table[name])) == 2
            frame = polars.DataFrame({name: ["the river", None]})
            assert frame.with_columns(call(frame[name])).columns == [name]
