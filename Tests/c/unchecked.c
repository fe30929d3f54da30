/* A library to preload. It reports memory that libbertqa takes without a check that the system has it. A failure of such
 * an allocation, by malloc or posix_memalign for a Swift array, ends the process. The library checks by a mapping that
 * it releases at once; an allocation of a MiB or more that exceeds the thread's last check is reported. UNCHECKED_OUT
 * names a file that receives a line for each: its bytes, the bytes checked, and the callers' places in libbertqa. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

enum { LEAST = 1 << 20, DEPTH = 32 };

extern void *__libc_malloc(size_t size); /* dlsym itself may ask for memory */

static __thread void *mapped;
static __thread size_t mapped_size, checked;
static __thread int is_busy;

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset) {
  mapped = (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
  mapped_size = size;
  return mapped;
}

int munmap(void *address, size_t size) {
  if (address == mapped && size == mapped_size) checked = size;
  mapped = NULL;
  return (int)syscall(SYS_munmap, address, size);
}

static const char *place(void *address, long *offset) {
  Dl_info info;
  if (dladdr(address, &info) == 0 || info.dli_fname == NULL) return NULL;
  *offset = (char *)address - (char *)info.dli_fbase;
  return strstr(info.dli_fname, "libbertqa.so") ? info.dli_fname : NULL;
}

static void take(size_t size) {
  const char *path = getenv("UNCHECKED_OUT");
  if (size < LEAST || is_busy || path == NULL) return;
  is_busy = 1;
  void *callers[DEPTH];
  long offset;
  /* The first two are this function and the one that was called. */
  const int count = backtrace(callers, DEPTH);
  if (count > 2 && place(callers[2], &offset) != NULL && size > checked) {
    FILE *file = fopen(path, "a");
    if (file == NULL) abort();
    fprintf(file, "%zu bytes, %zu checked:", size, checked);
    for (int i = 2; i < count; i++)
      if (place(callers[i], &offset) != NULL) fprintf(file, " %#lx", offset - 1);
    fputc('\n', file);
    fclose(file);
  }
  checked -= size < checked ? size : checked;
  is_busy = 0;
}

void *malloc(size_t size) {
  take(size);
  return __libc_malloc(size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  take(size);
  return NEXT(posix_memalign)(memory, alignment, size);
}
