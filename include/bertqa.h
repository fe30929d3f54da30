/*
 * libbertqa: extractive question answering, text classification, named entities and embeddings inside any
 * program.
 *
 * A whole program:
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
 * Most programs need only these functions. If a status is not BERTQA_OK, bertqa_last_error() has a
 * message. NULL options are the defaults. A text is a pointer and a length in bytes.
 *
 *     bertqa_context_create(model_directory, options, &context)     loads a model; NULL: the default model
 *     bertqa_answer(context, question, question_length, document, document_length, options, &answers)
 *                                                 bertqa_answers_count, bertqa_answers_get: best first
 *     bertqa_classify(context, text, length, options, &classification)
 *                                                 bertqa_classification_get: likeliest label first
 *     bertqa_context_free(context), bertqa_answers_free(answers), bertqa_classification_free(...)
 *
 * The rest of this comment applies to all functions; the declarations describe each.
 *
 * CONTENTS. This header: status and errors, options of every call, contexts, tokens, answers, logits,
 * classification, entities, embeddings, quantizing, the process. bertqa_experimental.h, in the same
 * library: training classifiers, labelling by example, vectors of tokens, counting words, recurrent language
 * models, searching a collection, finding and redacting personal data, Arrow columns. Functions there are
 * younger and may change in a minor version; those here may not.
 *
 * NAMES. bertqa_OBJECT_VERB. ..._count and ..._get read a list. Lengths, counts, indices and offsets are
 * size_t; ids of words and labels, and options, are int32_t. Booleans in results are int32_t with names
 * that begin with is_; nonzero is true.
 *
 * TEXT. A text is a pointer and a length in bytes. It needs no NUL at its end, and NUL bytes inside are
 * ordinary. The encoding is UTF-8; invalid bytes are read as U+FFFD and never rejected. A text may be NULL
 * if its length is 0. The longest text is BERTQA_MAX_TEXT_BYTES. The library reads texts during the call
 * only; a prepared document keeps a copy. Strings that the library returns end in a NUL and, if they may
 * contain one, have a length.
 *
 * RANGES. Results are half-open ranges of the caller's own text in three units: bytes, code points (how
 * Python indexes a str) and UTF-16 code units (Java, JavaScript, C#). The answer is always
 * document[bytes.start ..< bytes.end]; it is never joined from pieces.
 *
 * OPTIONS. 0 (NULL for pointers) is the default of every field of every options struct, so both
 *     bertqa_answer_options options = {.struct_size = sizeof options, .top_k = 3};
 *     bertqa_answer_options options = BERTQA_ANSWER_OPTIONS_INIT;
 * are complete, and NULL options mean all defaults. struct_size is the size of the struct in the header
 * that the caller was compiled with. Reserved fields must be 0. BERTQA_ERROR_INVALID_ARGUMENT reports a
 * value outside a field's range, and a struct_size that is below sizeof(size_t), above 4096 or ends inside
 * a field. BERTQA_ERROR_UNSUPPORTED reports a nonzero field that this library does not know.
 *
 * ERRORS. A function that can fail returns a bertqa_status. On failure it sets its out-parameters to NULL,
 * and bertqa_last_error() returns, for this thread, what was wrong, where, and what to do. The library
 * never prints, exits, installs a signal handler, or changes the locale or the environment. A failed call
 * leaves the context unchanged. Any function may also return BERTQA_ERROR_INTERNAL, which the lists of
 * errors omit.
 *
 * OWNERSHIP. The caller owns what a ..._create function or an out-parameter returns, and passes it to the
 * matching ..._free, in any order: results outlive their context. ..._free(NULL) does nothing. Pointers
 * that accessors return belong to their object and live as long as it does. Accessors such as ..._count and
 * ..._get return 0 or NULL for a NULL object and for an index beyond the count.
 *
 * THREADS. Any thread may call any function at any time, but not in a signal handler. Contexts, prepared
 * documents and results are immutable: any number of threads may use one at the same time. Free an object
 * only while no other thread uses it. All contexts of a process share one thread pool. A calling thread
 * needs a stack of 64 KiB. Never cancel (pthread_cancel) a thread that may be inside a function: it would
 * keep the library's locks. A process whose main thread ended by pthread_exit lives as long as the pool's
 * threads: end them with bertqa_pool_shutdown().
 *
 * EXIT. Any thread may call exit() at any time, also in a hook and while other threads are inside functions.
 * atexit handlers and destructors of thread-local storage may call the library.
 *
 * FORK. Any thread may call fork() at any time, even in a hook. The child may use every object that it
 * inherited; the library starts new threads there. The library's fork() handlers (pthread_atfork) wait
 * until no other thread is inside a function of the library, so that no lock is held in the child. Running
 * calls pause for a fork within 50 ms, and hooks do not delay it. A child that a hook forks must not return
 * from the hook: it must exit or execute a program there. A host's own fork() handler must not wait for a
 * lock under which the host calls the library. vfork, posix_spawn and _Fork run no handlers: their children
 * must not use the library. A signal handler must not call fork().
 *
 * CALLBACKS. Hooks run on the thread that called the library, during that call, with the pointer that was
 * passed with them. A hook that makes a decision returns 0 to continue and nonzero to stop; others return
 * nothing. A hook may call the library. It must return or end the process: no longjmp, no exception, no
 * thread cancellation. Meanwhile its thread may run coroutines that have stacks of their own. It must not
 * run other code on this stack, as greenlet and gevent do when they switch: the pool's threads use the stack
 * during a call, unless the context's threads are 1.
 *
 * MEMORY. Before it allocates memory whose size grows with the input or the model, the library checks that
 * it is available, and returns BERTQA_ERROR_OUT_OF_MEMORY if not. bertqa_call_options.max_bytes limits the
 * memory of one call. This promise has limits: the Swift runtime allocates small objects (handles, results,
 * messages) and ends the process if malloc fails. Each check leaves 8 MB for them, so a process with 16 MB
 * of free address space (RLIMIT_AS) gets a status unless its other threads use that memory meanwhile.
 * Training and JSON files of many small values are checked by estimates. If Linux overcommits, memory that
 * malloc returned may be missing when it is written; no library can detect this.
 *
 * DETERMINISM. With one model, precision and instruction set, an answer has the same bits for every batch,
 * number of threads and sequence of calls. The library computes with the default floating-point
 * environment (rounding to nearest, denormal numbers, no traps), whatever the caller's is. It restores the
 * caller's before hooks and before it returns; exception flags may have been raised.
 *
 * STABILITY. The ABI is the SONAME (libbertqa.so.1). Within it, functions are only added, and structs grow
 * only at their end: each options struct starts with struct_size, and the library returns structs by
 * pointer. docs/abi.md has the full promise. The library runs on 64-bit Linux.
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

/* ---- Version --------------------------------------------------------------------------------- */

#define BERTQA_VERSION_MAJOR 0
#define BERTQA_VERSION_MINOR 1
#define BERTQA_VERSION_PATCH 0
/* Changes only with the SONAME, independently of the package version. */
#define BERTQA_ABI_VERSION 1

/* The BERTQA_ABI_VERSION and "MAJOR.MINOR.PATCH" of the library in use. They never fail. */
uint32_t bertqa_abi_version(void);
const char *bertqa_version(void);

/* The longest text and the longest batch, in bytes and in items. */
#define BERTQA_MAX_TEXT_BYTES 0x7fffffff
#define BERTQA_MAX_BATCH 0x7fffffff

/* ---- Status and errors ----------------------------------------------------------------------- */

/* The outcome of a call. Values never change. New ones may be added: treat them as failures. */
typedef int32_t bertqa_status;
enum {
  BERTQA_OK = 0,
  BERTQA_ERROR_INVALID_ARGUMENT = 1,  /* an argument is outside what this header allows */
  BERTQA_ERROR_IO = 2,                /* a file or directory is missing or cannot be read or written */
  BERTQA_ERROR_INVALID_MODEL = 3,     /* a model file is truncated, hostile or contradicts itself */
  BERTQA_ERROR_UNSUPPORTED = 4,       /* a valid model or option that this version does not implement */
  BERTQA_ERROR_WRONG_MODEL = 5,       /* the context's model cannot do what was asked */
  BERTQA_ERROR_OUT_OF_MEMORY = 6,     /* memory or another system resource ran out */
  BERTQA_ERROR_CANCELLED = 7,         /* the cancellation hook asked to stop */
  BERTQA_ERROR_TOO_LARGE = 8,         /* a text, count or memory need above a limit */
  BERTQA_ERROR_INTERNAL = 9,          /* a defect of the library; please report the message */
  BERTQA_ERROR_DEADLINE_EXCEEDED = 10 /* the call's deadline passed */
};

/* The name of a status, such as "BERTQA_ERROR_IO"; "unknown status" for other numbers. Static. */
const char *bertqa_status_name(bertqa_status status);

/* Returns the message of the last failed call on this thread: one line of valid UTF-8 of at most
 * 1000 bytes, with control characters written as \n, \t or \u{1B} and invalid bytes as \xFF; "" if
 * none has failed. A batch call with statuses that returned BERTQA_OK counts as failed if an item failed:
 * the message is that of the first such item. Never NULL. Valid until this thread's next call of the
 * library. */
const char *bertqa_last_error(void);

/* Returns the index of the batch item that the message is about; SIZE_MAX if it is about none. */
size_t bertqa_last_error_item(void);

/* Returns the option or argument that the message is about, as this header spells it, such as
 * "top_k"; "" if it is about none. Never NULL. Valid until this thread's next call of the
 * library. */
const char *bertqa_last_error_argument(void);

/* ---- Options of every call ------------------------------------------------------------------- */

/* A yes-or-no option. Other values are BERTQA_ERROR_INVALID_ARGUMENT. */
typedef int32_t bertqa_switch;
enum {
  BERTQA_OFF = -1,
  BERTQA_DEFAULT = 0, /* as the field's comment says */
  BERTQA_ON = 1
};

/* Returns nonzero to stop the call with BERTQA_ERROR_CANCELLED. Polled many times a second while a
 * call works. */
typedef int32_t (*bertqa_cancel_function)(void *user);

/* Receives the progress of a call. stage: the current stage, static; fraction: the finished part of the
 * stage, 0...1, which may decrease when more work is found. Short calls report nothing. */
typedef void (*bertqa_progress_function)(void *user, const char *stage, double fraction);

/* Stops and limits a call. Every task's options have a pointer to this struct, which is read only during
 * the call. */
typedef struct bertqa_call_options {
  size_t struct_size;
  bertqa_cancel_function cancel;     /* default NULL: none */
  bertqa_progress_function progress; /* default NULL: none */
  void *user;                        /* passed to cancel and progress */
  /* The time on CLOCK_MONOTONIC, in nanoseconds, after which the call ends with
   * BERTQA_ERROR_DEADLINE_EXCEEDED, see bertqa_deadline_after; default 0: never. */
  uint64_t deadline_ns;
  /* The maximum memory in bytes that grows with the input, including results, and that the call may hold at
   * once. A call that needs more fails with BERTQA_ERROR_TOO_LARGE before it allocates more. The memory
   * that each thread needs to read one window, up to 8 MiB that each tokenizing thread keeps for the next
   * text, and the first 64 KiB of results do not count. Default 0: only the system's limit. */
  uint64_t max_bytes;
  /* The maximum number of tokens (words, for models that read words) of one text or question. A
   * longer one fails with BERTQA_ERROR_TOO_LARGE before the model reads any of it. Default 0: no
   * limit. */
  uint64_t max_document_tokens;
} bertqa_call_options;

#define BERTQA_CALL_OPTIONS_INIT {sizeof(bertqa_call_options), NULL, NULL, NULL, 0, 0, 0}

/* Sets the defaults at run time. Every ..._options_init sets struct_size and writes 0, the default, to all
 * other bytes. struct_size: sizeof(the struct) in the caller's header. Does nothing for NULL options or a
 * struct_size below sizeof(size_t) or above 4096. */
void bertqa_call_options_init(bertqa_call_options *options, size_t struct_size);

/* Returns the deadline_ns this many nanoseconds from now; UINT64_MAX if the sum would overflow. */
uint64_t bertqa_deadline_after(uint64_t nanoseconds);

/* ---- Context: one loaded model --------------------------------------------------------------- */

typedef struct bertqa_context bertqa_context;

/* Number format of the arithmetic. docs/performance.md has the accuracy and speed of each. */
typedef int32_t bertqa_precision;
enum {
  /* The fastest precision whose accuracy contract holds: INT8 for a model in the int8 form, BF16 for others
   * if the CPU multiplies bf16 faster than f32, else F32. */
  BERTQA_PRECISION_AUTO = 0,
  BERTQA_PRECISION_F32 = 1,  /* logits within 1e-4 of the reference implementation in fp32 */
  BERTQA_PRECISION_BF16 = 2, /* bf16 products, f32 sums; needs an instruction set with BF16 */
  BERTQA_PRECISION_INT8 = 3  /* int8 products, exact sums; scales per output channel and token */
};

/* Instruction set of the kernels. One that the CPU lacks is BERTQA_ERROR_UNSUPPORTED. AMX changes the
 * process: Linux then saves another 8 KiB for every signal that it handles, and refuses signal stacks
 * (sigaltstack) that are too small for them. */
typedef int32_t bertqa_isa;
enum {
  BERTQA_ISA_AUTO = 0,             /* the best this CPU has, without AMX */
  BERTQA_ISA_PORTABLE = 1,         /* compiler vectors: SSE2 on x86-64, NEON on arm64 */
  BERTQA_ISA_AVX2 = 2,             /* AVX2, FMA, F16C */
  BERTQA_ISA_AVX512 = 3,           /* AVX-512 F, BW, DQ, VL */
  BERTQA_ISA_AVX512_VNNI = 4,      /* AVX-512 and VNNI */
  BERTQA_ISA_AVX512_VNNI_BF16 = 5, /* AVX-512, VNNI and BF16 */
  BERTQA_ISA_AVX2_VNNI = 6,        /* AVX2 and AVX-VNNI */
  BERTQA_ISA_NEON = 7,             /* arm64 */
  BERTQA_ISA_NEON_DOTPROD = 8,     /* arm64 and the dot product extension */
  BERTQA_ISA_NEON_I8MM_BF16 = 9,   /* arm64, dot product, I8MM and BF16 */
  BERTQA_ISA_AVX512_AMX = 10       /* AVX-512, VNNI, BF16 and AMX tiles */
};

/* The task of a model. */
typedef int32_t bertqa_task;
enum {
  BERTQA_TASK_ANSWER = 1,   /* bertqa_answer and similar, bertqa_logits */
  BERTQA_TASK_CLASSIFY = 2, /* bertqa_classify */
  BERTQA_TASK_EMBED = 3,    /* bertqa_embed; bertqa_labeler_create */
  BERTQA_TASK_PREDICT = 4,  /* bertqa_sequence_... in bertqa_experimental.h */
  BERTQA_TASK_ENTITIES = 5  /* bertqa_entities */
};

/* The names that messages, the command line and Python use: "auto", "f32"; "auto", "avx2";
 * "answer", "entities". "unknown" for other numbers. Static. */
const char *bertqa_precision_name(bertqa_precision precision);
const char *bertqa_isa_name(bertqa_isa isa);
const char *bertqa_task_name(bertqa_task task);

/* Receives one line, without a newline, about each decision made while loading. */
typedef void (*bertqa_log_function)(void *user, const char *message);

/* How a model's files are loaded. */
typedef int32_t bertqa_load;
enum {
  /* Map the files: processes share the pages. A call fails with BERTQA_ERROR_IO if a weight file
   * was truncated in place before it (Linux 5.14 and later); truncating one during a call raises
   * SIGBUS. */
  BERTQA_LOAD_MMAP = 0,
  /* Read the files into this process's memory: later changes to the files have no effect. For hosts
   * that cannot trust the file system. */
  BERTQA_LOAD_COPY = 1
};

typedef struct bertqa_context_options {
  size_t struct_size;
  const bertqa_call_options *call; /* for loading */
  bertqa_log_function log;         /* default NULL: silent */
  void *log_user;                  /* passed to log */
  /* The maximum number of threads for one call, including the calling one, 1...1024. Default 0: the
   * number set with bertqa_pool_set_threads. 1 keeps all work on the calling thread. */
  int32_t threads;
  bertqa_precision precision; /* default BERTQA_PRECISION_AUTO */
  bertqa_isa isa;             /* default BERTQA_ISA_AUTO */
  /* Default off. On: loads only the vocabulary and tokenizer settings. The context can tokenize; other
   * functions return BERTQA_ERROR_WRONG_MODEL. The model may then also be a vocab.txt or tokenizer.json
   * file. */
  bertqa_switch tokenizer_only;
  /* The default model to load if no model is named: BERTQA_TASK_ANSWER (also the default 0),
   * _CLASSIFY, _EMBED, _PREDICT or _ENTITIES. */
  bertqa_task default_model;
  bertqa_load load; /* default BERTQA_LOAD_MMAP */
} bertqa_context_options;

#define BERTQA_CONTEXT_OPTIONS_INIT \
  {sizeof(bertqa_context_options), NULL, NULL, NULL, 0, 0, 0, 0, 0, 0}

void bertqa_context_options_init(bertqa_context_options *options, size_t struct_size);

/* Loads a model: a directory as Hugging Face's save_pretrained writes it (config.json, vocab.txt or
 * tokenizer.json, tokenizer_config.json, model.safetensors or its sharded index, or pytorch_model.bin; F32,
 * F16, BF16 or this library's int8 form) or as this library writes it. The task follows from config.json's
 * "architectures", where ... is an encoder family: Bert, DistilBert, Roberta, XLMRoberta, Camembert,
 * Electra, Albert, MPNet, Deberta, DebertaV2, ModernBert, Ernie, Data2VecText, NomicBert, Gte, New,
 * JinaBert, MobileBert or Longformer:
 *   answer    ...ForQuestionAnswering
 *   classify  ...ForSequenceClassification,
 *             WordCountClassifier and EmbeddingClassifier (this library's own, see bertqa_trainer)
 *   entities  ...ForTokenClassification; GLiNER, by its gliner_config.json
 *   embed     ...Model; ...ForMaskedLM, ...ForPreTraining and ...LMHeadModel without their heads; HF_ColBERT;
 *             StaticModel (model2vec), or StaticEmbedding in modules.json without a config.json
 *   predict   LSTMLanguageModel, GRULanguageModel
 * docs/models.md describes each. Functions for other tasks return BERTQA_ERROR_WRONG_MODEL. The weights are
 * memory-mapped: processes share their pages, and the files must not be modified while in use (replacing
 * them by rename is safe). BERTQA_LOAD_COPY reads them instead.
 *
 * model_directory: a NUL-terminated path in UTF-8. The directory is opened once, so all files come from it
 * even if another one takes its name during the call. A name without a slash, such as "embed-minilm-l6",
 * that does not exist in the working directory means the installed model of that name: "bertqa/NAME" or
 * "models/NAME" next to the library, or in the share directory of its install prefix, of /usr/local or of
 * /usr. A name such as "deepset/roberta-base-squad2" that does not exist there means that model in the
 * local cache of the Hugging Face Hub (HF_HUB_CACHE, HF_HOME). Nothing is downloaded.
 * NULL: a default model. For answers (options->default_model 0 or BERTQA_TASK_ANSWER) that is the path or
 * name in the environment variable BERTQA_MODEL, if it is set and not empty and the process has no raised
 * privileges (secure_getenv); messages about it name the variable. Otherwise it is the installed
 * qa-minilm-l6, topics-words, embed-minilm-l6, shakespeare-lstm or entities-minilm-l6, by the task.
 * options: NULL for the defaults.
 * Errors: IO, INVALID_MODEL, UNSUPPORTED, INVALID_ARGUMENT, OUT_OF_MEMORY, TOO_LARGE, CANCELLED,
 * DEADLINE_EXCEEDED; the message names the file, the tensor, what was found and what was expected. */
BERTQA_MUST_CHECK bertqa_status bertqa_context_create(const char *model_directory,
                                                      const bertqa_context_options *options,
                                                      bertqa_context **context);

/* A model file in memory. Never changes: an array of these is passed. */
typedef struct bertqa_file {
  const char *name; /* as in the directory, such as "config.json"; NUL-terminated */
  const void *data; /* [size] */
  size_t size;      /* in bytes */
} bertqa_file;

/* As bertqa_context_create, from files in memory, for hosts without a file system. Files that the
 * model does not need are ignored. Data are not copied if their format can be used in place (best
 * aligned to 64 bytes): they must stay unchanged until bertqa_context_free. The array and the names
 * are read during the call only.
 * Errors: as bertqa_context_create; INVALID_ARGUMENT for a name that is NULL, empty or occurs
 * twice. */
BERTQA_MUST_CHECK bertqa_status bertqa_context_create_from_files(
    const bertqa_file *files, size_t count, const bertqa_context_options *options,
    bertqa_context **context);

/* As bertqa_context_create, from an open directory, for hosts that may not open paths.
 * directory_fd: a file descriptor of a directory; it is neither closed nor kept.
 * name: NULL or "" for that directory itself, else a path relative to it, NUL-terminated.
 * Errors: as bertqa_context_create; INVALID_ARGUMENT for a negative descriptor or an absolute name. */
BERTQA_MUST_CHECK bertqa_status bertqa_context_create_at(int directory_fd, const char *name,
                                                         const bertqa_context_options *options,
                                                         bertqa_context **context);

void bertqa_context_free(bertqa_context *context);

/* Describes the loaded model and how it runs. Grows at its end in later versions. Strings are UTF-8
 * with a NUL. Sizes are named as in config.json; 0 if the model has none. */
typedef struct bertqa_model_info {
  size_t struct_size;
  const char *directory;    /* where the model came from, as messages call it; "" for files in memory */
  const char *architecture; /* "BertForQuestionAnswering"; "" with tokenizer_only */
  size_t vocabulary_size;   /* pieces or words in the vocabulary */
  size_t label_count;       /* of texts or tokens, see bertqa_context_label_get; else 0 */
  size_t embedding_length;  /* floats of one vector of bertqa_embed; 0 for models of other tasks, and if
                             * only bertqa_embed_tokens has results */
  size_t hidden_size;
  size_t num_hidden_layers;
  size_t num_attention_heads;
  size_t intermediate_size;
  size_t max_position_embeddings; /* the largest max_seq_len; RoBERTa's config.json counts 2 more */
  bertqa_task task;               /* 0 with tokenizer_only */
  bertqa_precision precision;     /* in use, never AUTO; 0 for word-count models and tokenizers */
  bertqa_isa isa;                 /* in use, never AUTO; 0 for word-count models and tokenizers */
  int32_t threads;                /* maximum of one call */
  int32_t is_lowercase;           /* the tokenizer lower-cases */
  float no_answer_threshold;      /* the model's own, for documents of one window */
  size_t prompt_count;            /* of an embedding model, see bertqa_context_prompt_get; else 0 */
} bertqa_model_info;

/* Lives as long as the context. NULL only for a NULL context. */
const bertqa_model_info *bertqa_context_info(const bertqa_context *context);

/* Returns the name of a label of texts or tokens, 0 <= id < label_count, with a NUL, and its length in
 * *length unless that is NULL. NULL and 0 for other ids. Valid while the context lives. */
const char *bertqa_context_label_get(const bertqa_context *context, int32_t id, size_t *length);

/* Return the name and the text of an embedding model's prompt (bertqa_embed_options.prompt_name), 0 <=
 * index < prompt_count, with a NUL, and its length in *length unless that is NULL. NULL and 0 for other
 * indices. Valid while the context lives. */
const char *bertqa_context_prompt_name_get(const bertqa_context *context, size_t index, size_t *length);
const char *bertqa_context_prompt_get(const bertqa_context *context, size_t index, size_t *length);

/* Returns the piece or word with this id ("##ing", "[UNK]"), as the vocabulary spells it, with a NUL, and
 * its length in *length unless that is NULL. NULL and 0 for an id outside the vocabulary. Valid while the
 * context lives. */
const char *bertqa_context_vocabulary_piece(const bertqa_context *context, int32_t id,
                                            size_t *length);

/* Returns the id of a piece, or -1 if the vocabulary does not have it. */
int32_t bertqa_context_vocabulary_id(const bertqa_context *context, const char *piece,
                                     size_t length);

/* ---- Tokenize -------------------------------------------------------------------------------- */

/* The tokens of one text, without those of the template such as [CLS]: exactly the ids and offsets of
 * Hugging Face's tokenizers 0.23.3; see docs/tokenizers.md. */
typedef struct bertqa_tokens bertqa_tokens;

/* Half open. Never changes. */
typedef struct bertqa_range {
  size_t start;
  size_t end;
} bertqa_range;

typedef struct bertqa_tokenize_options {
  size_t struct_size;
  const bertqa_call_options *call;
  /* Default off: "[SEP]" and other special tokens written in the text are ordinary text. On: they become
   * those tokens, as in Hugging Face's libraries. */
  bertqa_switch parse_special_tokens;
  int32_t reserved;
} bertqa_tokenize_options;

#define BERTQA_TOKENIZE_OPTIONS_INIT {sizeof(bertqa_tokenize_options), NULL, 0, 0}

void bertqa_tokenize_options_init(bertqa_tokenize_options *options, size_t struct_size);

/* options: NULL for the defaults. Linear in length. Errors: INVALID_ARGUMENT, WRONG_MODEL, TOO_LARGE,
 * OUT_OF_MEMORY, CANCELLED, DEADLINE_EXCEEDED. */
BERTQA_MUST_CHECK bertqa_status bertqa_tokenize(const bertqa_context *context, const char *text,
                                                size_t length,
                                                const bertqa_tokenize_options *options,
                                                bertqa_tokens **tokens);

void bertqa_tokens_free(bertqa_tokens *tokens);

/* The number of tokens, and parallel arrays of that length: vocabulary ids, and the byte range of
 * the text for each token. The arrays are NULL if the number is 0. */
size_t bertqa_tokens_count(const bertqa_tokens *tokens);
const int32_t *bertqa_tokens_ids(const bertqa_tokens *tokens);
const bertqa_range *bertqa_tokens_ranges(const bertqa_tokens *tokens);

/* ---- Answer ---------------------------------------------------------------------------------- */

/* Names and meanings as in Hugging Face's question-answering pipeline. Lengths are in tokens. */
typedef struct bertqa_answer_options {
  size_t struct_size;
  const bertqa_call_options *call;
  int32_t top_k; /* the maximum number of answers, 1...1000; default 0: 1 */
  /* The tokens of one window, [CLS] question [SEP] part of document [SEP]: at least 8; default 0: 384, or
   * for Longformer as many as the model takes. More than the model takes is lowered to that. */
  int32_t max_seq_len;
  /* Default 0: a document longer than a window is read in sections that end where paragraphs and
   * sentences do, ranked by the question's words. Otherwise as in Hugging Face's pipeline: every window
   * is read, and raw scores are compared. Neighbouring windows share this many tokens: at least 1, and fewer
   * than a window has room for beside the question. -1: none. */
  int32_t doc_stride;
  int32_t max_answer_len; /* before an answer is aligned to words, 1...10000; default 0: 30 */
  /* 1...10000; a longer question is truncated, and the summary says so. Default 0: 64, at most half
   * of the window without its special tokens. */
  int32_t max_question_len;
  /* Default 0: the search is exact over all spans. 1...1000: only the n best starts x n best ends of
   * each window are considered, as BERT's run_squad does with 20. */
  int32_t n_best_size;
  /* Windows are read by rank, which is BM25 of the question's words. Default 0: until no remaining window
   * is likely to answer better, at most 7 (more if there are 128 or more), or all if none has a word of the
   * question; with doc_stride: all. n > 0: the n best. -1: all. */
  int32_t max_windows;
  /* Default off: returns the best spans, regardless of their scores. On: returns no span if the summary's
   * is_impossible is set. */
  bertqa_switch handle_impossible_answer;
  /* Default on: an answer has whole words, does not split an e-mail or web address, a path or name with
   * dots, a number with its unit or an abbreviation at its edges, has a letter, a digit or a symbol such as
   * a currency's, and does not cross a blank line or a line break that ends a sentence, as in lists, tables
   * and forms (docs/answers.md). Off: the model's spans. Either way an answer has whole characters, with
   * their combining marks, and no white space at its ends. */
  bertqa_switch align_to_words;
  /* Default off: no_answer_threshold must be 0, and the model's own is used. */
  bertqa_switch use_no_answer_threshold;
  /* The question counts as impossible if gap is below this, for any number of windows. */
  float no_answer_threshold;
  /* Default off: a deadline or cancellation fails the call. On: it ends the reading, and the call returns
   * BERTQA_OK with the answers of the windows read so far; the summary's stop has the reason. If no window
   * was read, the call returns no answers and sets is_impossible. */
  bertqa_switch partial;
} bertqa_answer_options;

#define BERTQA_ANSWER_OPTIONS_INIT \
  {sizeof(bertqa_answer_options), NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

void bertqa_answer_options_init(bertqa_answer_options *options, size_t struct_size);

/* One answer. Grows at its end in later versions. */
typedef struct bertqa_answer_span {
  size_t struct_size;
  bertqa_range bytes; /* of the answer in the document, in three units */
  bertqa_range code_points;
  bertqa_range utf16;
  bertqa_range sentence; /* the sentence(s) around it, in bytes */
  float score;           /* start logit + end logit */
  float start_logit;
  float end_logit;
  /* The probability that this span is right, 0...1. For a model with a calibration
   * (docs/answers.md): the probability that there is an answer times the span's share in a softmax
   * over all spans that were read. For others: its share in the softmax over all spans and the
   * no-answer candidate. A higher gap has a higher probability; the probabilities of all spans and
   * no_answer_probability sum to at most 1. */
  float probability;
  /* Comparable over all sections and documents: score - the section's null score, less up to 3 for sections
   * that rank below the best one, and more if it is the best answer of several sections. With doc_stride:
   * score - null_score. */
  float gap;
  int32_t document_index; /* of bertqa_answer_documents and bertqa_documents_answer; else 0 */
} bertqa_answer_span;

/* Why no further window was read. */
typedef int32_t bertqa_reading_stop;
enum {
  BERTQA_READING_ALL = 0,    /* all were read */
  BERTQA_READING_ENOUGH = 1, /* no remaining window is likely to answer better */
  BERTQA_READING_LIMIT = 2,  /* max_windows, or the default maximum, were read */
  /* With the option partial: */
  BERTQA_READING_DEADLINE = 3, /* the deadline passed */
  BERTQA_READING_CANCELLED = 4 /* the cancellation hook asked to stop */
};

/* The properties of the question and document as a whole. Grows at its end in later versions. */
typedef struct bertqa_answer_summary {
  size_t struct_size;
  /* The best span's gap is below the threshold, or there was nothing to search. Set even without
   * handle_impossible_answer. */
  int32_t is_impossible;
  int32_t is_question_truncated; /* the question was longer than max_question_len */
  int32_t is_question_empty;     /* no token in the question: nothing was searched */
  int32_t is_document_empty;     /* the question has a token, the document none: nothing was searched */
  /* Start + end logit at [CLS], in the section of the best span. With doc_stride: the lowest of all
   * windows. */
  float null_score;
  float gap;                     /* the best span's; -infinity if there is none */
  /* The probability that the document does not answer the question, 0...1; for a model with a
   * calibration it depends on gap alone, and with doc_stride on window_count. */
  float no_answer_probability;
  /* The threshold that gap was compared with: the options', or the model's own. With doc_stride the
   * model's may rise with window_count, because the best of many scores is higher by chance. */
  float no_answer_threshold;
  size_t window_count;         /* windows that the model read */
  size_t skipped_window_count; /* windows that it did not read */
  int32_t stop;                /* why: a bertqa_reading_stop */
  int32_t reserved;            /* 0 */
} bertqa_answer_summary;

/* The answers to one question, best first, without overlaps. Equal answers of several sections are merged
 * (docs/answers.md). */
typedef struct bertqa_answers bertqa_answers;

/* Answers one question on one document of any length. In a long document, the sections that match the
 * question best are read (doc_stride, max_windows; docs/answers.md). An empty question or document is not
 * an error: it has no answer, and the summary says why.
 * options: NULL for the defaults. Time: linear in the document's length.
 * Errors: INVALID_ARGUMENT (also for a question that leaves a window no room for the document),
 * WRONG_MODEL, TOO_LARGE, OUT_OF_MEMORY, CANCELLED, DEADLINE_EXCEEDED. */
BERTQA_MUST_CHECK bertqa_status bertqa_answer(const bertqa_context *context, const char *question,
                                              size_t question_length, const char *document,
                                              size_t document_length,
                                              const bertqa_answer_options *options,
                                              bertqa_answers **answers);

/* A question and a document. Never changes: an array of these is passed. */
typedef struct bertqa_answer_pair {
  const char *question;
  size_t question_length;
  const char *document;
  size_t document_length;
} bertqa_answer_pair;

/* Answers many pairs in one call: all their windows are one work list, spread over the threads. A
 * document that several pairs share by pointer and length is tokenized once.
 * answers: [count], all set: answers[i] belongs to pairs[i] and is to be freed.
 * statuses: NULL: all or nothing; on failure all answers are NULL, and bertqa_last_error_item() is the
 * index of the failed pair. Else [count], all set: a failed pair has its status, and its answers are NULL;
 * the others are answered, and the call returns BERTQA_OK. A failure of the whole call (CANCELLED,
 * DEADLINE_EXCEEDED, OUT_OF_MEMORY, WRONG_MODEL, invalid options) is returned, and is the status of every
 * pair.
 * Errors: as bertqa_answer; TOO_LARGE also for a count above BERTQA_MAX_BATCH. */
BERTQA_MUST_CHECK bertqa_status bertqa_answer_batch(const bertqa_context *context,
                                                    const bertqa_answer_pair *pairs, size_t count,
                                                    const bertqa_answer_options *options,
                                                    bertqa_answers **answers,
                                                    bertqa_status *statuses);

/* A document tokenized once for many questions, from any number of threads. It holds a copy of the text. */
typedef struct bertqa_document bertqa_document;

typedef struct bertqa_document_options {
  size_t struct_size;
  const bertqa_call_options *call;
} bertqa_document_options;

#define BERTQA_DOCUMENT_OPTIONS_INIT {sizeof(bertqa_document_options), NULL}

void bertqa_document_options_init(bertqa_document_options *options, size_t struct_size);

/* Linear in length. Errors: INVALID_ARGUMENT, WRONG_MODEL, TOO_LARGE, OUT_OF_MEMORY, CANCELLED,
 * DEADLINE_EXCEEDED. */
BERTQA_MUST_CHECK bertqa_status bertqa_document_create(const bertqa_context *context,
                                                       const char *text, size_t length,
                                                       const bertqa_document_options *options,
                                                       bertqa_document **document);

void bertqa_document_free(bertqa_document *document);

/* As bertqa_answer. The document must come from this context (or from one with the same vocabulary
 * files): otherwise INVALID_ARGUMENT. */
BERTQA_MUST_CHECK bertqa_status bertqa_document_answer(const bertqa_context *context,
                                                       const bertqa_document *document,
                                                       const char *question, size_t question_length,
                                                       const bertqa_answer_options *options,
                                                       bertqa_answers **answers);

/* A text. Never changes: an array of these is passed. */
typedef struct bertqa_text {
  const char *text;
  size_t length;
} bertqa_text;

/* Answers one question on several documents, which are read as one collection: their sections are
 * ranked together, and max_windows is one limit for all. An answer's ranges are those of its
 * document, documents[document_index].
 * documents: [count], 1...BERTQA_MAX_BATCH. is_document_empty: all are empty.
 * Errors: as bertqa_answer; for several documents bertqa_last_error_item() is the index of the one at
 * fault. */
BERTQA_MUST_CHECK bertqa_status bertqa_answer_documents(
    const bertqa_context *context, const char *question, size_t question_length,
    const bertqa_text *documents, size_t count, const bertqa_answer_options *options,
    bertqa_answers **answers);

/* As bertqa_answer_documents, for prepared documents.
 * documents: [count], none NULL; a document may occur several times.
 * Errors: as bertqa_document_answer; bertqa_last_error_item() as in bertqa_answer_documents. */
BERTQA_MUST_CHECK bertqa_status bertqa_documents_answer(
    const bertqa_context *context, const bertqa_document *const *documents, size_t count,
    const char *question, size_t question_length, const bertqa_answer_options *options,
    bertqa_answers **answers);

/* As bertqa_answer_batch, for many questions on one prepared document.
 * questions: [count].
 * answers, statuses: as in bertqa_answer_batch.
 * Errors: as bertqa_answer_batch; INVALID_ARGUMENT for a document of another vocabulary. */
BERTQA_MUST_CHECK bertqa_status bertqa_document_answer_batch(
    const bertqa_context *context, const bertqa_document *document, const bertqa_text *questions,
    size_t count, const bertqa_answer_options *options, bertqa_answers **answers,
    bertqa_status *statuses);

void bertqa_answers_free(bertqa_answers *answers);

size_t bertqa_answers_count(const bertqa_answers *answers);

/* Returns the answer of this rank, 0 = best; NULL beyond the count. */
const bertqa_answer_span *bertqa_answers_get(const bertqa_answers *answers, size_t index);

/* NULL only for NULL. */
const bertqa_answer_summary *bertqa_answers_summary(const bertqa_answers *answers);

/* ---- Logits ---------------------------------------------------------------------------------- */

typedef struct bertqa_logits_options {
  size_t struct_size;
  const bertqa_call_options *call;
} bertqa_logits_options;

#define BERTQA_LOGITS_OPTIONS_INIT {sizeof(bertqa_logits_options), NULL}

void bertqa_logits_options_init(bertqa_logits_options *options, size_t struct_size);

/* Runs the model alone, for hosts that build their own windows and search: computes the start and end
 * logits of each token. ids has the tokens of all windows without padding.
 * ids: [id_count]; window_lengths: [window_count], in tokens, each 1...max_position_embeddings, their
 * sum = id_count; second_segments: [window_count], index within each window of its first token of
 * type 1 (its length: none), or NULL for none anywhere; start_logits, end_logits: [id_count], all set
 * on success and unspecified after a failure.
 * Errors: INVALID_ARGUMENT, WRONG_MODEL, TOO_LARGE, OUT_OF_MEMORY, CANCELLED, DEADLINE_EXCEEDED. */
BERTQA_MUST_CHECK bertqa_status bertqa_logits(const bertqa_context *context, const int32_t *ids,
                                              size_t id_count, const size_t *window_lengths,
                                              const size_t *second_segments, size_t window_count,
                                              const bertqa_logits_options *options,
                                              float *start_logits, float *end_logits);

/* ---- Classify -------------------------------------------------------------------------------- */

/* How the results of a long text's windows are combined. */
typedef int32_t bertqa_window_pooling;
enum {
  BERTQA_WINDOW_POOLING_MEAN = 0, /* mean of the windows' logits */
  BERTQA_WINDOW_POOLING_MAX = 1   /* largest logit of each label */
};

typedef struct bertqa_classify_options {
  size_t struct_size;
  const bertqa_call_options *call;
  /* [label_count], at least one: labels of the caller's choice (zero-shot classification), for models of
   * entailment, which have a label that begins with "entail": the model judges whether the text entails
   * hypothesis_template with each label. WRONG_MODEL for other models. Results have these labels, with
   * their indices as ids. Default NULL: the model's own labels. */
  const bertqa_text *labels;
  size_t label_count;
  /* A sentence with one {}, the label's place. Default NULL: "This example is {}." */
  const bertqa_text *hypothesis_template;
  /* Word-count models: the maximum number of contributions to return; at least 0; default 0. */
  int32_t contributions;
  /* Encoders: the tokens of one window, including [CLS] and [SEP], at least 8. Default 0: as
   * many as the model takes; more is lowered to that. A longer text is read in windows, never
   * truncated. */
  int32_t max_seq_len;
  /* Encoders: tokens that two neighbouring windows share: 1 or more, fewer than a window has without its
   * special tokens and, for a pair, the other text's tokens; or -1 for none. Default 0: windows end where
   * paragraphs and sentences do. */
  int32_t doc_stride;
  bertqa_window_pooling window_pooling; /* encoders; default BERTQA_WINDOW_POOLING_MEAN */
  /* If no label has at least this probability, the summary's is_none is set; 0...1, default 0.
   * INVALID_ARGUMENT for regression. */
  float min_probability;
  /* With labels: BERTQA_ON judges each label by itself (a softmax over its entailment and
   * contradiction), as it does for a single label. Default: off, a softmax over all labels. */
  bertqa_switch multi_label;
} bertqa_classify_options;

#define BERTQA_CLASSIFY_OPTIONS_INIT {sizeof(bertqa_classify_options), NULL, NULL, 0, NULL, 0, 0, 0, 0, 0, 0}

void bertqa_classify_options_init(bertqa_classify_options *options, size_t struct_size);

/* A text, or two texts that a sentence-pair model compares. Never changes: an array is passed. */
typedef struct bertqa_text_pair {
  const char *text;
  size_t length;
  const char *second; /* NULL: none. An empty second text is "" with the length 0 */
  size_t second_length;
} bertqa_text_pair;

/* The meaning of a model's outputs; Hugging Face's problem_type. */
typedef int32_t bertqa_problem_type;
enum {
  /* one label is right: probabilities are a softmax and sum to 1 */
  BERTQA_PROBLEM_TYPE_SINGLE_LABEL_CLASSIFICATION = 1,
  /* any number of labels are right: each probability is a sigmoid */
  BERTQA_PROBLEM_TYPE_MULTI_LABEL_CLASSIFICATION = 2,
  /* the logits are the predicted numbers; also for a single label */
  BERTQA_PROBLEM_TYPE_REGRESSION = 3
};

/* One label of the model. Grows at its end in later versions. */
typedef struct bertqa_label_score {
  size_t struct_size;
  const char *label; /* UTF-8 with a NUL and without one inside; lives as long as the classification */
  size_t label_length;
  int32_t id;        /* row of the model's output, as in bertqa_context_label_get */
  float probability; /* 0...1; NAN for regression */
  float logit;
  int32_t reserved; /* 0 */
} bertqa_label_score;

/* One occurrence of a word, or of a pair of words, in the text. Grows at its end in later versions. */
typedef struct bertqa_contribution {
  size_t struct_size;
  bertqa_range bytes;
  bertqa_range code_points;
  bertqa_range utf16;
  float weight;     /* addition to the best label's logit, minus the mean over all labels; < 0: against
                     * it */
  int32_t reserved; /* 0 */
} bertqa_contribution;

/* The properties of the text as a whole. Grows at its end in later versions. */
typedef struct bertqa_classify_summary {
  size_t struct_size;
  bertqa_problem_type problem_type;
  /* The text has fewer distinct words than the model requires. The result then has no labels; this is not
   * an error. Word-count models only. */
  int32_t is_too_short;
  size_t distinct_word_count; /* counted by a word-count model; 0 for encoders */
  size_t window_count;        /* windows that an encoder read; 0 for word-count models */
  /* The best label's probability is below min_probability: no label fits. The result still has the
   * scores. */
  int32_t is_none;
  int32_t reserved; /* 0 */
} bertqa_classify_summary;

/* All labels of one text, the most probable first; for regression in the order of their ids. */
typedef struct bertqa_classification bertqa_classification;

/* Classifies one text of any length. options: NULL for the defaults. Time: linear in the length.
 * Errors: INVALID_ARGUMENT, WRONG_MODEL, TOO_LARGE, OUT_OF_MEMORY, CANCELLED, DEADLINE_EXCEEDED. */
BERTQA_MUST_CHECK bertqa_status bertqa_classify(const bertqa_context *context, const char *text,
                                                size_t length,
                                                const bertqa_classify_options *options,
                                                bertqa_classification **classification);

/* Classifies many texts, or pairs, in one call. Pairs are for encoders: for other models INVALID_ARGUMENT.
 * texts: [count]. classifications: [count], all set, to be freed. statuses: NULL or [count]; both as
 * in bertqa_answer_batch. Errors: as bertqa_classify; TOO_LARGE also for a count above
 * BERTQA_MAX_BATCH. */
BERTQA_MUST_CHECK bertqa_status bertqa_classify_batch(const bertqa_context *context,
                                                      const bertqa_text_pair *texts, size_t count,
                                                      const bertqa_classify_options *options,
                                                      bertqa_classification **classifications,
                                                      bertqa_status *statuses);

void bertqa_classification_free(bertqa_classification *classification);

/* The number of labels: all of the model's, or 0 if the text is too short. */
size_t bertqa_classification_count(const bertqa_classification *classification);

/* Returns the label of this rank, 0 = most probable; NULL beyond the count. */
const bertqa_label_score *bertqa_classification_get(const bertqa_classification *classification,
                                                    size_t index);

/* The words that weighed most for and against the best label, by decreasing magnitude; NULL beyond the
 * count. */
size_t bertqa_classification_contribution_count(const bertqa_classification *classification);
const bertqa_contribution *bertqa_classification_contribution_get(
    const bertqa_classification *classification, size_t index);

/* NULL only for NULL. */
const bertqa_classify_summary *bertqa_classification_summary(
    const bertqa_classification *classification);

/* ---- Entities -------------------------------------------------------------------------------- */

/* How token labels become entities: the strategies of Hugging Face's token-classification pipeline.
 * A label's tag is the label without "B-" or "I-". */
typedef int32_t bertqa_aggregation;
enum {
  BERTQA_AGGREGATION_MODEL = 0,   /* as in config.json ("bertqa": {"aggregation": ...}), else SIMPLE */
  BERTQA_AGGREGATION_NONE = 1,    /* every token is an entity */
  BERTQA_AGGREGATION_SIMPLE = 2,  /* neighbouring tokens with one tag are one entity; "B-" starts another */
  BERTQA_AGGREGATION_FIRST = 3,   /* as SIMPLE for words, with the label of their first token */
  BERTQA_AGGREGATION_AVERAGE = 4, /* for words, with the label of the highest mean probability */
  BERTQA_AGGREGATION_MAX = 5      /* for words, with the label of the token with the highest probability */
};

typedef struct bertqa_entities_options {
  size_t struct_size;
  const bertqa_call_options *call;
  /* [label_count], at least one: the labels to return, with or without "B-" and "I-"; labels that the model
   * does not have are INVALID_ARGUMENT. Default NULL: all. A GLiNER model has no labels of its own: it finds
   * what these name, in any words, and needs at least one. */
  const bertqa_text *labels;
  size_t label_count;
  /* [label_count]: the threshold of each label; 0 means the threshold below. Default NULL: that threshold
   * for all. */
  const float *thresholds;
  /* [ignore_label_count]: labels to omit, spelt as in results, unless labels has them. Default NULL: only
   * "O"; another pointer with a count of 0 ignores none. */
  const bertqa_text *ignore_labels;
  size_t ignore_label_count;
  bertqa_aggregation aggregation; /* default BERTQA_AGGREGATION_MODEL; GLiNER has no other */
  /* Entities with a lower score are omitted; 0...1. Default 0; for GLiNER, 0 means 0.5. */
  float threshold;
  /* Tokens of one window, special tokens included, at least 8. Default 0: what the model's config.json
   * names ("bertqa": {"max_seq_length": ...}) if doc_stride is 0, else as many as the model takes; more is
   * lowered to that. A longer text is read in windows, never cut: see bertqa_entities. */
  int32_t max_seq_len;
  /* Tokens that two neighbouring windows share: 1 or more, fewer than a window has without its special
   * tokens, or -1 for none. Default 0: windows end where paragraphs and sentences do. */
  int32_t doc_stride;
  /* GLiNER: BERTQA_ON lets entities lie within others. Default off: of overlapping entities, the one with
   * the highest score stays. */
  bertqa_switch nested;
  int32_t reserved; /* 0 */
} bertqa_entities_options;

#define BERTQA_ENTITIES_OPTIONS_INIT \
  {sizeof(bertqa_entities_options), NULL, NULL, 0, NULL, NULL, 0, 0, 0, 0, 0, 0, 0}

void bertqa_entities_options_init(bertqa_entities_options *options, size_t struct_size);

/* A part of a text and its label. It neither begins nor ends with white space, and has whole
 * characters, with their combining marks. Grows at its end in later versions. */
typedef struct bertqa_entity {
  size_t struct_size;
  const char *label; /* without "B-" or "I-", except with AGGREGATION_NONE; UTF-8 with a NUL and without one
                      * inside; lives as long as the list */
  size_t label_length;
  bertqa_range bytes;
  bertqa_range code_points;
  bertqa_range utf16;
  float score;      /* 0...1: the label's probability: its mean over the entity's words, or tokens */
  int32_t reserved; /* 0 */
  /* Why a rule found it (bertqa_patterns). UTF-8 with a NUL; live as long as the list. */
  const char *rule;     /* "card"; NULL if no rule did */
  const char *checksum; /* the check that its characters passed, "luhn"; NULL if they have none */
  bertqa_range context; /* bytes of the word before it that identifies it; empty if there is none */
} bertqa_entity;

/* The properties of the text as a whole. Grows at its end in later versions. */
typedef struct bertqa_entities_summary {
  size_t struct_size;
  size_t window_count; /* windows that the model read */
} bertqa_entities_summary;

/* The entities of one text, in the order of the text. */
typedef struct bertqa_entity_list bertqa_entity_list;

/* Finds the entities of one text of any length, with a model that labels tokens or a GLiNER model. A long
 * text is read in windows, which may overlap. If the model labels tokens, the first half of the tokens that
 * two windows share, including the middle one of an odd number, takes the labels of the earlier window, and
 * the rest those of the later one; entities may continue across windows. options: NULL for the defaults.
 * Time: linear in the length.
 * Errors: INVALID_ARGUMENT, WRONG_MODEL, TOO_LARGE, OUT_OF_MEMORY, CANCELLED, DEADLINE_EXCEEDED. */
BERTQA_MUST_CHECK bertqa_status bertqa_entities(const bertqa_context *context, const char *text,
                                                size_t length,
                                                const bertqa_entities_options *options,
                                                bertqa_entity_list **list);

/* Finds the entities of many texts in one call.
 * texts: [count]. lists: [count], all set, to be freed. statuses: NULL or [count]; both as in
 * bertqa_answer_batch. Errors: as bertqa_entities; TOO_LARGE also for a count above BERTQA_MAX_BATCH. */
BERTQA_MUST_CHECK bertqa_status bertqa_entities_batch(const bertqa_context *context,
                                                      const bertqa_text *texts, size_t count,
                                                      const bertqa_entities_options *options,
                                                      bertqa_entity_list **lists,
                                                      bertqa_status *statuses);

void bertqa_entity_list_free(bertqa_entity_list *list);

/* NULL beyond the count. */
size_t bertqa_entity_list_count(const bertqa_entity_list *list);
const bertqa_entity *bertqa_entity_list_get(const bertqa_entity_list *list, size_t index);

/* NULL only for NULL. */
const bertqa_entities_summary *bertqa_entity_list_summary(const bertqa_entity_list *list);

/* ---- Embed ----------------------------------------------------------------------------------- */

/* How the last layer's token vectors become one vector. */
typedef int32_t bertqa_pooling;
enum {
  BERTQA_POOLING_MODEL = 0, /* as in the model's sentence-transformers files, else MEAN */
  BERTQA_POOLING_MEAN = 1,  /* mean over all tokens, [CLS] and [SEP] included */
  BERTQA_POOLING_CLS = 2    /* the vector of [CLS] */
};

typedef struct bertqa_embed_options {
  size_t struct_size;
  const bertqa_call_options *call;
  /* The name of the prompt before each text, or before the first of a pair, such as "query": one of
   * "prompts" in the model's config_sentence_transformers.json, or "query" or "document", which are empty
   * if the file does not define them. Another name is INVALID_ARGUMENT, and the message lists the names.
   * Default NULL: that of "default_prompt_name", if the file has one. In a model with adapters, such as
   * jina-embeddings-v3, the name of a task also chooses its adapters. */
  const bertqa_text *prompt_name;
  /* The caller's prompt instead of the model's; of length 0 for none. Default NULL: that of prompt_name. With
   * both, prompt_name does not choose the prompt; it still chooses adapters, and ColBERT's queries. */
  const bertqa_text *prompt;
  bertqa_pooling pooling;  /* default BERTQA_POOLING_MODEL */
  bertqa_switch normalize; /* scale to length 1; default: as the model's files say */
  /* Tokens of one window, at least 8. Default 0: as the model's files say; more than the model's
   * max_position_embeddings is lowered to that. */
  int32_t max_seq_len;
  /* Default off: a longer text is read in windows, whose vectors are averaged by their number of
   * tokens (CLS: with equal weights). On: it is truncated, as sentence-transformers does. */
  bertqa_switch truncate;
} bertqa_embed_options;

#define BERTQA_EMBED_OPTIONS_INIT {sizeof(bertqa_embed_options), NULL, NULL, NULL, 0, 0, 0, 0}

void bertqa_embed_options_init(bertqa_embed_options *options, size_t struct_size);

/* Computes vectors of texts for search, clustering and comparison, equal to sentence-transformers' within
 * 1e-4 in f32. A pair is [CLS] text [SEP] second [SEP]. An empty text has the vector of [CLS] [SEP].
 * texts: [count].
 * embeddings: [count][bertqa_model_info.embedding_length]; embeddings_length: exactly that product.
 * Unspecified after a failure.
 * statuses: NULL or [count], as in bertqa_answer_batch; the vector of an item that failed is zeros.
 * Errors: INVALID_ARGUMENT, WRONG_MODEL, TOO_LARGE, OUT_OF_MEMORY, CANCELLED, DEADLINE_EXCEEDED. */
BERTQA_MUST_CHECK bertqa_status bertqa_embed(const bertqa_context *context,
                                             const bertqa_text_pair *texts, size_t count,
                                             const bertqa_embed_options *options,
                                             float *embeddings, size_t embeddings_length,
                                             bertqa_status *statuses);

/* ---- Quantize -------------------------------------------------------------------------------- */

typedef struct bertqa_quantize_options {
  size_t struct_size;
  const bertqa_call_options *call;
  /* Default off: no_answer_threshold must be 0, and the model's own is kept. */
  bertqa_switch use_no_answer_threshold;
  float no_answer_threshold; /* of the new model, which must answer questions; finite */
} bertqa_quantize_options;

#define BERTQA_QUANTIZE_OPTIONS_INIT {sizeof(bertqa_quantize_options), NULL, 0, 0}

void bertqa_quantize_options_init(bertqa_quantize_options *options, size_t struct_size);

/* The result of a quantization. Grows at its end in later versions; the caller sets struct_size. */
typedef struct bertqa_quantize_report {
  size_t struct_size;
  size_t tensor_count;         /* tensors written, scales and sums included */
  size_t quantized_count;      /* weights rounded to int8 */
  size_t bytes_read;           /* of the tensors read */
  size_t bytes_written;        /* of the new model.safetensors */
  double rms_weight;           /* root mean square of the rounded weights */
  double rms_error;            /* root mean square of their change */
  double rms_error_of_largest; /* what it would be with scales from each row's largest magnitude */
} bertqa_quantize_report;

#define BERTQA_QUANTIZE_REPORT_INIT {sizeof(bertqa_quantize_report), 0, 0, 0, 0, 0, 0, 0}

/* Writes the int8 form of an encoder: a quarter of the size, faster, with the accuracy that
 * docs/performance.md states. docs/models.md has the format.
 * directory: the model, F32, F16 or BF16, as in bertqa_context_create; output: a directory that
 * does not exist or is empty, and that appears complete or not at all. Both are NUL-terminated
 * paths in UTF-8.
 * report: filled on success; may be NULL.
 * Errors: INVALID_ARGUMENT (also for a model that is int8 already), IO, INVALID_MODEL, UNSUPPORTED,
 * OUT_OF_MEMORY, CANCELLED, DEADLINE_EXCEEDED. */
BERTQA_MUST_CHECK bertqa_status bertqa_quantize(const char *directory, const char *output,
                                                const bertqa_quantize_options *options,
                                                bertqa_quantize_report *report);

/* ---- The process ----------------------------------------------------------------------------- */

/* Sets the maximum number of threads that work at once in this process, callers included: 1...1024, or 0
 * (the initial value) for the CPUs that the process may use: by the cgroup's quota and the affinity of the
 * thread that makes this call, or the first one with work. Contexts loaded later with 0 threads use this
 * number; it also limits the others. Running calls keep their threads.
 * Errors: INVALID_ARGUMENT. */
BERTQA_MUST_CHECK bertqa_status bertqa_pool_set_threads(int32_t threads);

/* Starts the pool's threads now instead of in the first call that has work for them. They inherit the
 * affinity, priority, privileges and system call filters of the thread that starts them, and block all
 * signals.
 * Errors: OUT_OF_MEMORY if some could not be started; the others stay. */
BERTQA_MUST_CHECK bertqa_status bertqa_pool_start(void);

/* Ends the pool's threads and waits until they are gone. Running calls in other threads continue without
 * them. The next call that has work for threads starts them again. For hosts that must have no threads at
 * some point: before unshare or setuid, or at the end of a test.
 * Errors: none. */
BERTQA_MUST_CHECK bertqa_status bertqa_pool_shutdown(void);

#ifdef __cplusplus
}
#endif

#endif /* BERTQA_H */
