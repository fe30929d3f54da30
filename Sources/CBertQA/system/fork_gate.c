#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "floating_point.h"
#include "system.h"

// From <linux/futex.h>, which is not among musl's headers.
enum { FUTEX_WAKE_PRIVATE = 129, FUTEX_WAIT_BITSET_PRIVATE = 137, FUTEX_BITSET_MATCH_ANY = -1 };

// A reader-writer lock: calls and pool items are the readers, and fork() is the writer, which has
// priority. A reader increments the count in one of the shards and checks if the gate is closed;
// fork() closes the gate and waits until it has seen each shard empty. All of this is sequentially
// consistent, so one of the two sees the other.

enum { SHARDS = 64 };
static struct { _Alignas(64) atomic_uint inside; } shards[SHARDS];
static atomic_uint next_shard;

// 1 from the beginning to the end of a fork.
atomic_uint bq_gate_closed;

// The number of readers that wait for the gate to open. The next fork lets them in first; otherwise
// forks in a loop would starve them.
static atomic_uint waiting;

static unsigned generation;

static _Thread_local struct {
  unsigned depth;
  bool is_forking;
  atomic_uint *inside;
  // What was set outside: code inside the gate computes with the defaults.
  bq_floating_point caller;
} self;

// The time in seconds after which fork() and calls stop waiting: a child that may hang is better
// than a process that does.
enum { PATIENCE = 10 };
// The time in nanoseconds for which a fork lets waiting readers in first.
enum { COURTESY = 100000000 };

static struct timespec after(time_t seconds, long nanoseconds) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  time.tv_sec += seconds;
  time.tv_nsec += nanoseconds;
  if (time.tv_nsec >= 1000000000) {
    time.tv_nsec -= 1000000000;
    time.tv_sec++;
  }
  return time;
}

// Sleeps while the word has this value, or until a signal arrives. Returns false after `until`;
// NULL means no limit.
static bool sleep_while(atomic_uint *word, unsigned value, const struct timespec *until) {
  const int saved = errno;
  const bool is_late = syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, value, until, NULL,
                               FUTEX_BITSET_MATCH_ANY) != 0 &&
                       errno == ETIMEDOUT;
  errno = saved;
  return !is_late;
}

static void wake(atomic_uint *word) {
  const int saved = errno;
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX);
  errno = saved;
}

static void go_out(void) {
  atomic_fetch_sub(self.inside, 1);
  if (atomic_load(&bq_gate_closed)) wake(self.inside);
}

// Not inlined, so that the caller's fast path saves no registers for it.
__attribute__((noinline)) static void wait_outside(void) {
  const struct timespec until = after(PATIENCE, 0);
  bool is_patient = true;
  atomic_fetch_add(&waiting, 1);
  do {
    go_out();
    while (atomic_load(&bq_gate_closed) && is_patient)
      is_patient = sleep_while(&bq_gate_closed, 1, &until);
    atomic_fetch_add(self.inside, 1);
  } while (atomic_load(&bq_gate_closed) && is_patient);
  if (atomic_fetch_sub(&waiting, 1) == 1) wake(&waiting);
}

static void come_in(void) {
  if (self.inside == NULL) self.inside = &shards[atomic_fetch_add(&next_shard, 1) % SHARDS].inside;
  atomic_fetch_add(self.inside, 1);
  // Other fork handlers may call the library.
  if (atomic_load(&bq_gate_closed) && !self.is_forking) wait_outside();
}

// `depth` changes before the count here, and after it in `bq_leave_gate`, so that a signal handler
// that forks in between does not wait for its own thread.
void bq_enter_gate(void) {
  if (self.depth++ > 0) return;
  come_in();
  self.caller = bq_take_default();
}

void bq_leave_gate(void) {
  if (self.depth == 1) {
    bq_give_back(self.caller);
    go_out();
  }
  self.depth--;
}

unsigned bq_let_fork(void) {
  const unsigned depth = self.depth;
  if (depth > 0) {
    bq_give_back(self.caller);
    go_out();
  }
  self.depth = 0;
  return depth;
}

void bq_go_on(unsigned depth) {
  if (depth == 0) return;
  self.depth = depth;
  come_in();
  self.caller = bq_take_default();
}

void bq_wait_for_fork(void) { bq_go_on(bq_let_fork()); }

unsigned bq_fork_generation(void) { return generation; }

static void close_gate(void) {
  for (unsigned open = 0; !atomic_compare_exchange_strong(&bq_gate_closed, &open, 1); open = 0) {
    sleep_while(&bq_gate_closed, 1, NULL);
  }
}

static void before_fork(void) {
  const struct timespec courtesy = after(0, COURTESY);
  for (unsigned count; (count = atomic_load(&waiting)) > 0;) {
    if (!sleep_while(&waiting, count, &courtesy)) break;
  }
  close_gate();
  self.is_forking = true;
  const struct timespec until = after(PATIENCE, 0);
  for (int i = 0; i < SHARDS; i++) {
    // The forking thread is inside the library only if it forks in a signal handler. The child's
    // thread then returns there, too.
    const unsigned own = self.depth > 0 && self.inside == &shards[i].inside;
    for (unsigned count; (count = atomic_load(&shards[i].inside)) > own;) {
      if (!sleep_while(&shards[i].inside, count, &until)) return;
    }
  }
}

static void after_fork_in_parent(void) {
  self.is_forking = false;
  atomic_store(&bq_gate_closed, 0);
  wake(&bq_gate_closed);
}

static void after_fork_in_child(void) {
  for (int i = 0; i < SHARDS; i++) atomic_store(&shards[i].inside, 0);
  if (self.depth > 0) atomic_store(self.inside, 1);
  atomic_store(&waiting, 0);
  generation++;
  self.is_forking = false;
  atomic_store(&bq_gate_closed, 0);
}

__attribute__((constructor)) static void guard_forks(void) {
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}
