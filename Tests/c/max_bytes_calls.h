/* The functions that read texts with bertqa_call_options, which max_bytes_test.c limits: each calls one with `call` on the
 * current text. */
#ifndef MAX_BYTES_CALLS_H
#define MAX_BYTES_CALLS_H

#include "columns.h"

static bertqa_call_options call = BERTQA_CALL_OPTIONS_INIT;
static bertqa_context *tokenizing[4], *answering, *classifying, *counting, *tagging, *prompting[2], *embedding,
    *predicting;
static bertqa_labeler *labeler;
static bertqa_document *prepared;
static bertqa_entity_list *found;
static char *text, *output;
static size_t length;
static char root[] = "/tmp/bertqa-limit-XXXXXX";

enum { ITEMS = 2000 };
static bertqa_text items[ITEMS];
static bertqa_text_pair pairs[ITEMS];
static bertqa_answer_pair questions[ITEMS];
static bertqa_example examples[ITEMS];
static void *results[ITEMS];
static bertqa_status statuses[ITEMS];
static int64_t offsets[ITEMS + 1];
static float *numbers;

static char *path(const char *name) {
  static char result[4][128];
  static int next;
  next = (next + 1) % 4;
  snprintf(result[next], sizeof result[next], "%s/%s", root, name);
  return result[next];
}

/* Gives the results of a batch back. */
static bertqa_status freed(bertqa_status status, void (*give_back)(void *)) {
  for (int i = 0; i < ITEMS; i++) {
    give_back(results[i]);
    results[i] = NULL;
  }
  return status;
}

#define GIVE_BACK(object, type) \
  static void give_back_##object(void *one) { bertqa_##object##_free((type *)one); }
GIVE_BACK(answers, bertqa_answers)
GIVE_BACK(classification, bertqa_classification)
GIVE_BACK(entity_list, bertqa_entity_list)
GIVE_BACK(token_vectors, bertqa_token_vectors)
GIVE_BACK(sequence_state, bertqa_sequence_state)

static bertqa_status tokenize(int kind) {
  const bertqa_tokenize_options options = {.struct_size = sizeof options, .call = &call};
  bertqa_tokens *tokens;
  const bertqa_status status = bertqa_tokenize(tokenizing[kind], text, length, &options, &tokens);
  bertqa_tokens_free(tokens);
  return status;
}
static bertqa_status word_pieces(void) { return tokenize(0); }
static bertqa_status byte_level(void) { return tokenize(1); }
static bertqa_status characters(void) { return tokenize(2); }
static bertqa_status unigram(void) { return tokenize(3); }

static bertqa_answer_options answer_options(void) {
  bertqa_answer_options options = tiny_options();
  options.call = &call;
  return options;
}

static bertqa_status answer_with(const bertqa_answer_options *options) {
  bertqa_answers *answers;
  const bertqa_status status = bertqa_answer(answering, "who?", 4, text, length, options, &answers);
  bertqa_answers_free(answers);
  return status;
}
static bertqa_status answer(void) {
  const bertqa_answer_options options = answer_options();
  return answer_with(&options);
}
static bertqa_status answer_ranked(void) {
  bertqa_answer_options options = answer_options();
  options.max_windows = 3;
  options.max_seq_len = 16;
  options.doc_stride = 7;
  options.max_question_len = 4;
  return answer_with(&options);
}
static bertqa_status answer_many(void) {
  bertqa_answer_options options = answer_options();
  options.top_k = 20;
  return freed(bertqa_answer_batch(answering, questions, ITEMS, &options,
                                   (bertqa_answers **)results, statuses),
               give_back_answers);
}
static bertqa_status answer_all(void) {
  const bertqa_answer_options options = answer_options();
  return freed(
      bertqa_answer_batch(answering, questions, ITEMS, &options, (bertqa_answers **)results, NULL),
      give_back_answers);
}
static bertqa_status document_create(void) {
  const bertqa_document_options options = {.struct_size = sizeof options, .call = &call};
  bertqa_document *document;
  const bertqa_status status = bertqa_document_create(answering, text, length, &options, &document);
  bertqa_document_free(document);
  return status;
}
static bertqa_status document_answer(void) {
  const bertqa_answer_options options = answer_options();
  bertqa_answers *answers;
  const bertqa_status status =
      bertqa_document_answer(answering, prepared, "who?", 4, &options, &answers);
  bertqa_answers_free(answers);
  return status;
}
static bertqa_status document_answer_batch(void) {
  const bertqa_answer_options options = answer_options();
  const bertqa_text asked[2] = {{"who?", 4}, {"the king", 8}};
  return freed(bertqa_document_answer_batch(answering, prepared, asked, 2, &options,
                                            (bertqa_answers **)results, NULL),
               give_back_answers);
}
static bertqa_status answer_documents(void) {
  const bertqa_answer_options options = answer_options();
  bertqa_answers *answers;
  const bertqa_status status =
      bertqa_answer_documents(answering, "who?", 4, items, ITEMS, &options, &answers);
  bertqa_answers_free(answers);
  return status;
}
static bertqa_status documents_answer(void) {
  const bertqa_answer_options options = answer_options();
  const bertqa_document *const twice[] = {prepared, prepared};
  bertqa_answers *answers;
  const bertqa_status status =
      bertqa_documents_answer(answering, twice, 2, "who?", 4, &options, &answers);
  bertqa_answers_free(answers);
  return status;
}
static bertqa_status search_answer(void) {
  const bertqa_answer_options options = answer_options();
  const bertqa_text passage = {text, length};
  bertqa_search *search = search_of_one_passage();
  bertqa_answers *answers;
  const bertqa_status status = bertqa_search_answer(search, answering, &passage, 1, &options, &answers);
  bertqa_answers_free(answers);
  bertqa_search_free(search);
  return status;
}
static bertqa_status logits(void) {
  const bertqa_logits_options options = {.struct_size = sizeof options, .call = &call};
  enum { WINDOWS = 4000, TOKENS = 16 };
  static int32_t ids[WINDOWS * TOKENS];
  static size_t lengths[WINDOWS];
  for (int i = 0; i < WINDOWS; i++) lengths[i] = TOKENS;
  return bertqa_logits(answering, ids, WINDOWS * TOKENS, lengths, NULL, WINDOWS, &options, numbers,
                       numbers + WINDOWS * TOKENS);
}

static bertqa_status classify_with(const bertqa_context *context, int32_t contributions) {
  const bertqa_classify_options options = {
      .struct_size = sizeof options, .call = &call, .contributions = contributions};
  bertqa_classification *classification;
  const bertqa_status status = bertqa_classify(context, text, length, &options, &classification);
  bertqa_classification_free(classification);
  return status;
}
static bertqa_status classify(void) { return classify_with(classifying, 0); }
static bertqa_status classify_words(void) { return classify_with(counting, 0); }
static bertqa_status contribution(void) { return classify_with(counting, 1); }
static bertqa_status contributions(void) { return classify_with(counting, INT32_MAX); }
static bertqa_status classify_many_with(const bertqa_context *context, int32_t number) {
  const bertqa_classify_options options = {
      .struct_size = sizeof options, .call = &call, .contributions = number};
  return freed(bertqa_classify_batch(context, pairs, ITEMS, &options,
                                     (bertqa_classification **)results, statuses),
               give_back_classification);
}
static bertqa_status classify_batch(void) { return classify_many_with(classifying, 0); }
static bertqa_status classify_words_batch(void) { return classify_many_with(counting, 100); }

static bertqa_status entities_with(bertqa_aggregation aggregation) {
  const bertqa_entities_options options = {.struct_size = sizeof options,
                                           .call = &call,
                                           .aggregation = aggregation,
                                           .ignore_labels = items};
  bertqa_entity_list *list;
  const bertqa_status status = bertqa_entities(tagging, text, length, &options, &list);
  bertqa_entity_list_free(list);
  return status;
}
static bertqa_status entities(void) { return entities_with(BERTQA_AGGREGATION_SIMPLE); }
static bertqa_status entities_of_tokens(void) { return entities_with(BERTQA_AGGREGATION_NONE); }
static bertqa_status entities_named(const bertqa_context *prompted) {
  static const bertqa_text labels[] = {{"film or river", 13}, {"time", 4}};
  const bertqa_entities_options options = {.struct_size = sizeof options,
                                           .call = &call,
                                           .labels = labels,
                                           .label_count = 2,
                                           .threshold = 0.01f};
  bertqa_entity_list *list;
  const bertqa_status status = bertqa_entities(prompted, text, length, &options, &list);
  bertqa_entity_list_free(list);
  return status;
}
static bertqa_status entities_of_spans(void) { return entities_named(prompting[0]); }
static bertqa_status entities_of_words(void) { return entities_named(prompting[1]); }
static bertqa_status entities_batch(void) {
  const bertqa_entities_options options = {.struct_size = sizeof options, .call = &call};
  return freed(bertqa_entities_batch(tagging, items, ITEMS, &options,
                                     (bertqa_entity_list **)results, statuses),
               give_back_entity_list);
}

static bertqa_status embed_with(size_t count, const bertqa_text_pair *texts) {
  const bertqa_embed_options options = {.struct_size = sizeof options, .call = &call};
  return bertqa_embed(embedding, texts, count, &options, numbers,
                      count * bertqa_context_info(embedding)->embedding_length, statuses);
}
static bertqa_status embed(void) {
  const bertqa_text_pair whole = {text, length, NULL, 0};
  return embed_with(1, &whole);
}
static bertqa_status embed_many(void) { return embed_with(ITEMS, pairs); }
static bertqa_status embed_tokens_with(size_t count, const bertqa_text_pair *texts) {
  const bertqa_embed_options options = {.struct_size = sizeof options, .call = &call};
  return freed(bertqa_embed_tokens(embedding, texts, count, &options, (bertqa_token_vectors **)results, statuses),
               give_back_token_vectors);
}
static bertqa_status embed_tokens(void) {
  const bertqa_text_pair whole = {text, length, NULL, 0};
  return embed_tokens_with(1, &whole);
}
static bertqa_status embed_tokens_many(void) { return embed_tokens_with(ITEMS, pairs); }
static bertqa_status passages(void) {
  bertqa_passages *made;
  const bertqa_status status = bertqa_passages_create(embedding, text, length, &call, &made);
  bertqa_passages_free(made);
  return status;
}
static bertqa_status search_with(const bertqa_context *context) {
  char fingerprint[4 + 16];
  size_t needed = 0;
  bertqa_search *search;
  if (context != NULL)
    CHECK_STATUS(BERTQA_OK, bertqa_vectors_fingerprint(context, NULL, fingerprint, sizeof fingerprint, &needed));
  const bertqa_status status = bertqa_search_create(context, text, length, fingerprint, needed, &call, &search);
  bertqa_search_free(search);
  return status;
}
static bertqa_status search(void) { return search_with(embedding); }
static bertqa_status search_words(void) { return search_with(NULL); }
static bertqa_status labeler_create(void) {
  const bertqa_labeler_options options = {.struct_size = sizeof options, .call = &call};
  bertqa_labeler *made;
  const bertqa_status status = bertqa_labeler_create(embedding, examples, ITEMS, &options, &made);
  bertqa_labeler_free(made);
  return status;
}
static bertqa_status labeler_classify(void) {
  return freed(bertqa_labeler_classify(labeler, pairs, ITEMS / 8, &call,
                                       (bertqa_classification **)results, statuses),
               give_back_classification);
}

static bertqa_status word_counts(void) {
  const bertqa_word_counts_options options = {
      .struct_size = sizeof options, .call = &call, .max_ngram = 2};
  bertqa_word_count_list *list;
  const bertqa_status status = bertqa_word_counts(text, length, &options, &list);
  bertqa_word_count_list_free(list);
  return status;
}
static bertqa_status patterns(void) {
  const bertqa_patterns_options options = {.struct_size = sizeof options, .call = &call};
  bertqa_entity_list *list;
  const bertqa_status status = bertqa_patterns(text, length, &options, &list);
  bertqa_entity_list_free(list);
  return status;
}
static bertqa_status redact(void) {
  const bertqa_entity_list *const lists[] = {found, found};
  const bertqa_redact_options options = {.struct_size = sizeof options, .call = &call};
  size_t needed;
  return bertqa_redact(text, length, lists, 2, &options, output, 4 * length + 64, &needed);
}
static bertqa_status redact_by_names(void) {
  const bertqa_entity_list *const lists[] = {found};
  bertqa_redact_options options = {
      .struct_size = sizeof options, .call = &call, .replacement = BERTQA_REPLACEMENT_PSEUDONYM};
  size_t needed;
  bertqa_status status = bertqa_pseudonyms_create(&options.pseudonyms);
  if (status == BERTQA_OK)
    status = bertqa_redact(text, length, lists, 1, &options, output, 4 * length + 64, &needed);
  bertqa_pseudonyms_free(options.pseudonyms);
  return status;
}
static bertqa_status entity_list(void) {
  bertqa_labelled_range ranges[2] = {{{0, length}, "A", 1, 1, 0}, {{0, length / 2}, "B", 1, 1, 0}};
  bertqa_entity_list *list;
  const bertqa_status status = bertqa_entity_list_create(text, length, ranges, 2, &call, &list);
  bertqa_entity_list_free(list);
  return status;
}
static bertqa_status everywhere(void) {
  const bertqa_entity_list *const lists[] = {found};
  bertqa_entity_list *list;
  const bertqa_status status = bertqa_everywhere(text, length, lists, 1, &call, &list);
  bertqa_entity_list_free(list);
  return status;
}
static bertqa_status apply_lists(void) {
  const bertqa_entity_list *const lists[] = {found};
  const bertqa_text phrase = {"the", 3};
  bertqa_entity_list *list;
  const bertqa_status status = bertqa_apply_lists(text, length, lists, 1, NULL, 0, &phrase, 1, &call, &list);
  bertqa_entity_list_free(list);
  return status;
}
static bertqa_status restore(void) {
  bertqa_pseudonyms *names;
  size_t needed;
  bertqa_status status = bertqa_pseudonyms_create(&names);
  if (status == BERTQA_OK) status = bertqa_restore(text, length, names, &call, output, 4 * length + 64, &needed);
  bertqa_pseudonyms_free(names);
  return status;
}

static bertqa_sequence_options sequence_options(void) {
  bertqa_sequence_options options = BERTQA_SEQUENCE_OPTIONS_INIT;
  options.call = &call;
  return options;
}
static bertqa_status predict(void) {
  const bertqa_sequence_options options = sequence_options();
  bertqa_prediction *prediction;
  bertqa_sequence_state *state;
  const bertqa_status status =
      bertqa_sequence_predict(predicting, "O", 1, NULL, &options, &prediction, &state);
  bertqa_prediction_free(prediction);
  bertqa_sequence_state_free(state);
  return status;
}
static bertqa_status predict_text(void) {
  const bertqa_sequence_options options = sequence_options();
  bertqa_prediction *prediction;
  bertqa_sequence_state *state;
  const bertqa_status status =
      bertqa_sequence_predict_text(predicting, text, length, NULL, &options, &prediction, &state);
  bertqa_prediction_free(prediction);
  bertqa_sequence_state_free(state);
  return status;
}
static bertqa_status step(void) {
  const bertqa_sequence_options options = sequence_options();
  static const int32_t ids[ITEMS];
  return freed(bertqa_sequence_step(predicting, ids, NULL, ITEMS, &options,
                                    (bertqa_sequence_state **)results, NULL, 0),
               give_back_sequence_state);
}
static bertqa_status generate(void) {
  const bertqa_generate_options options = {.struct_size = sizeof options,
                                           .call = &call,
                                           .max_words = 30000,
                                           .temperature = 1,
                                           .seed = 1};
  bertqa_generation *generation;
  const bertqa_status status =
      bertqa_sequence_generate(predicting, text, length / 4, NULL, &options, &generation);
  bertqa_generation_free(generation);
  return status;
}
static bertqa_status likelihood(void) {
  const bertqa_sequence_options options = sequence_options();
  bertqa_sequence_score score = BERTQA_SEQUENCE_SCORE_INIT;
  return bertqa_sequence_likelihood(predicting, text, length, NULL, &options, &score);
}
static bertqa_status rank(void) {
  const bertqa_sequence_options options = sequence_options();
  static size_t order[ITEMS];
  return bertqa_sequence_rank(predicting, text, length / 4, items, ITEMS / 8, NULL, &options, order,
                              NULL, NULL);
}

static bertqa_column whole_text(column *made) { return one_row(made, text, length); }
static bertqa_column many_rows(column *made) {
  return filled(made, "U", NULL, offsets, text, ITEMS, 0);
}

#define COLUMN(name, function, context, ...)                                      \
  static bertqa_status name(void) {                                               \
    column made;                                                                  \
    struct ArrowArray array;                                                      \
    struct ArrowSchema schema;                                                    \
    const bertqa_status status = function(context, __VA_ARGS__, &array, &schema); \
    if (array.release != NULL) array.release(&array);                             \
    if (schema.release != NULL) schema.release(&schema);                          \
    return status;                                                                \
  }
static bertqa_answer_options one_answer(void) {
  bertqa_answer_options options = answer_options();
  options.top_k = 1;
  return options;
}
#define ANSWERS (&(bertqa_answer_options[1]){one_answer()}[0])
#define LABELS \
  (&(bertqa_classify_options){.struct_size = sizeof(bertqa_classify_options), .call = &call})
#define FOUND \
  (&(bertqa_entities_options){.struct_size = sizeof(bertqa_entities_options), .call = &call})
COLUMN(answer_arrow, bertqa_answer_arrow, answering, many_rows(&made), many_rows(&made), ANSWERS)
COLUMN(classify_arrow, bertqa_classify_arrow, classifying, many_rows(&made), LABELS)
COLUMN(entities_arrow, bertqa_entities_arrow, tagging, whole_text(&made), FOUND)

static bertqa_status train(void) {
  bertqa_train_options options = BERTQA_TRAIN_OPTIONS_INIT;
  options.algorithm = BERTQA_ALGORITHM_NAIVE_BAYES;
  options.folds = -1;
  bertqa_trainer *trainer;
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_create(&options, &trainer));
  bertqa_status status = bertqa_trainer_add(trainer, text, length, "a", 1, &call);
  if (status == BERTQA_OK) status = bertqa_trainer_add(trainer, "one two", 7, "b", 1, &call);
  if (status == BERTQA_OK) {
    status = bertqa_trainer_finish(trainer, path("trained"), &call, NULL);
    char command[160];
    snprintf(command, sizeof command, "rm -rf %s", path("trained"));
    CHECK(system(command) == 0);
  }
  bertqa_trainer_free(trainer);
  return status;
}

typedef struct function {
  const char *name;
  bertqa_status (*run)(void);
} function;

static const function functions[] = {
    {"bertqa_tokenize, WordPiece", word_pieces},
    {"bertqa_tokenize, bytes", byte_level},
    {"bertqa_tokenize, characters", characters},
    {"bertqa_tokenize, unigram", unigram},
    {"bertqa_answer", answer},
    {"bertqa_answer, max_windows", answer_ranked},
    {"bertqa_answer_batch, statuses", answer_many},
    {"bertqa_answer_batch", answer_all},
    {"bertqa_document_create", document_create},
    {"bertqa_document_answer", document_answer},
    {"bertqa_document_answer_batch", document_answer_batch},
    {"bertqa_answer_documents", answer_documents},
    {"bertqa_documents_answer", documents_answer},
    {"bertqa_search_answer", search_answer},
    {"bertqa_logits", logits},
    {"bertqa_classify", classify},
    {"bertqa_classify, words", classify_words},
    {"bertqa_classify, a contribution", contribution},
    {"bertqa_classify, all contributions", contributions},
    {"bertqa_classify_batch", classify_batch},
    {"bertqa_classify_batch, words", classify_words_batch},
    {"bertqa_entities", entities},
    {"bertqa_entities, tokens", entities_of_tokens},
    {"bertqa_entities, labels of spans", entities_of_spans},
    {"bertqa_entities, labels of words", entities_of_words},
    {"bertqa_entities_batch", entities_batch},
    {"bertqa_embed", embed},
    {"bertqa_embed, many", embed_many},
    {"bertqa_embed_tokens", embed_tokens},
    {"bertqa_embed_tokens, many", embed_tokens_many},
    {"bertqa_passages_create", passages},
    {"bertqa_search_create", search},
    {"bertqa_search_create, words", search_words},
    {"bertqa_labeler_create", labeler_create},
    {"bertqa_labeler_classify", labeler_classify},
    {"bertqa_word_counts", word_counts},
    {"bertqa_patterns", patterns},
    {"bertqa_entity_list_create", entity_list},
    {"bertqa_everywhere", everywhere},
    {"bertqa_apply_lists", apply_lists},
    {"bertqa_redact", redact},
    {"bertqa_redact, pseudonyms", redact_by_names},
    {"bertqa_restore", restore},
    {"bertqa_sequence_predict", predict},
    {"bertqa_sequence_predict_text", predict_text},
    {"bertqa_sequence_step", step},
    {"bertqa_sequence_generate", generate},
    {"bertqa_sequence_likelihood", likelihood},
    {"bertqa_sequence_rank", rank},
    {"bertqa_answer_arrow", answer_arrow},
    {"bertqa_classify_arrow", classify_arrow},
    {"bertqa_entities_arrow", entities_arrow},
    {"bertqa_trainer_add, bertqa_trainer_finish", train},
};

#endif
