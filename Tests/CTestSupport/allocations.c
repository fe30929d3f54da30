#include "allocations.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_COUNTED 0
#endif
#endif
#ifndef IS_COUNTED
#define IS_COUNTED 1
#endif

static _Atomic uint64_t count, bytes;

static void note(size_t size) {
  atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&bytes, size, memory_order_relaxed);
}

bool counts_allocations(void) { return IS_COUNTED; }

uint64_t allocation_count(void) { return atomic_load(&count); }

uint64_t allocated_bytes(void) { return atomic_load(&bytes); }

int fork_process(void) {
  const pid_t child = fork();
  if (child == 0) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    alarm(60);
  }
  return child;
}

#if IS_COUNTED

void *malloc(size_t size) {
  note(size);
  return __libc_malloc(size);
}

void *calloc(size_t items, size_t size) {
  note(items * size);
  return __libc_calloc(items, size);
}

void *realloc(void *old, size_t size) {
  note(size);
  return __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size) {
  note(size);
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  note(size);
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  note(size);
  void *fresh = __libc_memalign(alignment, size);
  if (!fresh) return ENOMEM;
  *memory = fresh;
  return 0;
}

#endif
