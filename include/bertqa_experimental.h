/*
 * The experimental part of libbertqa: the same library with the rules of bertqa.h, but without its
 * promise of stability. The declarations here may change or disappear in a minor version (docs/abi.md);
 * CHANGELOG reports each change. Compile hosts that use them against the header of the library that they
 * run with.
 *
 *   Training classifiers             the options depend on the algorithms, and more may be added
 *   Labelling by example             one of several methods; thresholds and a "none" are undecided
 *   Vectors of tokens                one form for late interaction and for sparse models
 *   Counting words                   depends on the classifiers that count them
 *   Recurrent language models        states are those of LSTM and GRU; transformers need others
 *   Searching a collection           the fusion of both orders may change with better measurements
 *   Patterns and redaction           more rules and more countries will be added
 *   Arrow columns                    the schema of the results may be extended
 */
#ifndef BERTQA_EXPERIMENTAL_H
#define BERTQA_EXPERIMENTAL_H

#include "bertqa.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Train a classifier ---------------------------------------------------------------------- */

typedef int32_t bertqa_algorithm;
enum {
  /* multinomial, L2, L-BFGS: scikit-learn's LogisticRegression */
  BERTQA_ALGORITHM_LOGISTIC_REGRESSION = 0,
  /* multinomial: scikit-learn's MultinomialNB */
  BERTQA_ALGORITHM_NAIVE_BAYES = 1
};

/* What a classifier reads of a text. */
typedef int32_t bertqa_features;
enum {
  BERTQA_FEATURES_WORDS = 0,     /* the counts of its words: WordCountClassifier */
  BERTQA_FEATURES_EMBEDDING = 1, /* its vector by an embedding model: EmbeddingClassifier */
  /* Tries both and chooses those with the higher accuracy in the cross-validation. */
  BERTQA_FEATURES_AUTO = 2
};

typedef struct bertqa_train_options {
  size_t struct_size;
  /* Embedding: the directory of the model, or the name of an installed one. Its files are copied into
   * the classifier's directory. Must be NULL for words. Default NULL: the default model. */
  const char *embedding_model;
  /* The maximum fraction of texts with a word; words in more texts are omitted; above 0, at most 1. Default
   * 0: 1. Options about words apply only to word counts. */
  double max_document_fraction;
  /* Logistic regression: inverse strength of L2, 1e-9...1e9; default 0: 1 for words, 10 for vectors. */
  double c;
  double alpha; /* naive Bayes: additive smoothing, above 0, at most 1e6; default 0: 1 */
  double
      tolerance; /* logistic regression: largest gradient component at the end, above 0; default 0:
                     * 1e-4 */
  uint64_t seed; /* of the folds; the same data and seed give the same files; default 0 */
  /* Of word counts; default BERTQA_ALGORITHM_LOGISTIC_REGRESSION, the only one for vectors. */
  bertqa_algorithm algorithm;
  int32_t min_word_length;    /* in code points, 1...255; default 0: 3 */
  int32_t min_distinct_words; /* a text with fewer is too short to classify; default 0: 3 */
  int32_t max_ngram;          /* 1 (also the default 0): words; 2: also pairs of neighbouring words */
  bertqa_switch tf_idf;       /* weigh counts by TF-IDF, scaled to length 1; default off */
  int32_t min_document_count; /* words in fewer texts are omitted, at least 1; default 0: 1 */
  int32_t max_vocabulary;     /* the most frequent words are kept, 1...2^28; default 0: 262144 */
  int32_t max_iterations;     /* logistic regression: of L-BFGS, at least 1; default 0: 1000 */
  int32_t folds;              /* of the cross-validation, 2...1000, or -1 for none; default 0: 5 */
  int32_t threads;            /* as in bertqa_context_options */
  /* Divides logits by a temperature that depends on the text's length, fitted to the cross-validation's
   * predictions, before they become probabilities; the order of labels stays. Needs folds; default
   * off. */
  bertqa_switch calibrate;
  bertqa_features features; /* default BERTQA_FEATURES_WORDS */
} bertqa_train_options;

#define BERTQA_TRAIN_OPTIONS_INIT \
  { sizeof(bertqa_train_options), NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

void bertqa_train_options_init(bertqa_train_options *options, size_t struct_size);

/* Collects labelled texts and trains a classifier on them. Texts are not kept. A text's words are counted
 * when it is added, so millions of short texts fit in memory: about 8 bytes for each distinct word of each
 * text. A text's vector is computed once, together with those of other texts: 4 bytes for each number. Not
 * thread-safe: one thread at a time, and no hook of a call on the trainer. */
typedef struct bertqa_trainer bertqa_trainer;

/* Errors: INVALID_ARGUMENT, OUT_OF_MEMORY; with vectors also those of bertqa_context_create, and
 * WRONG_MODEL for a model of another task. */
BERTQA_MUST_CHECK bertqa_status bertqa_trainer_create(const bertqa_train_options *options,
                                                      bertqa_trainer **trainer);

void bertqa_trainer_free(bertqa_trainer *trainer);

/* Adds a text. A text without words also counts. Labels are compared as bytes. call: NULL for no limits.
 * With vectors, the call that fills a group of texts embeds them all.
 * Errors: INVALID_ARGUMENT (a label that is blank, is not valid UTF-8 or has a NUL), TOO_LARGE (also more
 * than 65,536 labels), OUT_OF_MEMORY, CANCELLED, DEADLINE_EXCEEDED; a failure leaves the trainer unchanged. */
BERTQA_MUST_CHECK bertqa_status bertqa_trainer_add(bertqa_trainer *trainer, const char *text,
                                                   size_t length, const char *label,
                                                   size_t label_length,
                                                   const bertqa_call_options *call);

/* Sets the group, such as an author or source, of the texts that are added from now on: any bytes, ""
 * before the first call. With two or more groups, the folds of the cross-validation contain whole groups,
 * so there are at most as many folds as groups. Its figures and the calibration then hold for unseen
 * groups.
 * Errors: INVALID_ARGUMENT, TOO_LARGE, OUT_OF_MEMORY. */
BERTQA_MUST_CHECK bertqa_status bertqa_trainer_set_group(bertqa_trainer *trainer, const char *group,
                                                         size_t length);

/* The result of a training. */
typedef struct bertqa_training_report bertqa_training_report;

/* Trains on all added texts and writes the model to a directory that does not exist or is empty. The
 * directory appears complete or not at all. More texts may be added afterwards.
 * call: NULL for no limits; its progress has the stages "cross-validation" and "training".
 * report: to be freed; may be NULL.
 * Errors: INVALID_ARGUMENT (fewer than two labels, no words, more folds than texts), IO, CANCELLED,
 * DEADLINE_EXCEEDED, TOO_LARGE, OUT_OF_MEMORY. */
BERTQA_MUST_CHECK bertqa_status bertqa_trainer_finish(bertqa_trainer *trainer,
                                                      const char *model_directory,
                                                      const bertqa_call_options *call,
                                                      bertqa_training_report **report);

void bertqa_training_report_free(bertqa_training_report *report);

/* Cross-validated figures are NAN without folds. Grows at its end in later versions. */
typedef struct bertqa_training_summary {
  size_t struct_size;
  size_t text_count;
  size_t vocabulary_size; /* features of the model: terms, or values of a vector */
  double loss;     /* of the final model: mean cross-entropy, with logistic regression + L2 */
  double accuracy; /* of the cross-validation, 0...1, like those below */
  double macro_f1;
  double calibration_error; /* expected calibration error (ECE), 15 bins; with calibrate, of the
                             * probabilities of each fold calibrated by those of the others */
  int32_t iterations;       /* of L-BFGS; 0 for naive Bayes */
  int32_t is_converged;     /* within the tolerance */
  /* With BERTQA_FEATURES_AUTO: the figures of the other features; else NAN. */
  double other_accuracy;
  double other_macro_f1;
  bertqa_features features; /* those of the model */
  int32_t reserved;
} bertqa_training_summary;

/* NULL only for NULL. */
const bertqa_training_summary *bertqa_training_report_summary(const bertqa_training_report *report);

/* One label. Grows at its end in later versions. */
typedef struct bertqa_training_label {
  size_t struct_size;
  const char *label; /* UTF-8 with a NUL; lives as long as the report */
  size_t label_length;
  size_t text_count; /* texts with this label */
  double precision;  /* cross-validated, 0...1; NAN without folds, 0 if the label is never predicted */
  double recall;     /* NAN without folds */
  double f1;         /* NAN without folds, 0 if no prediction of the label is right */
} bertqa_training_label;

/* The labels, sorted by their bytes; the index is the label's id in the model. NULL beyond the count. */
size_t bertqa_training_report_label_count(const bertqa_training_report *report);
const bertqa_training_label *bertqa_training_report_label_get(const bertqa_training_report *report,
                                                              size_t index);

/* Returns the number of texts with true_label for which the cross-validation predicted predicted_label; 0
 * without folds or beyond the count. */
size_t bertqa_training_report_confusion(const bertqa_training_report *report, size_t true_label,
                                        size_t predicted_label);

/* ---- Label by example ------------------------------------------------------------------------ */

/* Classifies by the nearest label in the space of an embedding model, without training. Example texts
 * (few-shot) or a text that names the label (zero-shot: "about sport") define it; its vector is the mean of
 * theirs. Immutable, like a context. */
typedef struct bertqa_labeler bertqa_labeler;

/* One example of a label. Never changes. */
typedef struct bertqa_example {
  const char *text;
  size_t length;
  const char *label;
  size_t label_length;
} bertqa_example;

typedef struct bertqa_labeler_options {
  size_t struct_size;
  const bertqa_call_options *call;
  /* Options for the vectors, both when the labeler is made and when it is used; default NULL: the defaults.
   * Vectors are always scaled to length 1, regardless of normalize; its call must be NULL. */
  const bertqa_embed_options *embed;
  float
      scale; /* logit = scale * cosine of the angle between text and label; above 0; default 0: 20 */
  int32_t reserved;
} bertqa_labeler_options;

#define BERTQA_LABELER_OPTIONS_INIT \
  { sizeof(bertqa_labeler_options), NULL, NULL, 0, 0 }

void bertqa_labeler_options_init(bertqa_labeler_options *options, size_t struct_size);

/* examples: [count], at least one. The labeler keeps what it needs of the context, which may be freed
 * first. Labels are compared as bytes.
 * Errors: as bertqa_embed; INVALID_ARGUMENT also for a label that is blank, is not valid UTF-8 or has a
 * NUL; bertqa_last_error_item() is the example's index. */
BERTQA_MUST_CHECK bertqa_status bertqa_labeler_create(const bertqa_context *context,
                                                      const bertqa_example *examples, size_t count,
                                                      const bertqa_labeler_options *options,
                                                      bertqa_labeler **labeler);

void bertqa_labeler_free(bertqa_labeler *labeler);

/* The labels in the order of their first examples, with a NUL; the length in *length unless that is
 * NULL. NULL and 0 beyond the count. Lives as long as the labeler. */
size_t bertqa_labeler_label_count(const bertqa_labeler *labeler);
const char *bertqa_labeler_label_get(const bertqa_labeler *labeler, size_t index, size_t *length);

/* As bertqa_classify_batch, with the same errors; a label's id is its index.
 * call: NULL for no limits. */
BERTQA_MUST_CHECK bertqa_status bertqa_labeler_classify(const bertqa_labeler *labeler,
                                                        const bertqa_text_pair *texts, size_t count,
                                                        const bertqa_call_options *call,
                                                        bertqa_classification **classifications,
                                                        bertqa_status *statuses);

/* ---- Vectors of tokens ----------------------------------------------------------------------- */

/* The vectors of one text's tokens. */
typedef struct bertqa_token_vectors bertqa_token_vectors;

/* Computes a vector for each token of texts, special tokens included, in the order of the text:
 *   any embedding model with an encoder: those of the last layer, as transformers' last_hidden_state; not
 *     normalised unless options->normalize is on.
 *   ColBERT (HF_ColBERT with artifact.metadata, or the modules of PyLate or of sentence-transformers'
 *     MultiVectorEncoder): projected, of length 1.
 *     options->prompt_name "query" reads the texts as queries, cut or padded to the model's length. Without
 *     a name or with "document" they are documents, whose punctuation has no vectors if the model says so.
 *   SPLADE (...ForMaskedLM with the module SpladePooling; families Bert, DistilBert, Roberta, XLMRoberta,
 *     Camembert, MPNet and ModernBert): the weights of vocabulary pieces instead of vectors: the ids of the
 *     pieces with nonzero weights, in ascending order, and a float for each. options->normalize must not be on.
 * The windows of a long text follow one another, each with its special tokens; options->truncate reads only
 * the first. options->pooling must be the default.
 * texts, statuses: [count], as in bertqa_embed.
 * vectors: [count]; receives an object for each text, or NULL for one that failed.
 * Errors: those of bertqa_embed; UNSUPPORTED for static models. */
BERTQA_MUST_CHECK bertqa_status bertqa_embed_tokens(const bertqa_context *context,
                                                    const bertqa_text_pair *texts, size_t count,
                                                    const bertqa_embed_options *options,
                                                    bertqa_token_vectors **vectors,
                                                    bertqa_status *statuses);

void bertqa_token_vectors_free(bertqa_token_vectors *vectors);

/* The number of vectors, and the number of floats in each. */
size_t bertqa_token_vectors_count(const bertqa_token_vectors *vectors);
size_t bertqa_token_vectors_width(const bertqa_token_vectors *vectors);

/* The tokens' ids, [count], and the vectors, [count][width]. NULL if there are none. */
const int32_t *bertqa_token_vectors_ids(const bertqa_token_vectors *vectors);
const float *bertqa_token_vectors_values(const bertqa_token_vectors *vectors);

/* Computes MaxSim, the similarity of ColBERT: the sum, over the query's vectors, of the largest dot product
 * with a vector of the document. 0 if either has no vectors. INVALID_ARGUMENT if the sum is not finite, such as
 * with NaN in a vector.
 * query: [query_count][width]; document: [document_count][width]; similarity: receives the sum.
 * Errors: INVALID_ARGUMENT. */
BERTQA_MUST_CHECK bertqa_status bertqa_max_sim(const float *query, size_t query_count,
                                               const float *document, size_t document_count,
                                               size_t width, float *similarity);

/* ---- Count words ----------------------------------------------------------------------------- */

typedef struct bertqa_word_counts_options {
  size_t struct_size;
  const bertqa_call_options *call;
  int32_t min_word_length; /* in code points, 1...255; default 0: 3 */
  int32_t max_ngram;       /* 1 (also the default 0): words; 2: also pairs of neighbouring words */
} bertqa_word_counts_options;

#define BERTQA_WORD_COUNTS_OPTIONS_INIT \
  { sizeof(bertqa_word_counts_options), NULL, 0, 0 }

void bertqa_word_counts_options_init(bertqa_word_counts_options *options, size_t struct_size);

/* A word of a text. Grows at its end in later versions. */
typedef struct bertqa_word_count {
  size_t struct_size;
  const char *text; /* UTF-8, lower-cased, with a NUL; a pair has a space between its words */
  size_t length;
  size_t count; /* occurrences in the text */
} bertqa_word_count;

/* Distinct words, in the order of their first occurrence. */
typedef struct bertqa_word_count_list bertqa_word_count_list;

/* Returns the words of a text and the number of occurrences of each, as word-count classifiers with the
 * same options count them. A word is the text between two word boundaries of Unicode (UAX #29) with a
 * letter or digit, without underscores and narrow no-break spaces at its ends, and without invisible
 * characters such as soft hyphens: "don't", "3.14" and "e_mail" are one word each, and "_e_" is "e". It
 * is lower-cased by Unicode's rules, without locale. Words of more than 255 bytes are omitted. Invalid
 * UTF-8 is not a word. Time: linear in the length.
 * Errors: INVALID_ARGUMENT, TOO_LARGE, OUT_OF_MEMORY, CANCELLED, DEADLINE_EXCEEDED. */
BERTQA_MUST_CHECK bertqa_status bertqa_word_counts(const char *text, size_t length,
                                                   const bertqa_word_counts_options *options,
                                                   bertqa_word_count_list **list);

void bertqa_word_count_list_free(bertqa_word_count_list *list);

/* NULL beyond the count. */
size_t bertqa_word_count_list_count(const bertqa_word_count_list *list);
const bertqa_word_count *bertqa_word_count_list_get(const bertqa_word_count_list *list,
                                                    size_t index);

/* ---- Predict along a sequence ---------------------------------------------------------------- */

/* All functions below that take a text split it into the model's words by one rule. For character models,
 * each code point is a word. Otherwise:
 *
 *   - A word is a run of letters, digits, marks on them and whatever else is neither white space nor
 *     punctuation. An apostrophe or hyphen between two of these is part of it ("don't", "well-known"), and
 *     so is an apostrophe at its end ("parents'") unless the vocabulary has only the word without.
 *   - Any other punctuation mark, of Unicode or ASCII, is a word of its own: "Well, go." is Well , go .
 *   - Apostrophes and quotation marks outside of words are dropped unless the vocabulary has them, and so
 *     are control and format characters. A typographic apostrophe is read as '. Case is kept.
 *   - A word that is not in the vocabulary is read as the unknown token; without one: INVALID_ARGUMENT.
 *
 * Strings such as "</s>" are ordinary text; bertqa_sequence_info has the end symbol. */

/* The properties that only recurrent models have. Grows at its end in later versions. */
typedef struct bertqa_sequence_info {
  size_t struct_size;
  size_t state_length;   /* floats of a state */
  const char *separator; /* between two words of a text: " ", or "" for character models */
  const char *end;       /* the word that ends a sequence, such as "</s>"; "" if there is none */
  int32_t end_id;        /* its id, or -1 */
  int32_t unknown_id;    /* of the word that replaces unknown words, or -1 */
} bertqa_sequence_info;

/* Lives as long as the context. NULL for models of other tasks. */
const bertqa_sequence_info *bertqa_context_sequence_info(const bertqa_context *context);

/* A recurrent model's memory of a sequence. Immutable: a step makes a new one, so a state may be kept,
 * branched from and used by any number of threads. Its floats are h [hidden_size] for each layer, then,
 * with LSTM, c [hidden_size] for each layer; state_length in all. */
typedef struct bertqa_sequence_state bertqa_sequence_state;

/* Returns another handle to the same state; free each. NULL only for NULL. */
bertqa_sequence_state *bertqa_sequence_state_clone(const bertqa_sequence_state *state);
void bertqa_sequence_state_free(bertqa_sequence_state *state);

/* values: [length], all set. Errors: INVALID_ARGUMENT for a length other than state_length. */
BERTQA_MUST_CHECK bertqa_status bertqa_sequence_state_export(const bertqa_sequence_state *state,
                                                             float *values, size_t length);

/* values: [length]. Errors: WRONG_MODEL for models of other tasks; INVALID_ARGUMENT for a length other
 * than state_length or a value that is not finite; OUT_OF_MEMORY. */
BERTQA_MUST_CHECK bertqa_status bertqa_sequence_state_import(const bertqa_context *context,
                                                             const float *values, size_t length,
                                                             bertqa_sequence_state **state);

/* Writes the state and its model's fingerprint as bytes, for storage or for another process. Writes at most
 * `capacity` bytes. Sets *length to the needed size, and writes nothing if that is above capacity.
 * Errors: INVALID_ARGUMENT, also if capacity is too small. */
BERTQA_MUST_CHECK bertqa_status bertqa_sequence_state_serialize(const bertqa_sequence_state *state,
                                                                void *bytes, size_t capacity,
                                                                size_t *length);

/* Errors: INVALID_ARGUMENT for bytes that are not a state, WRONG_MODEL for a state of another model,
 * OUT_OF_MEMORY. */
BERTQA_MUST_CHECK bertqa_status bertqa_sequence_state_deserialize(const bertqa_context *context,
                                                                  const void *bytes, size_t length,
                                                                  bertqa_sequence_state **state);

/* The options of all functions below except bertqa_sequence_generate. */
typedef struct bertqa_sequence_options {
  size_t struct_size;
  const bertqa_call_options *call;
  /* bertqa_sequence_predict: the number of words to return, at least 1; a number above the vocabulary
   * size means all. Default 0: 1. */
  int32_t top_k;
  /* bertqa_sequence_likelihood and _rank: the text is complete, and its end symbol is also predicted.
   * Default off. */
  bertqa_switch include_end;
} bertqa_sequence_options;

#define BERTQA_SEQUENCE_OPTIONS_INIT \
  { sizeof(bertqa_sequence_options), NULL, 0, 0 }

void bertqa_sequence_options_init(bertqa_sequence_options *options, size_t struct_size);

/* A predicted or generated word. Grows at its end in later versions. */
typedef struct bertqa_word {
  size_t struct_size;
  const char *text; /* UTF-8 with a NUL; lives as long as the object that returned it */
  size_t length;
  int32_t id;            /* in the vocabulary; see bertqa_context_vocabulary_piece */
  float probability;     /* 0...1 */
  float log_probability; /* natural logarithm */
  int32_t reserved;      /* 0 */
} bertqa_word;

/* The predicted next words, most probable first. */
typedef struct bertqa_prediction bertqa_prediction;

/* One step: reads a word (or a character, for character models) after a state and predicts the next.
 * state: NULL starts a sequence. prediction, next_state: NULL if not needed.
 * The same word and state always give the same bits.
 * Errors: INVALID_ARGUMENT, WRONG_MODEL (also for another model's state), INVALID_MODEL (the weights or the
 * values of the state are so large that the results are not finite), TOO_LARGE, OUT_OF_MEMORY, CANCELLED,
 * DEADLINE_EXCEEDED. */
BERTQA_MUST_CHECK bertqa_status bertqa_sequence_predict(const bertqa_context *context,
                                                        const char *word, size_t length,
                                                        const bertqa_sequence_state *state,
                                                        const bertqa_sequence_options *options,
                                                        bertqa_prediction **prediction,
                                                        bertqa_sequence_state **next_state);

/* As bertqa_sequence_predict, for a whole text, split into words: reads it and predicts the word after it.
 * An empty text needs a state: otherwise INVALID_ARGUMENT. is_unknown refers to the text's last word.
 * Errors: as bertqa_sequence_predict. */
BERTQA_MUST_CHECK bertqa_status bertqa_sequence_predict_text(const bertqa_context *context,
                                                             const char *text, size_t length,
                                                             const bertqa_sequence_state *state,
                                                             const bertqa_sequence_options *options,
                                                             bertqa_prediction **prediction,
                                                             bertqa_sequence_state **next_state);

void bertqa_prediction_free(bertqa_prediction *prediction);

/* NULL beyond the count. */
size_t bertqa_prediction_count(const bertqa_prediction *prediction);
const bertqa_word *bertqa_prediction_get(const bertqa_prediction *prediction, size_t index);

/* Nonzero if the word is not in the vocabulary and the model read its unknown token instead. */
int32_t bertqa_prediction_is_unknown(const bertqa_prediction *prediction);

/* The probability of every word, [vocabulary_size], by id. */
const float *bertqa_prediction_probabilities(const bertqa_prediction *prediction);

/* Advances many independent sequences by one step.
 * ids: [count], words by id; states: [count], a NULL entry starts a sequence, or NULL for all of them;
 * next_states: [count], set; logits: [count][vocabulary_size], or NULL if not needed; logits_length:
 * exactly their product in floats, or 0 for NULL.
 * On failure every next state is NULL, and bertqa_last_error_item() is the index of the failed sequence.
 * Errors: as bertqa_sequence_predict. */
BERTQA_MUST_CHECK bertqa_status bertqa_sequence_step(
    const bertqa_context *context, const int32_t *ids, const bertqa_sequence_state *const *states,
    size_t count, const bertqa_sequence_options *options, bertqa_sequence_state **next_states,
    float *logits, size_t logits_length);

/* Called with each generated word. Nonzero ends the generation after this word, without an error. */
typedef int32_t (*bertqa_word_function)(void *user, const bertqa_word *word);

typedef struct bertqa_generate_options {
  size_t struct_size;
  const bertqa_call_options *call;
  bertqa_word_function on_word; /* default NULL */
  void *on_word_user;           /* passed to on_word */
  uint64_t seed;                /* the same seed gives the same words; default 0 */
  int32_t max_words;            /* generated at most, 1...1000000; default 0: 100 */
  float temperature;            /* divides the logits; finite; default 0: greedy */
  int32_t top_k;                /* draws only from the k most probable words; default 0: all */
  float top_p;                  /* draws only from the fewest words whose probabilities sum to
                                 * this, at most 1; default 0: all */
} bertqa_generate_options;

#define BERTQA_GENERATE_OPTIONS_INIT \
  { sizeof(bertqa_generate_options), NULL, NULL, NULL, 0, 0, 0, 0, 0 }

void bertqa_generate_options_init(bertqa_generate_options *options, size_t struct_size);

/* Why a generation ended. */
typedef int32_t bertqa_stop;
enum {
  BERTQA_STOP_END = 1,     /* the model predicted its end symbol, such as </s> */
  BERTQA_STOP_LIMIT = 2,   /* max_words */
  BERTQA_STOP_CALLBACK = 3 /* on_word returned nonzero */
};

/* The result of a generation. */
typedef struct bertqa_generation bertqa_generation;

/* Splits a prompt into the model's words, reads them, and generates a continuation.
 * state: NULL starts a sequence. An empty prompt needs a state: otherwise INVALID_ARGUMENT.
 * Errors: as bertqa_sequence_predict. */
BERTQA_MUST_CHECK bertqa_status bertqa_sequence_generate(const bertqa_context *context,
                                                         const char *prompt, size_t length,
                                                         const bertqa_sequence_state *state,
                                                         const bertqa_generate_options *options,
                                                         bertqa_generation **generation);

void bertqa_generation_free(bertqa_generation *generation);

/* The generated words, without the prompt and the end symbol; NULL beyond the count. */
size_t bertqa_generation_count(const bertqa_generation *generation);
const bertqa_word *bertqa_generation_get(const bertqa_generation *generation, size_t index);

/* The words joined by bertqa_sequence_info.separator, with a NUL; the length in *length unless that is
 * NULL. */
const char *bertqa_generation_text(const bertqa_generation *generation, size_t *length);

bertqa_stop bertqa_generation_stop(const bertqa_generation *generation);

/* Words of the prompt that are not in the vocabulary. */
size_t bertqa_generation_unknown_count(const bertqa_generation *generation);

/* The state after the last word, for continuing. It belongs to the generation: clone it to keep it. */
const bertqa_sequence_state *bertqa_generation_state(const bertqa_generation *generation);

/* The likelihood of a text. Grows at its end in later versions; the caller sets struct_size. */
typedef struct bertqa_sequence_score {
  size_t struct_size;
  size_t word_count; /* words predicted: all but a sequence's first, and the end symbol if included */
  size_t unknown_count;  /* words of the text that are not in the vocabulary */
  double log_likelihood; /* sum of the natural logarithms of their probabilities */
  double perplexity;     /* exp(-log_likelihood / word_count); NAN for a word_count of 0 */
} bertqa_sequence_score;

#define BERTQA_SEQUENCE_SCORE_INIT \
  { sizeof(bertqa_sequence_score), 0, 0, 0, 0 }

/* Computes the likelihood of a text, split into the model's words.
 * state: the state that the text follows; NULL starts a sequence, whose first word is not predicted.
 * Errors: as bertqa_sequence_predict; INVALID_ARGUMENT for include_end if the model has no end
 * symbol. */
BERTQA_MUST_CHECK bertqa_status bertqa_sequence_likelihood(const bertqa_context *context,
                                                           const char *text, size_t length,
                                                           const bertqa_sequence_state *state,
                                                           const bertqa_sequence_options *options,
                                                           bertqa_sequence_score *score);

/* Ranks several continuations of a prefix by their likelihood.
 * continuations: [count]. order: [count], their indices, highest log_likelihood / word_count first, equal
 * ones in the given order, those without a word last. log_likelihoods, word_counts: [count], as in
 * bertqa_sequence_score, for the continuation's words only. Each of the three may be NULL. With an empty
 * prefix and no state a continuation's first word is not predicted.
 * Errors: as bertqa_sequence_likelihood. */
BERTQA_MUST_CHECK bertqa_status bertqa_sequence_rank(const bertqa_context *context,
                                                     const char *prefix, size_t prefix_length,
                                                     const bertqa_text *continuations, size_t count,
                                                     const bertqa_sequence_state *state,
                                                     const bertqa_sequence_options *options,
                                                     size_t *order, double *log_likelihoods,
                                                     size_t *word_counts);

/* ---- Search a collection --------------------------------------------------------------------- */

/* A collection is an SQLite database of documents, cut into passages, with a full-text index of their words
 * and the vectors of an embedding model (docs/collections.md). The host opens the database; these functions
 * are common to all hosts. */

/* SQL that all hosts run. ?1, ?2 are the parameters. */
typedef int32_t bertqa_collection_statement;
enum {
  /* Several statements: create the tables, indexes and triggers of a new collection. */
  BERTQA_COLLECTION_CREATE = 0,
  /* The model of the vectors: fingerprint, length, name. No row if the collection has none. */
  BERTQA_COLLECTION_MODEL = 1,
  /* ?1 the query of bertqa_search_query, ?2 true for a search by words only: the id of each passage that has a
   * word of the query, the word's index there, and its BM25 in the passage, or NULL without ?2. A passage has a
   * row for each of these words. */
  BERTQA_COLLECTION_WORDS = 2,
  /* ?1 a GLOB pattern of paths or NULL, ?2 NULL or a JSON object with each field that matters: a text or number
   * is a GLOB pattern, another value must be equal. First and last id of each run of passages of such
   * documents, ascending. */
  BERTQA_COLLECTION_ALLOWED = 3,
  /* All vectors: first, count, rows, scales. */
  BERTQA_COLLECTION_VECTORS = 4,
  /* ?1 an id: the passage's text, start and end (bytes of the document), line (from 1; NULL: not from a
   * text file), path (NULL: not from a file), name (of a record, or given by the host; NULL: none), title,
   * fields. */
  BERTQA_COLLECTION_PASSAGE = 5,
  /* ?1 name, ?2 length, ?3 fingerprint: sets the model. */
  BERTQA_COLLECTION_SET_MODEL = 6,
  /* ?1 file or NULL, ?2 name, ?3 title, ?4 fields: adds a document; sqlite3_last_insert_rowid returns its
   * id. */
  BERTQA_COLLECTION_ADD_DOCUMENT = 7,
  /* ?1 document, ?2 start, ?3 end, ?4 line, ?5 text: adds a passage. Passages added in one transaction have
   * ascending ids without gaps; add their words in the same transaction. */
  BERTQA_COLLECTION_ADD_PASSAGE = 8,
  /* ?1 first, ?2 last id: adds the words of passages to the full-text index. */
  BERTQA_COLLECTION_ADD_WORDS = 9,
  /* ?1 id of the first passage, ?2 count, ?3 rows, ?4 scales: adds vectors, each of the text of the
   * document's title, if any, a newline and the passage. */
  BERTQA_COLLECTION_ADD_VECTORS = 10,
  /* ?1 name: removes the document with this name that is not from a file. */
  BERTQA_COLLECTION_REMOVE_DOCUMENT = 11,
  /* ?1 the statements of BERTQA_COLLECTION_CREATE: 1 if the tables, indexes, views and triggers are those,
   * else 0. Others may exist, except triggers. Run it before you search or write: a foreign view or trigger
   * may run without end. */
  BERTQA_COLLECTION_CHECK = 12
};

/* Returns a statement; NULL for other numbers. */
const char *bertqa_collection_sql(bertqa_collection_statement statement);

/* The passages of a text: ranges of its bytes, in order. They overlap only inside a sentence that is longer
 * than a passage. */
typedef struct bertqa_passages bertqa_passages;

/* Cuts a text into passages of whole sentences, at most 128 tokens of the context's tokenizer each. A
 * text without tokens has none. call: NULL for no limits. Linear in length.
 * Errors: INVALID_ARGUMENT, WRONG_MODEL, TOO_LARGE, OUT_OF_MEMORY, CANCELLED, DEADLINE_EXCEEDED. */
BERTQA_MUST_CHECK bertqa_status bertqa_passages_create(const bertqa_context *context,
                                                       const char *text, size_t length,
                                                       const bertqa_call_options *call,
                                                       bertqa_passages **passages);

void bertqa_passages_free(bertqa_passages *passages);

/* The number of ranges, and an array of them; NULL if there are none. */
size_t bertqa_passages_count(const bertqa_passages *passages);
const bertqa_range *bertqa_passages_ranges(const bertqa_passages *passages);

/* Rounds vectors to the rows of a collection: element = scale x row's element.
 * vectors, rows: [count][length]; length: a multiple of 4; scales: [count].
 * Errors: INVALID_ARGUMENT, UNSUPPORTED (another length), TOO_LARGE (count). */
BERTQA_MUST_CHECK bertqa_status bertqa_vectors_quantize(const float *vectors, size_t count,
                                                        size_t length, int8_t *rows, float *scales);

/* Writes bytes that identify an embedding model by its vectors. capacity: the size of output. needed: the
 * size of these bytes, also if it is above capacity, which is INVALID_ARGUMENT.
 * Errors: as bertqa_embed. */
BERTQA_MUST_CHECK bertqa_status bertqa_vectors_fingerprint(const bertqa_context *context,
                                                           const bertqa_call_options *call,
                                                           char *output, size_t capacity,
                                                           size_t *needed);

/* A search for one question. Not thread-safe: one thread at a time. */
typedef struct bertqa_search bertqa_search;

/* Begins a search by words and by vectors.
 * context: an embedding model, which reads the question after its prompt "query"; embed passages with
 * "document", to vectors of length 1. NULL: by words only. fingerprint: that of the collection's model.
 * Errors: as bertqa_embed; WRONG_MODEL also for the fingerprint of another model. */
BERTQA_MUST_CHECK bertqa_status bertqa_search_create(const bertqa_context *context,
                                                     const char *question, size_t question_length,
                                                     const void *fingerprint,
                                                     size_t fingerprint_length,
                                                     const bertqa_call_options *call,
                                                     bertqa_search **search);

void bertqa_search_free(bertqa_search *search);

/* Returns an FTS5 query that matches any of the question's words; lives as long as the search. */
const char *bertqa_search_query(const bertqa_search *search);

/* Allows the passages first ... last. Without a call, all are allowed. Call it with ascending ranges, before
 * words are set and vectors added.
 * Errors: INVALID_ARGUMENT, OUT_OF_MEMORY. */
BERTQA_MUST_CHECK bertqa_status bertqa_search_allow(bertqa_search *search, int64_t first,
                                                    int64_t last);

/* Sets the passages that have words of the question, before vectors are added.
 * ids, words, scores: [count], the rows of BERTQA_COLLECTION_WORDS in any order. scores: finite; they count in a
 * search by words only, and may be NULL.
 * Errors: INVALID_ARGUMENT, TOO_LARGE, OUT_OF_MEMORY. */
BERTQA_MUST_CHECK bertqa_status bertqa_search_set_words(bertqa_search *search, const int64_t *ids,
                                                        const int32_t *words, const double *scores,
                                                        size_t count);

/* Adds the vectors of the passages first, first + 1, ..., which are above those of the call before: all rows
 * are compared with the question's.
 * rows: [count][length of the vectors], row_bytes in all; scales: [count].
 * Errors: INVALID_ARGUMENT (first; row_bytes; scales whose products are not finite), WRONG_MODEL (a search by words
 * only), TOO_LARGE, OUT_OF_MEMORY. */
BERTQA_MUST_CHECK bertqa_status bertqa_search_add_vectors(bertqa_search *search, int64_t first,
                                                          size_t count, const int8_t *rows,
                                                          size_t row_bytes, const float *scales);

/* Writes the best passages, best first, and returns their number, at most count and at most 1000. The scores,
 * at most 1, compare the passages of one search.
 * ids, scores: [count]. */
size_t bertqa_search_best(const bertqa_search *search, size_t count, int64_t *ids, double *scores);

/* Returns the score by which a search orders passages, for hosts that compare words and vectors
 * themselves. cosine: that of the vectors of passage and question. share: the share of the question's words
 * that the passage has, weighted by their inverse document frequency, 0 to 1. */
double bertqa_search_score(double cosine, double share);

/* Answers the search's question on its best passages, as bertqa_answer_documents does, but in the search's
 * ranking. An answer's document_index is its passage's index in passages.
 * context: a model that answers. passages: [count], the texts of the ids of bertqa_search_best, in
 * that order.
 * Errors: as bertqa_answer_documents. */
BERTQA_MUST_CHECK bertqa_status bertqa_search_answer(const bertqa_search *search,
                                                     const bertqa_context *context,
                                                     const bertqa_text *passages, size_t count,
                                                     const bertqa_answer_options *options,
                                                     bertqa_answers **answers);

/* ---- Patterns and redaction ------------------------------------------------------------------- */

/* Kinds of personal data that rules find (docs/entities.md). */
typedef int32_t bertqa_pattern;
enum {
  BERTQA_PATTERN_EMAIL = 1,   /* e-mail addresses */
  BERTQA_PATTERN_PHONE = 2,   /* telephone numbers */
  BERTQA_PATTERN_CARD = 4,    /* payment card numbers, checked by Luhn's sum */
  BERTQA_PATTERN_IBAN = 8,    /* bank account numbers, checked modulo 97 */
  BERTQA_PATTERN_IP = 16,     /* IPv4 and IPv6 addresses */
  BERTQA_PATTERN_URL = 32,    /* addresses with a scheme, or that begin with www. */
  BERTQA_PATTERN_CRYPTO = 64, /* Bitcoin and Ethereum addresses, with their checksums */
  /* The kinds above are rarely found by mistake in any country: they are the default. */
  BERTQA_PATTERN_MAC = 128,         /* addresses of network cards */
  BERTQA_PATTERN_COORDINATES = 256, /* latitude and longitude with three decimals or more */
  BERTQA_PATTERN_BIRTH_DATE = 512,  /* dates after a word such as "born" */
  /* Numbers of national registers, with their check digits if they have any. */
  BERTQA_PATTERN_US_SSN = 1024,
  BERTQA_PATTERN_US_ITIN = 2048,
  BERTQA_PATTERN_UK_NHS = 4096,
  BERTQA_PATTERN_UK_NINO = 8192,
  BERTQA_PATTERN_DE_TAX_ID = 16384,
  BERTQA_PATTERN_FR_NIR = 32768,
  BERTQA_PATTERN_ES_DNI = 65536, /* and NIE */
  BERTQA_PATTERN_IT_CF = 131072,
  BERTQA_PATTERN_NL_BSN = 262144,
  BERTQA_PATTERN_PL_PESEL = 524288,
  BERTQA_PATTERN_BR_CPF = 1048576,
  BERTQA_PATTERN_BR_CNPJ = 2097152,
  BERTQA_PATTERN_IN_AADHAAR = 4194304,
  BERTQA_PATTERN_IN_PAN = 8388608,
  BERTQA_PATTERN_AU_TFN = 16777216,
  BERTQA_PATTERN_AU_MEDICARE = 33554432
};

typedef struct bertqa_patterns_options {
  size_t struct_size;
  const bertqa_call_options *call;
  /* [region_count]: countries whose telephone numbers are found in every form of their numbering plans, as
   * two-letter codes (ISO 3166) such as "DE". Other countries' numbers are found by their calling code, or
   * in a usual form. Default NULL and 0: none. */
  const bertqa_text *regions;
  size_t region_count;
  bertqa_pattern patterns; /* the sum of the kinds to find; default 0: the first seven */
  int32_t reserved;
} bertqa_patterns_options;

#define BERTQA_PATTERNS_OPTIONS_INIT \
  { sizeof(bertqa_patterns_options), NULL, NULL, 0, 0, 0 }

void bertqa_patterns_options_init(bertqa_patterns_options *options, size_t struct_size);

/* Sets *patterns to the sum of those with these names, in lower case and without "BERTQA_PATTERN_", or
 * of groups of them: "all" (the first seven), "us", "uk", "eu", "br", "in", "au"; commas separate them, with
 * or without spaces: "all, us". Errors: INVALID_ARGUMENT, with the known names. */
BERTQA_MUST_CHECK bertqa_status bertqa_patterns_named(const char *names, size_t length,
                                                      bertqa_pattern *patterns);

/* Finds personal data in a text by rule, without a model. The labels are the constants' names without
 * "BERTQA_PATTERN_", the rules the same in lower case. Entities do not overlap. The score is 1 if the form,
 * or a word before it, leaves little doubt; 0.8 if only the check digits of a register's number support it;
 * 0.5 if only its form does. Time: linear in the length.
 * Errors: INVALID_ARGUMENT, TOO_LARGE, OUT_OF_MEMORY, CANCELLED, DEADLINE_EXCEEDED. */
BERTQA_MUST_CHECK bertqa_status bertqa_patterns(const char *text, size_t length,
                                                const bertqa_patterns_options *options,
                                                bertqa_entity_list **list);

/* Sets *is_right to 1 if the check digits of a number or code are right, else to 0, also for a text of more
 * than 1024 bytes. Spaces, hyphens and other marks do not count.
 * name: "luhn"; "mod97" (ISO 7064, the check digits at the end); "verhoeff"; or a kind of data with check
 * digits, such as "iban" or "uk_nhs".
 * Errors: INVALID_ARGUMENT, with the known names; TOO_LARGE; OUT_OF_MEMORY. */
BERTQA_MUST_CHECK bertqa_status bertqa_checksum(const char *name, size_t name_length,
                                                const char *text, size_t length,
                                                int32_t *is_right);

/* A part of a text and its label. Never changes. */
typedef struct bertqa_labelled_range {
  bertqa_range bytes;
  const char *label; /* UTF-8 */
  size_t label_length;
  float score;
  int32_t reserved; /* 0 */
} bertqa_labelled_range;

/* Makes a list of entities that the host found by other means, for the functions below.
 * ranges: [count], of this text, in any order; they are copied. call: may be NULL.
 * Errors: INVALID_ARGUMENT for a range outside of the text and for a label that is empty, is not valid
 * UTF-8 or has a NUL, bertqa_last_error_item() being the range's index; TOO_LARGE; OUT_OF_MEMORY; CANCELLED;
 * DEADLINE_EXCEEDED. */
BERTQA_MUST_CHECK bertqa_status bertqa_entity_list_create(const char *text, size_t length,
                                                          const bertqa_labelled_range *ranges,
                                                          size_t count,
                                                          const bertqa_call_options *call,
                                                          bertqa_entity_list **list);

/* Merges lists and adds the other occurrences of their entities, by the rule "everywhere": a name found
 * once is found everywhere in the text, ignoring case and with any spaces and marks between its words.
 * Time: linear in the text.
 * lists: [list_count], of this text; an entry may be NULL. call: may be NULL.
 * Errors: INVALID_ARGUMENT, also for an entity outside of the text; TOO_LARGE; OUT_OF_MEMORY; CANCELLED;
 * DEADLINE_EXCEEDED. */
BERTQA_MUST_CHECK bertqa_status bertqa_everywhere(const char *text, size_t length,
                                                  const bertqa_entity_list *const *lists,
                                                  size_t list_count,
                                                  const bertqa_call_options *call,
                                                  bertqa_entity_list **list);

/* Merges lists, omits the entities within an allowed text, and adds the denied texts that are not within
 * an entity, even if they are allowed, labelled "DENIED" by the rule "deny". Texts are compared by their
 * words, ignoring case, with any spaces and marks between them. Time: linear in the texts.
 * lists: [list_count], of this text; an entry may be NULL. allow, deny: [allow_count], [deny_count], at most
 * 2^20, each of 1 to 16 words; NULL with 0. call: may be NULL.
 * Errors: as bertqa_everywhere. */
BERTQA_MUST_CHECK bertqa_status bertqa_apply_lists(const char *text, size_t length,
                                                   const bertqa_entity_list *const *lists,
                                                   size_t list_count, const bertqa_text *allow,
                                                   size_t allow_count, const bertqa_text *deny,
                                                   size_t deny_count,
                                                   const bertqa_call_options *call,
                                                   bertqa_entity_list **list);

/* The names that replace values in redacted texts, such as "[PER_3]", and the values. A value with a label
 * has one name. A label's names are numbered from 1 in the order in which values are first seen: an object
 * for many texts gives a value the same name in all; an object for each text starts anew. Threads may share
 * an object; the numbers then depend on which thread is first. */
typedef struct bertqa_pseudonyms bertqa_pseudonyms;

/* A name and the text that it replaces; either may have any bytes. Never changes. */
typedef struct bertqa_pseudonym {
  bertqa_text name;
  bertqa_text value;
} bertqa_pseudonym;

/* Errors: INVALID_ARGUMENT, OUT_OF_MEMORY. */
BERTQA_MUST_CHECK bertqa_status bertqa_pseudonyms_create(bertqa_pseudonyms **pseudonyms);

void bertqa_pseudonyms_free(bertqa_pseudonyms *pseudonyms);

/* The names in the order of their creation. They live as long as the object; NULL beyond the count, and if memory
 * runs out. */
size_t bertqa_pseudonyms_count(const bertqa_pseudonyms *pseudonyms);
const bertqa_pseudonym *bertqa_pseudonyms_get(const bertqa_pseudonyms *pseudonyms, size_t index);

/* Adds a name of an earlier run. A value then keeps it, and new names have higher numbers.
 * Errors: INVALID_ARGUMENT for a name that is not a label, "_" and a number in brackets, or that has
 * another value; TOO_LARGE; OUT_OF_MEMORY. */
BERTQA_MUST_CHECK bertqa_status bertqa_pseudonyms_add(bertqa_pseudonyms *pseudonyms,
                                                      const char *name, size_t name_length,
                                                      const char *value, size_t value_length);

/* What replaces an entity. */
typedef int32_t bertqa_replacement;
enum {
  BERTQA_REPLACEMENT_LABEL = 0, /* its label in brackets: "[PER]" */
  BERTQA_REPLACEMENT_TEXT = 1,  /* `text`, for every entity */
  /* A star for each letter, digit and other character; spaces and punctuation marks stay: "***-**-1234".
   * The last `keep` of these characters also stay, but at most half of an entity's. */
  BERTQA_REPLACEMENT_MASK = 2,
  /* Its label and the first 32 hexadecimal digits of HMAC-SHA-256 of its bytes with `key`:
   * "[PER_4b7d...]". The same bytes always give the same digits; without the key nobody can test values. */
  BERTQA_REPLACEMENT_HASH = 3,
  /* Its name among `pseudonyms`: "[PER_3]". A part of the text that looks like a name becomes
   * "[LITERAL_1]" and so on, so that bertqa_restore returns exactly the text. */
  BERTQA_REPLACEMENT_PSEUDONYM = 4
};

/* A member that the replacement does not use must be 0. */
typedef struct bertqa_redact_options {
  size_t struct_size;
  const bertqa_call_options *call;
  const char *text;
  size_t text_length;
  const char *key; /* at least 16 bytes */
  size_t key_length;
  bertqa_pseudonyms *pseudonyms;
  bertqa_replacement replacement; /* default BERTQA_REPLACEMENT_LABEL */
  int32_t keep;                   /* default 0: none */
} bertqa_redact_options;

#define BERTQA_REDACT_OPTIONS_INIT \
  {sizeof(bertqa_redact_options), NULL, NULL, 0, NULL, 0, NULL, 0, 0}

void bertqa_redact_options_init(bertqa_redact_options *options, size_t struct_size);

/* Writes the text with its entities replaced. Overlapping entities are replaced as one, with the label of
 * the one that begins first, or of the longest that begins there. A character is replaced as a whole, with
 * its combining marks. Writes at most `capacity` bytes, without a NUL. Sets *needed to the needed size, and
 * writes nothing if that is above capacity.
 * lists: [list_count], of this text; an entry may be NULL. A stopped call may leave a part of the result
 * in `output`, and new names in `pseudonyms`.
 * Errors: INVALID_ARGUMENT, also if capacity is too small and for an entity outside of the text;
 * TOO_LARGE; OUT_OF_MEMORY; CANCELLED; DEADLINE_EXCEEDED. */
BERTQA_MUST_CHECK bertqa_status bertqa_redact(const char *text, size_t length,
                                              const bertqa_entity_list *const *lists,
                                              size_t list_count,
                                              const bertqa_redact_options *options, char *output,
                                              size_t capacity, size_t *needed);

/* Writes the text with each name of `pseudonyms` replaced by its value, which undoes bertqa_redact in a
 * whole text or in parts of it. output, capacity, needed, errors: as in bertqa_redact. */
BERTQA_MUST_CHECK bertqa_status bertqa_restore(const char *text, size_t length,
                                               const bertqa_pseudonyms *pseudonyms,
                                               const bertqa_call_options *call, char *output,
                                               size_t capacity, size_t *needed);

/* ---- Columns --------------------------------------------------------------------------------- */

/* The Arrow C Data Interface, copied from https://arrow.apache.org/docs/format/CDataInterface.html: columns
 * of any Arrow library, without linking one. */
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

/* A column of texts: its values and its type, which is utf8, large_utf8, utf8_view or the binary type
 * of the same layout, or null. It is read in place during the call, neither copied nor released: the caller
 * owns it. Every offset, count and pointer in the structs is checked. The lengths of the buffers behind
 * them are not part of Arrow's structs, except for views, so they are trusted. */
typedef struct bertqa_column {
  const struct ArrowArray *array;
  const struct ArrowSchema *schema;
} bertqa_column;

/* Runs bertqa_answer_batch over columns: row by row, or one question for all documents if its column has
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
 * Errors: as bertqa_answer_batch, bertqa_last_error_item() being the row; INVALID_ARGUMENT for columns
 * of other types or unequal lengths, and for malformed ones. */
BERTQA_MUST_CHECK bertqa_status bertqa_answer_arrow(
    const bertqa_context *context, bertqa_column questions, bertqa_column documents,
    const bertqa_answer_options *options, struct ArrowArray *answers, struct ArrowSchema *schema);

/* bertqa_classify_batch over a column. A row with a null has a null classification.
 *
 * classifications, schema: as in bertqa_answer_arrow. A struct column with, per row:
 *   label          large_utf8, the most probable; null if the text is too short or no label has
 *                  min_probability
 *   probability    float32, of the most probable label; null if the text is too short, and for regression
 *   probabilities  fixed-size list of float32, by label id (bertqa_context_label_get), or by index in
 *                  options->labels; for regression the logits; null if the text is too short
 * options->contributions must be 0.
 * Errors: as bertqa_classify_batch, bertqa_last_error_item() being the row; INVALID_ARGUMENT as in
 * bertqa_answer_arrow. */
BERTQA_MUST_CHECK bertqa_status bertqa_classify_arrow(const bertqa_context *context,
                                                      bertqa_column texts,
                                                      const bertqa_classify_options *options,
                                                      struct ArrowArray *classifications,
                                                      struct ArrowSchema *schema);

/* bertqa_entities_batch over a column. A row with a null has a null list.
 *
 * entities, schema: as in bertqa_answer_arrow. A column of large lists, one per row, of structs:
 *   label       large_utf8
 *   text        large_utf8, the part of the row's text; invalid UTF-8 in it is U+FFFD
 *   start, end  int64, of the entity in the text, in code points
 *   score       float32
 * Errors: as bertqa_entities_batch, bertqa_last_error_item() being the row; INVALID_ARGUMENT as in
 * bertqa_answer_arrow. */
BERTQA_MUST_CHECK bertqa_status bertqa_entities_arrow(const bertqa_context *context,
                                                      bertqa_column texts,
                                                      const bertqa_entities_options *options,
                                                      struct ArrowArray *entities,
                                                      struct ArrowSchema *schema);

/* Makes a column of copies of the caller's data, whose release callbacks are the library's: for hosts whose
 * own callbacks cannot be called at any time. Python's would lose an exception that unwinds meanwhile.
 * format, name: the type and name, as Arrow's structs have them; NUL-terminated. The data is not checked.
 * null_count: -1 for unknown. buffers: [buffer_count]; one whose text is NULL is absent.
 * children, child_schemas: [child_count]; moved into the column, so that their release is NULL afterwards.
 * array, schema: filled on success; on failure their release is NULL, and the children stay the caller's.
 * Errors: INVALID_ARGUMENT (also for a released child), OUT_OF_MEMORY. */
BERTQA_MUST_CHECK bertqa_status bertqa_column_create(
    const char *format, const char *name, int64_t length, int64_t null_count,
    const bertqa_text *buffers, size_t buffer_count, struct ArrowArray *children,
    struct ArrowSchema *child_schemas, size_t child_count, struct ArrowArray *array,
    struct ArrowSchema *schema);

#ifdef __cplusplus
}
#endif

#endif /* BERTQA_EXPERIMENTAL_H */
