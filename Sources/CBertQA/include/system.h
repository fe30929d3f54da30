// Functions of Linux and the CPU that Swift cannot import or call.
#ifndef BERTQA_SYSTEM_H
#define BERTQA_SYSTEM_H

#include <stddef.h>

// Tells the core that this is a spinning loop.
static inline void bq_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

// CPUs in the calling thread's affinity mask; 0 if the kernel does not say.
size_t bq_affinity_count(void);

// Names the calling thread, for debuggers and top(1).
void bq_name_thread(const char *name);

// The kernel's number of the calling thread.
int bq_thread_id(void);

// Returns when the process has no thread of this number any more. pthread_join returns a moment before:
// until then the thread counts for unshare and setns, and is listed in /proc/self/task.
void bq_wait_for_exit(int thread_id);

// The file that the dynamic linker loaded this code from, or NULL. Valid while it is loaded.
const char *bq_path_of_binary(void);

// The value of an environment variable, or NULL; always NULL in programs with more rights than their user.
const char *bq_environment(const char *name);

// Between these two calls fork() by another thread waits. Otherwise a child could be born while that thread holds a
// lock, of the language runtime's initialisation for example, which nobody in the child would ever release. While a
// thread waits for fork(), or forks, the first call waits. May be nested.
void bq_enter_gate(void);
void bq_leave_gate(void);

// Between these two, fork() need not wait for this thread, however often it has entered. Returns how often, for the
// second.
unsigned bq_let_fork(void);
void bq_go_on(unsigned depth);

// Lets a thread fork that waits for this one. Nothing may be held here that a child needs.
void bq_wait_for_fork(void);
static inline void bq_poll_gate(void) {
  extern _Atomic unsigned bq_gate_closed;
  if (__atomic_load_n((unsigned *)&bq_gate_closed, __ATOMIC_RELAXED)) bq_wait_for_fork();
}

// Another number in each generation of forked children.
unsigned bq_fork_generation(void);

#endif
