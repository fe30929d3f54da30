"""Extractive question answering in this process.

    import bertqa

    with bertqa.Context() as context:
        result = context.answer("Who jumped over the dog?", document)
        if result.answer:
            print(document[result.answer.start:result.answer.end])

Calls release the GIL. A Context and a Document may be used by any number of threads and by forked children.
"""

from ._answer import Document
from ._columns import answer_column, classify_column
from ._context import Context
from ._embed import Embeddings
from ._errors import (
    BertQAError,
    Cancelled,
    InvalidArgument,
    InvalidModel,
    ModelIOError,
    OutOfMemory,
    TooLarge,
    Unsupported,
    WrongModel,
)
from ._labeler import Labeler
from ._native import abi_version, version
from ._sequence import SequenceState
from ._train import train_classifier
from ._types import (
    Answer,
    AnswerOptions,
    Classification,
    ClassifyOptions,
    Contribution,
    EmbedOptions,
    GenerateOptions,
    Generation,
    LabelScore,
    ModelInfo,
    Prediction,
    RankedText,
    Result,
    SequenceScore,
    Tokens,
    TrainingReport,
    TrainOptions,
    Word,
)

__all__ = [
    "Answer",
    "AnswerOptions",
    "BertQAError",
    "Cancelled",
    "Classification",
    "ClassifyOptions",
    "Context",
    "Contribution",
    "Document",
    "EmbedOptions",
    "Embeddings",
    "GenerateOptions",
    "Generation",
    "InvalidArgument",
    "InvalidModel",
    "LabelScore",
    "Labeler",
    "ModelIOError",
    "ModelInfo",
    "OutOfMemory",
    "Prediction",
    "RankedText",
    "Result",
    "SequenceScore",
    "SequenceState",
    "Tokens",
    "TooLarge",
    "TrainOptions",
    "TrainingReport",
    "Unsupported",
    "Word",
    "WrongModel",
    "abi_version",
    "answer_column",
    "classify_column",
    "train_classifier",
    "version",
]
