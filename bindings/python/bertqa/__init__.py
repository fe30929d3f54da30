"""Extractive question answering, classification, named entities and embeddings in this process.

    import bertqa

    with bertqa.Context() as context:
        result = context.answer("Who jumped over the dog?", document)
        if result.answer:
            print(document[result.answer.start:result.answer.end])

Calls release the GIL. A Context and a Document may be used by any number of threads and by forked children.
Ctrl-C ends a call on the main thread. help(bertqa.AnswerOptions) and help(bertqa.CallOptions) explain every option.
"""

from ._answer import Document
from ._arrow_column import Column
from ._collection import Collection, CollectionResult, Passage
from ._columns import (
    answer_column,
    classify_column,
    embed_column,
    entities_column,
    patterns_column,
    redact_column,
    tokenize_column,
)
from ._context import Context
from ._cross_encoder import CrossEncoder
from ._embed import Embeddings, TokenVectors
from ._entities import patterns
from ._errors import (
    BertQAError,
    Cancelled,
    DeadlineExceeded,
    InvalidArgument,
    InvalidModel,
    ModelIOError,
    ModelNotFoundError,
    OutOfMemory,
    TooLarge,
    Unsupported,
    WrongModel,
)
from ._labeler import Labeler
from ._native import abi_version, version
from ._options import (
    AnswerOptions,
    CallOptions,
    ClassifyOptions,
    EmbedOptions,
    EntitiesOptions,
    GenerateOptions,
    TrainOptions,
)
from ._pipeline import pipeline
from ._process import quantize, set_threads, start_threads, stop_threads
from ._redaction import Pseudonyms, apply_lists, everywhere, redact
from ._results import (
    Answer,
    Classification,
    Contribution,
    Entity,
    EntityList,
    LabelScore,
    ModelInfo,
    Result,
    Tokens,
)
from ._rules import Rules, checksum
from ._sentences import SentenceEncoder
from ._sequence import SequenceState
from ._sequence_results import Generation, Prediction, RankedText, SequenceInfo, SequenceScore, Word
from ._train import train_classifier
from ._training_results import QuantizeReport, TrainingLabel, TrainingReport
from ._word_counts import word_counts

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "AnswerOptions",
    "BertQAError",
    "CallOptions",
    "Cancelled",
    "Classification",
    "ClassifyOptions",
    "Collection",
    "CollectionResult",
    "Column",
    "Context",
    "Contribution",
    "CrossEncoder",
    "DeadlineExceeded",
    "Document",
    "EmbedOptions",
    "Embeddings",
    "EntitiesOptions",
    "Entity",
    "EntityList",
    "GenerateOptions",
    "Generation",
    "InvalidArgument",
    "InvalidModel",
    "LabelScore",
    "Labeler",
    "ModelIOError",
    "ModelInfo",
    "ModelNotFoundError",
    "OutOfMemory",
    "Passage",
    "Prediction",
    "Pseudonyms",
    "QuantizeReport",
    "RankedText",
    "Result",
    "Rules",
    "SentenceEncoder",
    "SequenceInfo",
    "SequenceScore",
    "SequenceState",
    "TokenVectors",
    "Tokens",
    "TooLarge",
    "TrainOptions",
    "TrainingLabel",
    "TrainingReport",
    "Unsupported",
    "Word",
    "WrongModel",
    "abi_version",
    "answer_column",
    "apply_lists",
    "checksum",
    "classify_column",
    "embed_column",
    "entities_column",
    "everywhere",
    "patterns",
    "patterns_column",
    "pipeline",
    "quantize",
    "redact",
    "redact_column",
    "set_threads",
    "start_threads",
    "stop_threads",
    "tokenize_column",
    "train_classifier",
    "version",
    "word_counts",
]

# Tracebacks and help() show the public name "bertqa.WrongModel", not the defining module.
for _name in __all__:
    globals()[_name].__module__ = __name__
