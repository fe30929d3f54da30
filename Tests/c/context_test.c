/* Contexts: options, what cannot be loaded, hooks, information, the default model. */
#include <sys/stat.h>

#include "check.h"
#include "structs.h"

static void test_options(void) {
  bertqa_context_options options;
  memset(&options, 0xff, sizeof options);
  bertqa_context_options_init(&options, sizeof options);
  CHECK(options.struct_size == sizeof options);
  CHECK(options.threads == 0 && options.tokenizer_only == 0);
  CHECK(options.precision == BERTQA_PRECISION_AUTO && options.isa == BERTQA_ISA_AUTO);
  CHECK(options.log == NULL && options.log_user == NULL && options.call == NULL && options.load == 0);
}

static void test_struct_sizes(void) {
  bertqa_context *context;
  CHECK_STRUCT_SIZES(bertqa_context_options, threads, load, context,
                     bertqa_context_create(tiny, options, &context), bertqa_context_free);
}

static void refuse(bertqa_context_options options) {
  bertqa_context *context;
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, context, bertqa_context_create(tiny, &options, &context));
}

static void test_refused_options(void) {
  bertqa_context_options defaults, options;
  bertqa_context_options_init(&defaults, sizeof defaults);
  const int32_t threads[] = {-1, 1025, INT32_MAX, INT32_MIN}, enums[] = {-1, 99, INT32_MAX, INT32_MIN};
  for (int i = 0; i < 4; i++) {
    options = defaults, options.threads = threads[i], refuse(options);
    options = defaults, options.precision = enums[i], refuse(options);
    options = defaults, options.isa = enums[i], refuse(options);
    options = defaults, options.default_model = enums[i], refuse(options);
    options = defaults, options.tokenizer_only = threads[i] == -1 ? 2 : threads[i], refuse(options);
    options = defaults, options.load = enums[i], refuse(options);
  }
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_context_create(tiny, NULL, NULL));
}

/* A directory with links to the tiny model's files, except the one to be left out or overwritten. */
static void make_directory(char *path, const char *except) {
  static const char *const files[] = {"config.json", "vocab.txt", "tokenizer_config.json",
                                      "model.safetensors"};
  strcpy(path, "/tmp/bertqa-test-XXXXXX");
  CHECK(mkdtemp(path) != NULL);
  for (int i = 0; i < 4; i++) {
    char from[4096], to[4096];
    snprintf(from, sizeof from, "%s/%s", tiny, files[i]);
    snprintf(to, sizeof to, "%s/%s", path, files[i]);
    if (strcmp(files[i], except) != 0) CHECK(symlink(from, to) == 0);
  }
}

static void remove_directory(const char *path) {
  char command[128];
  snprintf(command, sizeof command, "rm -r %s", path);
  CHECK(system(command) == 0);
}

/* Loading must fail and say which file is at fault. */
static void fails_without(const char *file, const char *content, bertqa_status expected) {
  char directory[64], path[128];
  make_directory(directory, file);
  snprintf(path, sizeof path, "%s/%s", directory, file);
  if (content != NULL) {
    FILE *out = fopen(path, "wb");
    CHECK(out != NULL && fputs(content, out) >= 0 && fclose(out) == 0);
  }
  bertqa_context *context;
  CHECK_FAILS(expected, context, bertqa_context_create(directory, NULL, &context));
  CHECK(strstr(bertqa_last_error(), directory) != NULL);
  remove_directory(directory);
}

static void test_unloadable_models(void) {
  bertqa_context *context;
  CHECK_FAILS(BERTQA_ERROR_IO, context, bertqa_context_create("/nonexistent", NULL, &context));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, context, bertqa_context_create("", NULL, &context));
  fails_without("config.json", NULL, BERTQA_ERROR_IO);
  fails_without("vocab.txt", NULL, BERTQA_ERROR_IO);
  fails_without("model.safetensors", NULL, BERTQA_ERROR_IO);
  fails_without("config.json", "{\"architectures\": [", BERTQA_ERROR_INVALID_MODEL);
  fails_without("config.json", "{\"architectures\": [\"GPT2LMHeadModel\"]}", BERTQA_ERROR_UNSUPPORTED);
  char vocabulary[1024] = "[UNK]\n[CLS]\n[SEP]\n"; /* more pieces than the model has embeddings */
  while (strlen(vocabulary) < 1000) strcat(vocabulary, "x\n");
  fails_without("vocab.txt", vocabulary, BERTQA_ERROR_INVALID_MODEL);
  fails_without("vocab.txt", "the\nfox\n", BERTQA_ERROR_INVALID_MODEL);
  fails_without("model.safetensors", "", BERTQA_ERROR_INVALID_MODEL);
  fails_without("model.safetensors", "\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f{}", BERTQA_ERROR_INVALID_MODEL);
}

static void test_info(void) {
  bertqa_context *context = tiny_context(2);
  const bertqa_model_info *info = bertqa_context_info(context);
  CHECK(info->struct_size == sizeof *info);
  CHECK(strcmp(info->directory, tiny) == 0);
  CHECK(strcmp(info->architecture, "BertForQuestionAnswering") == 0);
  CHECK(info->precision != BERTQA_PRECISION_AUTO && info->isa != BERTQA_ISA_AUTO);
  CHECK(info->threads == 2);
  CHECK(info->vocabulary_size == 197 && info->hidden_size == 32 && info->intermediate_size == 64);
  CHECK(info->num_hidden_layers == 2 && info->num_attention_heads == 4);
  CHECK(info->max_position_embeddings == 128 && info->is_lowercase != 0);
  CHECK(isfinite(info->no_answer_threshold));
  bertqa_context_free(context);
}

static void test_tokenizer_only(void) {
  char vocabulary[4096];
  snprintf(vocabulary, sizeof vocabulary, "%s/vocab.txt", tiny);
  const char *const paths[] = {tiny, vocabulary};
  bertqa_context_options options;
  bertqa_context_options_init(&options, sizeof options);
  options.tokenizer_only = 1;
  for (int i = 0; i < 2; i++) {
    bertqa_context *context;
    CHECK_STATUS(BERTQA_OK, bertqa_context_create(paths[i], &options, &context));
    const bertqa_model_info *info = bertqa_context_info(context);
    CHECK(info->vocabulary_size == 197 && info->hidden_size == 0 && *info->architecture == '\0');
    CHECK(info->precision == 0 && info->isa == 0);

    bertqa_tokens *tokens;
    CHECK_STATUS(BERTQA_OK, bertqa_tokenize(context, "the fox", 7, NULL, &tokens));
    CHECK(bertqa_tokens_count(tokens) == 2);
    bertqa_tokens_free(tokens);

    bertqa_answers *answers;
    bertqa_answer_pair pair = {"a", 1, "b", 1};
    bertqa_document *document;
    int32_t id = 0;
    size_t length = 1;
    float start, end;
    CHECK_FAILS(BERTQA_ERROR_WRONG_MODEL, answers, bertqa_answer(context, "a", 1, "b", 1, NULL, &answers));
    CHECK_FAILS(BERTQA_ERROR_WRONG_MODEL, answers, bertqa_answer_batch(context, &pair, 1, NULL, &answers, NULL));
    CHECK_FAILS(BERTQA_ERROR_WRONG_MODEL, document, bertqa_document_create(context, "b", 1, NULL, &document));
    CHECK_STATUS(BERTQA_ERROR_WRONG_MODEL,
                 bertqa_logits(context, &id, 1, &length, NULL, 1, NULL, &start, &end));
    bertqa_context_free(context);
  }
}

struct log {
  pthread_t thread;
  int lines, wrong;
};

static void count_line(void *user, const char *message) {
  struct log *log = user;
  log->lines++;
  if (*message == '\0' || strchr(message, '\n') != NULL) log->wrong++;
  if (!pthread_equal(log->thread, pthread_self())) log->wrong++;
}

static void test_log_hook(void) {
  struct log log = {pthread_self(), 0, 0};
  bertqa_context_options options;
  bertqa_context_options_init(&options, sizeof options);
  options.log = count_line;
  options.log_user = &log;
  bertqa_context *context;
  CHECK_STATUS(BERTQA_OK, bertqa_context_create(tiny, &options, &context));
  CHECK(log.lines > 0 && log.wrong == 0);
  bertqa_context_free(context);
}

/* Every precision and instruction set either works or says that it is not there. */
static void test_every_path(void) {
  for (int32_t precision = BERTQA_PRECISION_AUTO; precision <= BERTQA_PRECISION_INT8; precision++) {
    for (int32_t isa = BERTQA_ISA_AUTO; isa <= BERTQA_ISA_AVX512_AMX; isa++) {
      bertqa_context_options options;
      bertqa_context_options_init(&options, sizeof options);
      options.precision = precision;
      options.isa = isa;
      bertqa_context *context;
      bertqa_status status = bertqa_context_create(tiny, &options, &context);
      CHECK(status == BERTQA_OK || status == BERTQA_ERROR_UNSUPPORTED);
      CHECK((context != NULL) == (status == BERTQA_OK));
      int always_there = precision <= BERTQA_PRECISION_F32 && isa <= BERTQA_ISA_PORTABLE;
      CHECK(status == BERTQA_OK || !always_there);
      if (context == NULL) continue;
      const bertqa_model_info *info = bertqa_context_info(context);
      CHECK(precision == BERTQA_PRECISION_AUTO || info->precision == precision);
      CHECK(isa == BERTQA_ISA_AUTO || info->isa == isa);
      bertqa_answers *answers = tiny_answer(context, "who jumped?", "the quick brown fox jumped.");
      CHECK(bertqa_answers_count(answers) > 0);
      bertqa_answers_free(answers);
      bertqa_context_free(context);
    }
  }
}

static void test_default_model(void) {
  const char *document = "The quick brown fox jumps over the lethargic dog.";
  const char *question = "Who jumped over the dog?";
  bertqa_context *context;
  bertqa_answers *answers;
  CHECK_STATUS(BERTQA_OK, bertqa_context_create(NULL, NULL, &context));
  if (context == NULL) return;
  CHECK_STATUS(BERTQA_OK, bertqa_answer(context, question, strlen(question), document,
                                        strlen(document), NULL, &answers));
  bertqa_context_free(context);
  CHECK(bertqa_answers_count(answers) == 1);
  const bertqa_answer_span *best = bertqa_answers_get(answers, 0);
  CHECK(best != NULL && best->bytes.start == 0 && best->bytes.end == strlen("The quick brown fox"));
  CHECK(bertqa_answers_summary(answers)->is_impossible == 0);
  bertqa_answers_free(answers);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  test_options();
  test_struct_sizes();
  test_refused_options();
  test_unloadable_models();
  test_info();
  test_tokenizer_only();
  test_log_hook();
  test_every_path();
  test_default_model();
  return finish();
}
