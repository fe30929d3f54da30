/* Every function of the headers, called: symbols.sh fails for one that is not named here. */
#ifndef EVERYTHING_H
#define EVERYTHING_H

#include <fcntl.h>

#include "columns.h"

/* Text with matches of the rules for words, sentences, addresses and numbers. */
static const char rich[] =
    "Mr. Smith paid US$12.5 million (no. 5, Oct. 3) in the U.S., e.g. 5 km at -5°C. “Yes!” he "
    "said… No? a.b@c.de "
    "https://x.org/a?b=1 4111 1111 1111 1111, DE89 3704 0044 0532 0130 00, 10.0.0.1, ::1, +49 30 "
    "123456; \xef\xac\x81 "
    "e\xcc\x81 \xe4\xb8\xad\xe5\x9b\xbd\xe3\x80\x82 \xe0\xa4\xb9\xe0\xa4\xbf "
    "\xe1\x84\x80\xe1\x85\xa1 \xf0\x9f\xa6\x8a "
    "\xff\xfe\xe2\x80\x8d O Romeo , Romeo . the king of france jumps over the fox\n\nand the dog.";

static char root[] = "/tmp/bertqa-first-use-XXXXXX";

/* A new directory for a model. */
static void new_directory(char path[96], const char *name) {
  snprintf(path, 96, "%s/%s-XXXXXX", root, name);
  CHECK(mkdtemp(path) != NULL);
}

/* Calls that take no context. */
static void process(void) {
  bertqa_call_options call;
  bertqa_context_options context;
  bertqa_answer_options answer;
  bertqa_classify_options classify;
  bertqa_entities_options entities;
  bertqa_patterns_options patterns;
  bertqa_word_counts_options counts;
  bertqa_embed_options embed;
  bertqa_tokenize_options tokenize;
  bertqa_document_options document;
  bertqa_logits_options logits;
  bertqa_quantize_options quantize;
  bertqa_train_options train;
  bertqa_labeler_options labeler;
  bertqa_sequence_options sequence;
  bertqa_generate_options generate;
  bertqa_call_options_init(&call, sizeof call);
  bertqa_context_options_init(&context, sizeof context);
  bertqa_answer_options_init(&answer, sizeof answer);
  bertqa_classify_options_init(&classify, sizeof classify);
  bertqa_entities_options_init(&entities, sizeof entities);
  bertqa_patterns_options_init(&patterns, sizeof patterns);
  bertqa_word_counts_options_init(&counts, sizeof counts);
  bertqa_embed_options_init(&embed, sizeof embed);
  bertqa_tokenize_options_init(&tokenize, sizeof tokenize);
  bertqa_document_options_init(&document, sizeof document);
  bertqa_logits_options_init(&logits, sizeof logits);
  bertqa_quantize_options_init(&quantize, sizeof quantize);
  bertqa_train_options_init(&train, sizeof train);
  bertqa_labeler_options_init(&labeler, sizeof labeler);
  bertqa_sequence_options_init(&sequence, sizeof sequence);
  bertqa_generate_options_init(&generate, sizeof generate);
  CHECK(bertqa_abi_version() == BERTQA_ABI_VERSION && *bertqa_version() != '\0');
  CHECK(bertqa_deadline_after(1) > 0);
  CHECK(*bertqa_status_name(0) && *bertqa_precision_name(1) && *bertqa_isa_name(1) &&
        *bertqa_task_name(1));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_pool_set_threads(-1));
  CHECK(*bertqa_last_error() && *bertqa_last_error_argument() &&
        bertqa_last_error_item() == SIZE_MAX);
  const bertqa_status started = bertqa_pool_start(); /* fails where another thread ends them */
  CHECK(started == BERTQA_OK || started == BERTQA_ERROR_OUT_OF_MEMORY);
  CHECK_STATUS(BERTQA_OK, bertqa_pool_shutdown());
  char output[96];
  new_directory(output, "int8");
  CHECK_STATUS(BERTQA_OK, bertqa_quantize(tiny, output, &quantize, NULL));
}

static void contexts(void) {
  bertqa_context *context;
  const int directory = open(tiny, O_RDONLY | O_DIRECTORY);
  CHECK_STATUS(BERTQA_OK, bertqa_context_create_at(directory, NULL, NULL, &context));
  close(directory);
  CHECK(bertqa_context_info(context) != NULL && bertqa_context_label_get(context, 0, NULL) == NULL);
  size_t length;
  const char *piece = bertqa_context_vocabulary_piece(context, 0, &length);
  CHECK(piece != NULL && bertqa_context_vocabulary_id(context, piece, length) == 0);
  bertqa_tokens *tokens;
  CHECK_STATUS(BERTQA_OK, bertqa_tokenize(context, rich, sizeof rich - 1, NULL, &tokens));
  CHECK(bertqa_tokens_count(tokens) > 0 && bertqa_tokens_ids(tokens) &&
        bertqa_tokens_ranges(tokens));
  bertqa_tokens_free(tokens);
  const int32_t ids[] = {1, 2};
  const size_t window = 2;
  float starts[2], ends[2];
  CHECK_STATUS(BERTQA_OK, bertqa_logits(context, ids, 2, &window, NULL, 1, NULL, starts, ends));
  bertqa_context_free(context);
  static const char vocabulary[] = "[UNK]\n[CLS]\n[SEP]\na\n";
  const bertqa_file file = {"vocab.txt", vocabulary, sizeof vocabulary - 1};
  const bertqa_context_options options = {.struct_size = sizeof options,
                                          .tokenizer_only = BERTQA_ON};
  CHECK_STATUS(BERTQA_OK, bertqa_context_create_from_files(&file, 1, &options, &context));
  bertqa_context_free(context);
  CHECK_STATUS(BERTQA_ERROR_IO, bertqa_context_create("/nonexistent", NULL, &context));
}

static void answer(void) {
  bertqa_context *context = tiny_context(2);
  char *text = made_document(5, 30);
  bertqa_answer_options options = tiny_options();
  options.max_windows = 2;
  bertqa_answers *answers;
  bertqa_document *document;
  bertqa_status status;
  const bertqa_answer_pair pair = {"who?", 4, rich, sizeof rich - 1};
  const bertqa_text question = {"who?", 4};
  options.top_k = 20; /* wherever they lie: random weights choose */
  CHECK_STATUS(BERTQA_OK, bertqa_answer_batch(context, &pair, 1, &options, &answers, &status));
  bertqa_answers_free(answers);
  CHECK_STATUS(BERTQA_OK, bertqa_document_create(context, text, strlen(text), NULL, &document));
  CHECK_STATUS(BERTQA_OK, bertqa_document_answer_batch(context, document, &question, 1, &options,
                                                       &answers, NULL));
  bertqa_answers_free(answers);
  CHECK_STATUS(BERTQA_OK, bertqa_document_answer(context, document, "who?", 4, &options, &answers));
  CHECK(bertqa_answers_summary(answers) != NULL);
  for (size_t i = 0; i < bertqa_answers_count(answers); i++)
    CHECK(bertqa_answers_get(answers, i) != NULL);
  bertqa_answers_free(answers);
  const bertqa_text documents[] = {{rich, sizeof rich - 1}, {text, strlen(text)}};
  CHECK_STATUS(BERTQA_OK,
               bertqa_answer_documents(context, "who?", 4, documents, 2, &options, &answers));
  bertqa_answers_free(answers);
  const bertqa_document *prepared[] = {document, document};
  CHECK_STATUS(BERTQA_OK,
               bertqa_documents_answer(context, prepared, 2, "who?", 4, &options, &answers));
  bertqa_answers_free(answers);
  bertqa_document_free(document);
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT,
               bertqa_answer(context, NULL, 1, "", 0, NULL, &answers));
  column made;
  const bertqa_column texts = one_row(&made, "who?", 4);
  struct ArrowArray out;
  struct ArrowSchema out_schema;
  CHECK_STATUS(BERTQA_OK, bertqa_answer_arrow(context, texts, texts, NULL, &out, &out_schema));
  out.release(&out), out_schema.release(&out_schema);
  const bertqa_text absent = {NULL, 0};
  CHECK_STATUS(BERTQA_OK, bertqa_column_create("n", "", 1, 1, &absent, 1, NULL, NULL, 0, &out, &out_schema));
  out.release(&out), out_schema.release(&out_schema);
  free(text);
  bertqa_context_free(context);
}

/* A search of two passages. */
static void search(const bertqa_context *context) {
  static const char text[] = "The king of france sleeps. The dog jumps over the fox.";
  const size_t size = bertqa_context_info(context)->embedding_length;
  bertqa_passages *passages;
  CHECK_STATUS(BERTQA_OK, bertqa_passages_create(context, text, sizeof text - 1, NULL, &passages));
  CHECK(bertqa_passages_count(passages) == 1 &&
        bertqa_passages_ranges(passages)->end == sizeof text - 1);
  bertqa_passages_free(passages);
  const bertqa_text_pair texts[] = {{text, 26, NULL, 0}, {text + 27, sizeof text - 28, NULL, 0}};
  float *vectors = calloc(2 * size, sizeof *vectors), scales[2];
  int8_t *rows = calloc(2 * size, 1);
  char *fingerprint = malloc(4 + size);
  size_t needed;
  CHECK_STATUS(BERTQA_OK, bertqa_embed(context, texts, 2, NULL, vectors, 2 * size, NULL));
  CHECK_STATUS(BERTQA_OK, bertqa_vectors_quantize(vectors, 2, size, rows, scales));
  CHECK_STATUS(BERTQA_OK,
               bertqa_vectors_fingerprint(context, NULL, fingerprint, 4 + size, &needed));
  bertqa_search *found;
  CHECK_STATUS(BERTQA_OK,
               bertqa_search_create(context, "the dog", 7, fingerprint, needed, NULL, &found));
  CHECK(strcmp(bertqa_search_query(found), "\"dog\"") == 0);
  int64_t ids[2] = {8, 0};
  double scores[2];
  const int32_t word = 0;
  CHECK_STATUS(BERTQA_OK, bertqa_search_set_words(found, ids, &word, NULL, 1));
  CHECK_STATUS(BERTQA_OK, bertqa_search_allow(found, 7, 8));
  CHECK_STATUS(BERTQA_OK, bertqa_search_add_vectors(found, 7, 2, rows, 2 * size, scales));
  CHECK(bertqa_search_best(found, 2, ids, scores) == 2 && ids[0] + ids[1] == 15 &&
        scores[0] >= scores[1] && bertqa_search_score(1, 1) >= scores[0]);
  const bertqa_text best[] = {{text, 26}, {text + 27, sizeof text - 28}};
  bertqa_context *answering = tiny_context(2);
  bertqa_answers *answers;
  CHECK_STATUS(BERTQA_OK, bertqa_search_answer(found, answering, best, 2, NULL, &answers));
  CHECK(bertqa_answers_count(answers) == 1);
  bertqa_answers_free(answers);
  bertqa_context_free(answering);
  bertqa_search_free(found);
  CHECK(strncmp(bertqa_collection_sql(BERTQA_COLLECTION_CREATE), "PRAGMA", 6) == 0);
  free(vectors), free(rows), free(fingerprint);
}

static void classify_and_embed(void) {
  bertqa_context *context = fixture_context("tiny-bert-classifier", 2);
  bertqa_classification *classification;
  const bertqa_text_pair text = {"the king", 8, NULL, 0};
  CHECK_STATUS(BERTQA_OK, bertqa_classify(context, rich, 200, NULL, &classification));
  CHECK(bertqa_classification_count(classification) > 0 &&
        bertqa_classification_get(classification, 0));
  CHECK(bertqa_classification_summary(classification) != NULL);
  bertqa_classification_free(classification);
  CHECK_STATUS(BERTQA_OK, bertqa_classify_batch(context, &text, 1, NULL, &classification, NULL));
  bertqa_classification_free(classification);
  column made;
  const bertqa_column texts = one_row(&made, "the king", 8);
  struct ArrowArray out;
  struct ArrowSchema out_schema;
  CHECK_STATUS(BERTQA_OK, bertqa_classify_arrow(context, texts, NULL, &out, &out_schema));
  out.release(&out), out_schema.release(&out_schema);
  bertqa_context_free(context);
  context = fixture_context("tiny-bert-embedder", 2);
  const bertqa_example example = {"the king", 8, "a", 1};
  const size_t size = bertqa_context_info(context)->embedding_length;
  float *vector = calloc(size, sizeof *vector);
  CHECK_STATUS(BERTQA_OK, bertqa_embed(context, &text, 1, NULL, vector, size, NULL));
  free(vector);
  CHECK(bertqa_context_prompt_get(context, 0, NULL) == NULL &&
        bertqa_context_prompt_name_get(context, 0, NULL) == NULL);
  bertqa_token_vectors *tokens;
  CHECK_STATUS(BERTQA_OK, bertqa_embed_tokens(context, &text, 1, NULL, &tokens, NULL));
  const float *values = bertqa_token_vectors_values(tokens);
  float similarity;
  CHECK_STATUS(BERTQA_OK, bertqa_max_sim(values, 1, values, bertqa_token_vectors_count(tokens),
                                         bertqa_token_vectors_width(tokens), &similarity));
  CHECK(bertqa_token_vectors_ids(tokens) != NULL);
  bertqa_token_vectors_free(tokens);
  bertqa_labeler *labeler;
  CHECK_STATUS(BERTQA_OK, bertqa_labeler_create(context, &example, 1, NULL, &labeler));
  CHECK_STATUS(BERTQA_OK, bertqa_labeler_classify(labeler, &text, 1, NULL, &classification, NULL));
  bertqa_classification_free(classification);
  CHECK(bertqa_labeler_label_count(labeler) == 1 &&
        bertqa_labeler_label_get(labeler, 0, NULL) != NULL);
  bertqa_labeler_free(labeler);
  search(context);
  bertqa_context_free(context);
}

static void find_entities(void) {
  bertqa_context *context = fixture_context("tiny-bert-entities", 2);
  bertqa_entity_list *lists[2];
  const bertqa_text item = {rich, sizeof rich - 1};
  CHECK_STATUS(BERTQA_OK, bertqa_entities(context, rich, sizeof rich - 1, NULL, &lists[0]));
  CHECK(bertqa_entity_list_summary(lists[0]) != NULL);
  bertqa_entity_list_free(lists[0]);
  CHECK_STATUS(BERTQA_OK, bertqa_entities_batch(context, &item, 1, NULL, &lists[0], NULL));
  CHECK_STATUS(BERTQA_OK, bertqa_patterns(rich, sizeof rich - 1, NULL, &lists[1]));
  CHECK(bertqa_entity_list_count(lists[1]) > 2 && bertqa_entity_list_get(lists[1], 0) != NULL);
  char redacted[4 * sizeof rich];
  size_t needed;
  CHECK_STATUS(BERTQA_OK, bertqa_redact(rich, sizeof rich - 1, (const bertqa_entity_list *const *)lists, 2, NULL,
                                        redacted, sizeof redacted, &needed));
  bertqa_redact_options options = BERTQA_REDACT_OPTIONS_INIT;
  bertqa_redact_options_init(&options, sizeof options);
  options.replacement = BERTQA_REPLACEMENT_PSEUDONYM;
  CHECK_STATUS(BERTQA_OK, bertqa_pseudonyms_create(&options.pseudonyms));
  CHECK_STATUS(BERTQA_OK, bertqa_pseudonyms_add(options.pseudonyms, "[A_1]", 5, "a", 1));
  const bertqa_labelled_range part = {{0, 4}, "A", 1, 1, 0};
  const bertqa_text phrase = {"the king", 8};
  bertqa_entity_list *made_list;
  CHECK_STATUS(BERTQA_OK, bertqa_entity_list_create(rich, sizeof rich - 1, &part, 1, NULL, &made_list));
  CHECK_STATUS(BERTQA_OK, bertqa_redact(rich, sizeof rich - 1, (const bertqa_entity_list *const *)&made_list, 1,
                                        &options, redacted, sizeof redacted, &needed));
  CHECK(bertqa_pseudonyms_count(options.pseudonyms) == 2 && bertqa_pseudonyms_get(options.pseudonyms, 1) != NULL);
  char restored[sizeof rich];
  CHECK_STATUS(BERTQA_OK, bertqa_restore(redacted, needed, options.pseudonyms, NULL, restored, sizeof restored,
                                         &needed));
  bertqa_pattern kinds;
  CHECK_STATUS(BERTQA_OK, bertqa_patterns_named("all", 3, &kinds));
  bertqa_entity_list_free(lists[0]);
  CHECK_STATUS(BERTQA_OK, bertqa_everywhere(rich, sizeof rich - 1, (const bertqa_entity_list *const *)&made_list, 1,
                                            NULL, &lists[0]));
  bertqa_entity_list_free(lists[0]);
  CHECK_STATUS(BERTQA_OK, bertqa_apply_lists(rich, sizeof rich - 1, (const bertqa_entity_list *const *)&made_list, 1,
                                             &phrase, 1, &phrase, 1, NULL, &lists[0]));
  int32_t is_right = 0;
  CHECK_STATUS(BERTQA_OK, bertqa_checksum("luhn", 4, "79927398713", 11, &is_right));
  bertqa_entity_list_free(made_list);
  bertqa_pseudonyms_free(options.pseudonyms);
  bertqa_entity_list_free(lists[0]);
  bertqa_entity_list_free(lists[1]);
  column made;
  const bertqa_column texts = one_row(&made, rich, sizeof rich - 1);
  struct ArrowArray out;
  struct ArrowSchema out_schema;
  CHECK_STATUS(BERTQA_OK, bertqa_entities_arrow(context, texts, NULL, &out, &out_schema));
  out.release(&out), out_schema.release(&out_schema);
  bertqa_context_free(context);
}

static void train(void) {
  bertqa_trainer *trainer;
  bertqa_training_report *report;
  char output[96];
  new_directory(output, "trained");
  const bertqa_train_options options = {
      .struct_size = sizeof options, .folds = 2, .calibrate = BERTQA_ON, .threads = 1};
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_create(&options, &trainer));
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_set_group(trainer, "", 0));
  for (int i = 0; i < 4; i++) {
    const char *words = i % 2 ? "one two three" : "four five six";
    CHECK_STATUS(BERTQA_OK,
                 bertqa_trainer_add(trainer, words, strlen(words), i % 2 ? "b" : "a", 1, NULL));
  }
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_finish(trainer, output, NULL, &report));
  CHECK(bertqa_training_report_summary(report) && bertqa_training_report_label_count(report) == 2);
  CHECK(bertqa_training_report_label_get(report, 0) != NULL);
  (void)bertqa_training_report_confusion(report, 0, 1);
  bertqa_training_report_free(report);
  bertqa_trainer_free(trainer);
  bertqa_context *context = context_of(output, 1);
  bertqa_classification *classification;
  const bertqa_classify_options explained = {.struct_size = sizeof explained, .contributions = 1};
  CHECK_STATUS(BERTQA_OK,
               bertqa_classify(context, "one two three", 13, &explained, &classification));
  CHECK(bertqa_classification_contribution_count(classification) == 1);
  CHECK(bertqa_classification_contribution_get(classification, 0) != NULL);
  bertqa_classification_free(classification);
  bertqa_context_free(context);
}

static void count_words(void) {
  bertqa_word_count_list *list;
  CHECK_STATUS(BERTQA_OK, bertqa_word_counts(rich, sizeof rich - 1, NULL, &list));
  CHECK(bertqa_word_count_list_count(list) > 2 && bertqa_word_count_list_get(list, 0) != NULL);
  bertqa_word_count_list_free(list);
}

static void predict(void) {
  bertqa_context *context = fixture_context("tiny-lstm", 2);
  bertqa_prediction *prediction;
  bertqa_sequence_state *state;
  bertqa_generation *generation;
  size_t order[2];
  const bertqa_text continuations[] = {{"Romeo", 5}, {"night .", 7}};
  CHECK_STATUS(BERTQA_OK,
               bertqa_sequence_predict(context, "O", 1, NULL, NULL, &prediction, &state));
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_generate(context, "O", 1, state, NULL, &generation));
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_rank(context, "O", 1, continuations, 2, state, NULL,
                                               order, NULL, NULL));
  CHECK(bertqa_prediction_count(prediction) > 0 && bertqa_prediction_get(prediction, 0) != NULL);
  CHECK(bertqa_prediction_probabilities(prediction) != NULL &&
        !bertqa_prediction_is_unknown(prediction));
  bertqa_prediction_free(prediction);
  bertqa_sequence_state *read;
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_predict_text(context, "O Romeo", 7, state, NULL,
                                                       &prediction, &read));
  bertqa_prediction_free(prediction);
  bertqa_sequence_state_free(read);
  size_t size;
  CHECK(bertqa_generation_text(generation, &size) != NULL &&
        bertqa_generation_state(generation) != NULL);
  if (bertqa_generation_count(generation) > 0) CHECK(bertqa_generation_get(generation, 0) != NULL);
  (void)(bertqa_generation_stop(generation) + (int)bertqa_generation_unknown_count(generation));
  bertqa_generation_free(generation);
  bertqa_sequence_score score = BERTQA_SEQUENCE_SCORE_INIT;
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_likelihood(context, "O Romeo", 7, state, NULL, &score));
  const size_t length = bertqa_context_sequence_info(context)->state_length;
  float *values = calloc(length, sizeof *values);
  bertqa_sequence_state *other;
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_state_export(state, values, length));
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_state_import(context, values, length, &other));
  free(values);
  bertqa_sequence_state_free(other);
  bertqa_sequence_state_free(bertqa_sequence_state_clone(state));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT,
               bertqa_sequence_state_serialize(state, NULL, 0, &size));
  char *bytes = malloc(size);
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_state_serialize(state, bytes, size, &size));
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_state_deserialize(context, bytes, size, &other));
  free(bytes);
  bertqa_sequence_state_free(other);
  const int32_t id = 0;
  const bertqa_sequence_state *const states[] = {state};
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_step(context, &id, states, 1, NULL, &other, NULL, 0));
  bertqa_sequence_state_free(other);
  bertqa_sequence_state_free(state);
  bertqa_context_free(context);
}

enum { PARTS = 8 };
static void (*const parts[PARTS])(void) = {process,       contexts, answer,      classify_and_embed,
                                           find_entities, train,    count_words, predict};

static void begin_everything(void) {
  if (mkdtemp(root) == NULL) {
    perror(root);
    exit(2);
  }
}

static void end_everything(void) {
  char command[96];
  snprintf(command, sizeof command, "rm -rf %s", root);
  CHECK(system(command) == 0);
}

#endif
