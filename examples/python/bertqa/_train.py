"""Training word-count classifiers."""

import ctypes
import itertools
import os
import threading
from typing import TYPE_CHECKING, Any, Callable, Iterable, List, Optional, Union

from . import _native
from ._handle import Handle
from ._native import check, library
from ._options import CallOptions
from ._text import encoded
from ._types import Text, TrainingReport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._types import TrainOptions

ALGORITHMS = ("logistic_regression", "naive_bayes")
_MISSING = object()


def train_classifier(
    texts: Iterable[Text],
    labels: Iterable[str],
    directory: "Union[str, os.PathLike[str]]",
    **options: "Unpack[TrainOptions]",
) -> TrainingReport:
    """Trains a classifier on texts and their labels and writes it to a new directory, for bertqa.Context.

    Texts are counted as they are taken and not kept, so both may be generators. options: see TrainOptions.
    """
    lib = library()
    values = dict(options)
    progress: Any = values.pop("progress", None)
    work = _Work(progress)
    call = CallOptions(_native.TrainOptions(), lib.train_options_init, values, algorithm=ALGORITHMS)
    call.struct.progress = work.callback
    pointer = ctypes.c_void_p()
    check(lib.trainer_create(call.pointer, ctypes.byref(pointer)))
    trainer = Handle(pointer, lib.trainer_free)
    for text, label in itertools.zip_longest(texts, labels, fillvalue=_MISSING):
        if text is _MISSING or label is _MISSING:
            raise ValueError("texts and labels must be equally many")
        data, name = encoded(text), encoded(label)
        check(lib.trainer_add(trainer.pointer, data, len(data), name, len(name)))
    report = ctypes.POINTER(_native.TrainingReport)()
    path = os.fsencode(directory)
    work.run(lambda: check(lib.trainer_finish(trainer.pointer, path, ctypes.byref(report))))
    try:
        return _report(report.contents)
    finally:
        lib.training_report_free(report)


def _report(found: _native.TrainingReport) -> TrainingReport:
    count = found.label_count
    rows: List[List[int]] = []
    if found.confusion:
        rows = [found.confusion[row * count : (row + 1) * count] for row in range(count)]
    return TrainingReport(
        text_count=found.text_count,
        vocabulary_size=found.vocabulary_size,
        labels=[found.labels[index].decode("utf-8", "replace") for index in range(count)],
        label_texts=found.label_texts[:count],
        iterations=found.iterations,
        converged=bool(found.converged),
        loss=found.loss,
        accuracy=found.accuracy,
        macro_f1=found.macro_f1,
        calibration_error=found.calibration_error,
        confusion=rows,
    )


class _Work:
    """A long call of the library in a thread of its own, so that this one can go on handling signals and tell
    `progress` how far it is."""

    def __init__(self, progress: Optional[Callable[[str, float], Any]]):
        self._progress = progress
        self._state: Optional["tuple[str, float]"] = None
        self._cancelled = False
        self.callback = _native.PROGRESS(self._note)

    def _note(self, _user: Any, stage: bytes, fraction: float) -> int:
        self._state = (stage.decode(), fraction)
        return int(self._cancelled)

    def run(self, call: Callable[[], None]) -> None:
        errors: List[BaseException] = []
        # Not Thread.join: where a signal interrupts it, it may take the thread for ended.
        done = threading.Event()

        def work() -> None:
            try:
                call()
            except BaseException as error:
                errors.append(error)
            finally:
                done.set()

        threading.Thread(target=work, name="bertqa-train").start()
        try:
            while not done.wait(0.1):
                if self._progress is not None and self._state is not None:
                    self._cancelled = self._cancelled or bool(self._progress(*self._state))
        except BaseException:
            self._cancelled = True
            done.wait()
            raise
        if errors:
            raise errors[0]
