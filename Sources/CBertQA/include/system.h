// Functions of Linux and the CPU that Swift cannot import or call.
#ifndef BERTQA_SYSTEM_H
#define BERTQA_SYSTEM_H

#include <stddef.h>

// Tells the CPU core that this is a spin loop.
static inline void bq_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

// Asks the CPU to load the cache line of an address, which need not be valid.
static inline void bq_prefetch(const void *address) { __builtin_prefetch(address); }

// Returns the number of CPUs in the calling thread's affinity mask; 0 if the kernel does not report
// it.
size_t bq_affinity_count(void);

// Names the calling thread, for debuggers and top(1).
void bq_name_thread(const char *name);

// Returns the kernel's ID of the calling thread.
int bq_thread_id(void);

// Waits until the process has no thread with this ID. pthread_join returns a moment earlier: until
// then the thread counts for unshare and setns, and is listed in /proc/self/task.
void bq_wait_for_exit(int thread_id);

// Returns the file from which the dynamic linker loaded this code, or NULL. The string is valid
// while the code is loaded.
const char *bq_path_of_binary(void);

// Returns the value of an environment variable, or NULL; always NULL in programs with more rights
// than their user.
const char *bq_environment(const char *name);

// Between these two calls fork() by another thread waits. Otherwise a child could start while that
// thread holds a lock, for example of the language runtime's initialisation, which nothing in the
// child would ever release. While a thread waits for fork(), or forks, the first call waits. Calls
// may be nested.
// Between them the CPU's floating-point arithmetic has its default settings. The second call restores
// the caller's.
void bq_enter_gate(void);
void bq_leave_gate(void);

// Between these two calls fork() does not wait for this thread, however often it has entered the
// gate, and floating-point arithmetic has the caller's settings. The first returns that number for the
// second.
unsigned bq_let_fork(void);
void bq_go_on(unsigned depth);

// Lets a waiting thread fork. The caller must hold nothing that a child needs.
void bq_wait_for_fork(void);
static inline void bq_poll_gate(void) {
  extern _Atomic unsigned bq_gate_closed;
  if (__atomic_load_n((unsigned *)&bq_gate_closed, __ATOMIC_RELAXED)) bq_wait_for_fork();
}

// Returns a number that differs in each generation of forked children.
unsigned bq_fork_generation(void);

#endif
