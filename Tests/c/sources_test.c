/* Models from files in memory and from an open directory. */
#include <fcntl.h>
#include <sys/stat.h>

#include "check.h"

static const char *const names[] = {"config.json", "vocab.txt", "tokenizer_config.json", "model.safetensors"};
enum { FILES = 4 };
static const char question[] = "who jumped?", document[] = "the quick brown fox jumped over the river.";
static bertqa_answers *expected;

/* The tiny model's files, to be freed. */
static void read_files(bertqa_file *files) {
  for (int i = 0; i < FILES; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", tiny, names[i]);
    FILE *file = fopen(path, "rb");
    if (file == NULL) exit(2);
    struct stat status;
    fstat(fileno(file), &status);
    void *data = NULL;
    CHECK(posix_memalign(&data, 64, (size_t)status.st_size) == 0 && fread(data, 1, (size_t)status.st_size, file) == (size_t)status.st_size);
    fclose(file);
    files[i] = (bertqa_file){names[i], data, (size_t)status.st_size};
  }
}

static void check_model(bertqa_context *context) {
  bertqa_answers *answers = tiny_answer(context, question, document);
  CHECK(same_answers(answers, expected));
  bertqa_answers_free(answers);
  bertqa_context_free(context);
}

static void test_memory(void) {
  bertqa_file files[FILES + 1];
  bertqa_context *context;
  read_files(files);
  files[FILES] = (bertqa_file){"README.md", "ignored", 7};
  CHECK_STATUS(BERTQA_OK, bertqa_context_create_from_files(files, FILES + 1, NULL, &context));
  CHECK(*bertqa_context_info(context)->directory == '\0');
  CHECK(bertqa_context_info(context)->vocabulary_size == 197);
  check_model(context);

  /* Data that lie askew are read as well. */
  bertqa_file askew[FILES];
  char *moved = malloc(files[3].size + 1);
  memcpy(moved + 1, files[3].data, files[3].size);
  memcpy(askew, files, sizeof askew);
  askew[3].data = moved + 1;
  CHECK_STATUS(BERTQA_OK, bertqa_context_create_from_files(askew, FILES, NULL, &context));
  check_model(context);
  free(moved);

  const bertqa_context_options tokenizer = {.struct_size = sizeof tokenizer, .tokenizer_only = BERTQA_ON};
  CHECK_STATUS(BERTQA_OK, bertqa_context_create_from_files(files + 1, 2, &tokenizer, &context));
  bertqa_tokens *tokens;
  CHECK_STATUS(BERTQA_OK, bertqa_tokenize(context, "the fox", 7, NULL, &tokens));
  CHECK(bertqa_tokens_count(tokens) == 2);
  bertqa_tokens_free(tokens);
  bertqa_context_free(context);

  const bertqa_status invalid = BERTQA_ERROR_INVALID_ARGUMENT;
  CHECK_FAILS(invalid, context, bertqa_context_create_from_files(NULL, 1, NULL, &context));
  CHECK_FAILS(invalid, context, bertqa_context_create_from_files(files, 0, NULL, &context));
  CHECK_FAILS(BERTQA_ERROR_TOO_LARGE, context, bertqa_context_create_from_files(files, SIZE_MAX, NULL, &context));
  CHECK_STATUS(invalid, bertqa_context_create_from_files(files, FILES, NULL, NULL));
  CHECK_FAILS(BERTQA_ERROR_IO, context, bertqa_context_create_from_files(files + 1, FILES - 1, NULL, &context));
  CHECK(strstr(bertqa_last_error(), "config.json") != NULL);
  for (size_t cut = 0; cut < files[3].size; cut += 1 + files[3].size / 50) { /* truncated weights */
    bertqa_file short_files[FILES];
    memcpy(short_files, files, sizeof short_files);
    short_files[3].size = cut;
    CHECK_FAILS(BERTQA_ERROR_INVALID_MODEL, context,
                bertqa_context_create_from_files(short_files, FILES, NULL, &context));
  }
  const char *const wrong[] = {NULL, "", "config.json", "..", "../config.json", "/config.json", "a/b/c", "\xff"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    bertqa_file bad[FILES];
    memcpy(bad, files, sizeof bad);
    bad[1].name = wrong[i];
    CHECK_FAILS(invalid, context, bertqa_context_create_from_files(bad, FILES, NULL, &context));
  }
  bertqa_file bad[FILES];
  memcpy(bad, files, sizeof bad);
  bad[2].data = NULL;
  CHECK_FAILS(invalid, context, bertqa_context_create_from_files(bad, FILES, NULL, &context));
  CHECK(bertqa_last_error_item() == 2 && strcmp(bertqa_last_error_argument(), "data") == 0);
  bad[2].size = SIZE_MAX;
  CHECK_FAILS(BERTQA_ERROR_TOO_LARGE, context, bertqa_context_create_from_files(bad, FILES, NULL, &context));
  CHECK(bertqa_last_error_item() == 2 && strcmp(bertqa_last_error_argument(), "size") == 0);
  for (int i = 0; i < FILES; i++) free((void *)files[i].data);
}

static void test_directory(void) {
  bertqa_context *context;
  const int directory = open(tiny, O_RDONLY | O_DIRECTORY), root = open("/", O_RDONLY | O_DIRECTORY);
  CHECK_STATUS(BERTQA_OK, bertqa_context_create_at(directory, NULL, NULL, &context));
  check_model(context);
  CHECK_STATUS(BERTQA_OK, bertqa_context_create_at(directory, "", NULL, &context));
  CHECK(fcntl(directory, F_GETFD) != -1); /* it is not closed */
  close(directory);                       /* nor needed any more */
  check_model(context);
  CHECK_STATUS(BERTQA_OK, bertqa_context_create_at(root, tiny + 1, NULL, &context));
  check_model(context);

  const int file = open(tiny[0] == '/' ? "/proc/self/exe" : tiny, O_RDONLY);
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, context, bertqa_context_create_at(-1, NULL, NULL, &context));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, context, bertqa_context_create_at(1000000, NULL, NULL, &context));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, context, bertqa_context_create_at(file, NULL, NULL, &context));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, context, bertqa_context_create_at(root, tiny, NULL, &context));
  CHECK_FAILS(BERTQA_ERROR_IO, context, bertqa_context_create_at(root, "nonexistent", NULL, &context));
  CHECK(strcmp(bertqa_last_error(), "nonexistent: cannot open the directory: No such file or directory") == 0);
  CHECK_FAILS(BERTQA_ERROR_IO, context, bertqa_context_create_at(root, NULL, NULL, &context));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_context_create_at(root, NULL, NULL, NULL));
  close(file);
  close(root);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  bertqa_context *context = tiny_context(1);
  expected = tiny_answer(context, question, document);
  bertqa_context_free(context);
  test_memory();
  test_directory();
  bertqa_answers_free(expected);
  return finish();
}
