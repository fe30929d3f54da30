#define _GNU_SOURCE
#include <pthread.h>

#include "system.h"

static pthread_mutex_t fork_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void bq_hold_fork(void) { pthread_mutex_lock(&fork_lock); }

void bq_release_fork(void) { pthread_mutex_unlock(&fork_lock); }

// To the lock, the child's only thread is not the one that locked it in the parent.
static void reset_fork_lock(void) {
  fork_lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
}

__attribute__((constructor)) static void guard_forks(void) {
  pthread_atfork(bq_hold_fork, bq_release_fork, reset_fork_lock);
}
