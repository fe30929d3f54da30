"""The work of a Spark worker: adds a result column to Arrow batches."""

import functools
import os
import re
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from ._columns import (
    answer_column,
    classify_column,
    embed_column,
    entities_column,
    patterns_column,
    redact_column,
)
from ._context import Context
from ._errors import BertQAError, OutOfMemory, TooLarge
from ._unpacked import unpack_library

#: Rows per call of the library and per returned batch.
ROWS = 1024


@dataclass
class Work:
    """A task as the driver sends it to the workers.

    text, question_column: the positions of the columns.
    question: the question of all rows.
    keep: the positions of the columns that precede the result in the output.
    has_errors: True: a failed row has a null, and another column has the reason. False: the first failed row ends the
        task.
    model: keyword arguments of Context.
    counts: counters of rows, of rows without a text, and of failed rows.
    """

    task: str
    text: int
    question: Any
    question_column: Optional[int]
    keep: List[int]
    names: List[str]
    has_errors: bool
    model: Dict[str, Any]
    options: Dict[str, Any]
    counts: Optional[Tuple[Any, Any, Any]]

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The function for mapInArrow."""
        # Redaction with labels also replaces names that a model finds.
        task = "entities" if self.task == "redact" and self.options.get("labels") is not None else self.task
        context = opened(task, **self.model)
        first = 0
        for batch in batches:
            for start in range(0, batch.num_rows, ROWS):
                yield self._done(context, batch.slice(start, ROWS), first + start)
            first += batch.num_rows

    def _done(self, context: Optional[Context], batch: Any, first: int) -> Any:
        import pyarrow

        texts = batch.column(self.text)
        column = self.question_column
        questions = None if column is None else batch.column(column)
        kind = result_type(self.task)
        failed: Dict[int, str] = {}

        def run(start: int, end: int) -> Any:
            part = texts.slice(start, end - start)
            asked = self.question if questions is None else questions.slice(start, end - start)
            return _call(self.task, context, asked, part, self.options).cast(kind)

        parts = run_rows(run, batch.num_rows, failed)
        if failed and not self.has_errors:
            row, reason = min(failed.items())
            raise BertQAError(f"row {first + row} of the partition: {reason}")
        parts += [(row, pyarrow.nulls(1, kind)) for row in failed]
        result = pyarrow.concat_arrays([part for _, part in sorted(parts, key=lambda part: part[0])])
        if self.counts is not None:
            nulls = sum(row not in failed for row, value in enumerate(result.is_valid().to_pylist()) if not value)
            for count, more in zip(self.counts, (batch.num_rows, nulls, len(failed))):
                count.add(more)
        columns = [batch.column(index) for index in self.keep] + [result]
        if self.has_errors:
            reasons = [failed.get(row) for row in range(batch.num_rows)]
            columns.append(pyarrow.array(reasons, pyarrow.string()))
        return pyarrow.RecordBatch.from_arrays(columns, self.names)


def run_rows(run: Callable[[int, int], Any], count: int, failed: Dict[int, str]) -> List[Tuple[int, Any]]:
    """Calls `run` for all rows. Returns its results without failed rows, as (first row, results), and puts the reasons
    into `failed`.

    A row has failed if it fails alone. The rows after a failure are halved, so that `run` sees a row at most a
    logarithmic number of times.
    """
    parts: List[Tuple[int, Any]] = []
    left = [(0, count)]
    while left:
        start, end = left.pop()
        if start == end:
            continue
        try:
            parts.append((start, run(start, end)))
        except BertQAError as error:
            if isinstance(error, OutOfMemory) or (error.item is None and not isinstance(error, TooLarge)):
                raise
            if end - start == 1:
                # The message begins with the row's index in this call, which means nothing to the user.
                failed[start] = re.sub(r"^\w+\[\d+\]: ", "", str(error))
            elif error.item is None:  # the call as a whole is too large
                left += [(start, (start + end) // 2), ((start + end) // 2, end)]
            else:
                row = start + error.item
                middle = (row + 1 + end) // 2
                left += [(start, row), (row, row + 1), (row + 1, middle), (middle, end)]
    return parts


def _call(task: str, context: Optional[Context], questions: Any, texts: Any, options: Any) -> Any:
    if task == "patterns":
        return patterns_column(texts, **options)
    if task == "redact":
        return redact_column(texts, context=context, **options)
    assert context is not None
    if task == "answer":
        return answer_column(context, questions, texts, **options)
    if task == "classify":
        return classify_column(context, texts, **options)
    if task == "entities":
        return entities_column(context, texts, **options)
    return embed_column(context, texts, **options)


def result_type(task: str) -> Any:
    """Returns the result's type in Arrow, using only types that every version of Spark reads."""
    import pyarrow

    text, number, place = pyarrow.string(), pyarrow.float32(), pyarrow.int64()
    if task == "answer":
        fields = {
            "answer": text,
            "start": place,
            "end": place,
            "probability": number,
            "score": number,
            "gap": number,
        }
        return pyarrow.struct({**fields, "sentence": text, "is_impossible": pyarrow.bool_()})
    if task == "classify":
        return pyarrow.struct({"label": text, "probability": number, "probabilities": pyarrow.list_(number)})
    if task == "redact":
        return text
    if task in ("entities", "patterns"):
        fields = {"label": text, "text": text, "start": place, "end": place, "score": number}
        return pyarrow.list_(pyarrow.struct(fields))
    return pyarrow.list_(number)


@functools.lru_cache(maxsize=8)
def opened(task: str, model: Optional[str], precision: Optional[str], isa: Optional[str]) -> Optional[Context]:
    """Returns this process's context, with as many threads as Spark counts cores for a task; None for rules."""
    from pyspark import SparkFiles, TaskContext

    unpack_library(SparkFiles.getRootDirectory())
    if task in ("patterns", "redact"):
        return None
    if model is not None and not os.path.isabs(model):
        shipped = SparkFiles.get(model)
        model = shipped if os.path.exists(shipped) else model
    task_context = TaskContext.get()
    threads = 1 if task_context is None else task_context.cpus()
    context = Context(model, task=task, threads=threads, precision=precision, isa=isa)
    if context.info.task != task:
        raise ValueError(f"the model is {context!r}, which is made for {context.info.task}, not for {task}")
    return context
