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
from ._native import abi_version, version
from ._sequence import SequenceState
from ._types import (
    Answer,
    AnswerOptions,
    Classification,
    ClassifyOptions,
    Contribution,
    GenerateOptions,
    Generation,
    LabelScore,
    ModelInfo,
    Prediction,
    RankedText,
    Result,
    SequenceScore,
    Tokens,
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
    "GenerateOptions",
    "Generation",
    "InvalidArgument",
    "InvalidModel",
    "LabelScore",
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
    "Unsupported",
    "Word",
    "WrongModel",
    "abi_version",
    "answer_column",
    "classify_column",
    "version",
]
