"""Training of classifiers."""

import ctypes
import itertools
import os
from typing import TYPE_CHECKING, Any, Iterable, List, Optional, Union

from . import _abi
from ._call import Call
from ._errors import BertQAError, InvalidArgument
from ._handle import Handle
from ._native import library, text_at
from ._text import check_texts, encoded, path_bytes
from ._training_results import TrainingLabel, TrainingReport
from ._value import Text

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import TrainOptions

FEATURES = ("words", "embedding", "auto")
ALGORITHMS = ("logistic_regression", "naive_bayes")
_MISSING: Any = object()
#: More labels have no confusion matrix, because its size is quadratic.
_MOST_CONFUSED = 1000


def train_classifier(
    texts: Iterable[Text],
    labels: Iterable[str],
    directory: "Union[str, os.PathLike[str]]",
    *,
    groups: Optional[Iterable[Text]] = None,
    **options: "Unpack[TrainOptions]",
) -> TrainingReport:
    """Trains a classifier on texts and their labels and writes it to a new directory, for bertqa.Context.

    Texts are converted to counts or vectors as they are read and are not kept, so both arguments can be generators.
    The stages in `progress` are "cross-validation" and "training". options: see help(bertqa.TrainOptions).
    groups: the group of each text, such as its author or source. The cross-validation, and a calibration with it, then
        predicts whole unseen groups.
    """
    lib = library()
    for name, values in ("texts", texts), ("labels", labels), ("groups", [] if groups is None else groups):
        check_texts(values, name, "give a list of them")
    path = path_bytes(directory, "directory")
    settings = _abi.TrainOptions()
    model = options.pop("embedding_model", None)
    if model is not None:
        settings.embedding_model = path_bytes(model, "embedding_model")
    call = Call(
        options,
        settings,
        choices={"algorithm": ALGORITHMS, "features": FEATURES},
        zeros={"folds": -1, "threads": 0, "seed": 0},
    )
    pointer = ctypes.c_void_p()
    status = lib.trainer_create(call.pointer, ctypes.byref(pointer))
    trainer = Handle(pointer, lib.trainer_free)
    call.check(status)
    columns = [texts, labels] if groups is None else [texts, labels, groups]
    for item, row in enumerate(itertools.zip_longest(*columns, fillvalue=_MISSING)):
        if any(value is _MISSING for value in row):
            raise InvalidArgument(
                "texts and labels must have the same length"
                if groups is None
                else "texts, labels and groups must have the same length"
            )
        text, label = row[:2]
        if groups is not None:
            group = encoded(row[2], f"groups[{item}]")
            call.check(lib.trainer_set_group(trainer.pointer, group, len(group)))
        data, label_data = encoded(text, f"texts[{item}]"), encoded(label, f"labels[{item}]")
        status = lib.trainer_add(
            trainer.pointer, data, len(data), label_data, len(label_data), call.common_pointer
        )
        try:
            call.check(status)
        except BertQAError as error:
            raise type(error)(f"text {item}: {error}", error.status, item, error.argument) from None
    report = ctypes.c_void_p()
    status = lib.trainer_finish(trainer.pointer, path, call.common_pointer, ctypes.byref(report))
    found = Handle(report, lib.training_report_free)
    call.check(status)
    return _report(found)


def _report(report: Handle) -> TrainingReport:
    lib, pointer = library(), report.pointer
    summary = lib.training_report_summary(pointer).contents
    count = lib.training_report_label_count(pointer)
    labels = [lib.training_report_label_get(pointer, i).contents for i in range(count)]
    confusion: List[List[int]] = []
    if summary.accuracy == summary.accuracy and count <= _MOST_CONFUSED:
        confusion = [[lib.training_report_confusion(pointer, i, j) for j in range(count)] for i in range(count)]
    return TrainingReport(
        text_count=summary.text_count,
        features=FEATURES[summary.features],
        vocabulary_size=summary.vocabulary_size,
        labels=[
            TrainingLabel(
                text_at(label.label, label.label_length), label.text_count, label.precision, label.recall, label.f1
            )
            for label in labels
        ],
        iterations=summary.iterations,
        is_converged=bool(summary.is_converged),
        loss=summary.loss,
        accuracy=summary.accuracy,
        macro_f1=summary.macro_f1,
        calibration_error=summary.calibration_error,
        confusion=confusion,
        other_accuracy=_number(summary.other_accuracy),
        other_macro_f1=_number(summary.other_macro_f1),
    )


def _number(value: float) -> Optional[float]:
    """Returns None for NaN."""
    return value if value == value else None
