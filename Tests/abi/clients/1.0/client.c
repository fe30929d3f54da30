/* Every function of bertqa.h as it was when the ABI was frozen, with all members of its options set.
 * usage: client FIXTURES OUTPUT_DIRECTORY */
#include "../client.h"

#include <fcntl.h>
#include <unistd.h>

static const char question[] = "Who jumped over the dog?";
static const char fox[] = "The quick brown fox jumps over the lethargic dog.";

static int progress_calls, log_calls;
static int32_t never(void *user) { return user == NULL; }
static int32_t at_once(void *user) { return user != NULL; }
static void count_progress(void *user, const char *stage, double fraction) {
  CHECK(user != NULL && stage != NULL && fraction >= 0 && fraction <= 1);
  progress_calls++;
}
static void count_log(void *user, const char *message) {
  CHECK(user != NULL && strlen(message) > 0);
  log_calls++;
}

/* Everything set, nothing stops. */
static bertqa_call_options patient(void) {
  bertqa_call_options call;
  bertqa_call_options_init(&call, sizeof call);
  call.cancel = never;
  call.progress = count_progress;
  call.user = &checks;
  call.deadline_ns = bertqa_deadline_after(UINT64_C(3600000000000));
  call.max_bytes = UINT64_C(1) << 40;
  return call;
}

static void names_and_numbers(void) {
  CHECK(bertqa_abi_version() == BERTQA_ABI_VERSION);
  CHECK(strlen(bertqa_version()) >= 5);
  CHECK(strcmp(bertqa_status_name(BERTQA_ERROR_DEADLINE_EXCEEDED), "BERTQA_ERROR_DEADLINE_EXCEEDED") == 0);
  CHECK(BERTQA_OK == 0 && BERTQA_ERROR_INVALID_ARGUMENT == 1 && BERTQA_ERROR_INTERNAL == 9);
  CHECK(strcmp(bertqa_precision_name(BERTQA_PRECISION_INT8), "int8") == 0);
  CHECK(strcmp(bertqa_isa_name(BERTQA_ISA_AVX2), "avx2") == 0);
  CHECK(strcmp(bertqa_task_name(BERTQA_TASK_PREDICT), "predict") == 0);
}

static void failures_are_told(void) {
  bertqa_context *context = (bertqa_context *)&checks;
  CHECK(bertqa_context_create("/nowhere/at/all", NULL, &context) == BERTQA_ERROR_IO && context == NULL);
  CHECK(strstr(bertqa_last_error(), "/nowhere/at/all") != NULL);
  CHECK(bertqa_last_error_item() == SIZE_MAX);
  bertqa_context_options options = BERTQA_CONTEXT_OPTIONS_INIT;
  options.threads = -1;
  CHECK(bertqa_context_create(NULL, &options, &context) == BERTQA_ERROR_INVALID_ARGUMENT);
  CHECK(strcmp(bertqa_last_error_argument(), "threads") == 0);
}

static void fox_is_found(const bertqa_answers *answers) {
  NEED(bertqa_answers_count(answers) >= 1);
  const bertqa_answer_span *best = bertqa_answers_get(answers, 0);
  KNOWN(best);
  CHECK(best->bytes.start == 0 && best->bytes.end == 19 && memcmp(fox, "The quick brown fox", 19) == 0);
  CHECK(best->code_points.end == 19 && best->utf16.end == 19 && best->sentence.end == sizeof fox - 1);
  CHECK(fabsf(best->score - best->start_logit - best->end_logit) < 1e-3f);
  CHECK(best->probability > 0 && best->probability <= 1 && best->reserved == 0);
  const bertqa_answer_summary *summary = bertqa_answers_summary(answers);
  KNOWN(summary);
  CHECK(!summary->is_impossible && !summary->is_question_truncated && !summary->is_question_empty);
  CHECK(!summary->is_document_empty && summary->window_count == 1 && summary->skipped_window_count == 0);
  CHECK(fabsf(best->gap - (best->score - summary->null_score)) < 1e-3f && summary->gap == best->gap);
  CHECK(summary->no_answer_probability >= 0 && isfinite(summary->no_answer_threshold));
  CHECK(bertqa_answers_get(answers, 1000) == NULL);
}

/* The installed default model, as most programs use it. */
static void answering(void) {
  bertqa_call_options call = patient();
  bertqa_context_options loading = BERTQA_CONTEXT_OPTIONS_INIT;
  loading.call = &call;
  loading.log = count_log;
  loading.log_user = &checks;
  loading.threads = 2;
  loading.precision = BERTQA_PRECISION_AUTO;
  loading.isa = BERTQA_ISA_AUTO;
  loading.tokenizer_only = BERTQA_OFF;
  loading.default_model = BERTQA_TASK_ANSWER;
  bertqa_context *context = NULL;
  NEED(bertqa_context_create(NULL, &loading, &context) == BERTQA_OK);
  CHECK(log_calls > 0);
  const bertqa_model_info *info = bertqa_context_info(context);
  KNOWN(info);
  CHECK(info->task == BERTQA_TASK_ANSWER && strcmp(info->architecture, "BertForQuestionAnswering") == 0);
  CHECK(info->vocabulary_size == 30522 && info->hidden_size == 384 && info->num_hidden_layers == 6);
  CHECK(info->num_attention_heads == 12 && info->intermediate_size == 1536 && info->threads == 2);
  CHECK(info->max_position_embeddings == 512 && info->is_lowercase && info->label_count == 0);
  CHECK(info->precision == BERTQA_PRECISION_INT8 && info->isa >= BERTQA_ISA_PORTABLE && info->directory[0]);
  CHECK(info->embedding_length == 0 && isfinite(info->no_answer_threshold));

  bertqa_answer_options options;
  bertqa_answer_options_init(&options, sizeof options);
  options.call = &call;
  options.top_k = 3;
  options.max_seq_len = 128;
  options.doc_stride = 32;
  options.max_answer_len = 20;
  options.max_question_len = 32;
  options.n_best_size = 20;
  options.max_windows = 5;
  options.handle_impossible_answer = BERTQA_OFF;
  options.align_to_words = BERTQA_ON;
  options.use_no_answer_threshold = BERTQA_ON;
  options.no_answer_threshold = -100;
  bertqa_answers *answers = NULL;
  NEED(bertqa_answer(context, question, strlen(question), fox, strlen(fox), &options, &answers) == BERTQA_OK);
  fox_is_found(answers);
  CHECK(bertqa_answers_summary(answers)->no_answer_threshold == -100 && progress_calls > 0);
  bertqa_answers_free(answers);

  const bertqa_answer_pair pairs[2] = {{question, strlen(question), fox, strlen(fox)}, {"", 0, fox, strlen(fox)}};
  bertqa_answers *both[2];
  bertqa_status statuses[2] = {-1, -1};
  NEED(bertqa_answer_batch(context, pairs, 2, NULL, both, statuses) == BERTQA_OK);
  CHECK(statuses[0] == BERTQA_OK && statuses[1] == BERTQA_OK);
  fox_is_found(both[0]);
  CHECK(bertqa_answers_summary(both[1])->is_question_empty && bertqa_answers_count(both[1]) == 0);
  bertqa_answers_free(both[0]);
  bertqa_answers_free(both[1]);

  bertqa_document_options reading;
  bertqa_document_options_init(&reading, sizeof reading);
  reading.call = &call;
  bertqa_document *document = NULL;
  NEED(bertqa_document_create(context, fox, strlen(fox), &reading, &document) == BERTQA_OK);
  NEED(bertqa_document_answer(context, document, question, strlen(question), NULL, &answers) == BERTQA_OK);
  fox_is_found(answers);
  bertqa_answers_free(answers);
  const bertqa_text questions[1] = {{question, sizeof question - 1}};
  NEED(bertqa_document_answer_batch(context, document, questions, 1, NULL, both, NULL) == BERTQA_OK);
  fox_is_found(both[0]);
  bertqa_answers_free(both[0]);
  bertqa_document_free(document);

  call.cancel = at_once;
  answers = (bertqa_answers *)&checks;
  CHECK(bertqa_answer(context, question, strlen(question), fox, strlen(fox), &options, &answers) ==
          BERTQA_ERROR_CANCELLED && answers == NULL);
  bertqa_context_free(context);
}

static void tokens_and_logits(const char *fixtures) {
  bertqa_context *context = context_of(fixtures, "tiny-bert");
  bertqa_tokenize_options options;
  bertqa_tokenize_options_init(&options, sizeof options);
  options.parse_special_tokens = BERTQA_ON;
  bertqa_tokens *tokens = NULL;
  NEED(bertqa_tokenize(context, "a [SEP] b", 9, &options, &tokens) == BERTQA_OK);
  CHECK(bertqa_tokens_count(tokens) == 3);
  const int32_t *ids = bertqa_tokens_ids(tokens);
  const bertqa_range *ranges = bertqa_tokens_ranges(tokens);
  CHECK(ids[1] == bertqa_context_vocabulary_id(context, "[SEP]", 5));
  CHECK(ranges[1].start == 2 && ranges[1].end == 7);
  size_t length = 0;
  CHECK(strcmp(bertqa_context_vocabulary_piece(context, ids[1], &length), "[SEP]") == 0 && length == 5);

  /* [3, 120, 3] with one token of the second segment: the fixture's logits, by the reference. */
  const int32_t window[3] = {3, 120, 3};
  const size_t window_length = 3, second_segment = 1;
  const float expected_start[3] = {-0.766695f, -1.720564f, -1.135229f};
  const float expected_end[3] = {0.260208f, 0.107599f, 0.087363f};
  float start[3], end[3];
  bertqa_logits_options logits;
  bertqa_logits_options_init(&logits, sizeof logits);
  NEED(bertqa_logits(context, window, 3, &window_length, &second_segment, 1, &logits, start, end) == BERTQA_OK);
  for (int i = 0; i < 3; i++) /* bf16, where the CPU has it */
    CHECK(fabsf(start[i] - expected_start[i]) < 0.05f && fabsf(end[i] - expected_end[i]) < 0.05f);
  bertqa_tokens_free(tokens);

  /* From an open directory and from memory: the same model. */
  char path[4096];
  snprintf(path, sizeof path, "%s/tiny-bert", fixtures);
  const int directory = open(path, O_RDONLY | O_DIRECTORY);
  bertqa_context *other = NULL;
  NEED(bertqa_context_create_at(directory, NULL, NULL, &other) == BERTQA_OK);
  close(directory);
  CHECK(bertqa_context_info(other)->directory[0] != '\0');
  bertqa_context_free(other);
  bertqa_file vocabulary = {"vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n", 34};
  bertqa_context_options tokenizer;
  bertqa_context_options_init(&tokenizer, sizeof tokenizer);
  tokenizer.tokenizer_only = BERTQA_ON;
  NEED(bertqa_context_create_from_files(&vocabulary, 1, &tokenizer, &other) == BERTQA_OK);
  CHECK(bertqa_context_vocabulary_id(other, "a", 1) == 5 && bertqa_context_info(other)->task == 0);
  bertqa_context_free(other);
  bertqa_context_free(context);
}

static void check_classification(const bertqa_classification *classification, size_t label_count) {
  NEED(bertqa_classification_count(classification) == label_count);
  float sum = 0;
  for (size_t i = 0; i < label_count; i++) {
    const bertqa_label_score *score = bertqa_classification_get(classification, i);
    KNOWN(score);
    CHECK(strlen(score->label) == score->label_length && isfinite(score->logit) && score->reserved == 0);
    CHECK(score->id >= 0 && (size_t)score->id < label_count);
    sum += score->probability;
  }
  CHECK(fabsf(sum - 1) < 1e-3f);
}

static void classifying(void) {
  bertqa_context_options loading = BERTQA_CONTEXT_OPTIONS_INIT;
  loading.default_model = BERTQA_TASK_CLASSIFY;
  bertqa_context *context = NULL;
  NEED(bertqa_context_create(NULL, &loading, &context) == BERTQA_OK);
  const size_t label_count = bertqa_context_info(context)->label_count;
  size_t length = 0;
  CHECK(label_count > 1 && bertqa_context_label_get(context, 0, &length) != NULL && length > 0);
  const char text[] = "The striker scored twice and the crowd sang until the final whistle of the match.";
  bertqa_classify_options options;
  bertqa_classify_options_init(&options, sizeof options);
  options.contributions = 2;
  options.max_seq_len = 64;
  options.doc_stride = 16;
  options.window_pooling = BERTQA_WINDOW_POOLING_MAX;
  bertqa_classification *classification = NULL;
  NEED(bertqa_classify(context, text, strlen(text), &options, &classification) == BERTQA_OK);
  check_classification(classification, label_count);
  CHECK(strcmp(bertqa_classification_get(classification, 0)->label, "sport") == 0);
  NEED(bertqa_classification_contribution_count(classification) == 2);
  const bertqa_contribution *contribution = bertqa_classification_contribution_get(classification, 0);
  KNOWN(contribution);
  CHECK(contribution->weight != 0 && contribution->bytes.end > contribution->bytes.start);
  const bertqa_classify_summary *summary = bertqa_classification_summary(classification);
  KNOWN(summary);
  CHECK(summary->problem_type == BERTQA_PROBLEM_TYPE_SINGLE_LABEL_CLASSIFICATION && !summary->is_too_short);
  CHECK(summary->distinct_word_count > 5 && summary->window_count == 0);
  bertqa_classification_free(classification);

  const bertqa_text_pair texts[2] = {{text, sizeof text - 1, NULL, 0}, {text, sizeof text - 1, NULL, 0}};
  bertqa_classification *both[2];
  bertqa_status statuses[2];
  NEED(bertqa_classify_batch(context, texts, 2, NULL, both, statuses) == BERTQA_OK);
  for (int i = 0; i < 2; i++) {
    CHECK(statuses[i] == BERTQA_OK);
    check_classification(both[i], label_count);
    bertqa_classification_free(both[i]);
  }
  bertqa_context_free(context);
}

static void embedding(const char *fixtures) {
  bertqa_context *context = context_of(fixtures, "tiny-bert-embedder");
  const size_t length = bertqa_context_info(context)->embedding_length;
  NEED(length > 0 && length <= 64);
  float vectors[2 * 64];
  bertqa_embed_options options;
  bertqa_embed_options_init(&options, sizeof options);
  options.pooling = BERTQA_POOLING_MEAN;
  options.normalize = BERTQA_ON;
  options.max_seq_len = 32;
  options.truncate = BERTQA_ON;
  const bertqa_text_pair texts[2] = {{"the fox", 7, NULL, 0}, {"the fox", 7, NULL, 0}};
  NEED(bertqa_embed(context, texts, 2, &options, vectors, 2 * length, NULL) == BERTQA_OK);
  float product = 0;
  for (size_t i = 0; i < length; i++) product += vectors[i] * vectors[length + i];
  CHECK(fabsf(product - 1) < 1e-3f);
  bertqa_context_free(context);
}

static void quantizing(const char *fixtures, const char *output) {
  /* The library writes no further than the report that this header knows. */
  struct {
    bertqa_quantize_report report;
    unsigned char behind[64];
  } guarded;
  memset(&guarded, 0x5A, sizeof guarded);
  guarded.report = (bertqa_quantize_report)BERTQA_QUANTIZE_REPORT_INIT;
  bertqa_quantize_options options;
  bertqa_quantize_options_init(&options, sizeof options);
  options.use_no_answer_threshold = BERTQA_ON;
  options.no_answer_threshold = 1.5f;
  char from[4096], to[4096];
  snprintf(from, sizeof from, "%s/tiny-bert", fixtures);
  snprintf(to, sizeof to, "%s/int8", output);
  NEED(bertqa_quantize(from, to, &options, &guarded.report) == BERTQA_OK);
  CHECK(guarded.report.tensor_count > 0 && guarded.report.quantized_count > 0);
  CHECK(guarded.report.bytes_written < guarded.report.bytes_read);
  CHECK(guarded.report.rms_error > 0 && guarded.report.rms_error < guarded.report.rms_weight);
  CHECK(guarded.report.rms_error_of_largest > 0);
  for (size_t i = 0; i < sizeof guarded.behind; i++) CHECK(guarded.behind[i] == 0x5A);
  bertqa_context *context = context_of(output, "int8");
  CHECK(bertqa_context_info(context)->no_answer_threshold == 1.5f);
  bertqa_context_free(context);
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  CHECK(bertqa_pool_set_threads(2) == BERTQA_OK);
  CHECK(bertqa_pool_start() == BERTQA_OK);
  names_and_numbers();
  failures_are_told();
  answering();
  tokens_and_logits(arguments[1]);
  classifying();
  embedding(arguments[1]);
  quantizing(arguments[1], arguments[2]);
  CHECK(bertqa_pool_shutdown() == BERTQA_OK);
  return finish();
}
