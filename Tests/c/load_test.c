/* Loading a model takes no lock that fork() waits for, but for the first model of a kind in the process.
 *
 * This program's openat() takes the place of the C library's: while a model's weights are being opened it lets another
 * thread fork, and waits until that has happened. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdarg.h>
#include <time.h>

#include "check.h"

enum { SECONDS = 10 }; /* what a fork() that waits for a lock is given; one that does not takes none of them */

static atomic_int watches, forked;
static sem_t wish, done;

int openat(int directory, const char *path, int flags, ...) {
  static int (*real)(int, const char *, int, ...);
  if (real == NULL) real = (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat");
  va_list arguments;
  va_start(arguments, flags);
  const int mode = va_arg(arguments, int);
  va_end(arguments);
  if (watches && strstr(path, "model.safetensors") != NULL) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += SECONDS;
    sem_post(&wish);
    forked = sem_timedwait(&done, &until) == 0;
    watches = 0;
  }
  return real(directory, path, flags, mode);
}

static void *fork_when_asked(void *unused) {
  sem_wait(&wish);
  const pid_t child = fork();
  if (child == 0) _exit(0);
  sem_post(&done);
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  return unused;
}

/* Whether another thread could fork while the model was being read. */
static int forks_while_loading(const char *name, int32_t precision) {
  char directory[4096];
  snprintf(directory, sizeof directory, "%s/../%s", tiny, name);
  const bertqa_context_options options = {.struct_size = sizeof options, .threads = 1, .precision = precision};
  bertqa_context *context;
  pthread_t thread;
  sem_init(&wish, 0, 0);
  sem_init(&done, 0, 0);
  forked = -1;
  CHECK(pthread_create(&thread, NULL, fork_when_asked, NULL) == 0);
  watches = 1;
  CHECK_STATUS(BERTQA_OK, bertqa_context_create(directory, &options, &context));
  pthread_join(thread, NULL);
  bertqa_context_free(context);
  CHECK(forked != -1); /* the weights were opened by the function above */
  return forked == 1;
}

int main(int argc, char **argv) {
  begin(argc, argv);
  static const struct {
    const char *name;
    int32_t precision;
  } models[] = {
      {"tiny-bert", BERTQA_PRECISION_F32}, {"tiny-bert", BERTQA_PRECISION_INT8},
      {"tiny-bert-classifier", 0},         {"tiny-bert-embedder", 0},
      {"tiny-lstm", 0},
  };
  for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
    bertqa_context *first;
    char directory[4096];
    snprintf(directory, sizeof directory, "%s/../%s", tiny, models[i].name);
    const bertqa_context_options options = {
        .struct_size = sizeof options, .threads = 1, .precision = models[i].precision};
    CHECK_STATUS(BERTQA_OK, bertqa_context_create(directory, &options, &first));
    bertqa_context_free(first);
    check(forks_while_loading(models[i].name, models[i].precision), __FILE__, __LINE__, models[i].name,
          "fork() waited for the second load");
  }
  return finish();
}
