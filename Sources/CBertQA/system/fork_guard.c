#define _GNU_SOURCE
#include <pthread.h>

#include "system.h"

static pthread_mutex_t fork_lock;
// How often this thread holds the lock.
static __thread int depth;

void bq_hold_fork(void) {
  pthread_mutex_lock(&fork_lock);
  depth++;
}

void bq_release_fork(void) {
  depth--;
  pthread_mutex_unlock(&fork_lock);
}

int bq_let_fork(void) {
  const int held = depth;
  while (depth > 0) bq_release_fork();
  return held;
}

void bq_hold_fork_again(int held) {
  while (depth < held) bq_hold_fork();
}

static void make_fork_lock(void) {
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&fork_lock, &recursive);
  pthread_mutexattr_destroy(&recursive);
}

// To the lock, the child's only thread is not the one that locked it in the parent: a new one. What that one held
// besides, it releases in vain.
static void renew_in_child(void) {
  make_fork_lock();
  depth--;
}

__attribute__((constructor)) static void guard_forks(void) {
  make_fork_lock();
  pthread_atfork(bq_hold_fork, bq_release_fork, renew_in_child);
}
