/* The stack that a calling thread needs: the header promises that 64 KiB are enough. Swift's runtime needs most of it
 * when code runs for the first time, so each measurement is a process in which nothing of the library has run. */
#include <dirent.h>
#include <sys/mman.h>

#include "everything.h"

enum {
  SIZE = 1 << 20,
  UNTOUCHED = 0xa5,
  /* Of 64 KiB, a signal takes about 4 with AVX-512. */
  LIMIT = 56 << 10
};

typedef void *body(void *argument);

/* The bytes of stack that a thread with this body has used, with the thread's own data. */
static size_t used(body *run, void *argument) {
  unsigned char *stack =
      mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(stack != MAP_FAILED);
  memset(stack, UNTOUCHED, SIZE);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  CHECK(pthread_attr_setstack(&attributes, stack, SIZE) == 0);
  pthread_t thread;
  CHECK(pthread_create(&thread, &attributes, run, argument) == 0);
  pthread_join(thread, NULL);
  pthread_attr_destroy(&attributes);
  size_t free_bytes = 0;
  while (free_bytes < SIZE && stack[free_bytes] == UNTOUCHED) free_bytes++;
  munmap(stack, SIZE);
  return SIZE - free_bytes;
}

static size_t most;

static void measure(const char *name, body *run, void *argument) {
  int ends[2];
  CHECK(pipe(ends) == 0);
  const pid_t child = fork_child();
  if (child == 0) {
    const size_t bytes = used(run, argument);
    CHECK(write(ends[1], &bytes, sizeof bytes) == sizeof bytes);
    end_child();
  }
  close(ends[1]);
  size_t bytes = 0;
  CHECK(read(ends[0], &bytes, sizeof bytes) == sizeof bytes);
  close(ends[0]);
  CHECK(succeeds(child));
  char detail[128];
  snprintf(detail, sizeof detail, "%zu bytes of stack", bytes);
  check(bytes > 4096 && bytes <= LIMIT, __FILE__, __LINE__, name, detail);
  if (bytes > most) most = bytes;
}

static void *run_part(void *index) {
  parts[(intptr_t)index]();
  return NULL;
}

/* Loads it with each precision; a failure makes a message. */
static void *load(void *model) {
  bertqa_context_options options = {.struct_size = sizeof options, .threads = 1};
  if (strstr(model, "/pipeline-") != NULL) options.tokenizer_only = BERTQA_ON;
  for (options.precision = BERTQA_PRECISION_INT8; options.precision >= BERTQA_PRECISION_AUTO;
       options.precision--) {
    bertqa_context *context = NULL;
    const bertqa_status status = bertqa_context_create(model, &options, &context);
    CHECK(status == BERTQA_OK ||
          (status == BERTQA_ERROR_UNSUPPORTED && options.precision != BERTQA_PRECISION_AUTO));
    bertqa_tokens *tokens = NULL;
    if (context != NULL && bertqa_context_info(context)->task != BERTQA_TASK_PREDICT)
      CHECK_STATUS(BERTQA_OK, bertqa_tokenize(context, rich, sizeof rich - 1, NULL, &tokens));
    bertqa_tokens_free(tokens);
    bertqa_context_free(context);
  }
  return NULL;
}

/* A tokenizer with a file of added tokens. */
static void *load_added(void *unused) {
  static const char vocabulary[] = "[UNK]\n[CLS]\n[SEP]\na\n", added[] = "{\"<x>\": 4}";
  const bertqa_file files[] = {{"vocab.txt", vocabulary, sizeof vocabulary - 1},
                               {"added_tokens.json", added, sizeof added - 1}};
  const bertqa_context_options options = {.struct_size = sizeof options,
                                          .tokenizer_only = BERTQA_ON};
  bertqa_context *context;
  CHECK_STATUS(BERTQA_OK, bertqa_context_create_from_files(files, 2, &options, &context));
  bertqa_context_free(context);
  return unused;
}

/* Values outside their ranges. */
static void *refused(void *unused) {
  bertqa_context *context = NULL;
  bertqa_context_options options = {.struct_size = sizeof options, .threads = -1};
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_context_create(tiny, &options, &context));
  context = fixture_context("tiny-bert-classifier", 1);
  bertqa_classification *classification;
  bertqa_classify_options classify = {.struct_size = sizeof classify, .min_probability = 2};
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT,
               bertqa_classify(context, "a", 1, &classify, &classification));
  bertqa_context_free(context);
  bertqa_trainer *trainer;
  const bertqa_train_options train = {.struct_size = sizeof train, .alpha = -1};
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_trainer_create(&train, &trainer));
  return unused;
}

static void measure_models(void) {
  char parent[4096];
  snprintf(parent, sizeof parent, "%s/..", tiny);
  DIR *directory = opendir(parent);
  int models = 0;
  for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
    if (strncmp(entry->d_name, "tiny-", 5) != 0 && strncmp(entry->d_name, "pipeline-", 9) != 0)
      continue;
    char model[sizeof parent + 256];
    snprintf(model, sizeof model, "%s/%.200s", parent, entry->d_name);
    measure(entry->d_name, load, model);
    models++;
  }
  closedir(directory);
  CHECK(models > 40);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  begin_everything();
  for (intptr_t i = 0; i < PARTS; i++) measure("a part of everything.h", run_part, (void *)i);
  measure("added tokens", load_added, NULL);
  measure("values outside their ranges", refused, NULL);
  measure_models();
  end_everything();
  fprintf(report, "at most %zu bytes of stack\n", most);
  return finish();
}
