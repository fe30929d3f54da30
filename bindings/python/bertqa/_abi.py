"""The declarations of bertqa.h and bertqa_experimental.h for ctypes. Written by Scripts/abi.py.

Names omit the headers' prefix "bertqa_". A user pointer is a Python object. An opaque object, an output buffer, and a
text that comes with its length are addresses.
"""

from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char_p,
    c_double,
    c_float,
    c_int8,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
    py_object,
)
from typing import Any, Dict, List, Tuple

from ._abi_types import Options, Switch

# fmt: off

ABI_VERSION = 1

CANCEL = CFUNCTYPE(c_int32, py_object)

PROGRESS = CFUNCTYPE(None, py_object, c_char_p, c_double)

class CallOptions(Options):
    _fields_ = [
        ("struct_size", c_size_t), ("cancel", CANCEL), ("progress", PROGRESS), ("user", py_object), ("deadline_ns",
        c_uint64), ("max_bytes", c_uint64), ("max_document_tokens", c_uint64),
    ]

LOG = CFUNCTYPE(None, py_object, c_char_p)

class ContextOptions(Options):
    _fields_ = [
        ("struct_size", c_size_t), ("call", POINTER(CallOptions)), ("log", LOG), ("log_user", py_object), ("threads",
        c_int32), ("precision", c_int32), ("isa", c_int32), ("tokenizer_only", Switch), ("default_model", c_int32),
        ("load", c_int32),
    ]

class File(Structure):
    _fields_ = [
        ("name", c_char_p), ("data", c_char_p), ("size", c_size_t),
    ]

class ModelInfo(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("directory", c_char_p), ("architecture", c_char_p), ("vocabulary_size", c_size_t),
        ("label_count", c_size_t), ("embedding_length", c_size_t), ("hidden_size", c_size_t), ("num_hidden_layers",
        c_size_t), ("num_attention_heads", c_size_t), ("intermediate_size", c_size_t), ("max_position_embeddings",
        c_size_t), ("task", c_int32), ("precision", c_int32), ("isa", c_int32), ("threads", c_int32), ("is_lowercase",
        c_int32), ("no_answer_threshold", c_float), ("prompt_count", c_size_t),
    ]

class Range(Structure):
    _fields_ = [
        ("start", c_size_t), ("end", c_size_t),
    ]

class TokenizeOptions(Options):
    _fields_ = [
        ("struct_size", c_size_t), ("call", POINTER(CallOptions)), ("parse_special_tokens", Switch), ("reserved",
        c_int32),
    ]

class AnswerOptions(Options):
    _fields_ = [
        ("struct_size", c_size_t), ("call", POINTER(CallOptions)), ("top_k", c_int32), ("max_seq_len", c_int32),
        ("doc_stride", c_int32), ("max_answer_len", c_int32), ("max_question_len", c_int32), ("n_best_size", c_int32),
        ("max_windows", c_int32), ("handle_impossible_answer", Switch), ("align_to_words", Switch),
        ("use_no_answer_threshold", Switch), ("no_answer_threshold", c_float), ("partial", Switch),
    ]

class AnswerSpan(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("bytes", Range), ("code_points", Range), ("utf16", Range), ("sentence", Range),
        ("score", c_float), ("start_logit", c_float), ("end_logit", c_float), ("probability", c_float), ("gap",
        c_float), ("document_index", c_int32),
    ]

class AnswerSummary(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("is_impossible", c_int32), ("is_question_truncated", c_int32),
        ("is_question_empty", c_int32), ("is_document_empty", c_int32), ("null_score", c_float), ("gap", c_float),
        ("no_answer_probability", c_float), ("no_answer_threshold", c_float), ("window_count", c_size_t),
        ("skipped_window_count", c_size_t), ("stop", c_int32), ("reserved", c_int32),
    ]

class AnswerPair(Structure):
    _fields_ = [
        ("question", c_char_p), ("question_length", c_size_t), ("document", c_char_p), ("document_length", c_size_t),
    ]

class DocumentOptions(Options):
    _fields_ = [
        ("struct_size", c_size_t), ("call", POINTER(CallOptions)),
    ]

class Text(Structure):
    _fields_ = [
        ("text", c_char_p), ("length", c_size_t),
    ]

class LogitsOptions(Options):
    _fields_ = [
        ("struct_size", c_size_t), ("call", POINTER(CallOptions)),
    ]

class ClassifyOptions(Options):
    _fields_ = [
        ("struct_size", c_size_t), ("call", POINTER(CallOptions)), ("labels", POINTER(Text)), ("label_count",
        c_size_t), ("hypothesis_template", POINTER(Text)), ("contributions", c_int32), ("max_seq_len", c_int32),
        ("doc_stride", c_int32), ("window_pooling", c_int32), ("min_probability", c_float), ("multi_label", Switch),
    ]

class TextPair(Structure):
    _fields_ = [
        ("text", c_char_p), ("length", c_size_t), ("second", c_char_p), ("second_length", c_size_t),
    ]

class LabelScore(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("label", c_void_p), ("label_length", c_size_t), ("id", c_int32), ("probability",
        c_float), ("logit", c_float), ("reserved", c_int32),
    ]

class Contribution(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("bytes", Range), ("code_points", Range), ("utf16", Range), ("weight", c_float),
        ("reserved", c_int32),
    ]

class ClassifySummary(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("problem_type", c_int32), ("is_too_short", c_int32), ("distinct_word_count",
        c_size_t), ("window_count", c_size_t), ("is_none", c_int32), ("reserved", c_int32),
    ]

class EntitiesOptions(Options):
    _fields_ = [
        ("struct_size", c_size_t), ("call", POINTER(CallOptions)), ("labels", POINTER(Text)), ("label_count",
        c_size_t), ("thresholds", POINTER(c_float)), ("ignore_labels", POINTER(Text)), ("ignore_label_count",
        c_size_t), ("aggregation", c_int32), ("threshold", c_float), ("max_seq_len", c_int32), ("doc_stride",
        c_int32), ("nested", Switch), ("reserved", c_int32),
    ]

class Entity(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("label", c_void_p), ("label_length", c_size_t), ("bytes", Range), ("code_points",
        Range), ("utf16", Range), ("score", c_float), ("reserved", c_int32), ("rule", c_char_p), ("checksum",
        c_char_p), ("context", Range),
    ]

class EntitiesSummary(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("window_count", c_size_t),
    ]

class EmbedOptions(Options):
    _fields_ = [
        ("struct_size", c_size_t), ("call", POINTER(CallOptions)), ("prompt_name", POINTER(Text)), ("prompt",
        POINTER(Text)), ("pooling", c_int32), ("normalize", Switch), ("max_seq_len", c_int32), ("truncate", Switch),
    ]

class QuantizeOptions(Options):
    _fields_ = [
        ("struct_size", c_size_t), ("call", POINTER(CallOptions)), ("use_no_answer_threshold", Switch),
        ("no_answer_threshold", c_float),
    ]

class QuantizeReport(Options):
    _fields_ = [
        ("struct_size", c_size_t), ("tensor_count", c_size_t), ("quantized_count", c_size_t), ("bytes_read",
        c_size_t), ("bytes_written", c_size_t), ("rms_weight", c_double), ("rms_error", c_double),
        ("rms_error_of_largest", c_double),
    ]

class TrainOptions(Options):
    _fields_ = [
        ("struct_size", c_size_t), ("embedding_model", c_char_p), ("max_document_fraction", c_double), ("c",
        c_double), ("alpha", c_double), ("tolerance", c_double), ("seed", c_uint64), ("algorithm", c_int32),
        ("min_word_length", c_int32), ("min_distinct_words", c_int32), ("max_ngram", c_int32), ("tf_idf", Switch),
        ("min_document_count", c_int32), ("max_vocabulary", c_int32), ("max_iterations", c_int32), ("folds", c_int32),
        ("threads", c_int32), ("calibrate", Switch), ("features", c_int32),
    ]

class TrainingSummary(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("text_count", c_size_t), ("vocabulary_size", c_size_t), ("loss", c_double),
        ("accuracy", c_double), ("macro_f1", c_double), ("calibration_error", c_double), ("iterations", c_int32),
        ("is_converged", c_int32), ("other_accuracy", c_double), ("other_macro_f1", c_double), ("features", c_int32),
        ("reserved", c_int32),
    ]

class TrainingLabel(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("label", c_void_p), ("label_length", c_size_t), ("text_count", c_size_t),
        ("precision", c_double), ("recall", c_double), ("f1", c_double),
    ]

class Example(Structure):
    _fields_ = [
        ("text", c_char_p), ("length", c_size_t), ("label", c_char_p), ("label_length", c_size_t),
    ]

class LabelerOptions(Options):
    _fields_ = [
        ("struct_size", c_size_t), ("call", POINTER(CallOptions)), ("embed", POINTER(EmbedOptions)), ("scale",
        c_float), ("reserved", c_int32),
    ]

class WordCountsOptions(Options):
    _fields_ = [
        ("struct_size", c_size_t), ("call", POINTER(CallOptions)), ("min_word_length", c_int32), ("max_ngram",
        c_int32),
    ]

class WordCount(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("text", c_void_p), ("length", c_size_t), ("count", c_size_t),
    ]

class SequenceInfo(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("state_length", c_size_t), ("separator", c_char_p), ("end", c_char_p), ("end_id",
        c_int32), ("unknown_id", c_int32),
    ]

class SequenceOptions(Options):
    _fields_ = [
        ("struct_size", c_size_t), ("call", POINTER(CallOptions)), ("top_k", c_int32), ("include_end", Switch),
    ]

class Word(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("text", c_void_p), ("length", c_size_t), ("id", c_int32), ("probability",
        c_float), ("log_probability", c_float), ("reserved", c_int32),
    ]

WORD = CFUNCTYPE(c_int32, py_object, POINTER(Word))

class GenerateOptions(Options):
    _fields_ = [
        ("struct_size", c_size_t), ("call", POINTER(CallOptions)), ("on_word", WORD), ("on_word_user", py_object),
        ("seed", c_uint64), ("max_words", c_int32), ("temperature", c_float), ("top_k", c_int32), ("top_p", c_float),
    ]

class SequenceScore(Options):
    _fields_ = [
        ("struct_size", c_size_t), ("word_count", c_size_t), ("unknown_count", c_size_t), ("log_likelihood",
        c_double), ("perplexity", c_double),
    ]

class PatternsOptions(Options):
    _fields_ = [
        ("struct_size", c_size_t), ("call", POINTER(CallOptions)), ("regions", POINTER(Text)), ("region_count",
        c_size_t), ("patterns", c_int32), ("reserved", c_int32),
    ]

class LabelledRange(Structure):
    _fields_ = [
        ("bytes", Range), ("label", c_char_p), ("label_length", c_size_t), ("score", c_float), ("reserved", c_int32),
    ]

class Pseudonym(Structure):
    _fields_ = [
        ("name", Text), ("value", Text),
    ]

class RedactOptions(Options):
    _fields_ = [
        ("struct_size", c_size_t), ("call", POINTER(CallOptions)), ("text", c_char_p), ("text_length", c_size_t),
        ("key", c_char_p), ("key_length", c_size_t), ("pseudonyms", c_void_p), ("replacement", c_int32), ("keep",
        c_int32),
    ]

class Column(Structure):
    _fields_ = [
        ("array", c_void_p), ("schema", c_void_p),
    ]

#: By the headers' names. Arrow's two structs are in _arrow.py.
STRUCTS: Dict[str, Any] = {
    "call_options": CallOptions, "context_options": ContextOptions, "file": File, "model_info": ModelInfo, "range":
    Range, "tokenize_options": TokenizeOptions, "answer_options": AnswerOptions, "answer_span": AnswerSpan,
    "answer_summary": AnswerSummary, "answer_pair": AnswerPair, "document_options": DocumentOptions, "text": Text,
    "logits_options": LogitsOptions, "classify_options": ClassifyOptions, "text_pair": TextPair, "label_score":
    LabelScore, "contribution": Contribution, "classify_summary": ClassifySummary, "entities_options":
    EntitiesOptions, "entity": Entity, "entities_summary": EntitiesSummary, "embed_options": EmbedOptions,
    "quantize_options": QuantizeOptions, "quantize_report": QuantizeReport, "train_options": TrainOptions,
    "training_summary": TrainingSummary, "training_label": TrainingLabel, "example": Example, "labeler_options":
    LabelerOptions, "word_counts_options": WordCountsOptions, "word_count": WordCount, "sequence_info": SequenceInfo,
    "sequence_options": SequenceOptions, "word": Word, "generate_options": GenerateOptions, "sequence_score":
    SequenceScore, "patterns_options": PatternsOptions, "labelled_range": LabelledRange, "pseudonym": Pseudonym,
    "redact_options": RedactOptions, "column": Column,
}

#: Name: (result, parameters).
FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {
    "abi_version": (c_uint32, []),
    "version": (c_char_p, []),
    "status_name": (c_char_p, [c_int32]),
    "last_error": (c_char_p, []),
    "last_error_item": (c_size_t, []),
    "last_error_argument": (c_char_p, []),
    "call_options_init": (None, [c_void_p, c_size_t]),
    "deadline_after": (c_uint64, [c_uint64]),
    "precision_name": (c_char_p, [c_int32]),
    "isa_name": (c_char_p, [c_int32]),
    "task_name": (c_char_p, [c_int32]),
    "context_options_init": (None, [c_void_p, c_size_t]),
    "context_create": (c_int32, [c_char_p, POINTER(ContextOptions), POINTER(c_void_p)]),
    "context_create_from_files": (c_int32, [POINTER(File), c_size_t, POINTER(ContextOptions), POINTER(c_void_p)]),
    "context_create_at": (c_int32, [c_int32, c_char_p, POINTER(ContextOptions), POINTER(c_void_p)]),
    "context_free": (None, [c_void_p]),
    "context_info": (POINTER(ModelInfo), [c_void_p]),
    "context_label_get": (c_void_p, [c_void_p, c_int32, POINTER(c_size_t)]),
    "context_prompt_name_get": (c_void_p, [c_void_p, c_size_t, POINTER(c_size_t)]),
    "context_prompt_get": (c_void_p, [c_void_p, c_size_t, POINTER(c_size_t)]),
    "context_vocabulary_piece": (c_void_p, [c_void_p, c_int32, POINTER(c_size_t)]),
    "context_vocabulary_id": (c_int32, [c_void_p, c_char_p, c_size_t]),
    "tokenize_options_init": (None, [c_void_p, c_size_t]),
    "tokenize": (c_int32, [c_void_p, c_char_p, c_size_t, POINTER(TokenizeOptions), POINTER(c_void_p)]),
    "tokens_free": (None, [c_void_p]),
    "tokens_count": (c_size_t, [c_void_p]),
    "tokens_ids": (POINTER(c_int32), [c_void_p]),
    "tokens_ranges": (POINTER(Range), [c_void_p]),
    "answer_options_init": (None, [c_void_p, c_size_t]),
    "answer": (c_int32, [c_void_p, c_char_p, c_size_t, c_char_p, c_size_t, POINTER(AnswerOptions),
        POINTER(c_void_p)]),
    "answer_batch": (c_int32, [c_void_p, POINTER(AnswerPair), c_size_t, POINTER(AnswerOptions), POINTER(c_void_p),
        POINTER(c_int32)]),
    "document_options_init": (None, [c_void_p, c_size_t]),
    "document_create": (c_int32, [c_void_p, c_char_p, c_size_t, POINTER(DocumentOptions), POINTER(c_void_p)]),
    "document_free": (None, [c_void_p]),
    "document_answer": (c_int32, [c_void_p, c_void_p, c_char_p, c_size_t, POINTER(AnswerOptions), POINTER(c_void_p)]),
    "answer_documents": (c_int32, [c_void_p, c_char_p, c_size_t, POINTER(Text), c_size_t, POINTER(AnswerOptions),
        POINTER(c_void_p)]),
    "documents_answer": (c_int32, [c_void_p, POINTER(c_void_p), c_size_t, c_char_p, c_size_t, POINTER(AnswerOptions),
        POINTER(c_void_p)]),
    "document_answer_batch": (c_int32, [c_void_p, c_void_p, POINTER(Text), c_size_t, POINTER(AnswerOptions),
        POINTER(c_void_p), POINTER(c_int32)]),
    "answers_free": (None, [c_void_p]),
    "answers_count": (c_size_t, [c_void_p]),
    "answers_get": (POINTER(AnswerSpan), [c_void_p, c_size_t]),
    "answers_summary": (POINTER(AnswerSummary), [c_void_p]),
    "logits_options_init": (None, [c_void_p, c_size_t]),
    "logits": (c_int32, [c_void_p, POINTER(c_int32), c_size_t, POINTER(c_size_t), POINTER(c_size_t), c_size_t,
        POINTER(LogitsOptions), POINTER(c_float), POINTER(c_float)]),
    "classify_options_init": (None, [c_void_p, c_size_t]),
    "classify": (c_int32, [c_void_p, c_char_p, c_size_t, POINTER(ClassifyOptions), POINTER(c_void_p)]),
    "classify_batch": (c_int32, [c_void_p, POINTER(TextPair), c_size_t, POINTER(ClassifyOptions), POINTER(c_void_p),
        POINTER(c_int32)]),
    "classification_free": (None, [c_void_p]),
    "classification_count": (c_size_t, [c_void_p]),
    "classification_get": (POINTER(LabelScore), [c_void_p, c_size_t]),
    "classification_contribution_count": (c_size_t, [c_void_p]),
    "classification_contribution_get": (POINTER(Contribution), [c_void_p, c_size_t]),
    "classification_summary": (POINTER(ClassifySummary), [c_void_p]),
    "entities_options_init": (None, [c_void_p, c_size_t]),
    "entities": (c_int32, [c_void_p, c_char_p, c_size_t, POINTER(EntitiesOptions), POINTER(c_void_p)]),
    "entities_batch": (c_int32, [c_void_p, POINTER(Text), c_size_t, POINTER(EntitiesOptions), POINTER(c_void_p),
        POINTER(c_int32)]),
    "entity_list_free": (None, [c_void_p]),
    "entity_list_count": (c_size_t, [c_void_p]),
    "entity_list_get": (POINTER(Entity), [c_void_p, c_size_t]),
    "entity_list_summary": (POINTER(EntitiesSummary), [c_void_p]),
    "embed_options_init": (None, [c_void_p, c_size_t]),
    "embed": (c_int32, [c_void_p, POINTER(TextPair), c_size_t, POINTER(EmbedOptions), POINTER(c_float), c_size_t,
        POINTER(c_int32)]),
    "quantize_options_init": (None, [c_void_p, c_size_t]),
    "quantize": (c_int32, [c_char_p, c_char_p, POINTER(QuantizeOptions), POINTER(QuantizeReport)]),
    "pool_set_threads": (c_int32, [c_int32]),
    "pool_start": (c_int32, []),
    "pool_shutdown": (c_int32, []),
    "train_options_init": (None, [c_void_p, c_size_t]),
    "trainer_create": (c_int32, [POINTER(TrainOptions), POINTER(c_void_p)]),
    "trainer_free": (None, [c_void_p]),
    "trainer_add": (c_int32, [c_void_p, c_char_p, c_size_t, c_char_p, c_size_t, POINTER(CallOptions)]),
    "trainer_set_group": (c_int32, [c_void_p, c_char_p, c_size_t]),
    "trainer_finish": (c_int32, [c_void_p, c_char_p, POINTER(CallOptions), POINTER(c_void_p)]),
    "training_report_free": (None, [c_void_p]),
    "training_report_summary": (POINTER(TrainingSummary), [c_void_p]),
    "training_report_label_count": (c_size_t, [c_void_p]),
    "training_report_label_get": (POINTER(TrainingLabel), [c_void_p, c_size_t]),
    "training_report_confusion": (c_size_t, [c_void_p, c_size_t, c_size_t]),
    "labeler_options_init": (None, [c_void_p, c_size_t]),
    "labeler_create": (c_int32, [c_void_p, POINTER(Example), c_size_t, POINTER(LabelerOptions), POINTER(c_void_p)]),
    "labeler_free": (None, [c_void_p]),
    "labeler_label_count": (c_size_t, [c_void_p]),
    "labeler_label_get": (c_void_p, [c_void_p, c_size_t, POINTER(c_size_t)]),
    "labeler_classify": (c_int32, [c_void_p, POINTER(TextPair), c_size_t, POINTER(CallOptions), POINTER(c_void_p),
        POINTER(c_int32)]),
    "embed_tokens": (c_int32, [c_void_p, POINTER(TextPair), c_size_t, POINTER(EmbedOptions), POINTER(c_void_p),
        POINTER(c_int32)]),
    "token_vectors_free": (None, [c_void_p]),
    "token_vectors_count": (c_size_t, [c_void_p]),
    "token_vectors_width": (c_size_t, [c_void_p]),
    "token_vectors_ids": (POINTER(c_int32), [c_void_p]),
    "token_vectors_values": (POINTER(c_float), [c_void_p]),
    "max_sim": (c_int32, [POINTER(c_float), c_size_t, POINTER(c_float), c_size_t, c_size_t, POINTER(c_float)]),
    "word_counts_options_init": (None, [c_void_p, c_size_t]),
    "word_counts": (c_int32, [c_char_p, c_size_t, POINTER(WordCountsOptions), POINTER(c_void_p)]),
    "word_count_list_free": (None, [c_void_p]),
    "word_count_list_count": (c_size_t, [c_void_p]),
    "word_count_list_get": (POINTER(WordCount), [c_void_p, c_size_t]),
    "context_sequence_info": (POINTER(SequenceInfo), [c_void_p]),
    "sequence_state_clone": (c_void_p, [c_void_p]),
    "sequence_state_free": (None, [c_void_p]),
    "sequence_state_export": (c_int32, [c_void_p, POINTER(c_float), c_size_t]),
    "sequence_state_import": (c_int32, [c_void_p, POINTER(c_float), c_size_t, POINTER(c_void_p)]),
    "sequence_state_serialize": (c_int32, [c_void_p, c_void_p, c_size_t, POINTER(c_size_t)]),
    "sequence_state_deserialize": (c_int32, [c_void_p, c_char_p, c_size_t, POINTER(c_void_p)]),
    "sequence_options_init": (None, [c_void_p, c_size_t]),
    "sequence_predict": (c_int32, [c_void_p, c_char_p, c_size_t, c_void_p, POINTER(SequenceOptions),
        POINTER(c_void_p), POINTER(c_void_p)]),
    "sequence_predict_text": (c_int32, [c_void_p, c_char_p, c_size_t, c_void_p, POINTER(SequenceOptions),
        POINTER(c_void_p), POINTER(c_void_p)]),
    "prediction_free": (None, [c_void_p]),
    "prediction_count": (c_size_t, [c_void_p]),
    "prediction_get": (POINTER(Word), [c_void_p, c_size_t]),
    "prediction_is_unknown": (c_int32, [c_void_p]),
    "prediction_probabilities": (POINTER(c_float), [c_void_p]),
    "sequence_step": (c_int32, [c_void_p, POINTER(c_int32), POINTER(c_void_p), c_size_t, POINTER(SequenceOptions),
        POINTER(c_void_p), POINTER(c_float), c_size_t]),
    "generate_options_init": (None, [c_void_p, c_size_t]),
    "sequence_generate": (c_int32, [c_void_p, c_char_p, c_size_t, c_void_p, POINTER(GenerateOptions),
        POINTER(c_void_p)]),
    "generation_free": (None, [c_void_p]),
    "generation_count": (c_size_t, [c_void_p]),
    "generation_get": (POINTER(Word), [c_void_p, c_size_t]),
    "generation_text": (c_void_p, [c_void_p, POINTER(c_size_t)]),
    "generation_stop": (c_int32, [c_void_p]),
    "generation_unknown_count": (c_size_t, [c_void_p]),
    "generation_state": (c_void_p, [c_void_p]),
    "sequence_likelihood": (c_int32, [c_void_p, c_char_p, c_size_t, c_void_p, POINTER(SequenceOptions),
        POINTER(SequenceScore)]),
    "sequence_rank": (c_int32, [c_void_p, c_char_p, c_size_t, POINTER(Text), c_size_t, c_void_p,
        POINTER(SequenceOptions), POINTER(c_size_t), POINTER(c_double), POINTER(c_size_t)]),
    "collection_sql": (c_char_p, [c_int32]),
    "passages_create": (c_int32, [c_void_p, c_char_p, c_size_t, POINTER(CallOptions), POINTER(c_void_p)]),
    "passages_free": (None, [c_void_p]),
    "passages_count": (c_size_t, [c_void_p]),
    "passages_ranges": (POINTER(Range), [c_void_p]),
    "vectors_quantize": (c_int32, [POINTER(c_float), c_size_t, c_size_t, POINTER(c_int8), POINTER(c_float)]),
    "vectors_fingerprint": (c_int32, [c_void_p, POINTER(CallOptions), c_void_p, c_size_t, POINTER(c_size_t)]),
    "search_create": (c_int32, [c_void_p, c_char_p, c_size_t, c_char_p, c_size_t, POINTER(CallOptions),
        POINTER(c_void_p)]),
    "search_free": (None, [c_void_p]),
    "search_query": (c_char_p, [c_void_p]),
    "search_allow": (c_int32, [c_void_p, c_int64, c_int64]),
    "search_set_words": (c_int32, [c_void_p, POINTER(c_int64), POINTER(c_int32), POINTER(c_double), c_size_t]),
    "search_add_vectors": (c_int32, [c_void_p, c_int64, c_size_t, POINTER(c_int8), c_size_t, POINTER(c_float)]),
    "search_best": (c_size_t, [c_void_p, c_size_t, POINTER(c_int64), POINTER(c_double)]),
    "search_score": (c_double, [c_double, c_double]),
    "search_answer": (c_int32, [c_void_p, c_void_p, POINTER(Text), c_size_t, POINTER(AnswerOptions),
        POINTER(c_void_p)]),
    "patterns_options_init": (None, [c_void_p, c_size_t]),
    "patterns_named": (c_int32, [c_char_p, c_size_t, POINTER(c_int32)]),
    "patterns": (c_int32, [c_char_p, c_size_t, POINTER(PatternsOptions), POINTER(c_void_p)]),
    "checksum": (c_int32, [c_char_p, c_size_t, c_char_p, c_size_t, POINTER(c_int32)]),
    "entity_list_create": (c_int32, [c_char_p, c_size_t, POINTER(LabelledRange), c_size_t, POINTER(CallOptions),
        POINTER(c_void_p)]),
    "everywhere": (c_int32, [c_char_p, c_size_t, POINTER(c_void_p), c_size_t, POINTER(CallOptions),
        POINTER(c_void_p)]),
    "apply_lists": (c_int32, [c_char_p, c_size_t, POINTER(c_void_p), c_size_t, POINTER(Text), c_size_t, POINTER(Text),
        c_size_t, POINTER(CallOptions), POINTER(c_void_p)]),
    "pseudonyms_create": (c_int32, [POINTER(c_void_p)]),
    "pseudonyms_free": (None, [c_void_p]),
    "pseudonyms_count": (c_size_t, [c_void_p]),
    "pseudonyms_get": (POINTER(Pseudonym), [c_void_p, c_size_t]),
    "pseudonyms_add": (c_int32, [c_void_p, c_char_p, c_size_t, c_char_p, c_size_t]),
    "redact_options_init": (None, [c_void_p, c_size_t]),
    "redact": (c_int32, [c_char_p, c_size_t, POINTER(c_void_p), c_size_t, POINTER(RedactOptions), c_void_p, c_size_t,
        POINTER(c_size_t)]),
    "restore": (c_int32, [c_char_p, c_size_t, c_void_p, POINTER(CallOptions), c_void_p, c_size_t, POINTER(c_size_t)]),
    "answer_arrow": (c_int32, [c_void_p, Column, Column, POINTER(AnswerOptions), c_void_p, c_void_p]),
    "classify_arrow": (c_int32, [c_void_p, Column, POINTER(ClassifyOptions), c_void_p, c_void_p]),
    "entities_arrow": (c_int32, [c_void_p, Column, POINTER(EntitiesOptions), c_void_p, c_void_p]),
    "column_create": (c_int32, [c_char_p, c_char_p, c_int64, c_int64, POINTER(Text), c_size_t, c_void_p, c_void_p,
        c_size_t, c_void_p, c_void_p]),
}
