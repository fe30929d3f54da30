#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "system.h"

size_t bq_affinity_count(void) {
  // The kernel rejects a mask smaller than its own.
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

int bq_thread_id(void) { return (int)syscall(SYS_gettid); }

void bq_wait_for_exit(int thread_id) {
  // Waits at most a second, as the number may already belong to another thread.
  for (int i = 0; i < 10000 && syscall(SYS_tgkill, getpid(), thread_id, 0) == 0; i++) {
    const struct timespec pause = {.tv_nsec = 100000};
    nanosleep(&pause, NULL);
  }
}
