/* Preloaded into the tool, sets the time of day back or forward by days at every look, and each 10 ms; the monotonic
 * clock is the system's. CLOCK_COUNT=FILE receives, at the process's end, how often the time of day was looked at,
 * how many waits there were with a time at which they end, and how many of those times were none of the monotonic
 * clock. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static atomic_long looks, waits, wrong;

__attribute__((destructor)) static void write_count(void) {
  const char *name = getenv("CLOCK_COUNT");
  FILE *file = name != NULL ? fopen(name, "w") : NULL;
  if (file == NULL) return;
  fprintf(file, "%ld %ld %ld\n", (long)looks, (long)waits, (long)wrong);
  fclose(file);
}

static void jump(struct timespec *time) {
  const long look = ++looks;
  struct timespec now;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  const long step = look + now.tv_nsec / 10000000;
  *time = (struct timespec){1500000000 + (step % 2 ? 86400 : -86400) * (step % 1000), 0};
}

#include "set_clock.h"

int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until) {
  struct timespec now;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  waits++;
  if (until->tv_sec < now.tv_sec - 3600 || until->tv_sec > now.tv_sec + 3600) wrong++;
  return NEXT(pthread_cond_timedwait)(condition, mutex, until);
}
