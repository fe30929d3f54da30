"""Reports of trainings and quantisations: plain values."""

from dataclasses import dataclass
from typing import List, Optional

from ._html_training import training_html
from ._value import Value


@dataclass(frozen=True, repr=False)
class TrainingLabel(Value):
    """A label of a training.

    text_count: the number of its texts.
    precision, recall, f1: from the cross-validation, 0...1; NaN without folds.
    """

    label: str
    text_count: int
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, repr=False)
class TrainingReport(Value):
    """The report of a training. Figures of the cross-validation are NaN without folds.

    text_count: the number of texts.
    features: "words" or "embedding".
    vocabulary_size: the number of the model's features: terms, or the numbers of a vector.
    labels: by their id in the model.
    iterations, is_converged: the iterations of L-BFGS, and True if it came within the tolerance.
    loss: the final model's mean cross-entropy; for logistic regression plus the L2 term.
    accuracy, macro_f1: from the cross-validation.
    calibration_error: the expected calibration error (ECE), 15 bins.
    confusion: confusion[true label's id][predicted label's id], counts of the cross-validation; empty without folds and
        with more than 1000 labels.
    other_accuracy, other_macro_f1: with features="auto", those of the features that were not chosen; else None.
    """

    text_count: int
    features: str
    vocabulary_size: int
    labels: List[TrainingLabel]
    iterations: int
    is_converged: bool
    loss: float
    accuracy: float
    macro_f1: float
    calibration_error: float
    confusion: List[List[int]]
    other_accuracy: Optional[float]
    other_macro_f1: Optional[float]

    def _repr_html_(self) -> str:
        """Returns the figures, also by label, and a picture of the confusion matrix, for notebooks."""
        return training_html(self)


@dataclass(frozen=True, repr=False)
class QuantizeReport(Value):
    """The report of a quantisation.

    tensor_count: the number of tensors written, including scales and sums.
    quantized_count: the number of weights rounded to int8.
    bytes_read: the size of the tensors read.
    bytes_written: the size of the new model.safetensors.
    rms_weight: the root mean square of the rounded weights.
    rms_error: the same of their change.
    rms_error_of_largest: the same if each scale came from the row's largest magnitude.
    """

    tensor_count: int
    quantized_count: int
    bytes_read: int
    bytes_written: int
    rms_weight: float
    rms_error: float
    rms_error_of_largest: float
