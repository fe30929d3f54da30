/* A thread uses the library for the first time while another one forks: the child goes on, too. Each round is a process
 * of its own in which nothing of the library has run but bertqa_warm_up(). */
#include <dirent.h>
#include <signal.h>
#include <time.h>

#include "everything.h"

enum { ROUNDS = 60 };

/* Waits for a child, which SIGALRM ends where it hangs. */
static int succeeds(pid_t child) {
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void run_round(long nanoseconds) {
  alarm(60);
  failed = 0;
  CHECK_STATUS(BERTQA_OK, bertqa_warm_up());
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, use_everything, NULL) == 0);
  const struct timespec pause = {0, nanoseconds};
  nanosleep(&pause, NULL);
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    failed = 0;
    use_everything(NULL);
    _exit(failed == 0 ? 0 : 1);
  }
  CHECK(succeeds(child));
  pthread_join(thread, NULL);
  _exit(failed == 0 ? 0 : 1);
}

static char models[64][512];
static size_t model_count;

/* The directories of all models and tokenizers beside the tiny model. */
static void list_models(void) {
  char parent[256];
  snprintf(parent, sizeof parent, "%s/..", tiny);
  DIR *directory = opendir(parent);
  for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
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
  alarm(120);
  failed = 0;
  CHECK_STATUS(BERTQA_OK, bertqa_warm_up());
  for (size_t left = model_count; left > 0; left--) {
    char model[sizeof models[0]];
    const size_t index = (size_t)rand_r(&seed) % left;
    memcpy(model, models[index], sizeof model);
    memcpy(models[index], models[left - 1], sizeof model);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, load, model) == 0);
    const struct timespec pause = {0, rand_r(&seed) % 4000 * 1000};
    nanosleep(&pause, NULL);
    const pid_t child = fork();
    if (child == 0) {
      alarm(30);
      failed = 0;
      load(model);
      _exit(failed == 0 ? 0 : 1);
    }
    check(succeeds(child), __FILE__, __LINE__, model, "a child cannot load it");
    pthread_join(thread, NULL);
  }
  _exit(failed == 0 ? 0 : 1);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  begin_everything();
  for (long round = 0; round < ROUNDS; round++) {
    const pid_t child = fork();
    if (child == 0) run_round(round * 500000); /* up to 30 ms after the thread began */
    CHECK(succeeds(child));
  }
  end_everything();
  list_models();
  for (unsigned round = 0; round < 12; round++) {
    const pid_t child = fork();
    if (child == 0) load_all(round);
    CHECK(succeeds(child));
  }
  return finish();
}
