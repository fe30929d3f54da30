/*
 * libbertqa: extractive question answering that embeds anywhere.
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
  BERTQA_PRECISION_BF16 = 2, /* bf16 products, f32 sums; needs BERTQA_ISA_AVX512_VNNI */
  BERTQA_PRECISION_INT8 = 3  /* int8 products, exact sums; scales per output channel and token */
};

/* Instruction set of the kernels. Asking for one that the CPU lacks is BERTQA_ERROR_UNSUPPORTED. */
typedef int32_t bertqa_isa;
enum {
  BERTQA_ISA_AUTO = 0,       /* the best this CPU has */
  BERTQA_ISA_PORTABLE = 1,   /* compiler vectors: SSE2 on x86-64, NEON on arm64 */
  BERTQA_ISA_AVX2 = 2,       /* AVX2, FMA, F16C */
  BERTQA_ISA_AVX512 = 3,     /* AVX-512 F, BW, DQ, VL */
  BERTQA_ISA_AVX512_VNNI = 4 /* and VNNI, BF16 */
};

/* Receives what the library would otherwise print: one line without a newline. Called on the thread
 * that calls the library, during that call. */
typedef void (*bertqa_log_function)(void *user, const char *message);

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
} bertqa_context_options;

/* Sets struct_size and every default. struct_size: sizeof(bertqa_context_options) as the caller was
 * compiled. A NULL options or a struct_size below sizeof(size_t) does nothing. */
void bertqa_context_options_init(bertqa_context_options *options, size_t struct_size);

/* Loads a model: a directory as Hugging Face's save_pretrained writes it (config.json, vocab.txt or
 * tokenizer.json, tokenizer_config.json, model.safetensors or its sharded index; F32, F16, BF16 or
 * this library's int8 form), architecture BertForQuestionAnswering or
 * DistilBertForQuestionAnswering. The weights are memory-mapped: processes share their pages, and
 * the files must not be modified while in use (replacing them by rename is fine).
 *
 * model_directory: a NUL-terminated path in UTF-8, or NULL for the default model, looked for in
 * "bertqa/qa-minilm-l6" and "models/qa-minilm-l6" beside the library and in its install prefix's
 * share directory, then at the path in the environment variable BERTQA_MODEL.
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
  bertqa_precision precision; /* in use, never AUTO; 0 with tokenizer_only, like the next two */
  bertqa_isa isa;             /* in use, never AUTO */
  int32_t threads;            /* that one call may use */
  int32_t vocab_size;         /* pieces in the vocabulary */
  int32_t hidden_size;        /* the model's dimensions; 0 with tokenizer_only */
  int32_t num_hidden_layers;
  int32_t num_attention_heads;
  int32_t intermediate_size;
  int32_t max_position_embeddings; /* the largest max_seq_len */
  int32_t lowercase;               /* not 0: the tokenizer lower-cases */
  float no_answer_threshold;       /* the model's own, see bertqa_answer_options */
} bertqa_model_info;

/* Lives as long as the context. NULL only for a NULL context. */
const bertqa_model_info *bertqa_context_info(const bertqa_context *context);

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

/* The piece with this id ("##ing", "[UNK]"), as the vocabulary spells it, NUL-terminated; its length
 * in *length unless that is NULL. NULL for an id outside the vocabulary. Lives as long as the
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

#ifdef __cplusplus
}
#endif

#endif /* BERTQA_H */
