"""Apache Spark: answers, labels, vectors, entities and redaction of a column of texts. Needs pyspark, and
pyarrow on the workers.

    import bertqa.spark

    answered = bertqa.spark.answer(df, question="Who fell?", text_col="body", output_col="result")
    answered.select("id", "result.answer", "result_error")

Each function returns the DataFrame with one more column, by mapInArrow, which passes batches to the library as Arrow
columns. A worker process opens the model once; the processes of one executor share its weights. With the package as
a zip in --py-files, the workers need no installation (docs/scale.md).

A call uses spark.task.cpus threads. help(bertqa.spark.SparkOptions) explains every argument.
"""

from typing import TYPE_CHECKING, Any, List, Mapping, Optional, Tuple, TypedDict

from ._options import AnswerOptions, CallOptions, ClassifyOptions, EmbedOptions, EntitiesOptions
from ._rules import Rules
from ._run import repeatable
from ._spark import Work
from ._text import check_kind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from typing_extensions import Unpack

#: Options that need the caller's process or that have no place in the columns.
_WITHOUT = {"cancel", "progress", "timeout", "top_k", "contributions"}


class Counts:
    """Counters of rows, during the job and after it. They belong to one SparkSession or SparkContext.

    A task that runs twice, speculatively or after the loss of an executor, may count twice.
    """

    def __init__(self, spark: Any):
        context = getattr(spark, "sparkContext", spark)
        if not hasattr(context, "accumulator"):
            raise TypeError(
                f"Counts needs a SparkContext, which a {type(spark).__module__}.{type(spark).__name__} lacks"
            )
        self._rows, self._nulls, self._failed = (context.accumulator(0) for _ in range(3))

    @property
    def rows(self) -> int:
        """The number of rows read."""
        return int(self._rows.value)

    @property
    def nulls(self) -> int:
        """The number of rows without a text, whose result is null."""
        return int(self._nulls.value)

    @property
    def failed(self) -> int:
        """The number of failed rows, whose result is null, with a reason."""
        return int(self._failed.value)

    def __repr__(self) -> str:
        return f"Counts(rows={self.rows}, nulls={self.nulls}, failed={self.failed})"


class SparkOptions(TypedDict, total=False):
    """Keyword arguments of every function here, in addition to the options of its task.

    Names of columns match in any case, unless spark.sql.caseSensitive is true.

    text_col: the column of texts, strings or binary; a null gives a null; default "text".
    output_col: the new column, which replaces one of the same name; default "bertqa".
    model: a directory on the workers, or the name of a file shipped by --archives or --files; default: the task's
        default model.
    precision, isa: as in bertqa.Context. Workers with different CPUs return the same bits only if both are set;
        default "auto".
    on_error: "null": a failed row has a null, and an additional column, named like the new one plus "_error", has the
        reason; "fail": the first failed row ends the task and, after Spark's retries, the job; default "null".
    counts: a Counts object that counts rows; default None.
    """

    text_col: str
    output_col: str
    model: Optional[str]
    precision: Optional[str]
    isa: Optional[str]
    on_error: str
    counts: Optional[Counts]


class _Answer(SparkOptions, AnswerOptions):
    pass


class _Classify(SparkOptions, ClassifyOptions):
    pass


class _Embed(SparkOptions, EmbedOptions):
    pass


class _Entities(SparkOptions, EntitiesOptions):
    pass


class PatternsOptions(CallOptions, total=False):
    """Keyword arguments of `patterns` and `redact`.

    kinds, regions: like `patterns` and `regions` of bertqa.patterns.
    rules: rules that find more; default: none.
    """

    kinds: Optional[List[str]]
    regions: Optional[List[str]]
    rules: Optional[Rules]


class RedactOptions(PatternsOptions, total=False):
    """Keyword arguments of `redact`.

    labels: a model finds entities with these labels, which are also replaced; default: no model.
    allow, deny: texts that stay and texts that are replaced, as in bertqa.apply_lists.
    replacement, mask, key: as in bertqa.redact. It has no pseudonyms, which need one process for all rows.
    """

    labels: Optional[List[str]]
    allow: List[str]
    deny: List[str]
    replacement: Optional[str]
    mask: Optional[int]
    key: Optional[bytes]


class _Patterns(SparkOptions, PatternsOptions):
    pass


class _Redact(SparkOptions, RedactOptions):
    pass


def answer(
    df: "DataFrame",
    *,
    question: Optional[str] = None,
    question_col: Optional[str] = None,
    **options: "Unpack[_Answer]",
) -> "DataFrame":
    """Answers the question of each row. Returns a struct of answer, start and end (code points of the text),
    probability, score, gap, sentence and is_impossible.

    question: the question of all rows.
    question_col: the column with each row's question. Pass one of the two.
    options: help(bertqa.spark.SparkOptions) and help(bertqa.AnswerOptions); top_k is 1.
    """
    if (question is None) == (question_col is None):
        raise TypeError("give either question or question_col")
    if not isinstance(question, (str, type(None))):
        raise TypeError(f"question is a {type(question).__name__}, but must be a str")
    return _mapped(df, "answer", AnswerOptions, options, question, question_col)


def classify(df: "DataFrame", **options: "Unpack[_Classify]") -> "DataFrame":
    """Classifies each row. Returns a struct of label, probability and probabilities (an array in the order of the
    model's labels or of the option labels). options: help(bertqa.spark.SparkOptions) and
    help(bertqa.ClassifyOptions)."""
    return _mapped(df, "classify", ClassifyOptions, options)


def embed(df: "DataFrame", **options: "Unpack[_Embed]") -> "DataFrame":
    """Embeds each row as an array of floats. options: help(bertqa.spark.SparkOptions) and
    help(bertqa.EmbedOptions)."""
    return _mapped(df, "embed", EmbedOptions, options)


def entities(df: "DataFrame", **options: "Unpack[_Entities]") -> "DataFrame":
    """Finds the entities of each row. Returns an array of structs of label, text, start and end (code points of
    the row's text) and score. options: help(bertqa.spark.SparkOptions) and help(bertqa.EntitiesOptions)."""
    return _mapped(df, "entities", EntitiesOptions, options)


def patterns(df: "DataFrame", **options: "Unpack[_Patterns]") -> "DataFrame":
    """Finds the personal data of each row by rules, without a model. Returns an array of structs like that of
    entities. options: help(bertqa.spark.SparkOptions), whose model is not used, and
    help(bertqa.spark.PatternsOptions)."""
    return _mapped(df, "patterns", PatternsOptions, options)


def redact(df: "DataFrame", **options: "Unpack[_Redact]") -> "DataFrame":
    """Replaces the personal data of each row that rules and, with labels, a model find. Returns a string. If output_col
    is text_col, no original is left. options: help(bertqa.spark.SparkOptions) and
    help(bertqa.spark.RedactOptions)."""
    return _mapped(df, "redact", RedactOptions, options)


def _mapped(
    df: "DataFrame",
    task: str,
    known: Any,
    values: Mapping[str, Any],
    question: Optional[str] = None,
    question_col: Optional[str] = None,
) -> "DataFrame":
    """Returns the DataFrame with the task's result as an additional column."""
    names = sorted(set(known.__annotations__) - _WITHOUT)
    for name in values:
        if name not in names and name not in SparkOptions.__annotations__:
            raise TypeError(
                f"unknown option {name!r}; known: {', '.join([*SparkOptions.__annotations__, *names])}"
            )
    on_error = values.get("on_error", "null")
    if on_error not in ("null", "fail"):
        raise ValueError(f"on_error is {on_error!r}, but must be 'null' or 'fail'")
    counts, output_col = values.get("counts"), values.get("output_col", "bertqa")
    check_kind(output_col, str, "output_col")
    if counts is not None:
        check_kind(counts, Counts, "counts")
    added = _added(task, output_col, on_error == "null")
    replaced = [found for name, _ in added for found in _positions(df, name)]
    keep = [index for index in range(len(df.columns)) if index not in replaced]
    schema = _schema([df.schema.fields[index] for index in keep], added)
    work = Work(
        task=task,
        text=_position(df, values.get("text_col", "text"), "text_col"),
        question=question,
        question_column=None if question_col is None else _position(df, question_col, "question_col"),
        keep=keep,
        names=_numbered(schema).names,
        has_errors=on_error == "null",
        model={name: values.get(name) for name in ("model", "precision", "isa")},
        options=repeatable({name: value for name, value in values.items() if name in names}),
        counts=None if counts is None else (counts._rows, counts._nulls, counts._failed),
    )
    # Spark looks up columns by name, where a dot means a field and a name can occur twice.
    return df.toDF(*_numbered(df.schema).names).mapInArrow(work, _numbered(schema)).toDF(*schema.names)


def _positions(df: "DataFrame", column: str) -> List[int]:
    """Returns the positions of the columns of this name, in any case unless Spark is set to distinguish case."""
    is_exact = str(df.sparkSession.conf.get("spark.sql.caseSensitive")).lower() == "true"
    return [
        index
        for index, name in enumerate(df.columns)
        if name == column or (not is_exact and name.lower() == column.lower())
    ]


def _position(df: "DataFrame", column: str, argument: str) -> int:
    """Returns the position of the column, which must contain texts."""
    from pyspark.sql.types import BinaryType, StringType

    check_kind(column, str, argument)
    found = _positions(df, column)
    if len(found) != 1:
        raise ValueError(
            f"{argument} is {column!r}, of which there are {len(found)}; columns: {', '.join(df.columns)}"
        )
    kind = df.schema.fields[found[0]].dataType
    if not isinstance(kind, (StringType, BinaryType)):
        raise TypeError(
            f"{argument} is {column!r}, a column of {kind.simpleString()}, but must be one of string or binary: cast it"
        )
    return found[0]


def _added(task: str, output_col: str, has_errors: bool) -> List[Tuple[str, Any]]:
    """Returns the new columns and their types in Spark."""
    from pyspark.sql import types

    text, number, place = types.StringType(), types.FloatType(), types.LongType()
    kinds: Any = {
        "answer": [
            ("answer", text), ("start", place), ("end", place), ("probability", number), ("score", number),
            ("gap", number), ("sentence", text), ("is_impossible", types.BooleanType()),
        ],
        "classify": [("label", text), ("probability", number), ("probabilities", types.ArrayType(number))],
        "entities": [("label", text), ("text", text), ("start", place), ("end", place), ("score", number)],
    }  # fmt: skip
    kinds["patterns"] = kinds["entities"]
    single = {"embed": types.ArrayType(number), "redact": text}
    kind = single[task] if task in single else _schema([], kinds[task])
    if task in ("entities", "patterns"):
        kind = types.ArrayType(kind)
    return [(output_col, kind)] + ([(f"{output_col}_error", text)] if has_errors else [])


def _schema(fields: List[Any], added: List[Tuple[str, Any]]) -> Any:
    from pyspark.sql.types import StructField, StructType

    return StructType([*fields, *(StructField(name, kind) for name, kind in added)])


def _numbered(schema: Any) -> Any:
    """Returns the schema with names that have no meaning to Spark."""
    from pyspark.sql.types import StructField, StructType

    return StructType(
        [
            StructField(f"column{index}", field.dataType, field.nullable, field.metadata)
            for index, field in enumerate(schema.fields)
        ]
    )
