"""A stream of pairs, answered in batches."""

import itertools
from typing import Any, Callable, Iterable, Iterator, List, Optional, Sized, Tuple

from ._call import integer
from ._errors import BertQAError, InvalidArgument
from ._run import Run
from ._text import check_texts, question_and_document

#: The total characters or bytes of documents at which a batch is complete.
BATCH_TEXT = 1 << 22


def stream(
    pairs: Iterable[Tuple[Any, Any]],
    answer_batch: Callable[..., List[Any]],
    batch_size: int,
    return_exceptions: bool,
    options: Any,
) -> Iterator[Any]:
    """Implements Context.answer_stream. Arguments are checked here, before the first result is requested."""
    check_texts(pairs, "pairs", "give (question, document) pairs")
    if integer(batch_size, "batch_size") < 1:
        raise InvalidArgument.of("batch_size", f"is {batch_size}, but must be at least 1")
    total = len(pairs) if isinstance(pairs, Sized) else None
    kept = {name: value for name, value in options.items() if name != "timeout"}
    run = Run(kept, total, "pairs")

    def call(batch: List[Any]) -> List[Any]:
        return answer_batch(batch, return_exceptions=True, timeout=options.get("timeout"), **run.options())

    return _results(_batches(iter(pairs), batch_size), call, run, return_exceptions)


def _results(
    batches: "Iterator[Tuple[List[Any], Optional[BaseException]]]",
    call: "Callable[[List[Any]], List[Any]]",
    run: Run,
    return_exceptions: bool,
) -> Iterator[Any]:
    for batch, error in batches:
        run.begin(len(batch))
        for index, result in enumerate(call(batch) if batch else []):
            if isinstance(result, BertQAError):
                result._move(run.first + index)
                if not return_exceptions:
                    raise result
            yield result
        run.end()
        if error is not None:
            raise error


def _batches(pairs: Iterator[Any], batch_size: int) -> "Iterator[Tuple[List[Any], Optional[BaseException]]]":
    """Yields batches of pairs. If the source fails, yields the pairs before the failure and its exception."""
    items = itertools.count()
    while True:
        batch: List[Any] = []
        size = 0
        try:
            while len(batch) < batch_size and size < BATCH_TEXT:
                question, document = question_and_document(next(pairs), next(items))
                batch.append((question, document))
                size += len(document)
        except StopIteration:
            if batch:
                yield batch, None
            return
        except Exception as error:
            yield batch, error
            return
        yield batch, None
