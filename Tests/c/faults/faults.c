/* Preloaded into a process, makes system calls and allocations of libc fail on request. The test below
 * finds faults_arm by dlsym: arm(kind, n, times) lets the n-th call of a kind from now on fail, and the
 * times - 1 after it; faults_count(kind) is how many calls there were since. Reads may also come short. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "faults.h"

static atomic_long calls[FAULT_KINDS], first[FAULT_KINDS], last[FAULT_KINDS];

void faults_arm(int kind, long n, long times) {
  calls[kind] = 0;
  first[kind] = n;
  last[kind] = n + times - 1;
}

void faults_clear(void) {
  for (int kind = 0; kind < FAULT_KINDS; kind++) first[kind] = last[kind] = 0;
}

long faults_count(int kind) { return calls[kind]; }

static int fails(int kind) {
  long call = ++calls[kind];
  return first[kind] > 0 && call >= first[kind] && call <= last[kind];
}

/* True if the call ends with EINTR; the next one does not. */
static int is_interrupted(void) {
  if (!fails(FAULT_INTERRUPTED) || calls[FAULT_INTERRUPTED] % 2 == 0) return 0;
  errno = EINTR;
  return 1;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

/* The allocations of the library's own buffers, which are checked: realloc, and posix_memalign for
 * cache lines. The Swift runtime uses other functions for its objects, arrays included, and ends
 * the process by design if those fail. */
void *realloc(void *old, size_t size) {
  if (fails(FAULT_ALLOCATION)) {
    errno = ENOMEM;
    return NULL;
  }
  return __libc_realloc(old, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  if (alignment >= 64 && fails(FAULT_ALLOCATION)) return ENOMEM;
  void *got = __libc_memalign(alignment, size);
  if (got == NULL) return ENOMEM;
  *memory = got;
  return 0;
}

void *mmap(void *address, size_t length, int protection, int flags, int descriptor, off_t offset) {
  if (fails(FAULT_MMAP)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return NEXT(mmap)(address, length, protection, flags, descriptor, offset);
}

static mode_t mode_of(int flags, va_list list) {
  return flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
}

#define DEFINE_OPEN(name, parameters, ...)                    \
  int name parameters {                                       \
    va_list list;                                             \
    va_start(list, flags);                                    \
    mode_t mode = mode_of(flags, list);                       \
    va_end(list);                                             \
    if (fails(FAULT_OPEN)) {                                  \
      errno = EMFILE;                                         \
      return -1;                                              \
    }                                                         \
    if (is_interrupted()) return -1;                          \
    return NEXT(name)(__VA_ARGS__, flags, mode);              \
  }
DEFINE_OPEN(open, (const char *path, int flags, ...), path)
DEFINE_OPEN(open64, (const char *path, int flags, ...), path)
DEFINE_OPEN(openat, (int directory, const char *path, int flags, ...), directory, path)
DEFINE_OPEN(openat64, (int directory, const char *path, int flags, ...), directory, path)

ssize_t read(int descriptor, void *buffer, size_t size) {
  if (fails(FAULT_READ)) {
    errno = EIO;
    return -1;
  }
  if (is_interrupted()) return -1;
  if (fails(FAULT_SHORT_READ) && size > 1) size = 1;
  return NEXT(read)(descriptor, buffer, size);
}

ssize_t pread(int descriptor, void *buffer, size_t size, off_t offset) {
  if (fails(FAULT_READ)) {
    errno = EIO;
    return -1;
  }
  if (is_interrupted()) return -1;
  if (fails(FAULT_SHORT_READ) && size > 1) size = 1;
  return NEXT(pread)(descriptor, buffer, size, offset);
}

ssize_t pwrite(int descriptor, const void *buffer, size_t size, off_t offset) {
  if (is_interrupted()) return -1;
  return NEXT(pwrite)(descriptor, buffer, size, offset);
}

int fsync(int descriptor) {
  if (is_interrupted()) return -1;
  return NEXT(fsync)(descriptor);
}

int fstat(int descriptor, struct stat *status) {
  if (fails(FAULT_FSTAT)) {
    errno = EIO;
    return -1;
  }
  return NEXT(fstat)(descriptor, status);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument) {
  if (fails(FAULT_THREAD)) return EAGAIN;
  return NEXT(pthread_create)(thread, attributes, start, argument);
}
