"""The declarations of include/bertqa.h and bertqa_experimental.h for ctypes: callbacks, structs, functions.

Names omit the headers' prefix "bertqa_". Tests/python/test_package.py compares all sizes, offsets and numbers of
parameters with the headers.
"""

from __future__ import annotations

import operator
from ctypes import (
    CFUNCTYPE,
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
    py_object,
    sizeof,
)
from types import GeneratorType
from typing import Any, Dict, List, Tuple

ABI_VERSION = 1


class Switch(c_int32):
    """bertqa_switch: 1 on, -1 off, 0 the field's default."""


class Options(Structure):
    """An options struct: the first field is its size, and zeros are the defaults."""

    def __init__(self, **fields: Any):
        super().__init__(struct_size=sizeof(self), **fields)


# ---- Callbacks: _call.py describes their use. A user pointer is a Python object.

CANCEL = CFUNCTYPE(c_int32, py_object)
PROGRESS = CFUNCTYPE(None, py_object, c_char_p, c_double)
LOG = CFUNCTYPE(None, py_object, c_char_p)


class CallOptions(Options):
    _fields_ = [
        ("struct_size", c_size_t), ("cancel", CANCEL), ("progress", PROGRESS), ("user", py_object),
        ("deadline_ns", c_uint64), ("max_bytes", c_uint64), ("max_document_tokens", c_uint64),
    ]  # fmt: skip


_CALL = ("call", POINTER(CallOptions))

# ---- Structs of bertqa.h


class ContextOptions(Options):
    _fields_ = [
        ("struct_size", c_size_t), _CALL, ("log", LOG), ("log_user", py_object), ("threads", c_int32),
        ("precision", c_int32), ("isa", c_int32), ("tokenizer_only", Switch), ("default_model", c_int32),
        ("load", c_int32),
    ]  # fmt: skip


class File(Structure):
    _fields_ = [("name", c_char_p), ("data", c_char_p), ("size", c_size_t)]


class ModelInfo(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("directory", c_char_p), ("architecture", c_char_p),
        ("vocabulary_size", c_size_t), ("label_count", c_size_t), ("embedding_length", c_size_t),
        ("hidden_size", c_size_t), ("num_hidden_layers", c_size_t), ("num_attention_heads", c_size_t),
        ("intermediate_size", c_size_t), ("max_position_embeddings", c_size_t), ("task", c_int32),
        ("precision", c_int32), ("isa", c_int32), ("threads", c_int32), ("is_lowercase", c_int32),
        ("no_answer_threshold", c_float),
    ]  # fmt: skip


class Range(Structure):
    _fields_ = [("start", c_size_t), ("end", c_size_t)]


class TokenizeOptions(Options):
    _fields_ = [("struct_size", c_size_t), _CALL, ("parse_special_tokens", Switch), ("reserved", c_int32)]


class AnswerOptions(Options):
    _fields_ = [
        ("struct_size", c_size_t), _CALL, ("top_k", c_int32), ("max_seq_len", c_int32), ("doc_stride", c_int32),
        ("max_answer_len", c_int32), ("max_question_len", c_int32), ("n_best_size", c_int32),
        ("max_windows", c_int32), ("handle_impossible_answer", Switch), ("align_to_words", Switch),
        ("use_no_answer_threshold", Switch), ("no_answer_threshold", c_float), ("reserved", c_int32),
    ]  # fmt: skip


class AnswerSpan(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("bytes", Range), ("code_points", Range), ("utf16", Range),
        ("sentence", Range), ("score", c_float), ("start_logit", c_float), ("end_logit", c_float),
        ("probability", c_float), ("gap", c_float), ("reserved", c_int32),
    ]  # fmt: skip


class AnswerSummary(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("is_impossible", c_int32), ("is_question_truncated", c_int32),
        ("is_question_empty", c_int32), ("is_document_empty", c_int32), ("null_score", c_float),
        ("gap", c_float), ("no_answer_probability", c_float), ("no_answer_threshold", c_float),
        ("window_count", c_size_t), ("skipped_window_count", c_size_t),
    ]  # fmt: skip


class AnswerPair(Structure):
    _fields_ = [
        ("question", c_char_p), ("question_length", c_size_t), ("document", c_char_p),
        ("document_length", c_size_t),
    ]  # fmt: skip


class DocumentOptions(Options):
    _fields_ = [("struct_size", c_size_t), _CALL]


class Text(Structure):
    _fields_ = [("text", c_char_p), ("length", c_size_t)]


class LogitsOptions(Options):
    _fields_ = [("struct_size", c_size_t), _CALL]


class ClassifyOptions(Options):
    _fields_ = [
        ("struct_size", c_size_t), _CALL, ("contributions", c_int32), ("max_seq_len", c_int32),
        ("doc_stride", c_int32), ("window_pooling", c_int32), ("min_probability", c_float), ("reserved", c_int32),
    ]  # fmt: skip


class TextPair(Structure):
    _fields_ = [("text", c_char_p), ("length", c_size_t), ("second", c_char_p), ("second_length", c_size_t)]


class LabelScore(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("label", c_void_p), ("label_length", c_size_t), ("id", c_int32),
        ("probability", c_float), ("logit", c_float), ("reserved", c_int32),
    ]  # fmt: skip


class Contribution(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("bytes", Range), ("code_points", Range), ("utf16", Range),
        ("weight", c_float), ("reserved", c_int32),
    ]  # fmt: skip


class ClassifySummary(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("problem_type", c_int32), ("is_too_short", c_int32),
        ("distinct_word_count", c_size_t), ("window_count", c_size_t), ("is_none", c_int32), ("reserved", c_int32),
    ]  # fmt: skip


class EntitiesOptions(Options):
    _fields_ = [
        ("struct_size", c_size_t), _CALL, ("labels", POINTER(Text)), ("label_count", c_size_t),
        ("ignore_labels", POINTER(Text)), ("ignore_label_count", c_size_t), ("aggregation", c_int32),
        ("threshold", c_float), ("max_seq_len", c_int32), ("doc_stride", c_int32),
    ]  # fmt: skip


class Entity(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("label", c_void_p), ("label_length", c_size_t), ("bytes", Range),
        ("code_points", Range), ("utf16", Range), ("score", c_float), ("reserved", c_int32),
    ]  # fmt: skip


class EntitiesSummary(Structure):
    _fields_ = [("struct_size", c_size_t), ("window_count", c_size_t)]


class EmbedOptions(Options):
    _fields_ = [
        ("struct_size", c_size_t), _CALL, ("pooling", c_int32), ("normalize", Switch), ("max_seq_len", c_int32),
        ("truncate", Switch),
    ]  # fmt: skip


class QuantizeOptions(Options):
    _fields_ = [
        ("struct_size", c_size_t), _CALL, ("use_no_answer_threshold", Switch), ("no_answer_threshold", c_float),
    ]  # fmt: skip


class QuantizeReport(Options):
    _fields_ = [
        ("struct_size", c_size_t), ("tensor_count", c_size_t), ("quantized_count", c_size_t),
        ("bytes_read", c_size_t), ("bytes_written", c_size_t), ("rms_weight", c_double),
        ("rms_error", c_double), ("rms_error_of_largest", c_double),
    ]  # fmt: skip


# ---- Structs of bertqa_experimental.h


class TrainOptions(Options):
    _fields_ = [
        ("struct_size", c_size_t), ("max_document_fraction", c_double), ("c", c_double), ("alpha", c_double),
        ("tolerance", c_double), ("seed", c_uint64), ("algorithm", c_int32), ("min_word_length", c_int32),
        ("min_distinct_words", c_int32), ("max_ngram", c_int32), ("tf_idf", Switch),
        ("min_document_count", c_int32), ("max_vocabulary", c_int32), ("max_iterations", c_int32),
        ("folds", c_int32), ("threads", c_int32), ("calibrate", Switch), ("reserved", c_int32),
    ]  # fmt: skip


class TrainingSummary(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("text_count", c_size_t), ("vocabulary_size", c_size_t), ("loss", c_double),
        ("accuracy", c_double), ("macro_f1", c_double), ("calibration_error", c_double),
        ("iterations", c_int32), ("is_converged", c_int32),
    ]  # fmt: skip


class TrainingLabel(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("label", c_void_p), ("label_length", c_size_t), ("text_count", c_size_t),
        ("precision", c_double), ("recall", c_double), ("f1", c_double),
    ]  # fmt: skip


class Example(Structure):
    _fields_ = [("text", c_char_p), ("length", c_size_t), ("label", c_char_p), ("label_length", c_size_t)]


class LabelerOptions(Options):
    _fields_ = [
        ("struct_size", c_size_t), _CALL, ("embed", POINTER(EmbedOptions)), ("scale", c_float),
        ("reserved", c_int32),
    ]  # fmt: skip


class WordCountsOptions(Options):
    _fields_ = [("struct_size", c_size_t), _CALL, ("min_word_length", c_int32), ("max_ngram", c_int32)]


class WordCount(Structure):
    _fields_ = [("struct_size", c_size_t), ("text", c_void_p), ("length", c_size_t), ("count", c_size_t)]


class SequenceInfo(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("state_length", c_size_t), ("separator", c_char_p), ("end", c_char_p),
        ("end_id", c_int32), ("unknown_id", c_int32),
    ]  # fmt: skip


class SequenceOptions(Options):
    _fields_ = [("struct_size", c_size_t), _CALL, ("top_k", c_int32), ("include_end", Switch)]


class Word(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("text", c_void_p), ("length", c_size_t), ("id", c_int32),
        ("probability", c_float), ("log_probability", c_float), ("reserved", c_int32),
    ]  # fmt: skip


WORD = CFUNCTYPE(c_int32, py_object, POINTER(Word))


class GenerateOptions(Options):
    _fields_ = [
        ("struct_size", c_size_t), _CALL, ("on_word", WORD), ("on_word_user", py_object), ("seed", c_uint64),
        ("max_words", c_int32), ("temperature", c_float), ("top_k", c_int32), ("top_p", c_float),
    ]  # fmt: skip


class SequenceScore(Options):
    _fields_ = [
        ("struct_size", c_size_t), ("word_count", c_size_t), ("unknown_count", c_size_t),
        ("log_likelihood", c_double), ("perplexity", c_double),
    ]  # fmt: skip


class PatternsOptions(Options):
    _fields_ = [("struct_size", c_size_t), _CALL, ("patterns", c_int32), ("reserved", c_int32)]


class Column(Structure):
    _fields_ = [("array", c_void_p), ("schema", c_void_p)]


#: Structs by the headers' names. Arrow's two structs are in _arrow.py.
STRUCTS: Dict[str, Any] = {
    "call_options": CallOptions, "context_options": ContextOptions, "file": File, "model_info": ModelInfo,
    "range": Range, "tokenize_options": TokenizeOptions, "answer_options": AnswerOptions,
    "answer_span": AnswerSpan, "answer_summary": AnswerSummary, "answer_pair": AnswerPair,
    "document_options": DocumentOptions, "text": Text, "logits_options": LogitsOptions,
    "classify_options": ClassifyOptions, "text_pair": TextPair, "label_score": LabelScore,
    "contribution": Contribution, "classify_summary": ClassifySummary, "entities_options": EntitiesOptions,
    "entity": Entity, "entities_summary": EntitiesSummary, "patterns_options": PatternsOptions, "embed_options": EmbedOptions,
    "quantize_options": QuantizeOptions, "quantize_report": QuantizeReport, "train_options": TrainOptions,
    "training_summary": TrainingSummary, "training_label": TrainingLabel, "example": Example,
    "labeler_options": LabelerOptions, "sequence_info": SequenceInfo, "sequence_options": SequenceOptions,
    "word_counts_options": WordCountsOptions,
    "word_count": WordCount, "word": Word, "generate_options": GenerateOptions, "sequence_score": SequenceScore, "column": Column,
}  # fmt: skip

# ---- Functions

_P = POINTER
_I, _N, _S = c_int32, c_size_t, c_char_p
#: An object of the library, or the address of a text, bytes or an array that the caller allocated.
_H = c_void_p
#: Receives an object that a call creates.
_OUT = POINTER(c_void_p)
#: Receives the status of each item of a batch.
_EACH = POINTER(c_int32)
_INIT = (None, [c_void_p, c_size_t])

#: name: (result, parameters)
FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {
    # bertqa.h
    "abi_version": (c_uint32, []),
    "version": (_S, []),
    "status_name": (_S, [_I]),
    "last_error": (_S, []),
    "last_error_item": (_N, []),
    "last_error_argument": (_S, []),
    "call_options_init": _INIT,
    "deadline_after": (c_uint64, [c_uint64]),
    "precision_name": (_S, [_I]),
    "isa_name": (_S, [_I]),
    "task_name": (_S, [_I]),
    "context_options_init": _INIT,
    "context_create": (_I, [_S, _P(ContextOptions), _OUT]),
    "context_create_from_files": (_I, [_P(File), _N, _P(ContextOptions), _OUT]),
    "context_create_at": (_I, [_I, _S, _P(ContextOptions), _OUT]),
    "context_free": (None, [_H]),
    "context_info": (_P(ModelInfo), [_H]),
    "context_label_get": (c_void_p, [_H, _I, _P(_N)]),
    "context_vocabulary_piece": (c_void_p, [_H, _I, _P(_N)]),
    "context_vocabulary_id": (_I, [_H, _S, _N]),
    "tokenize_options_init": _INIT,
    "tokenize": (_I, [_H, _S, _N, _P(TokenizeOptions), _OUT]),
    "tokens_free": (None, [_H]),
    "tokens_count": (_N, [_H]),
    "tokens_ids": (_P(c_int32), [_H]),
    "tokens_ranges": (_P(c_size_t), [_H]),
    "answer_options_init": _INIT,
    "answer": (_I, [_H, _S, _N, _S, _N, _P(AnswerOptions), _OUT]),
    "answer_batch": (_I, [_H, _P(AnswerPair), _N, _P(AnswerOptions), _OUT, _EACH]),
    "document_options_init": _INIT,
    "document_create": (_I, [_H, _S, _N, _P(DocumentOptions), _OUT]),
    "document_free": (None, [_H]),
    "document_answer": (_I, [_H, _H, _S, _N, _P(AnswerOptions), _OUT]),
    "document_answer_batch": (_I, [_H, _H, _P(Text), _N, _P(AnswerOptions), _OUT, _EACH]),
    "answers_free": (None, [_H]),
    "answers_count": (_N, [_H]),
    "answers_get": (_P(AnswerSpan), [_H, _N]),
    "answers_summary": (_P(AnswerSummary), [_H]),
    "logits_options_init": _INIT,
    "logits": (_I, [_H, _P(_I), _N, _P(_N), _P(_N), _N, _P(LogitsOptions), _P(c_float), _P(c_float)]),
    "classify_options_init": _INIT,
    "classify": (_I, [_H, _S, _N, _P(ClassifyOptions), _OUT]),
    "classify_batch": (_I, [_H, _P(TextPair), _N, _P(ClassifyOptions), _OUT, _EACH]),
    "classification_free": (None, [_H]),
    "classification_count": (_N, [_H]),
    "classification_get": (_P(LabelScore), [_H, _N]),
    "classification_contribution_count": (_N, [_H]),
    "classification_contribution_get": (_P(Contribution), [_H, _N]),
    "classification_summary": (_P(ClassifySummary), [_H]),
    "entities_options_init": _INIT,
    "entities": (_I, [_H, _S, _N, _P(EntitiesOptions), _OUT]),
    "entities_batch": (_I, [_H, _P(Text), _N, _P(EntitiesOptions), _OUT, _EACH]),
    "entity_list_free": (None, [_H]),
    "entity_list_count": (_N, [_H]),
    "entity_list_get": (_P(Entity), [_H, _N]),
    "entity_list_summary": (_P(EntitiesSummary), [_H]),
    "embed_options_init": _INIT,
    "embed": (_I, [_H, _P(TextPair), _N, _P(EmbedOptions), _P(c_float), _N, _EACH]),
    "quantize_options_init": _INIT,
    "quantize": (_I, [_S, _S, _P(QuantizeOptions), _P(QuantizeReport)]),
    "pool_set_threads": (_I, [_I]),
    "pool_start": (_I, []),
    "pool_shutdown": (_I, []),
    # bertqa_experimental.h
    "train_options_init": _INIT,
    "trainer_create": (_I, [_P(TrainOptions), _OUT]),
    "trainer_free": (None, [_H]),
    "trainer_set_group": (_I, [_H, _S, _N]),
    "trainer_add": (_I, [_H, _S, _N, _S, _N, _P(CallOptions)]),
    "trainer_finish": (_I, [_H, _S, _P(CallOptions), _OUT]),
    "training_report_free": (None, [_H]),
    "training_report_summary": (_P(TrainingSummary), [_H]),
    "training_report_label_count": (_N, [_H]),
    "training_report_label_get": (_P(TrainingLabel), [_H, _N]),
    "training_report_confusion": (_N, [_H, _N, _N]),
    "labeler_options_init": _INIT,
    "labeler_create": (_I, [_H, _P(Example), _N, _P(LabelerOptions), _OUT]),
    "labeler_free": (None, [_H]),
    "labeler_label_count": (_N, [_H]),
    "labeler_label_get": (c_void_p, [_H, _N, _P(_N)]),
    "labeler_classify": (_I, [_H, _P(TextPair), _N, _P(CallOptions), _OUT, _EACH]),
    "word_counts_options_init": _INIT,
    "word_counts": (_I, [_S, _N, _P(WordCountsOptions), _OUT]),
    "word_count_list_free": (None, [_H]),
    "word_count_list_count": (_N, [_H]),
    "word_count_list_get": (_P(WordCount), [_H, _N]),
    "context_sequence_info": (_P(SequenceInfo), [_H]),
    "sequence_state_clone": (c_void_p, [_H]),
    "sequence_state_free": (None, [_H]),
    "sequence_state_export": (_I, [_H, _P(c_float), _N]),
    "sequence_state_import": (_I, [_H, _P(c_float), _N, _OUT]),
    "sequence_state_serialize": (_I, [_H, c_void_p, _N, _P(_N)]),
    "sequence_state_deserialize": (_I, [_H, _S, _N, _OUT]),
    "sequence_options_init": _INIT,
    "sequence_predict": (_I, [_H, _S, _N, _H, _P(SequenceOptions), _OUT, _OUT]),
    "sequence_predict_text": (_I, [_H, _S, _N, _H, _P(SequenceOptions), _OUT, _OUT]),
    "prediction_free": (None, [_H]),
    "prediction_count": (_N, [_H]),
    "prediction_get": (_P(Word), [_H, _N]),
    "prediction_is_unknown": (_I, [_H]),
    "prediction_probabilities": (c_void_p, [_H]),
    "sequence_step": (_I, [_H, _P(_I), _OUT, _N, _P(SequenceOptions), _OUT, _P(c_float), _N]),
    "generate_options_init": _INIT,
    "sequence_generate": (_I, [_H, _S, _N, _H, _P(GenerateOptions), _OUT]),
    "generation_free": (None, [_H]),
    "generation_count": (_N, [_H]),
    "generation_get": (_P(Word), [_H, _N]),
    "generation_text": (c_void_p, [_H, _P(_N)]),
    "generation_stop": (_I, [_H]),
    "generation_unknown_count": (_N, [_H]),
    "generation_state": (c_void_p, [_H]),
    "sequence_likelihood": (_I, [_H, _S, _N, _H, _P(SequenceOptions), _P(SequenceScore)]),
    "sequence_rank": (
        _I,
        [_H, _S, _N, _P(Text), _N, _H, _P(SequenceOptions), _P(_N), _P(c_double), _P(_N)],
    ),
    "answer_arrow": (_I, [_H, Column, Column, _P(AnswerOptions), c_void_p, c_void_p]),
    "patterns_options_init": _INIT,
    "patterns": (_I, [_S, _N, _P(PatternsOptions), _OUT]),
    "redact": (_I, [_S, _N, _OUT, _N, _S, _N, _P(CallOptions), c_void_p, _N, _P(_N)]),
    "entities_arrow": (_I, [_H, Column, _P(EntitiesOptions), c_void_p, c_void_p]),
    "classify_arrow": (_I, [_H, Column, _P(ClassifyOptions), c_void_p, c_void_p]),
}

# ---- The callback functions: Python's own C code, see _call.py

#: progress(user, stage, fraction): user[stage] = fraction.
ON_PROGRESS = PROGRESS(operator.setitem)
#: log(user, message): user.append(message).
ON_LOG = LOG(list.append)
#: on_word(user, word): user.send(word), of a generator.
ON_WORD = WORD(GeneratorType.send)
