#define _GNU_SOURCE
#include "runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

size_t bq_affinity_count(void) {
  // The kernel refuses a mask smaller than its own.
  enum { sets = 64 };
  cpu_set_t mask[sets];
  for (size_t count = 1; count <= sets; count *= 4) {
    if (sched_getaffinity(0, count * sizeof *mask, mask) == 0) {
      return (size_t)CPU_COUNT_S(count * sizeof *mask, mask);
    }
  }
  return 0;
}

void bq_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

const char *bq_path_of_binary(void) {
  static const char here;
  Dl_info info;
  if (dladdr(&here, &info) == 0) return NULL;
  // A program that was found through PATH has no more than the name it was called by.
  return strchr(info.dli_fname, '/') ? info.dli_fname : "/proc/self/exe";
}

static pthread_mutex_t fork_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void bq_hold_fork(void) { pthread_mutex_lock(&fork_lock); }

void bq_release_fork(void) { pthread_mutex_unlock(&fork_lock); }

// The child's only thread does not own what its parent locked.
static void reset_fork_lock(void) {
  fork_lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
}

__attribute__((constructor)) static void guard_forks(void) {
  pthread_atfork(bq_hold_fork, bq_release_fork, reset_fork_lock);
}

const char *bq_environment(const char *name) { return secure_getenv(name); }
