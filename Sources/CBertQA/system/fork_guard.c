#define _GNU_SOURCE
#include <pthread.h>

#include "system.h"

static pthread_mutex_t fork_lock;

void bq_hold_fork(void) { pthread_mutex_lock(&fork_lock); }

void bq_release_fork(void) { pthread_mutex_unlock(&fork_lock); }

// At load, and anew in a child: to the lock, the child's only thread is not the one that locked it in the parent.
static void make_fork_lock(void) {
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&fork_lock, &recursive);
  pthread_mutexattr_destroy(&recursive);
}

__attribute__((constructor)) static void guard_forks(void) {
  make_fork_lock();
  pthread_atfork(bq_hold_fork, bq_release_fork, make_fork_lock);
}
