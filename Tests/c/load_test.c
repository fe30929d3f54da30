/* fork() does not wait for the disk while another thread loads a model.
 *
 * This program's openat() and pread() replace the C library's. While they open or read a model's weights they let another
 * thread fork and wait until it has. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdarg.h>
#include <time.h>

#include "check.h"

enum { SECONDS = 5 }; /* the limit for a fork() that waits; one that does not wait takes no time */

static atomic_int watches_open, watches_read, forked;
static sem_t wish, done;

static void let_fork(atomic_int *watches) {
  if (!*watches) return;
  *watches = 0;
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += SECONDS;
  sem_post(&wish);
  forked = sem_timedwait(&done, &until) == 0;
}

int openat(int directory, const char *path, int flags, ...) {
  static int (*real)(int, const char *, int, ...);
  if (real == NULL) real = (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat");
  va_list arguments;
  va_start(arguments, flags);
  const int mode = va_arg(arguments, int);
  va_end(arguments);
  if (strstr(path, "model.safetensors") != NULL) let_fork(&watches_open);
  return real(directory, path, flags, mode);
}

ssize_t pread(int file, void *bytes, size_t count, off_t offset) {
  static ssize_t (*real)(int, void *, size_t, off_t);
  if (real == NULL) real = (ssize_t(*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread");
  let_fork(&watches_read);
  return real(file, bytes, count, offset);
}

static void *fork_when_asked(void *unused) {
  sem_wait(&wish);
  const pid_t child = fork_child();
  if (child == 0) end_child();
  sem_post(&done);
  CHECK(succeeds(child));
  return unused;
}

static void load(const char *name, int32_t mode, atomic_int *watches) {
  char directory[4096];
  snprintf(directory, sizeof directory, "%s/../%s", tiny, name);
  const bertqa_context_options options = {.struct_size = sizeof options, .threads = 1, .load = mode};
  bertqa_context *context;
  pthread_t thread;
  sem_init(&wish, 0, 0);
  sem_init(&done, 0, 0);
  forked = -1;
  CHECK(pthread_create(&thread, NULL, fork_when_asked, NULL) == 0);
  *watches = 1;
  CHECK_STATUS(BERTQA_OK, bertqa_context_create(directory, &options, &context));
  pthread_join(thread, NULL);
  bertqa_context_free(context);
  check(forked == 1, __FILE__, __LINE__, name, forked == 0 ? "fork() waited" : "the function above was not called");
}

int main(int argc, char **argv) {
  begin(argc, argv);
  static const char *const models[] = {"tiny-bert", "tiny-bert-classifier", "tiny-bert-embedder", "tiny-lstm"};
  for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
    load(models[i], BERTQA_LOAD_MMAP, &watches_open);
    load(models[i], BERTQA_LOAD_COPY, &watches_open);
    load(models[i], BERTQA_LOAD_COPY, &watches_read);
  }
  return finish();
}
