"""How trainings and roundings of models went: plain values."""

from dataclasses import dataclass
from typing import List

from ._html_training import training_html
from ._value import Value


@dataclass(frozen=True, repr=False)
class TrainingLabel(Value):
    """A label that was trained.

    text_count: texts that were added with it.
    precision, recall, f1: of the cross-validation, 0...1; NaN without folds.
    """

    label: str
    text_count: int
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, repr=False)
class TrainingReport(Value):
    """How a training went. Cross-validated figures are NaN without folds.

    text_count: texts; vocabulary_size: features of the model.
    labels: by their id in the model.
    iterations, is_converged: of L-BFGS, and whether it came within the tolerance.
    loss: of the final model: mean cross-entropy, with logistic regression + L2.
    accuracy, macro_f1: of the cross-validation; calibration_error: expected calibration error (ECE), 15 bins.
    confusion: confusion[true label's id][predicted label's id], texts of the cross-validation; empty without folds
        and with more than 1000 labels.
    """

    text_count: int
    vocabulary_size: int
    labels: List[TrainingLabel]
    iterations: int
    is_converged: bool
    loss: float
    accuracy: float
    macro_f1: float
    calibration_error: float
    confusion: List[List[int]]

    def _repr_html_(self) -> str:
        """For notebooks: the figures, those of each label, and the confusion matrix as a picture."""
        return training_html(self)


@dataclass(frozen=True, repr=False)
class QuantizeReport(Value):
    """How the rounding of a model went.

    tensor_count: tensors written, scales and sums included; quantized_count: weights rounded to int8.
    bytes_read: of the tensors read; bytes_written: of the new model.safetensors.
    rms_weight: root mean square of the rounded weights; rms_error: of their change; rms_error_of_largest: what that
        would be with scales from each row's largest magnitude.
    """

    tensor_count: int
    quantized_count: int
    bytes_read: int
    bytes_written: int
    rms_weight: float
    rms_error: float
    rms_error_of_largest: float
