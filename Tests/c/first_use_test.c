/* Threads use the library for the first time while another one forks: each child does something for the first time, too.
 * Each round is a process of its own in which nothing of the library has run.
 *
 * Environment: BERTQA_FORKS, how often to fork; by default 200. */
#include <dirent.h>
#include <time.h>

#include "everything.h"

enum { THREADS = 8, FORKS = 200, MOST_MODELS = 96 };

typedef struct {
  int first, step;
  atomic_int *left; /* threads that have not done all */
} order;

static void *do_everything(void *argument) {
  const order *own = argument;
  for (int i = 0; i < PARTS; i++) parts[(own->first + i * own->step) % PARTS]();
  --*own->left;
  return NULL;
}

/* All threads begin with the same part and go on in orders of their own. The status is how often it forked, but 0 for a
 * failure. */
static void run_round(int round) {
  alarm(600);
  static atomic_int left = THREADS;
  pthread_t threads[THREADS];
  order orders[THREADS];
  for (int i = 0; i < THREADS; i++) {
    orders[i] = (order){round % PARTS, 2 * i + 1, &left}; /* no odd step leaves out a part of eight */
    CHECK(pthread_create(&threads[i], NULL, do_everything, &orders[i]) == 0);
  }
  int forks = 0;
  while (left > 0 && failed == 0 && forks < 100) {
    const pid_t child = fork_child();
    if (child == 0) {
      parts[(round + forks) % PARTS]();
      end_child();
    }
    CHECK(succeeds(child));
    forks++;
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  _exit(failed == 0 ? forks : 0);
}

static char models[MOST_MODELS][512];
static size_t model_count;

/* The directories of all models and tokenizers beside the tiny model. */
static void list_models(void) {
  char parent[256];
  snprintf(parent, sizeof parent, "%s/..", tiny);
  DIR *directory = opendir(parent);
  for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL && model_count < MOST_MODELS;) {
    if (strncmp(entry->d_name, "tiny-", 5) != 0 && strncmp(entry->d_name, "pipeline-", 9) != 0) continue;
    snprintf(models[model_count++], sizeof models[0], "%s/%.200s", parent, entry->d_name);
  }
  CHECK(model_count > 40);
  closedir(directory);
}

static void *load(void *model) {
  const bertqa_context_options options = {
      .struct_size = sizeof options, .threads = 1, .tokenizer_only = strstr(model, "/pipeline-") ? BERTQA_ON : BERTQA_OFF};
  bertqa_context *context = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_context_create(model, &options, &context));
  bertqa_context_free(context);
  return NULL;
}

/* Each model, in an order of its own in every round, is of a kind that may come for the first time. */
static void load_all(unsigned seed) {
  alarm(600);
  for (size_t left = model_count; left > 0; left--) {
    char model[sizeof models[0]];
    const size_t index = (size_t)rand_r(&seed) % left;
    memcpy(model, models[index], sizeof model);
    memcpy(models[index], models[left - 1], sizeof model);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, load, model) == 0);
    const struct timespec pause = {0, rand_r(&seed) % 4000 * 1000};
    nanosleep(&pause, NULL);
    const pid_t child = fork_child();
    if (child == 0) {
      load(model);
      end_child();
    }
    check(succeeds(child), __FILE__, __LINE__, model, "a child cannot load it");
    pthread_join(thread, NULL);
  }
  end_child();
}

int main(int argc, char **argv) {
  begin(argc, argv);
  begin_everything();
  const char *wanted = getenv("BERTQA_FORKS");
  int left = wanted != NULL ? atoi(wanted) : FORKS;
  for (int round = 0; left > 0 && failed == 0; round++) {
    const pid_t process = fork_child();
    if (process == 0) run_round(round);
    int status = -1;
    CHECK(process > 0 && waitpid(process, &status, 0) == process && WIFEXITED(status) && WEXITSTATUS(status) > 0);
    left -= WEXITSTATUS(status);
  }
  end_everything();
  list_models();
  for (unsigned round = 0; round < 6 && failed == 0; round++) {
    const pid_t process = fork_child();
    if (process == 0) load_all(round);
    CHECK(succeeds(process));
  }
  return finish();
}
