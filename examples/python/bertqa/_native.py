"""ctypes bindings of include/bertqa.h, loaded on first use.

ctypes.CDLL releases the GIL around every call.
"""

import ctypes
import functools
import operator
import os
import pathlib
from ctypes import (
    POINTER,
    Structure,
    c_char_p,
    c_double,
    c_float,
    c_int32,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)

from ._errors import BY_STATUS, BertQAError, InvalidArgument

ABI_VERSION = 1
CANCEL = ctypes.CFUNCTYPE(c_int32, c_void_p)
LOG = ctypes.CFUNCTYPE(None, c_void_p, c_char_p)
PROGRESS = ctypes.CFUNCTYPE(c_int32, c_void_p, c_char_p, c_double)


class ContextOptions(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("threads", c_int32), ("precision", c_int32), ("isa", c_int32),
        ("tokenizer_only", c_int32), ("log", LOG), ("log_user", c_void_p), ("default_model", c_int32),
    ]


class ModelInfo(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("directory", c_char_p), ("architecture", c_char_p), ("precision", c_int32),
        ("isa", c_int32), ("threads", c_int32), ("vocab_size", c_int32), ("hidden_size", c_int32),
        ("num_hidden_layers", c_int32), ("num_attention_heads", c_int32), ("intermediate_size", c_int32),
        ("max_position_embeddings", c_int32), ("lowercase", c_int32), ("no_answer_threshold", c_float),
        ("task", c_int32), ("num_labels", c_int32), ("embedding_length", c_int32), ("state_length", c_int32),
    ]


class TokenizeOptions(Structure):
    _fields_ = [("struct_size", c_size_t), ("parse_special_tokens", c_int32)]


class AnswerOptions(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("top_k", c_int32), ("max_seq_len", c_int32), ("doc_stride", c_int32),
        ("max_answer_len", c_int32), ("max_question_len", c_int32), ("n_best_size", c_int32),
        ("handle_impossible_answer", c_int32), ("align_to_words", c_int32), ("max_windows", c_int32),
        ("no_answer_threshold", c_float), ("cancel", CANCEL), ("cancel_user", c_void_p),
    ]


class Range(Structure):
    _fields_ = [("start", c_size_t), ("end", c_size_t)]


class AnswerSpan(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("bytes", Range), ("code_points", Range), ("utf16", Range),
        ("sentence", Range), ("score", c_float), ("start_logit", c_float), ("end_logit", c_float),
        ("probability", c_float), ("gap", c_float),
    ]


class AnswerSummary(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("is_impossible", c_int32), ("question_truncated", c_int32),
        ("empty_question", c_int32), ("empty_document", c_int32), ("null_score", c_float),
        ("best_gap", c_float), ("no_answer_probability", c_float), ("no_answer_threshold", c_float),
        ("window_count", c_size_t), ("skipped_windows", c_size_t),
    ]


class Pair(Structure):
    _fields_ = [
        ("question", c_char_p), ("question_length", c_size_t), ("document", c_char_p),
        ("document_length", c_size_t),
    ]


class TextPair(Structure):
    _fields_ = [
        ("text", c_char_p), ("length", c_size_t), ("second", c_char_p), ("second_length", c_size_t),
    ]


class Column(Structure):
    _fields_ = [("array", c_void_p), ("schema", c_void_p)]


class ClassifyOptions(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("contributions", c_int32), ("max_seq_len", c_int32), ("doc_stride", c_int32),
        ("window_pooling", c_int32), ("cancel", CANCEL), ("cancel_user", c_void_p),
    ]


class LabelScore(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("label", c_char_p), ("id", c_int32), ("probability", c_float), ("logit", c_float),
    ]


class Contribution(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("bytes", Range), ("code_points", Range), ("utf16", Range), ("weight", c_float),
    ]


class ClassifySummary(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("problem_type", c_int32), ("not_enough_text", c_int32),
        ("distinct_words", c_size_t), ("window_count", c_size_t),
    ]


class TrainOptions(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("algorithm", c_int32), ("min_word_length", c_int32),
        ("min_distinct_words", c_int32), ("max_ngram", c_int32), ("tf_idf", c_int32), ("min_document_count", c_int32),
        ("max_document_fraction", c_double), ("max_vocabulary", c_int32), ("c", c_double), ("alpha", c_double),
        ("max_iterations", c_int32), ("tolerance", c_double), ("folds", c_int32), ("threads", c_int32),
        ("seed", c_uint64), ("progress", PROGRESS), ("progress_user", c_void_p),
    ]


class TrainingReport(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("text_count", c_size_t), ("vocabulary_size", c_size_t), ("label_count", c_size_t),
        ("labels", POINTER(c_char_p)), ("label_texts", POINTER(c_size_t)), ("iterations", c_int32),
        ("converged", c_int32), ("loss", c_double), ("accuracy", c_double), ("macro_f1", c_double),
        ("calibration_error", c_double), ("confusion", POINTER(c_size_t)),
    ]


class EmbedOptions(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("pooling", c_int32), ("normalize", c_int32), ("max_seq_len", c_int32),
        ("truncate", c_int32), ("cancel", CANCEL), ("cancel_user", c_void_p),
    ]


class Example(Structure):
    _fields_ = [
        ("text", c_char_p), ("length", c_size_t), ("label", c_char_p), ("label_length", c_size_t),
    ]


class LabelerOptions(Structure):
    _fields_ = [("struct_size", c_size_t), ("scale", c_float), ("embed", POINTER(EmbedOptions))]


class Word(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("text", c_void_p), ("length", c_size_t), ("id", c_int32),
        ("probability", c_float), ("log_probability", c_float),
    ]


# The user pointer is a Python object: what it is called with is `function(object, word)`.
WORD = ctypes.CFUNCTYPE(c_int32, ctypes.py_object, POINTER(Word))


class GenerateOptions(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("max_words", c_int32), ("temperature", c_float), ("top_k", c_int32),
        ("top_p", c_float), ("seed", c_uint64), ("on_word", WORD), ("on_word_user", c_void_p),
    ]


class SequenceScore(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("word_count", c_size_t), ("unknown_count", c_size_t),
        ("log_likelihood", c_double), ("perplexity", c_double),
    ]


# name: (result, arguments)
_FUNCTIONS = {
    "abi_version": (c_uint32, []),
    "version": (c_char_p, []),
    "last_error": (c_char_p, []),
    "context_options_init": (None, [POINTER(ContextOptions), c_size_t]),
    "context_create": (c_int32, [c_char_p, POINTER(ContextOptions), POINTER(c_void_p)]),
    "context_free": (None, [c_void_p]),
    "context_info": (POINTER(ModelInfo), [c_void_p]),
    "context_label": (c_char_p, [c_void_p, c_int32]),
    "tokenize_options_init": (None, [POINTER(TokenizeOptions), c_size_t]),
    "tokenize": (c_int32, [c_void_p, c_char_p, c_size_t, POINTER(TokenizeOptions), POINTER(c_void_p)]),
    "tokens_free": (None, [c_void_p]),
    "tokens_count": (c_size_t, [c_void_p]),
    "tokens_ids": (POINTER(c_int32), [c_void_p]),
    "tokens_starts": (POINTER(c_uint32), [c_void_p]),
    "tokens_ends": (POINTER(c_uint32), [c_void_p]),
    "vocabulary_piece": (c_void_p, [c_void_p, c_int32, POINTER(c_size_t)]),
    "vocabulary_id": (c_int32, [c_void_p, c_char_p, c_size_t]),
    "answer_options_init": (None, [POINTER(AnswerOptions), c_size_t]),
    "answer": (c_int32, [c_void_p, c_char_p, c_size_t, c_char_p, c_size_t, POINTER(AnswerOptions), POINTER(c_void_p)]),
    "answer_batch": (c_int32, [c_void_p, POINTER(Pair), c_size_t, POINTER(AnswerOptions), POINTER(c_void_p)]),
    "document_create": (c_int32, [c_void_p, c_char_p, c_size_t, POINTER(c_void_p)]),
    "document_free": (None, [c_void_p]),
    "document_answer": (c_int32, [c_void_p, c_void_p, c_char_p, c_size_t, POINTER(AnswerOptions), POINTER(c_void_p)]),
    "answers_free": (None, [c_void_p]),
    "answers_count": (c_size_t, [c_void_p]),
    "answers_get": (POINTER(AnswerSpan), [c_void_p, c_size_t]),
    "answers_summary": (POINTER(AnswerSummary), [c_void_p]),
    "classify_options_init": (None, [POINTER(ClassifyOptions), c_size_t]),
    "classify": (c_int32, [c_void_p, c_char_p, c_size_t, POINTER(ClassifyOptions), POINTER(c_void_p)]),
    "classify_batch": (
        c_int32, [c_void_p, POINTER(TextPair), c_size_t, POINTER(ClassifyOptions), POINTER(c_void_p)],
    ),
    "classification_free": (None, [c_void_p]),
    "classification_count": (c_size_t, [c_void_p]),
    "classification_get": (POINTER(LabelScore), [c_void_p, c_size_t]),
    "classification_contributions_count": (c_size_t, [c_void_p]),
    "classification_contribution": (POINTER(Contribution), [c_void_p, c_size_t]),
    "classification_summary": (POINTER(ClassifySummary), [c_void_p]),
    "train_options_init": (None, [POINTER(TrainOptions), c_size_t]),
    "trainer_create": (c_int32, [POINTER(TrainOptions), POINTER(c_void_p)]),
    "trainer_free": (None, [c_void_p]),
    "trainer_add": (c_int32, [c_void_p, c_char_p, c_size_t, c_char_p, c_size_t]),
    "trainer_finish": (c_int32, [c_void_p, c_char_p, POINTER(POINTER(TrainingReport))]),
    "training_report_free": (None, [POINTER(TrainingReport)]),
    "embed_options_init": (None, [POINTER(EmbedOptions), c_size_t]),
    "embed": (c_int32, [c_void_p, POINTER(TextPair), c_size_t, POINTER(EmbedOptions), POINTER(c_float)]),
    "labeler_options_init": (None, [POINTER(LabelerOptions), c_size_t]),
    "labeler_create": (
        c_int32, [c_void_p, POINTER(Example), c_size_t, POINTER(LabelerOptions), POINTER(c_void_p)],
    ),
    "labeler_free": (None, [c_void_p]),
    "labeler_classify": (c_int32, [c_void_p, POINTER(TextPair), c_size_t, POINTER(c_void_p)]),
    "answer_arrow": (c_int32, [c_void_p, Column, Column, POINTER(AnswerOptions), c_void_p, c_void_p]),
    "classify_arrow": (c_int32, [c_void_p, Column, POINTER(ClassifyOptions), c_void_p, c_void_p]),
    "sequence_state_clone": (c_void_p, [c_void_p]),
    "sequence_state_free": (None, [c_void_p]),
    "sequence_state_export": (c_int32, [c_void_p, POINTER(c_float), c_size_t]),
    "sequence_state_import": (c_int32, [c_void_p, POINTER(c_float), c_size_t, POINTER(c_void_p)]),
    "sequence_state_serialize": (c_int32, [c_void_p, c_void_p, c_size_t, POINTER(c_size_t)]),
    "sequence_state_deserialize": (c_int32, [c_void_p, c_char_p, c_size_t, POINTER(c_void_p)]),
    "sequence_predict": (
        c_int32,
        [c_void_p, c_char_p, c_size_t, c_void_p, c_int32, POINTER(c_void_p), POINTER(c_void_p)],
    ),
    "prediction_free": (None, [c_void_p]),
    "prediction_count": (c_size_t, [c_void_p]),
    "prediction_get": (POINTER(Word), [c_void_p, c_size_t]),
    "prediction_is_unknown": (c_int32, [c_void_p]),
    "prediction_probabilities": (c_void_p, [c_void_p]),
    "sequence_step": (
        c_int32,
        [c_void_p, POINTER(c_int32), POINTER(c_void_p), c_size_t, POINTER(c_void_p), POINTER(c_float)],
    ),
    "generate_options_init": (None, [POINTER(GenerateOptions), c_size_t]),
    "sequence_generate": (
        c_int32, [c_void_p, c_char_p, c_size_t, c_void_p, POINTER(GenerateOptions), POINTER(c_void_p)],
    ),
    "generation_free": (None, [c_void_p]),
    "generation_count": (c_size_t, [c_void_p]),
    "generation_get": (POINTER(Word), [c_void_p, c_size_t]),
    "generation_text": (c_void_p, [c_void_p, POINTER(c_size_t)]),
    "generation_stop": (c_int32, [c_void_p]),
    "generation_unknown_count": (c_size_t, [c_void_p]),
    "generation_state": (c_void_p, [c_void_p]),
    "sequence_likelihood": (
        c_int32, [c_void_p, c_char_p, c_size_t, c_void_p, c_int32, POINTER(SequenceScore)],
    ),
    "sequence_rank": (
        c_int32,
        [c_void_p, c_char_p, c_size_t, POINTER(TextPair), c_size_t, c_void_p, c_int32, POINTER(c_size_t),
         POINTER(c_double), POINTER(c_size_t)],
    ),
    "logits": (
        c_int32,
        [c_void_p, POINTER(c_int32), c_size_t, POINTER(c_size_t), POINTER(c_size_t), c_size_t, POINTER(c_float),
         POINTER(c_float)],
    ),
}


def _path():
    """Where the library is: named, packaged, staged in this checkout, or where the loader finds it."""
    here = pathlib.Path(__file__).resolve().parent
    named = os.environ.get("BERTQA_LIBRARY")
    if named:
        return named
    files = [here / "lib" / "libbertqa.so.1"]
    if len(here.parents) > 2:
        files.append(here.parents[2] / "build" / "lib" / "libbertqa.so.1")
    return next((str(file) for file in files if file.exists()), "libbertqa.so.1")


@functools.lru_cache(maxsize=None)
def library():
    """The library with its functions typed, as attributes without their prefix."""
    path = _path()
    try:
        loaded = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(
            f"cannot load libbertqa ({error}); run `make` in the checkout, install the library, or set "
            "BERTQA_LIBRARY to its path"
        ) from error
    functions = type("Library", (), {})()
    try:
        found = loaded.bertqa_abi_version()
        if found != ABI_VERSION:
            raise ImportError(f"{path} has ABI version {found}; this package needs {ABI_VERSION}")
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(loaded, "bertqa_" + name)
            function.restype, function.argtypes = result, arguments
            setattr(functions, name, function)
    except AttributeError as error:
        raise ImportError(f"{path} is not libbertqa, or one older than this package: {error}") from error
    return functions


def check(status: int) -> None:
    """Raises the exception of a status that is not OK."""
    if status != 0:
        message = library().last_error().decode("utf-8", "replace")
        raise BY_STATUS.get(status, BertQAError)(message, status)


def initialized(options, init):
    """An options struct with the library's defaults."""
    init(ctypes.byref(options), ctypes.sizeof(options))
    return options


def int32(value, name: str) -> int:
    """`value`, which ctypes would cut to 32 bits without a word."""
    number = operator.index(value)
    if not -(2**31) <= number < 2**31:
        raise InvalidArgument(f"{name} is {number}, which does not fit in 32 bits")
    return number


def version() -> str:
    """The library's package version."""
    return library().version().decode()


def abi_version() -> int:
    """What programs can link the library: the number in its SONAME."""
    return library().abi_version()
