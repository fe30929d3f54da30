/* A host with its own thread pool. All threads share one context, and each call has a deadline.
 *
 *     printf '%s\n' "60000 When was Skylab launched?" "1 Who was the first?" | ./pool_host 4 apollo.txt
 *
 * A line of input has a deadline, in milliseconds after the line is read, and a question about
 * the file's text. Answers are printed as they arrive. Each call stays on the host's thread
 * (threads = 1). A call past its deadline ends; the others continue. */
#define _GNU_SOURCE /* getline */
#include <bertqa.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job {
  struct job *next;
  char *line, *question;
  uint64_t deadline_ns;
};

static bertqa_context *context;
static bertqa_document *document;
static char text[1 << 24]; /* the rest of a larger file is not read */
static struct job *queue, **queue_end = &queue;
static int complete; /* no more jobs will arrive */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void put(struct job *job) { /* NULL: no more will arrive */
  pthread_mutex_lock(&lock);
  if (job != NULL) {
    *queue_end = job;
    queue_end = &job->next;
  }
  complete = job == NULL;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

static struct job *take(void) {
  pthread_mutex_lock(&lock);
  while (queue == NULL && !complete) pthread_cond_wait(&changed, &lock);
  struct job *job = queue;
  if (job != NULL && (queue = job->next) == NULL) queue_end = &queue;
  pthread_mutex_unlock(&lock);
  return job;
}

static void *work(void *unused) {
  bertqa_call_options call = {.struct_size = sizeof call};
  const bertqa_answer_options options = {.struct_size = sizeof options, .call = &call};
  for (struct job *job; (job = take()) != NULL; free(job->line), free(job)) {
    call.deadline_ns = job->deadline_ns;
    bertqa_answers *answers;
    bertqa_status status = bertqa_document_answer(context, document, job->question, strlen(job->question),
                                                  &options, &answers);
    const bertqa_answer_span *best = bertqa_answers_get(answers, 0);
    if (status == BERTQA_ERROR_DEADLINE_EXCEEDED) {
      printf("%s\tlate\n", job->question);
    } else if (status != BERTQA_OK) {
      printf("%s\terror: %s\n", job->question, bertqa_last_error());
    } else {
      char answer[1024] = "";
      if (best != NULL) {
        snprintf(answer, sizeof answer, "%.*s", (int)(best->bytes.end - best->bytes.start),
                 text + best->bytes.start);
      }
      for (char *c = answer; (c = strchr(c, '\n')) != NULL;) *c = ' ';
      printf("%s\tanswer: %s\n", job->question, answer);
    }
    bertqa_answers_free(answers);
  }
  return unused;
}

/* Returns the deadline of a line that begins with a number of milliseconds, and the rest of the line. */
static uint64_t read_deadline(char *line, char **rest) {
  const long milliseconds = strtol(line, rest, 10);
  if (milliseconds > LONG_MAX / 1000000) return UINT64_MAX;
  return bertqa_deadline_after(milliseconds > 0 ? (uint64_t)milliseconds * 1000000 : 0);
}

int main(int argc, char **argv) {
  const int wanted = argc == 3 ? atoi(argv[1]) : 0;
  if (wanted < 1 || wanted > 64) {
    fprintf(stderr, "usage: %s THREADS FILE < LINES\n", argv[0]);
    return 2;
  }
  FILE *file = fopen(argv[2], "rb");
  const size_t length = file != NULL ? fread(text, 1, sizeof text, file) : 0;
  if (file == NULL || ferror(file)) {
    perror(argv[2]);
    return 1;
  }
  fclose(file);
  const bertqa_context_options options = {.struct_size = sizeof options, .threads = 1};
  if (bertqa_context_create(NULL, &options, &context) != BERTQA_OK ||
      bertqa_document_create(context, text, length, NULL, &document) != BERTQA_OK) {
    fprintf(stderr, "%s: %s\n", argv[0], bertqa_last_error());
    return 1;
  }

  pthread_t threads[64];
  int count = 0;
  while (count < wanted && pthread_create(&threads[count], NULL, work, NULL) == 0) count++;
  if (count == 0) {
    fprintf(stderr, "%s: cannot start a thread\n", argv[0]);
    return 1;
  }
  struct job *job;
  size_t size = 0;
  while ((job = calloc(1, sizeof *job)) != NULL && getline(&job->line, &size, stdin) > 0) {
    job->deadline_ns = read_deadline(job->line, &job->question);
    job->question += strspn(job->question, " ");
    job->question[strcspn(job->question, "\n")] = '\0';
    put(job);
    size = 0;
  }
  const int is_complete = job != NULL && feof(stdin);
  if (!is_complete) perror(argv[0]);
  if (job != NULL) free(job->line);
  free(job);
  put(NULL);
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
  bertqa_document_free(document);
  bertqa_context_free(context);
  return is_complete ? 0 : 1;
}
