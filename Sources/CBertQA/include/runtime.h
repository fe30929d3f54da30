// What the runtime needs of Linux and the CPU, and Swift cannot import.
#ifndef BERTQA_RUNTIME_H
#define BERTQA_RUNTIME_H

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

// The file that the dynamic linker loaded this code from, or NULL. Lives as long as it is loaded.
const char *bq_path_of_binary(void);

// The value of an environment variable, or NULL; always NULL in programs with more rights than their user.
const char *bq_environment(const char *name);

// Between these, other threads' fork() waits: a child must not be born while, say, the language
// runtime sets itself up under a lock that the child would find taken for ever. May be nested.
void bq_hold_fork(void);
void bq_release_fork(void);

#endif
