"""Columns of every kind and function: dictionary-encoded and categorical ones, pairs, top_k, vectors, tokens; what
Column shows; progress, and columns of more rows than one call takes."""

import copy
import ctypes
import gc
import itertools
import os
import pickle
import re
import subprocess
import sys
import types

import numpy
import pandas
import polars
import pyarrow
import pytest

import bertqa
from bertqa import _arrow, _arrow_build, _columns, _run
from bertqa._arrow_values import values
from columns import QUESTION, expected, texts
from conftest import FIXTURES
from samples import SOME_WORDS, run_python


@pytest.fixture(scope="module")
def models():
    kinds = {"answer": "", "classify": "-classifier", "embed": "-embedder", "entities": "-entities"}
    opened = {task: bertqa.Context(FIXTURES / f"tiny-bert{kind}") for task, kind in kinds.items()}
    yield opened
    for model in opened.values():
        model.close()


FUNCTIONS = {
    "answer": lambda models, column: bertqa.answer_column(models["answer"], QUESTION, column),
    "best": lambda models, column: bertqa.answer_column(models["answer"], QUESTION, column, top_k=3),
    "classify": lambda models, column: bertqa.classify_column(models["classify"], column),
    "entities": lambda models, column: bertqa.entities_column(models["entities"], column),
    "embed": lambda models, column: bertqa.embed_column(models["embed"], column),
    "patterns": lambda models, column: bertqa.patterns_column(column),
    "redact": lambda models, column: bertqa.redact_column(column),
    "tokenize": lambda models, column: bertqa.tokenize_column(models["embed"], column),
}
OF_LIBRARIES = {
    "dictionary": lambda texts: pyarrow.array(texts, pyarrow.string()).dictionary_encode(),
    "slice": lambda texts: pyarrow.array(["x", None, *texts, "y"], pyarrow.string()).dictionary_encode()[2:-1],
    "chunked": lambda texts: pyarrow.chunked_array(
        [texts[:9], [], texts[9:]], pyarrow.string()
    ).dictionary_encode(),
    "arrow": lambda texts: pyarrow.array(texts, pyarrow.string_view()),
    "polars": lambda texts: polars.Series("d", texts, dtype=polars.Categorical),
    "pandas": lambda texts: pandas.Series(texts, index=range(7, 7 + len(texts)), name="d", dtype="category"),
    "objects": lambda texts: numpy.array(texts, dtype=object),
    "capsules": lambda texts: bertqa.Column.of(_arrow_build.texts("", texts)),
    "generator": lambda texts: (text for text in texts),
}


def rows_of(result):
    if isinstance(result, (bertqa.Column, pyarrow.Array, pyarrow.ChunkedArray)):
        return result.to_pylist()
    return result.to_list() if isinstance(result, polars.Series) else pyarrow.array(result.array).to_pylist()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_columns_of_every_library_have_the_rows_of_a_list(models, function):
    call = FUNCTIONS[function]
    given = texts(15, seed=3) * 2
    wanted = call(models, given).to_pylist()
    assert len(wanted) == 30 and [row is None for row in wanted] == [text is None for text in given]
    for name, make in OF_LIBRARIES.items():
        column = make(given)
        result = call(models, column)
        assert rows_of(result) == wanted, name
        if isinstance(column, (pyarrow.Array, pyarrow.ChunkedArray)):
            result.validate(full=True)
        if isinstance(column, pandas.Series):
            assert list(result.index) == list(column.index) and result.name == "d"
    for nothing in [], [None], pyarrow.array([], pyarrow.string()).dictionary_encode(), pyarrow.nulls(3):
        assert rows_of(call(models, nothing)) == [None] * len(nothing)


def test_equal_texts_are_worked_on_once(models, monkeypatch):
    """Dictionary-encoded columns, and columns whose results pass through Python."""
    given = ["the river", None, "the fox", "the river"] * 50
    counts = []

    class Counting:
        def __getattr__(self, name):
            function = getattr(bertqa._native.library(), name)
            if not name.endswith("_arrow"):
                return function

            def counted(handle, *columns):
                counts.append(_arrow.ArrowArray.from_address(columns[-4].array).length)
                return function(handle, *columns)

            return counted

    monkeypatch.setattr(_columns, "library", Counting)
    column = pyarrow.array(given).dictionary_encode()
    bertqa.classify_column(models["classify"], column)
    assert counts == [2]
    embed, asked = models["embed"].embed, []
    monkeypatch.setattr(
        type(models["embed"]), "embed", lambda self, texts, **o: asked.append(texts) or embed(texts, **o)
    )
    assert rows_of(bertqa.embed_column(models["embed"], given))[2] == embed("the fox").tolist()
    assert asked == [["the river", "the fox"]]


def test_vectors(models):
    given = texts(20, seed=4)
    result = bertqa.embed_column(models["embed"], pyarrow.array(given), normalize=False)
    result.validate(full=True)
    assert result.type == pyarrow.list_(
        pyarrow.field("item", pyarrow.float32()), models["embed"].info.embedding_length
    )
    for row, text in zip(result.to_pylist(), given, strict=True):
        assert row == (None if text is None else models["embed"].embed(text, normalize=False).tolist())
    with pytest.raises(bertqa.WrongModel):
        bertqa.embed_column(models["answer"], given)


def test_tokens(models):
    given = texts(20, seed=5) + ["é😀 [SEP] the\0river"]
    for special in None, True:
        result = bertqa.tokenize_column(models["answer"], pyarrow.array(given), special)
        result.validate(full=True)
        assert [field.name for field in result.type] == ["ids", "starts", "ends"]
        for row, text in zip(result.to_pylist(), given, strict=True):
            if text is None:
                assert row is None
                continue
            tokens = models["answer"].tokenize(text, special)
            assert (row["ids"], list(zip(row["starts"], row["ends"]))) == (tokens.ids, tokens.offsets)


def test_pairs(models):
    first, second = texts(20, seed=6), texts(20, seed=7)
    for others in second, "a fox":
        pairs = list(zip(first, [others] * 20 if isinstance(others, str) else others))
        whole = [None if None in pair else pair for pair in pairs]
        result = bertqa.embed_column(models["embed"], pyarrow.array(first), others).to_pylist()
        assert result == [None if pair is None else models["embed"].embed(pair).tolist() for pair in whole]
        result = bertqa.classify_column(models["classify"], first, others).to_pylist()
        labels = models["classify"].info.labels
        for row, pair in zip(result, whole, strict=True):
            if pair is None:
                assert row is None
                continue
            found = models["classify"].classify(pair)
            assert (row["label"], row["probability"]) == (found.label, found.probability)
            assert row["probabilities"] == [found.probabilities[label] for label in labels]
    assert bertqa.classify_column(models["classify"], first, first, max_seq_len=16).to_pylist() != result
    for wrong, amount in (second[:-1], "fewer"), (second + ["x"], "more"):
        with pytest.raises(bertqa.InvalidArgument, match=f"{amount} second_texts than texts"):
            bertqa.embed_column(models["embed"], first, wrong, cancel=pytest.fail)


def test_classifications_of_pairs_are_columns_as_of_texts():
    """Results built in Python have the type and the values of those that the library builds."""
    for model, given, options in [
        ("tiny-bert-classifier", texts(20, seed=8), {}),
        ("tiny-bert-classifier", texts(20, seed=8), {"min_probability": 0.5}),
        ("tiny-bert-regression", texts(20, seed=8), {}),
        (None, ["The striker scored twice in the second half.", None, "no", "Shares of the bank fell today."], {}),
    ]:
        with bertqa.Context(model and FIXTURES / model, task=None if model else "classify") as context:
            theirs = bertqa.classify_column(context, pyarrow.array(given), **options)
            found = [None if text is None else context.classify(text, **options) for text in given]
            assert [row and row["label"] for row in theirs.to_pylist()] == [row and row.label for row in found]
            built = bertqa._column_results.classifications(found, len(context.info.labels))
            ours = pyarrow.array(bertqa.Column.of(built))
            ours.validate(full=True)
            assert ours.type == theirs.type and ours.to_pylist() == theirs.to_pylist()
            best = bertqa.classify_column(context, given, top_k=2).to_pylist()
            for row, result in zip(best, found, strict=True):
                scores = [] if result is None else result.scores[:2]
                is_regression = model == "tiny-bert-regression"
                wanted = [
                    {"label": s.label, "probability": None if is_regression else s.probability} for s in scores
                ]
                assert row == (None if result is None else wanted)
            with pytest.raises(bertqa.InvalidArgument, match="top_k is 0"):
                bertqa.classify_column(context, given, top_k=0)
            with pytest.raises(bertqa.InvalidArgument, match="contributions"):
                bertqa.classify_column(context, given, top_k=1, contributions=1)


def test_several_answers(models):
    documents = texts(20, seed=9)
    questions = [QUESTION, None, "who is the fox"] * 7
    for asked in QUESTION, questions[:20]:
        each = [asked] * 20 if isinstance(asked, str) else asked
        result = bertqa.answer_column(models["answer"], asked, pyarrow.array(documents), top_k=4)
        result.validate(full=True)
        for row, question, document in zip(result.to_pylist(), each, documents, strict=True):
            if None in (question, document):
                assert row is None
                continue
            found = models["answer"].answer(question, document, top_k=4)
            assert row["is_impossible"] == found.is_impossible
            fields = ["start", "end", "probability", "score", "gap", "sentence"]
            wanted = [{"answer": a.text, **{name: getattr(a, name) for name in fields}} for a in found.answers]
            assert row["answers"] == wanted
    one = bertqa.answer_column(models["answer"], QUESTION, documents, top_k=1).to_pylist()
    assert one == expected(models["answer"], [QUESTION] * 20, documents)


def test_a_column_is_a_sequence_of_rows(models):
    documents = texts(30, seed=10) + ["the river " * 1000]
    column = bertqa.answer_column(models["answer"], QUESTION, documents)
    rows = expected(models["answer"], [QUESTION] * 31, documents)
    assert column.to_pylist() == list(column) == rows and len(column) == 31
    assert (column[0], column[-1], column[3:9:2]) == (rows[0], rows[-1], rows[3:9:2])
    with pytest.raises(IndexError):
        column[31]
    vectors = bertqa.embed_column(models["embed"], documents)
    for made in column, vectors:  # as results of worker processes
        assert pickle.loads(pickle.dumps(made)).to_pylist() == made.to_pylist() == copy.deepcopy(made).to_pylist()
    for shown in column, vectors, vectors[:0], bertqa.tokenize_column(models["embed"], documents):
        assert "\n" not in repr(shown) and len(repr(shown)) < 500
    assert repr(column).startswith("<Column of 31 rows: [")
    assert pyarrow.array(column).to_pylist() == rows
    assert repr(column) == "<Column, taken over>"
    for read in list, bertqa.Column.to_pylist, lambda column: column[0], bertqa.Column.buffers:
        with pytest.raises(ValueError, match="taken over already"):
            read(column)


def test_a_column_as_an_input_stays(models):
    given = bertqa.redact_column(["who has seen", None, "the river"])
    rows = given.to_pylist()
    found = bertqa.answer_column(models["answer"], given, given)
    assert found.to_pylist() == bertqa.answer_column(models["answer"], rows, rows).to_pylist()
    assert given.to_pylist() == rows and pyarrow.array(given).to_pylist() == rows


def test_values_are_what_pyarrow_says():
    kinds = [
        pyarrow.int8(),
        pyarrow.uint16(),
        pyarrow.int32(),
        pyarrow.int64(),
        pyarrow.uint64(),
        pyarrow.float64(),
    ]
    arrays = [pyarrow.array([1, None, 3, 4, 5] * 5, kind) for kind in kinds]
    strings = ["é", None, "", "a text of more than twelve bytes", "x"] * 5
    arrays += [
        pyarrow.array(strings, kind) for kind in (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view())
    ]
    arrays += [
        pyarrow.array([s and s.encode() for s in strings], kind)
        for kind in (pyarrow.binary(), pyarrow.binary_view())
    ]
    arrays += [
        pyarrow.array([True, None, False] * 9),
        pyarrow.array([[1], None, [], [2, None]] * 4),
        pyarrow.nulls(9),
    ]
    arrays += [pyarrow.array([[1.5, 2.0], None, [3.0, None]] * 3, pyarrow.list_(pyarrow.float32(), 2))]
    arrays += [pyarrow.array([{"a": 1, "b": [{"c": "x"}]}, None, {"a": None, "b": None}] * 4)]
    arrays += [pyarrow.array(strings).dictionary_encode()]
    for array in arrays:
        for part in array, array[3:], array[1:8], array[:0], array[8:9]:
            [chunk] = _arrow.chunks(part, "texts")
            assert values(chunk) == part.to_pylist(), array.type
    with pytest.raises(ValueError, match="Arrow type"):
        values(next(_arrow.chunks(pyarrow.array([1], pyarrow.duration("s")), "texts")))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_more_rows_than_one_call_takes(models, function, monkeypatch):
    """Lists and generators, whose results are assembled in Python."""
    given = texts(45, seed=11)
    wanted = FUNCTIONS[function](models, given)
    kind = pyarrow.array(FUNCTIONS[function](models, given)).type
    monkeypatch.setattr(_columns, "ROWS", 7)
    monkeypatch.setattr(_columns, "BATCH", 5)
    dictionary = pyarrow.array(given).dictionary_encode()
    for column in given, iter(given), numpy.array(given, dtype=object), dictionary:
        result = FUNCTIONS[function](models, column)
        assert rows_of(result) == wanted.to_pylist()
        array = result if column is dictionary else pyarrow.array(result)
        array.validate(full=True)
        assert array.type == kind
    assert list(FUNCTIONS[function](models, given[:14])) == wanted[:14]


def test_a_generator_is_not_read_ahead(models, monkeypatch):
    monkeypatch.setattr(_columns, "ROWS", 4)
    taken = []

    def source():
        for row in range(100):
            taken.append(row)
            yield "the river" if row < 10 else 5

    with pytest.raises(TypeError, match="row 10: expected str or bytes, got int"):
        bertqa.classify_column(models["classify"], source())
    assert len(taken) == 11


@pytest.mark.parametrize("function", ["answer", "best", "embed", "tokenize"])
def test_progress_is_of_all_rows(models, function, monkeypatch):
    monkeypatch.setattr(_columns, "ROWS", 4)
    monkeypatch.setattr(_columns, "BATCH", 4)
    calls = []
    given = [f"the river {SOME_WORDS[i]}" for i in range(18)]
    run = {
        "answer": lambda **o: bertqa.answer_column(models["answer"], QUESTION, given, **o),
        "best": lambda **o: bertqa.answer_column(models["answer"], QUESTION, given, top_k=2, **o),
        "embed": lambda **o: bertqa.embed_column(models["embed"], given, **o),
        "tokenize": lambda **o: bertqa.tokenize_column(models["embed"], given, **o),
    }[function]
    run(progress=lambda stage, fraction: calls.append((stage, fraction)))
    fractions = [fraction for _, fraction in calls]
    assert {stage for stage, _ in calls} == {"rows"} and fractions == sorted(set(fractions))
    assert {4 / 18, 8 / 18, 12 / 18, 16 / 18, 1.0} <= set(fractions) and fractions[-1] == 1
    with pytest.raises(ZeroDivisionError):
        run(progress=lambda stage, fraction: 1 / 0)
    with pytest.raises(bertqa.Cancelled):
        run(cancel=lambda: len(calls))
    with pytest.raises(bertqa.DeadlineExceeded):
        run(timeout=0)
    with pytest.raises(TypeError, match="unknown option"):
        run(no_such_option=1)


@pytest.mark.parametrize("function", ["best", "pairs", "tokenize"])
def test_the_row_at_fault_is_told(models, function, monkeypatch):
    monkeypatch.setattr(_columns, "BATCH", 5)
    given = [None, "the river", "the river", "the fox"] * 3 + ["the river " * 50]
    with pytest.raises(bertqa.BertQAError) as caught:
        if function == "best":
            questions = [QUESTION] * 12 + [" ".join([QUESTION] * 20)]
            bertqa.answer_column(models["answer"], questions, given, top_k=2, max_seq_len=64, doc_stride=40)
        elif function == "pairs":
            with bertqa.Context(task="classify") as topics:  # which takes no pairs
                bertqa.classify_column(topics, [*given, "a"], [None] * 12 + ["the fox", "b"])
        else:
            bertqa.tokenize_column(models["embed"], given, max_bytes=1000)
    assert caught.value.item == 12
    assert re.match(r"\w+\[12\]: ", str(caught.value)) or "[" not in str(caught.value)


@pytest.mark.parametrize("column", [[], [None], ["the river"]])
def test_options_are_checked_without_a_text_too(models, column):
    calls = {
        "answer": lambda **o: bertqa.answer_column(models["answer"], QUESTION, column, **o),
        "best": lambda **o: bertqa.answer_column(models["answer"], QUESTION, column, top_k=3, **o),
        "classify": lambda **o: bertqa.classify_column(models["classify"], column, **o),
        "labels": lambda **o: bertqa.classify_column(models["classify"], column, top_k=2, **o),
        "entities": lambda **o: bertqa.entities_column(models["entities"], column, **o),
        "embed": lambda **o: bertqa.embed_column(models["embed"], column, **o),
        "patterns": lambda **o: bertqa.patterns_column(column, **o),
        "redact": lambda **o: bertqa.redact_column(column, **o),
        "tokenize": lambda **o: bertqa.tokenize_column(models["embed"], column, **o),
    }
    for name, call in calls.items():
        with pytest.raises(TypeError, match="no_such_option"):
            call(no_such_option=1)
        assert len(call()) == len(column), name
    with pytest.raises(bertqa.WrongModel):
        bertqa.embed_column(models["answer"], column)


@pytest.mark.parametrize("function", ["patterns", "redact"])
def test_the_timeout_is_that_of_all_rows(models, function, monkeypatch):
    clock = itertools.count()
    monkeypatch.setattr(_run, "time", types.SimpleNamespace(monotonic=lambda: float(next(clock))))
    with pytest.raises(bertqa.DeadlineExceeded) as caught:
        run = {"patterns": bertqa.patterns_column, "redact": bertqa.redact_column}[function]
        run([f"text {i}" for i in range(100)], timeout=50)
    assert 40 < caught.value.item < 50


def test_what_is_no_column_is_named(models):
    table = pyarrow.table({"d": ["a"]})
    for wrong, message in [
        (5, "texts is of type int, which is not a column"),
        (None, "texts is of type NoneType"),
        ({"a": 1}, "texts is of type dict"),
        ({"a"}, "texts is of type set"),
        (table, r"texts is a table \(Table\), not a column: take one"),
        (table.to_batches()[0], r"texts is a table \(RecordBatch\)"),
        (polars.DataFrame({"d": ["a"]}), r"texts is a table \(DataFrame\)"),
        (numpy.array([["a"]], dtype=object), "texts has 2 dimensions"),
        (["a", "b", 3.5], "texts: row 2: expected str or bytes, got float"),
    ]:
        for call in bertqa.classify_column, bertqa.embed_column, bertqa.entities_column, bertqa.tokenize_column:
            with pytest.raises(TypeError, match=message):
                call(models["embed"], wrong, cancel=pytest.fail)
            with pytest.raises(TypeError, match="context must be of type Context, not list"):
                call(["a"], models["embed"])
    fixed = pyarrow.array([b"a"], pyarrow.binary(1))
    for wrong in pyarrow.array([1, 2]), pyarrow.array([["a"]]), polars.Series([1.5]), fixed:
        for given in wrong, pyarrow.array(wrong).dictionary_encode() if wrong is fixed else wrong:
            for call in bertqa.embed_column, bertqa.tokenize_column, bertqa.entities_column:
                with pytest.raises(bertqa.InvalidArgument, match='texts is of Arrow type ".*"; cast it to utf8'):
                    call(models["embed"], given)


class Mallinfo(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks used free keep".split()
    ]


def test_memory_that_is_handed_over_is_freed(models):
    """Taken by a consumer, moved out in part, left in a capsule, or left in the column."""
    given = texts(300, seed=12)
    vectors = sum(text is not None for text in given) * 16
    allocated = ctypes.CDLL(None).mallinfo2
    allocated.restype = Mallinfo

    def use(way):
        column = bertqa.embed_column(models["embed"], given)
        if way == "taken":
            assert pyarrow.array(column).flatten().to_numpy(zero_copy_only=False).shape == (vectors,)
        elif way == "capsule":
            column.__arrow_c_array__()

    for way in "taken", "capsule", "column":
        use(way)
        gc.collect()
        before = allocated().used + allocated().hblkhd
        for _ in range(40):
            use(way)
        gc.collect()
        assert allocated().used + allocated().hblkhd - before < 40 * 4 * vectors / 2
    _arrow.release_unused()
    assert not _arrow._exported


def test_exceptions_unwind_past_results(models):
    """A consumer releases what it took while the exception is pending, and Arrow aborts if that fails."""
    code = f"""
import pyarrow, bertqa
with bertqa.Context({str(FIXTURES / "tiny-bert-embedder")!r}) as embedder:
    functions = [bertqa.redact_column, bertqa.patterns_column, lambda column: bertqa.embed_column(embedder, column)]
    for function in functions:
        try:
            for row in function(pyarrow.array(["the river"])):
                raise KeyError("row")
        except KeyError as error:
            print(error)
        try:
            pyarrow.array(function(["the river"]))[7]
        except IndexError as error:
            print(error)
        try:
            int(function(["the river"]).__arrow_c_array__())  # which drops the capsules
        except TypeError as error:
            print(str(error)[:5])
"""
    result = run_python(code)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "'row'\nindex out of bounds\nint()\n" * 3


def test_arrays_may_outlive_the_package():
    """A global is released at interpreter exit, after the modules are."""
    code = f"""
import sys, pyarrow, bertqa
kept = pyarrow.array(bertqa.tokenize_column(bertqa.Context({str(FIXTURES / "tiny-bert")!r}), ["the river"] * 100))
sys.kept_longer = kept
print(len(kept))
"""
    result = run_python(code)
    assert (result.returncode, result.stdout, result.stderr) == (0, "100\n", "")


def test_lists_need_nothing_installed(tmp_path):
    """No pyarrow, pandas or NumPy, even for many parts."""
    code = f"""
import bertqa, bertqa._columns as columns, sys
columns.ROWS = columns.BATCH = 3
context = bertqa.Context({str(FIXTURES / "tiny-bert-embedder")!r})
print(len(bertqa.embed_column(context, ["the river", None] * 5).to_pylist()))
print({{"pyarrow", "numpy", "pandas", "polars"}} & set(sys.modules))
"""
    command = [
        sys.executable,
        "-I",
        "-S",
        "-c",
        f"import sys; sys.path.insert(0, {os.environ['PYTHONPATH'].split(os.pathsep)[0]!r})\n{code}",
    ]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert (result.stdout, result.stderr) == ("10\nset()\n", "")
