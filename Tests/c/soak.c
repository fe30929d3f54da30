/* Mixed calls from 8 threads: memory, descriptors and threads of the process must stay as they are after the
 * first tenth. Not run by run.sh: make test-long does, in several processes. Arguments: the tiny model's directory,
 * the number of calls. */
#define _GNU_SOURCE
#include <dirent.h>

#include "check.h"

enum { thread_count = 8, kinds = 4, samples = 10 };
static bertqa_context *contexts[kinds];
static char *document;
static long calls_each;
static pthread_barrier_t barrier;
static long failures[thread_count];

static long entries(const char *path) {
  DIR *directory = opendir(path);
  long count = 0;
  if (directory == NULL) return -1;
  while (readdir(directory) != NULL) count++;
  closedir(directory);
  return count - 2;
}

static long resident_kib(void) {
  long size, pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld %ld", &size, &pages) != 2) pages = -1;
  if (file != NULL) fclose(file);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static int32_t stop_at_once(void *user) { return user != NULL; }

static int one(unsigned seed) {
  size_t start = seed % 997, length = 40 + seed / 7 % 900;
  const char *text = document + start;
  bertqa_call_options call = BERTQA_CALL_OPTIONS_INIT;
  call.cancel = stop_at_once;
  call.user = seed % 11 == 0 ? &call : NULL;
  if (seed % 13 == 0) call.max_bytes = 1;
  bertqa_status status = BERTQA_OK;
  switch (seed / 1000 % 8) {
    case 0: {
      bertqa_answer_options options = tiny_options();
      options.call = &call;
      bertqa_answers *answers;
      status = bertqa_answer(contexts[0], "which king", 10, text, length, &options, &answers);
      bertqa_answers_free(answers);
      break;
    }
    case 1: {
      bertqa_document *prepared;
      status = bertqa_document_create(contexts[0], text, length, NULL, &prepared);
      if (status != BERTQA_OK) return 0;
      bertqa_answer_options options = tiny_options();
      options.call = &call;
      bertqa_answers *answers;
      status = bertqa_document_answer(contexts[0], prepared, "fox", 3, &options, &answers);
      bertqa_answers_free(answers);
      bertqa_document_free(prepared);
      break;
    }
    case 2: {
      bertqa_classify_options options = BERTQA_CLASSIFY_OPTIONS_INIT;
      options.call = &call;
      bertqa_classification *classification;
      status = bertqa_classify(contexts[1], text, length, &options, &classification);
      bertqa_classification_free(classification);
      break;
    }
    case 3: {
      bertqa_text_pair pair = {text, length, NULL, 0};
      float vector[256];
      bertqa_embed_options options = BERTQA_EMBED_OPTIONS_INIT;
      options.call = &call;
      status = bertqa_embed(contexts[2], &pair, 1, &options, vector,
                            bertqa_context_info(contexts[2])->embedding_length, NULL);
      break;
    }
    case 4: {
      bertqa_tokens *tokens;
      status = bertqa_tokenize(contexts[0], text, length, NULL, &tokens);
      bertqa_tokens_free(tokens);
      break;
    }
    case 5: {
      bertqa_generate_options options = BERTQA_GENERATE_OPTIONS_INIT;
      options.call = &call;
      options.max_words = 8;
      bertqa_generation *generation;
      status = bertqa_sequence_generate(contexts[3], "the king", 8, NULL, &options, &generation);
      bertqa_generation_free(generation);
      break;
    }
    case 6: {
      bertqa_sequence_score score = BERTQA_SEQUENCE_SCORE_INIT;
      bertqa_sequence_options options = BERTQA_SEQUENCE_OPTIONS_INIT;
      options.call = &call;
      status = bertqa_sequence_likelihood(contexts[3], text, length, NULL, &options, &score);
      break;
    }
    case 7: { /* one model loaded anew in 64 of these; else a failure that is meant */
      bertqa_context *context;
      if (seed % 64 != 0) {
        status = bertqa_context_create("/nowhere", NULL, &context);
        return status == BERTQA_ERROR_IO && context == NULL;
      }
      bertqa_context_options options = BERTQA_CONTEXT_OPTIONS_INIT;
      status = bertqa_context_create(tiny, &options, &context);
      bertqa_context_free(context);
      break;
    }
  }
  return status == BERTQA_OK || (status == BERTQA_ERROR_CANCELLED && call.user != NULL) ||
         (status == BERTQA_ERROR_TOO_LARGE && call.max_bytes != 0);
}

static void *work(void *argument) {
  long index = (long *)argument - failures;
  unsigned seed = (unsigned)index * 7919 + 1;
  for (long i = 0, sample = 1; i < calls_each; i++) {
    if (i == sample * calls_each / samples) { /* figures are read here, while all wait */
      pthread_barrier_wait(&barrier);
      pthread_barrier_wait(&barrier);
      sample++;
    }
    seed = seed * 1103515245u + 12345u;
    failures[index] += !one(seed >> 4);
  }
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  return NULL;
}

/* Returns the slope of the least-squares line: the growth from one value to the next. */
static double slope(const long *values, int count) {
  double above = 0, below = 0;
  for (int i = 0; i < count; i++) {
    const double place = i - (count - 1) / 2.0;
    above += place * (double)values[i];
    below += place * place;
  }
  return above / below;
}

int main(int argc, char **argv) {
  long calls = argc > 2 ? atol(argv[2]) : 100000;
  calls_each = calls / thread_count;
  begin(argc > 1 ? 2 : argc, argv);
  CHECK(calls_each >= samples);
  if (calls_each < samples) return finish(); /* or the threads wait for ever */
  contexts[0] = tiny_context(2);
  contexts[1] = fixture_context("tiny-bert-classifier", 2);
  contexts[2] = fixture_context("tiny-bert-embedder", 0);
  contexts[3] = fixture_context("tiny-lstm", 1);
  document = made_document(5, 40);
  pthread_barrier_init(&barrier, NULL, thread_count + 1);
  pthread_t threads[thread_count];
  for (int i = 0; i < thread_count; i++) pthread_create(&threads[i], NULL, work, &failures[i]);
  long memory[samples], descriptors[samples], tasks[samples];
  for (int i = 0; i < samples; i++) {
    pthread_barrier_wait(&barrier);
    memory[i] = resident_kib();
    descriptors[i] = entries("/proc/self/fd");
    tasks[i] = entries("/proc/self/task");
    pthread_barrier_wait(&barrier);
  }
  for (int i = 0; i < thread_count; i++) {
    pthread_join(threads[i], NULL);
    CHECK(failures[i] == 0);
  }
  const int last = samples - 1;
  const double bytes_a_call = slope(memory, samples) * 1024 * samples / (double)calls;
  fprintf(report, "%ld calls: %ld -> %ld KiB, %+.1f bytes a call, %ld -> %ld descriptors, %ld -> %ld threads\n", calls,
          memory[0], memory[last], bytes_a_call, descriptors[0], descriptors[last], tasks[0], tasks[last]);
  CHECK(memory[last] - memory[0] < 8 * 1024); /* arenas of malloc settle late; a leak of 100 bytes a call is 9 MB */
  for (int i = 1; i < samples; i++) {
    CHECK(descriptors[i] == descriptors[0]);
    CHECK(tasks[i] <= tasks[0]);
  }
  for (int i = 0; i < kinds; i++) bertqa_context_free(contexts[i]);
  free(document);
  return finish();
}
