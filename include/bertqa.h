/*
 * libbertqa: extractive question answering and text classification that embed anywhere.
 *
 * This header is the manual. A whole program:
 *
 *     #include <bertqa.h>
 *     #include <stdio.h>
 *     #include <string.h>
 *
 *     int main(void) {
 *       const char *document = "The quick brown fox jumps over the lethargic dog.";
 *       const char *question = "Who jumped over the dog?";
 *       bertqa_context *context;
 *       bertqa_answers *answers;
 *       if (bertqa_context_create(NULL, NULL, &context) != BERTQA_OK ||
 *           bertqa_answer(context, question, strlen(question), document, strlen(document), NULL,
 *                         &answers) != BERTQA_OK) {
 *         fprintf(stderr, "%s\n", bertqa_last_error());
 *         return 1;
 *       }
 *       if (bertqa_answers_count(answers) > 0) {
 *         bertqa_range range = bertqa_answers_get(answers, 0)->bytes;
 *         printf("%.*s\n", (int)(range.end - range.start), document + range.start);
 *       }
 *       bertqa_answers_free(answers);
 *       bertqa_context_free(context);
 *       return 0;
 *     }
 *
 *     cc program.c $(pkg-config --cflags --libs bertqa)
 *
 * TEXT. Every text is a pointer and a length in bytes; no NUL is needed at its end and NUL bytes
 * inside are ordinary. The encoding is UTF-8; bytes that are not valid UTF-8 are read as U+FFFD and
 * nothing is rejected for them. A text may be NULL when its length is 0. The longest text is
 * BERTQA_MAX_TEXT_BYTES. Texts are read during the call only; a prepared document keeps a copy.
 *
 * RANGES. Results point into the caller's own text, as half-open ranges in three units: bytes, code
 * points (how Python indexes a str) and UTF-16 code units (Java, JavaScript, C#). The answer is
 * always document[bytes.start ..< bytes.end]; it is never re-joined from pieces.
 *
 * ERRORS. A function that can fail returns a bertqa_status. On failure its out-parameters are set to
 * NULL and bertqa_last_error() tells, for this thread, what was wrong, where, and what to do. The
 * library never prints, exits, aborts, installs a signal handler, or touches the locale or the
 * environment. A context is as good after a failed call as before.
 *
 * OWNERSHIP. What a *_create function or an out-parameter gives is the caller's, to be given back to
 * the matching *_free, in any order: results outlive the context they came from. *_free(NULL) does
 * nothing. Pointers returned by accessors belong to the object they were asked of and live as long.
 *
 * THREADS. A context is immutable: any number of threads may use one at once, and so they may a
 * prepared document or a result. Only freeing an object needs that nobody else is using it. After
 * fork() the child may go on using every object it inherited; the library restarts its threads there.
 * The library has one pool of threads per process, however many contexts there are.
 *
 * DETERMINISM. With one model, precision and instruction set, an answer has the same bits whatever
 * else was in the batch, however many threads ran, and whatever was asked before.
 *
 * STABILITY. The ABI is the SONAME (libbertqa.so.1). Within it functions are only added and structs
 * only grow at their end: each options struct starts with struct_size, and structs that the library
 * returns are returned by pointer. docs/abi.md has the whole promise.
 */
#ifndef BERTQA_H
#define BERTQA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define BERTQA_MUST_CHECK __attribute__((warn_unused_result))
#else
#define BERTQA_MUST_CHECK
#endif

/* ---- Version and status -------------------------------------------------------------------- */

#define BERTQA_VERSION_MAJOR 0
#define BERTQA_VERSION_MINOR 1
#define BERTQA_VERSION_PATCH 0
/* Changes only with the SONAME; apart from the package version. */
#define BERTQA_ABI_VERSION 1

/* The longest text and the longest batch, in bytes and in pairs. */
#define BERTQA_MAX_TEXT_BYTES 0x7fffffff
#define BERTQA_MAX_BATCH 0x7fffffff

/* Outcome of a call. Values are fixed for ever; new ones may be added. */
typedef int32_t bertqa_status;
enum {
  BERTQA_OK = 0,
  BERTQA_ERROR_INVALID_ARGUMENT = 1, /* an argument is outside what this header allows */
  BERTQA_ERROR_IO = 2,               /* a file or directory is missing or cannot be read */
  BERTQA_ERROR_INVALID_MODEL = 3,    /* a model file is truncated, hostile or contradicts itself */
  BERTQA_ERROR_UNSUPPORTED = 4,      /* a valid model or option that this version does not implement */
  BERTQA_ERROR_WRONG_MODEL = 5,      /* the context's model cannot do what was asked */
  BERTQA_ERROR_OUT_OF_MEMORY = 6,    /* memory or another system resource ran out */
  BERTQA_ERROR_CANCELLED = 7,        /* the cancellation hook asked to stop */
  BERTQA_ERROR_TOO_LARGE = 8,        /* a text or count above the limits stated here */
  BERTQA_ERROR_INTERNAL = 9          /* a defect of the library; please report the message */
};

/* BERTQA_ABI_VERSION and "MAJOR.MINOR.PATCH" of the library in use. Never fail. */
uint32_t bertqa_abi_version(void);
const char *bertqa_version(void);

/* The name of a status, such as "BERTQA_ERROR_IO"; "unknown status" for other numbers. Static. */
const char *bertqa_status_name(bertqa_status status);

/* What the last failed call on this thread had to say: one line of UTF-8, "" if none has failed.
 * Valid until this thread's next call of the library. Never NULL. */
const char *bertqa_last_error(void);

/* ---- Context: one loaded model --------------------------------------------------------------- */

typedef struct bertqa_context bertqa_context;

/* Number format of the arithmetic. docs/performance.md has the accuracy and speed of each. */
typedef int32_t bertqa_precision;
enum {
  /* The fastest whose accuracy contract holds: INT8 for a model stored in the int8 form, BF16 for
   * others where the instruction set multiplies bf16, else F32. */
  BERTQA_PRECISION_AUTO = 0,
  BERTQA_PRECISION_F32 = 1,  /* logits within 1e-4 of the reference implementation in fp32 */
  BERTQA_PRECISION_BF16 = 2, /* bf16 products, f32 sums; needs BERTQA_ISA_AVX512_VNNI_BF16 */
  BERTQA_PRECISION_INT8 = 3  /* int8 products, exact sums; scales per output channel and token */
};

/* Instruction set of the kernels. Asking for one that the CPU lacks is BERTQA_ERROR_UNSUPPORTED. */
typedef int32_t bertqa_isa;
enum {
  BERTQA_ISA_AUTO = 0,            /* the best this CPU has */
  BERTQA_ISA_PORTABLE = 1,        /* compiler vectors: SSE2 on x86-64, NEON on arm64 */
  BERTQA_ISA_AVX2 = 2,            /* AVX2, FMA, F16C */
  BERTQA_ISA_AVX512 = 3,          /* AVX-512 F, BW, DQ, VL */
  BERTQA_ISA_AVX512_VNNI = 4,     /* AVX-512 and VNNI */
  BERTQA_ISA_AVX512_VNNI_BF16 = 5 /* AVX-512, VNNI and BF16 */
};

/* Receives what the library would otherwise print: one line without a newline. Called on the thread
 * that calls the library, during that call. */
typedef void (*bertqa_log_function)(void *user, const char *message);

/* What a model is for. */
typedef int32_t bertqa_task;
enum {
  BERTQA_TASK_ANSWER = 1,   /* bertqa_answer and its like, bertqa_logits */
  BERTQA_TASK_CLASSIFY = 2, /* bertqa_classify */
  BERTQA_TASK_EMBED = 3,    /* bertqa_embed, bertqa_labeler_create */
  BERTQA_TASK_PREDICT = 4   /* bertqa_sequence_... */
};

typedef struct bertqa_context_options {
  size_t struct_size;
  /* Threads that one call may use, the calling one included; 0 = as many as the process may run on
   * (CPU affinity and cgroup quota). 1 keeps all work on the calling thread. At most 1024. */
  int32_t threads;
  bertqa_precision precision; /* default BERTQA_PRECISION_AUTO */
  bertqa_isa isa;             /* default BERTQA_ISA_AUTO */
  /* Not 0: load the vocabulary and tokenizer settings only. Such a context tokenizes and refuses
   * the rest with BERTQA_ERROR_WRONG_MODEL. model_directory may then also be a vocab.txt or
   * tokenizer.json itself. */
  int32_t tokenizer_only;
  bertqa_log_function log; /* default NULL: silent */
  void *log_user;          /* handed to log */
  /* With a NULL model_directory: which default model. BERTQA_TASK_ANSWER (default), _CLASSIFY or
   * _PREDICT; there is none for _EMBED. */
  bertqa_task default_model;
} bertqa_context_options;

/* Sets struct_size and every default. struct_size: sizeof(bertqa_context_options) as the caller was
 * compiled. A NULL options or a struct_size below sizeof(size_t) does nothing. */
void bertqa_context_options_init(bertqa_context_options *options, size_t struct_size);

/* Loads a model: a directory as Hugging Face's save_pretrained writes it (config.json, vocab.txt or
 * tokenizer.json, tokenizer_config.json, model.safetensors or its sharded index; F32, F16, BF16 or
 * this library's int8 form) or as this library writes it. config.json's "architectures" says what the
 * model is for:
 *   answer    BertForQuestionAnswering, DistilBertForQuestionAnswering
 *   classify  BertForSequenceClassification, DistilBertForSequenceClassification,
 *             WordCountClassifier (this library's own, see bertqa_trainer)
 *   embed     BertModel, DistilBertModel
 *   predict   LSTMLanguageModel, GRULanguageModel
 * docs/models.md describes each. A function that the model is not for gives
 * BERTQA_ERROR_WRONG_MODEL. The weights are memory-mapped: processes share their pages, and the files
 * must not be modified while in use (replacing them by rename is fine).
 *
 * model_directory: a NUL-terminated path in UTF-8, or NULL for a default model, looked for in
 * "bertqa/NAME" and "models/NAME" beside the library and in its install prefix's share directory; NAME
 * is qa-minilm-l6, topics-words or shakespeare-lstm by options->default_model. The first is at last
 * looked for at the path in the environment variable BERTQA_MODEL.
 * options: NULL for the defaults.
 * Errors: IO, INVALID_MODEL, UNSUPPORTED, INVALID_ARGUMENT, OUT_OF_MEMORY; the message names the
 * file, the tensor, what was found and what was expected. */
BERTQA_MUST_CHECK bertqa_status bertqa_context_create(const char *model_directory,
                                                      const bertqa_context_options *options,
                                                      bertqa_context **context);

void bertqa_context_free(bertqa_context *context);

/* What was loaded and how it runs. Grows at its end in later versions. Strings are UTF-8 with a NUL. */
typedef struct bertqa_model_info {
  size_t struct_size;
  const char *directory;      /* where the model came from */
  const char *architecture;   /* "BertForQuestionAnswering"; "" with tokenizer_only */
  bertqa_precision precision; /* in use, never AUTO; 0 for word-count models and tokenizers */
  bertqa_isa isa;             /* in use, never AUTO; 0 likewise */
  int32_t threads;            /* that one call may use */
  int32_t vocab_size;         /* pieces or words in the vocabulary */
  int32_t hidden_size;        /* the model's dimensions; 0 where it has no such thing */
  int32_t num_hidden_layers;
  int32_t num_attention_heads;
  int32_t intermediate_size;
  int32_t max_position_embeddings; /* the largest max_seq_len */
  int32_t lowercase;               /* not 0: the tokenizer lower-cases */
  float no_answer_threshold;       /* the model's own, see bertqa_answer_options */
  bertqa_task task;                /* 0 with tokenizer_only */
  int32_t num_labels;              /* of a classifier, see bertqa_context_label; else 0 */
  int32_t embedding_length;        /* floats of bertqa_embed; 0 for models of other tasks */
  int32_t state_length;            /* floats of a bertqa_sequence_state; 0 for models of other tasks */
} bertqa_model_info;

/* Lives as long as the context. NULL only for a NULL context. */
const bertqa_model_info *bertqa_context_info(const bertqa_context *context);

/* The name of a classifier's label, 0 <= id < num_labels, NUL-terminated; NULL for other ids. Lives as
 * long as the context. */
const char *bertqa_context_label(const bertqa_context *context, int32_t id);

/* ---- Tokenize -------------------------------------------------------------------------------- */

/* The WordPiece tokens of one text: exactly the ids and offsets of Hugging Face's BertTokenizerFast
 * (tokenizers 0.23.3), without [CLS] and [SEP]; see docs/models.md. */
typedef struct bertqa_tokens bertqa_tokens;

typedef struct bertqa_tokenize_options {
  size_t struct_size;
  /* Not 0: "[SEP]" and the other special tokens written in the text become those tokens, as Hugging
   * Face does. Default 0: they are ordinary text. */
  int32_t parse_special_tokens;
} bertqa_tokenize_options;

void bertqa_tokenize_options_init(bertqa_tokenize_options *options, size_t struct_size);

/* options: NULL for the defaults. Linear in length. Errors: INVALID_ARGUMENT, TOO_LARGE. */
BERTQA_MUST_CHECK bertqa_status bertqa_tokenize(const bertqa_context *context, const char *text,
                                                size_t length,
                                                const bertqa_tokenize_options *options,
                                                bertqa_tokens **tokens);

void bertqa_tokens_free(bertqa_tokens *tokens);

/* How many, and parallel arrays of that length: vocabulary ids, and the byte range of the text that
 * each token came from. A count of 0 has NULL arrays. */
size_t bertqa_tokens_count(const bertqa_tokens *tokens);
const int32_t *bertqa_tokens_ids(const bertqa_tokens *tokens);
const uint32_t *bertqa_tokens_starts(const bertqa_tokens *tokens);
const uint32_t *bertqa_tokens_ends(const bertqa_tokens *tokens);

/* The piece or word with this id ("##ing", "[UNK]"), as the vocabulary spells it, NUL-terminated; its
 * length in *length unless that is NULL. NULL for an id outside the vocabulary. Lives as long as the
 * context. */
const char *bertqa_vocabulary_piece(const bertqa_context *context, int32_t id, size_t *length);

/* The id of a piece, or -1 if the vocabulary has none. */
int32_t bertqa_vocabulary_id(const bertqa_context *context, const char *piece, size_t length);

/* ---- Answer ---------------------------------------------------------------------------------- */

/* Polled on the calling thread, many times a second; not 0 ends the call with
 * BERTQA_ERROR_CANCELLED. */
typedef int32_t (*bertqa_cancel_function)(void *user);

/* Names and meanings as in Hugging Face's question-answering pipeline. Lengths are in tokens. */
typedef struct bertqa_answer_options {
  size_t struct_size;
  int32_t top_k;            /* how many answers at most, 1...1000; default 1 */
  int32_t max_seq_len;      /* of one window: [CLS] question [SEP] part of document [SEP]; at least 8,
                             * default 384. A model with fewer max_position_embeddings lowers it to
                             * that, and doc_stride to a third of that. */
  int32_t doc_stride;       /* document tokens that two neighbouring windows share; default 128 */
  int32_t max_answer_len;   /* default 30 */
  int32_t max_question_len; /* a longer question is cut, and the summary says so; default 64 */
  /* 0 (default): the search is exact over all spans. n: only the n best starts x n best ends of each
   * window are considered, as BERT's run_squad does with 20. */
  int32_t n_best_size;
  /* 0 (default): the best spans are returned whatever their scores. Not 0: no span is returned where
   * the summary's is_impossible is set. */
  int32_t handle_impossible_answer;
  int32_t align_to_words; /* not 0 (default): an answer starts and ends at word boundaries */
  /* 0 (default): every window is read. n: the windows are ranked by BM25 of the question's tokens
   * and the model reads the best n only. */
  int32_t max_windows;
  /* The question counts as impossible when gap < this. NAN (default): the model's own. */
  float no_answer_threshold;
  bertqa_cancel_function cancel; /* default NULL */
  void *cancel_user;             /* handed to cancel */
} bertqa_answer_options;

void bertqa_answer_options_init(bertqa_answer_options *options, size_t struct_size);

/* Half open. */
typedef struct bertqa_range {
  size_t start;
  size_t end;
} bertqa_range;

/* One answer. Grows at its end in later versions. */
typedef struct bertqa_answer_span {
  size_t struct_size;
  bertqa_range bytes;       /* of the answer in the document, in three units */
  bertqa_range code_points;
  bertqa_range utf16;
  bertqa_range sentence; /* the sentence(s) around it, in bytes */
  float score;           /* start logit + end logit: one scale over all windows and documents */
  float start_logit;
  float end_logit;
  float probability; /* softmax over all the document's spans and the no-answer candidate, 0...1 */
  float gap;         /* score - the document's null score */
} bertqa_answer_span;

/* What is true of the question and document as a whole. Grows at its end in later versions. */
typedef struct bertqa_answer_summary {
  size_t struct_size;
  /* Not 0: the best span's gap is below the threshold, or there was nothing to search. Set whether
   * or not handle_impossible_answer was asked for. */
  int32_t is_impossible;
  int32_t question_truncated; /* not 0: the question was longer than max_question_len */
  int32_t empty_question;     /* not 0: no token in the question: nothing was searched */
  int32_t empty_document;     /* not 0: no token in the document: nothing was searched */
  float null_score;           /* the lowest over the windows of start + end logit at [CLS] */
  float best_gap;             /* best span's score - null_score */
  float no_answer_probability;
  float no_answer_threshold; /* that was applied */
  size_t window_count;       /* windows that the model read */
  size_t skipped_windows;    /* windows left out by max_windows */
} bertqa_answer_summary;

/* The answers to one question on one document, best first, no two overlapping. */
typedef struct bertqa_answers bertqa_answers;

/* Answers one question on one document of any length: longer ones are read in windows of
 * max_seq_len tokens and the best spans over all windows are returned. An empty question or document
 * is no error: it has no answer, and the summary says why.
 * options: NULL for the defaults. Time: linear in the document's length.
 * Errors: INVALID_ARGUMENT, WRONG_MODEL, TOO_LARGE, OUT_OF_MEMORY, CANCELLED. */
BERTQA_MUST_CHECK bertqa_status bertqa_answer(const bertqa_context *context, const char *question,
                                              size_t question_length, const char *document,
                                              size_t document_length,
                                              const bertqa_answer_options *options,
                                              bertqa_answers **answers);

/* A question and a document. Fixed for ever: an array of these is passed. */
typedef struct bertqa_pair {
  const char *question;
  size_t question_length;
  const char *document;
  size_t document_length;
} bertqa_pair;

/* Answers many pairs in one call: all their windows are one work list, spread over the threads.
 * answers: an array of `count` pointers, all set: on success answers[i] belongs to pairs[i] and is to
 * be freed; on failure all are NULL and the message names the pair. */
BERTQA_MUST_CHECK bertqa_status bertqa_answer_batch(const bertqa_context *context,
                                                    const bertqa_pair *pairs, size_t count,
                                                    const bertqa_answer_options *options,
                                                    bertqa_answers **answers);

/* A document that is tokenized once and asked many times, from any number of threads. It holds a
 * copy of the text. */
typedef struct bertqa_document bertqa_document;

BERTQA_MUST_CHECK bertqa_status bertqa_document_create(const bertqa_context *context,
                                                       const char *text, size_t length,
                                                       bertqa_document **document);

void bertqa_document_free(bertqa_document *document);

/* As bertqa_answer. The document must come from this context (or from one with the same vocabulary
 * files): otherwise INVALID_ARGUMENT. */
BERTQA_MUST_CHECK bertqa_status bertqa_document_answer(const bertqa_context *context,
                                                       const bertqa_document *document,
                                                       const char *question, size_t question_length,
                                                       const bertqa_answer_options *options,
                                                       bertqa_answers **answers);

void bertqa_answers_free(bertqa_answers *answers);

size_t bertqa_answers_count(const bertqa_answers *answers);

/* The answer of this rank, 0 = best; NULL beyond the count. */
const bertqa_answer_span *bertqa_answers_get(const bertqa_answers *answers, size_t index);

const bertqa_answer_summary *bertqa_answers_summary(const bertqa_answers *answers);

/* ---- Logits ---------------------------------------------------------------------------------- */

/* The model alone, for hosts that build their own windows and search: start and end logits of each
 * token. The windows' tokens stand end to end in ids, without padding.
 * ids: [id_count]; window_lengths: [window_count], in tokens, each 1...max_position_embeddings, their
 * sum = id_count; second_segments: [window_count], index within each window of its first token of
 * type 1 (its length: none), or NULL for none anywhere; start_logits, end_logits: [id_count].
 * Errors: INVALID_ARGUMENT, WRONG_MODEL, TOO_LARGE, OUT_OF_MEMORY. */
BERTQA_MUST_CHECK bertqa_status bertqa_logits(const bertqa_context *context, const int32_t *ids,
                                              size_t id_count, const size_t *window_lengths,
                                              const size_t *second_segments, size_t window_count,
                                              float *start_logits, float *end_logits);

/* ---- Classify -------------------------------------------------------------------------------- */

/* How the windows of a long text become one result. */
typedef int32_t bertqa_window_pooling;
enum {
  BERTQA_WINDOW_POOLING_MEAN = 0, /* mean of the windows' logits */
  BERTQA_WINDOW_POOLING_MAX = 1   /* for each label the largest */
};

typedef struct bertqa_classify_options {
  size_t struct_size;
  /* Word-count models: how many occurrences of words that weighed most to give, at most; default 0. */
  int32_t contributions;
  /* BERT models: tokens of one window, [CLS] and [SEP] included; at least 8. 0 (default): as many as
   * the model takes. A longer text is read in windows, never cut. */
  int32_t max_seq_len;
  int32_t doc_stride; /* tokens that two neighbouring windows share; default 128, lowered to a third of
                       * max_seq_len where that is less */
  bertqa_window_pooling window_pooling; /* default MEAN */
  bertqa_cancel_function cancel;        /* default NULL */
  void *cancel_user;                    /* handed to cancel */
} bertqa_classify_options;

void bertqa_classify_options_init(bertqa_classify_options *options, size_t struct_size);

/* A text, or two texts that a sentence-pair model compares. Fixed for ever: an array is passed. */
typedef struct bertqa_text {
  const char *text;
  size_t length;
  const char *second; /* NULL: none */
  size_t second_length;
} bertqa_text;

/* What a model's outputs mean; Hugging Face's problem_type. */
typedef int32_t bertqa_problem_type;
enum {
  BERTQA_PROBLEM_SINGLE_LABEL = 1, /* one label is right: probabilities are a softmax, they sum to 1 */
  BERTQA_PROBLEM_MULTI_LABEL = 2,  /* any number are right: each probability is the label's sigmoid */
  BERTQA_PROBLEM_REGRESSION = 3    /* the logits are the predicted numbers; also of a single label */
};

/* One label of the model. Grows at its end in later versions. */
typedef struct bertqa_label_score {
  size_t struct_size;
  const char *label; /* UTF-8 with a NUL; lives as long as the classification */
  int32_t id;        /* row of the model's output, as in bertqa_context_label */
  float probability; /* NAN for regression */
  float logit;
} bertqa_label_score;

/* One occurrence of a word, or of a pair of words, in the text. Grows at its end in later versions. */
typedef struct bertqa_contribution {
  size_t struct_size;
  bertqa_range bytes;
  bertqa_range code_points;
  bertqa_range utf16;
  float weight; /* added to the best label's logit, over the mean of all labels; < 0: against it */
} bertqa_contribution;

/* What is true of the text as a whole. Grows at its end in later versions. */
typedef struct bertqa_classify_summary {
  size_t struct_size;
  bertqa_problem_type problem_type;
  /* Not 0: fewer distinct words than the model asks for. There are no labels then: an outcome, not an
   * error. Word-count models only. */
  int32_t not_enough_text;
  size_t distinct_words; /* counted; 0 for BERT models */
  size_t window_count;   /* windows that a BERT model read; 0 for word-count models */
} bertqa_classify_summary;

/* All labels of one text, the most probable first; for regression in the order of their ids. */
typedef struct bertqa_classification bertqa_classification;

/* Classifies one text of any length. options: NULL for the defaults. Time: linear in the length.
 * Errors: INVALID_ARGUMENT, WRONG_MODEL, TOO_LARGE, OUT_OF_MEMORY, CANCELLED. */
BERTQA_MUST_CHECK bertqa_status bertqa_classify(const bertqa_context *context, const char *text,
                                                size_t length,
                                                const bertqa_classify_options *options,
                                                bertqa_classification **classification);

/* Classifies many texts, or pairs, in one call. classifications: an array of `count` pointers; on
 * success [i] belongs to texts[i], on failure all are NULL and the message names the text. Pairs are for
 * BERT models: for others INVALID_ARGUMENT. */
BERTQA_MUST_CHECK bertqa_status bertqa_classify_batch(const bertqa_context *context,
                                                      const bertqa_text *texts, size_t count,
                                                      const bertqa_classify_options *options,
                                                      bertqa_classification **classifications);

void bertqa_classification_free(bertqa_classification *classification);

/* How many labels: all of the model's, or 0 where there was not enough text. */
size_t bertqa_classification_count(const bertqa_classification *classification);

/* The label of this rank, 0 = most probable; NULL beyond the count. */
const bertqa_label_score *bertqa_classification_get(const bertqa_classification *classification,
                                                    size_t index);

/* What weighed most for and against the best label, by falling magnitude. */
size_t bertqa_classification_contributions_count(const bertqa_classification *classification);
const bertqa_contribution *bertqa_classification_contribution(
    const bertqa_classification *classification, size_t index);

const bertqa_classify_summary *bertqa_classification_summary(
    const bertqa_classification *classification);

/* ---- Train a word-count classifier ----------------------------------------------------------- */

typedef int32_t bertqa_algorithm;
enum {
  BERTQA_LOGISTIC_REGRESSION = 0, /* multinomial, L2, L-BFGS: scikit-learn's LogisticRegression */
  BERTQA_NAIVE_BAYES = 1          /* multinomial: scikit-learn's MultinomialNB */
};

/* Told now and then how far a long call is: what it does, and the part of that which is done, 0...1.
 * Not 0 ends the call with BERTQA_ERROR_CANCELLED. Called on the calling thread. */
typedef int32_t (*bertqa_progress_function)(void *user, const char *stage, double fraction);

typedef struct bertqa_train_options {
  size_t struct_size;
  bertqa_algorithm algorithm;    /* default LOGISTIC_REGRESSION */
  int32_t min_word_length;       /* in code points; default 3 */
  int32_t min_distinct_words;    /* fewer in a text: "not enough text"; default 3 */
  int32_t max_ngram;             /* 1: words (default); 2: and pairs of neighbouring words */
  int32_t tf_idf;                /* not 0: counts are weighted by TF-IDF and scaled to length 1 */
  int32_t min_document_count;    /* words in fewer texts are left out; default 1 */
  double max_document_fraction;  /* words in a larger part of the texts are left out; default 1 */
  int32_t max_vocabulary;        /* the most frequent words are kept; default 262144 */
  double c;                      /* logistic regression: inverse strength of L2; default 1 */
  double alpha;                  /* naive Bayes: additive smoothing; default 1 */
  int32_t max_iterations;        /* logistic regression: of L-BFGS; default 1000 */
  double tolerance;              /* its largest gradient component at the end; default 1e-4 */
  int32_t folds;                 /* of the cross-validation; 0: none; default 5 */
  int32_t threads;               /* as in bertqa_context_options */
  uint64_t seed;                 /* of the folds; the same data and seed give the same files */
  bertqa_progress_function progress; /* default NULL */
  void *progress_user;               /* handed to progress */
} bertqa_train_options;

void bertqa_train_options_init(bertqa_train_options *options, size_t struct_size);

/* Collects labelled texts and trains a classifier on them. A text is counted when it is added and not
 * kept, so millions of short texts fit in memory: about 8 bytes for each distinct word of each text. Not
 * thread-safe: one thread at a time. */
typedef struct bertqa_trainer bertqa_trainer;

BERTQA_MUST_CHECK bertqa_status bertqa_trainer_create(const bertqa_train_options *options,
                                                      bertqa_trainer **trainer);

void bertqa_trainer_free(bertqa_trainer *trainer);

/* A text without a word counts, too. Errors: INVALID_ARGUMENT (an empty label), TOO_LARGE,
 * OUT_OF_MEMORY. */
BERTQA_MUST_CHECK bertqa_status bertqa_trainer_add(bertqa_trainer *trainer, const char *text,
                                                   size_t length, const char *label,
                                                   size_t label_length);

/* How a training went. Cross-validated figures are NAN without folds. Grows at its end. */
typedef struct bertqa_training_report {
  size_t struct_size;
  size_t text_count;
  size_t vocabulary_size; /* features of the model */
  size_t label_count;
  const char *const *labels; /* [label_count], sorted by their bytes */
  const size_t *label_texts; /* [label_count], texts with each label */
  int32_t iterations;        /* of L-BFGS */
  int32_t converged;         /* not 0: within the tolerance */
  double loss;               /* of the final model: mean cross-entropy, with logistic regression + L2 */
  double accuracy;           /* of the cross-validation */
  double macro_f1;
  double calibration_error; /* expected calibration error (ECE), 15 bins */
  const size_t *confusion;  /* [true label][predicted label]; NULL without folds */
} bertqa_training_report;

/* Trains on all that was added and writes the model to a new directory, complete or not at all.
 * report: freed by bertqa_training_report_free; may be NULL.
 * Errors: INVALID_ARGUMENT (fewer than two labels, no words, folds above the texts), IO, CANCELLED,
 * OUT_OF_MEMORY. */
BERTQA_MUST_CHECK bertqa_status bertqa_trainer_finish(bertqa_trainer *trainer,
                                                      const char *model_directory,
                                                      const bertqa_training_report **report);

void bertqa_training_report_free(const bertqa_training_report *report);

/* ---- Embed ----------------------------------------------------------------------------------- */

/* How the last layer's token vectors become one. */
typedef int32_t bertqa_pooling;
enum {
  BERTQA_POOLING_MODEL = 0, /* what the model's sentence-transformers files say, else MEAN */
  BERTQA_POOLING_MEAN = 1,  /* mean over all tokens, [CLS] and [SEP] included */
  BERTQA_POOLING_CLS = 2    /* the vector of [CLS] */
};

typedef struct bertqa_embed_options {
  size_t struct_size;
  bertqa_pooling pooling; /* default MODEL */
  int32_t normalize;      /* 1: scaled to length 1; 0: not; -1 (default): as the model's files say */
  int32_t max_seq_len;    /* tokens of one window, at least 8; 0 (default): as the model's files say */
  /* 0 (default): a longer text is read in windows, whose vectors are averaged by their tokens (CLS: by
   * window). Not 0: it is cut, as sentence-transformers does. */
  int32_t truncate;
  bertqa_cancel_function cancel; /* default NULL */
  void *cancel_user;             /* handed to cancel */
} bertqa_embed_options;

void bertqa_embed_options_init(bertqa_embed_options *options, size_t struct_size);

/* Vectors of texts for search, clustering and comparison: equal to sentence-transformers' within 1e-4
 * in f32. embeddings: [count][bertqa_model_info.embedding_length]. A pair is [CLS] text [SEP] second
 * [SEP]. An empty text has a vector too, that of [CLS] [SEP].
 * Errors: INVALID_ARGUMENT, WRONG_MODEL, TOO_LARGE, OUT_OF_MEMORY, CANCELLED. */
BERTQA_MUST_CHECK bertqa_status bertqa_embed(const bertqa_context *context, const bertqa_text *texts,
                                             size_t count, const bertqa_embed_options *options,
                                             float *embeddings);

/* ---- Label by example ------------------------------------------------------------------------ */

/* Classifies by the nearest label in the space of an embedding model, without training. A label is
 * given by example texts (few-shot) or by a text that names it (zero-shot: "about sport"), and stands
 * for the mean of their vectors. Immutable, like a context. */
typedef struct bertqa_labeler bertqa_labeler;

/* One example of a label. Fixed for ever. */
typedef struct bertqa_example {
  const char *text;
  size_t length;
  const char *label;
  size_t label_length;
} bertqa_example;

typedef struct bertqa_labeler_options {
  size_t struct_size;
  float scale; /* logit = scale * cosine of the angle between text and label; default 20 */
  const bertqa_embed_options *embed; /* default NULL: the defaults; normalize is of no effect */
} bertqa_labeler_options;

void bertqa_labeler_options_init(bertqa_labeler_options *options, size_t struct_size);

/* The labeler keeps what it needs of the context, which may be freed first. Errors: as bertqa_embed. */
BERTQA_MUST_CHECK bertqa_status bertqa_labeler_create(const bertqa_context *context,
                                                      const bertqa_example *examples, size_t count,
                                                      const bertqa_labeler_options *options,
                                                      bertqa_labeler **labeler);

void bertqa_labeler_free(bertqa_labeler *labeler);

/* As bertqa_classify_batch; labels have ids in the order of their first examples. */
BERTQA_MUST_CHECK bertqa_status bertqa_labeler_classify(const bertqa_labeler *labeler,
                                                        const bertqa_text *texts, size_t count,
                                                        bertqa_classification **classifications);

/* ---- Predict along a sequence ---------------------------------------------------------------- */

/* What a recurrent model remembers of a sequence. Immutable: a step makes a new one, so a state may be
 * kept, branched from and used by any number of threads. As floats: for each layer h [hidden_size], and
 * with LSTM then for each layer c [hidden_size]; bertqa_model_info.state_length in all. */
typedef struct bertqa_sequence_state bertqa_sequence_state;

/* Copies share what is immutable; each is to be freed. NULL only for NULL. */
bertqa_sequence_state *bertqa_sequence_state_clone(const bertqa_sequence_state *state);
void bertqa_sequence_state_free(bertqa_sequence_state *state);

/* values: [length], and length must be state_length: otherwise INVALID_ARGUMENT. */
BERTQA_MUST_CHECK bertqa_status bertqa_sequence_state_export(const bertqa_sequence_state *state,
                                                             float *values, size_t length);
BERTQA_MUST_CHECK bertqa_status bertqa_sequence_state_import(const bertqa_context *context,
                                                             const float *values, size_t length,
                                                             bertqa_sequence_state **state);

/* The state as bytes that name its model, for another process or day. Writes at most `capacity` bytes;
 * *length is set to what is needed, and when that is above capacity nothing is written and the status is
 * INVALID_ARGUMENT. */
BERTQA_MUST_CHECK bertqa_status bertqa_sequence_state_serialize(const bertqa_sequence_state *state,
                                                                void *bytes, size_t capacity,
                                                                size_t *length);

/* Errors: INVALID_ARGUMENT for bytes that are no state, WRONG_MODEL for another model's. */
BERTQA_MUST_CHECK bertqa_status bertqa_sequence_state_deserialize(const bertqa_context *context,
                                                                  const void *bytes, size_t length,
                                                                  bertqa_sequence_state **state);

/* One word that may come next. Grows at its end in later versions. */
typedef struct bertqa_word {
  size_t struct_size;
  const char *text; /* UTF-8 with a NUL; lives as long as what it was asked of */
  size_t length;
  int32_t id;             /* in the vocabulary; see bertqa_vocabulary_piece */
  float probability;      /* 0...1 */
  float log_probability;  /* natural logarithm */
} bertqa_word;

/* The words that may come next, the most probable first. */
typedef struct bertqa_prediction bertqa_prediction;

/* One step: reads a word (a character, for models of characters) in a state and predicts the next.
 * state: NULL starts a sequence. top_k: how many words to give, at least 1; beyond the vocabulary: all.
 * prediction, next_state: each may be NULL if it is not wanted.
 * The same word and state always give the same bits.
 * Errors: INVALID_ARGUMENT, WRONG_MODEL (also for another model's state), OUT_OF_MEMORY. */
BERTQA_MUST_CHECK bertqa_status bertqa_sequence_predict(const bertqa_context *context,
                                                        const char *word, size_t length,
                                                        const bertqa_sequence_state *state,
                                                        int32_t top_k,
                                                        bertqa_prediction **prediction,
                                                        bertqa_sequence_state **next_state);

void bertqa_prediction_free(bertqa_prediction *prediction);
size_t bertqa_prediction_count(const bertqa_prediction *prediction);
const bertqa_word *bertqa_prediction_get(const bertqa_prediction *prediction, size_t index);

/* Not 0: the word that was read is not in the vocabulary; the model read its unknown token. */
int32_t bertqa_prediction_is_unknown(const bertqa_prediction *prediction);

/* The probability of every word, [vocab_size], by id. */
const float *bertqa_prediction_probabilities(const bertqa_prediction *prediction);

/* One step of many independent sequences at once.
 * ids: [count], words by id; states: [count], an entry NULL starts a sequence, or NULL for all of them;
 * next_states: [count], set; logits: [count][vocab_size], or NULL if not wanted.
 * On failure every next state is NULL and the message names the sequence. */
BERTQA_MUST_CHECK bertqa_status bertqa_sequence_step(const bertqa_context *context,
                                                     const int32_t *ids,
                                                     const bertqa_sequence_state *const *states,
                                                     size_t count,
                                                     bertqa_sequence_state **next_states,
                                                     float *logits);

/* Called with each word as it is generated; not 0 stops the generation after it. */
typedef int32_t (*bertqa_word_function)(void *user, const bertqa_word *word);

typedef struct bertqa_generate_options {
  size_t struct_size;
  int32_t max_words;      /* generated at most, 1...1000000; default 100 */
  float temperature;      /* 0 (default): greedy; else the logits are divided by it */
  int32_t top_k;          /* only the k most probable words are drawn from; 0 (default): all */
  float top_p;            /* only the fewest words whose probabilities sum to this; default 1: all */
  uint64_t seed;          /* the same seed gives the same words; default 0 */
  bertqa_word_function on_word; /* default NULL */
  void *on_word_user;           /* handed to on_word */
} bertqa_generate_options;

void bertqa_generate_options_init(bertqa_generate_options *options, size_t struct_size);

/* Why a generation ended. */
typedef int32_t bertqa_stop;
enum {
  BERTQA_STOP_END = 1,     /* the model predicted its end symbol, such as </s> */
  BERTQA_STOP_LIMIT = 2,   /* max_words */
  BERTQA_STOP_CALLBACK = 3 /* on_word asked for it */
};

/* What was generated. */
typedef struct bertqa_generation bertqa_generation;

/* Reads a prompt, split into the model's words, and generates what follows.
 * state: NULL starts a sequence. An empty prompt needs a state: otherwise INVALID_ARGUMENT.
 * Errors: as bertqa_sequence_predict. */
BERTQA_MUST_CHECK bertqa_status bertqa_sequence_generate(const bertqa_context *context,
                                                         const char *prompt, size_t length,
                                                         const bertqa_sequence_state *state,
                                                         const bertqa_generate_options *options,
                                                         bertqa_generation **generation);

void bertqa_generation_free(bertqa_generation *generation);

/* The generated words, without the prompt and the end symbol. */
size_t bertqa_generation_count(const bertqa_generation *generation);
const bertqa_word *bertqa_generation_get(const bertqa_generation *generation, size_t index);

/* The words joined as the model's texts are: with spaces between words, without between characters.
 * NUL-terminated; its length in *length unless that is NULL. */
const char *bertqa_generation_text(const bertqa_generation *generation, size_t *length);

bertqa_stop bertqa_generation_stop(const bertqa_generation *generation);

/* Words of the prompt that are not in the vocabulary. */
size_t bertqa_generation_unknown_count(const bertqa_generation *generation);

/* The state after the last word, to go on from; belongs to the generation: clone it to keep it. */
const bertqa_sequence_state *bertqa_generation_state(const bertqa_generation *generation);

/* How likely a text is. Grows at its end in later versions; the caller sets struct_size. */
typedef struct bertqa_sequence_score {
  size_t struct_size;
  size_t word_count;     /* words predicted: all but a sequence's first, and the end symbol if asked */
  size_t unknown_count;  /* words of the text that are not in the vocabulary */
  double log_likelihood; /* sum of the natural logarithms of their probabilities */
  double perplexity;     /* exp(-log_likelihood / word_count); NAN for a word_count of 0 */
} bertqa_sequence_score;

/* The likelihood of a text, split into the model's words: low for what the model has not learnt.
 * state: NULL starts a sequence, whose first word is given, not predicted; else what the text follows.
 * include_end: not 0: the text is complete, and its end symbol is predicted too. */
BERTQA_MUST_CHECK bertqa_status bertqa_sequence_likelihood(const bertqa_context *context,
                                                           const char *text, size_t length,
                                                           const bertqa_sequence_state *state,
                                                           int32_t include_end,
                                                           bertqa_sequence_score *score);

/* Which of several continuations of a prefix is most likely.
 * continuations: [count]; their second texts must be NULL. log_likelihoods, word_counts: [count], as in
 * bertqa_sequence_score, of the continuation's words alone; order: [count], the continuations' indices,
 * the highest log_likelihood / word_count first, equal ones in the order given, those without a word
 * last. Each of the three may be NULL if it is not wanted. With an empty prefix and no state a
 * continuation's first word is given, as in bertqa_sequence_likelihood. */
BERTQA_MUST_CHECK bertqa_status bertqa_sequence_rank(const bertqa_context *context,
                                                     const char *prefix, size_t prefix_length,
                                                     const bertqa_text *continuations, size_t count,
                                                     const bertqa_sequence_state *state,
                                                     int32_t include_end, size_t *order,
                                                     double *log_likelihoods, size_t *word_counts);

/* ---- Columns --------------------------------------------------------------------------------- */

/* The Arrow C Data Interface (https://arrow.apache.org/docs/format/CDataInterface.html), as it is
 * published there to be copied: columns of any Arrow library, without linking one. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char *format;
  const char *name;
  const char *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

#endif /* ARROW_C_DATA_INTERFACE */

/* A column of texts: its values and its type, which is utf8, large_utf8, utf8_view or the binary type of
 * the same layout. It is read in place during the call and neither copied nor released: it stays the
 * caller's. */
typedef struct bertqa_column {
  const struct ArrowArray *array;
  const struct ArrowSchema *schema;
} bertqa_column;

/* bertqa_answer_batch over columns: row by row, or one question for all documents when its column has
 * the length 1. top_k must be 1. A row with a null has a null answer.
 *
 * answers, schema: filled on success, for the caller to release; on failure their release is NULL.
 * A struct column with, per row, the best answer:
 *   answer       large_utf8, null if there is none or, with handle_impossible_answer, it is impossible
 *   start, end   int64, of the answer in the document, in code points; null with the answer
 *   probability  float32; null with the answer, like score and gap
 *   score, gap   float32
 *   sentence     large_utf8, null with the answer
 *   is_impossible  bool
 * Errors: as bertqa_answer_batch; INVALID_ARGUMENT for columns of other types or unequal lengths. */
BERTQA_MUST_CHECK bertqa_status bertqa_answer_arrow(const bertqa_context *context,
                                                    bertqa_column questions,
                                                    bertqa_column documents,
                                                    const bertqa_answer_options *options,
                                                    struct ArrowArray *answers,
                                                    struct ArrowSchema *schema);

/* bertqa_classify_batch over a column. A row with a null has a null classification.
 *
 * classifications, schema: as in bertqa_answer_arrow. A struct column with, per row:
 *   label          large_utf8, the most probable; null where there was not enough text
 *   probability    float32, of that label; null with it, and for regression
 *   probabilities  fixed-size list of float32, by label id (bertqa_context_label); for regression the
 *                  logits; null where there was not enough text
 * options->contributions must be 0. */
BERTQA_MUST_CHECK bertqa_status bertqa_classify_arrow(const bertqa_context *context,
                                                      bertqa_column texts,
                                                      const bertqa_classify_options *options,
                                                      struct ArrowArray *classifications,
                                                      struct ArrowSchema *schema);

#ifdef __cplusplus
}
#endif

#endif /* BERTQA_H */
