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

#endif
