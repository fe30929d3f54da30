/* Preloaded into the tool, makes the calls that change files end it or fail. Environment:
 *
 *   FAULT_AT=N      the N-th such call, from 1, counted over the process
 *   FAULT=kill      SIGKILL in place of the call
 *         torn      SIGKILL when half of a write is done; other calls as with kill
 *         killed    SIGKILL behind the call
 *         ENOSPC    this write and all after it fail, the first after half of it was done; fsync fails, too
 *         EIO       the same
 *         EINTR     every other write fails once with EINTR, and every other read
 *         short     writes do 3 bytes at most, reads 5
 *   FAULT_COUNT=FILE  receives the number of calls at the process's end
 *
 * Standard error is left alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static enum { NONE, KILL, TORN, KILLED, FAIL, INTERRUPT, SHORT } fault;
static int error_number;
static long at;
static atomic_long calls, transfers;
static const char *count_file;

__attribute__((constructor)) static void read_environment(void) {
  const char *name = getenv("FAULT"), *number = getenv("FAULT_AT");
  at = number != NULL ? atol(number) : 0;
  count_file = getenv("FAULT_COUNT");
  if (name == NULL) return;
  if (strcmp(name, "kill") == 0) fault = KILL;
  if (strcmp(name, "torn") == 0) fault = TORN;
  if (strcmp(name, "killed") == 0) fault = KILLED;
  if (strcmp(name, "EINTR") == 0) fault = INTERRUPT;
  if (strcmp(name, "short") == 0) fault = SHORT;
  if (strcmp(name, "ENOSPC") == 0) fault = FAIL, error_number = ENOSPC;
  if (strcmp(name, "EIO") == 0) fault = FAIL, error_number = EIO;
}

__attribute__((destructor)) static void write_count(void) {
  if (count_file == NULL) return;
  FILE *file = fopen(count_file, "w");
  if (file == NULL) return;
  fprintf(file, "%ld\n", (long)calls);
  fclose(file);
}

static void end(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

/* Before a call: whether it shall fail now. */
static int begin(int is_write, long *call) {
  *call = ++calls;
  if (*call == at && (fault == KILL || (fault == TORN && !is_write))) end();
  return fault == FAIL && *call >= at && is_write;
}

static void done(long call) {
  if (call == at && fault == KILLED) end();
}

static int is_interrupted(void) { return fault == INTERRUPT && ++transfers % 2 == 1; }

static size_t part(size_t size, size_t limit) { return fault == SHORT && size > limit ? limit : size; }

/* The C library's own writing to descriptors below 3, and what this file writes, is not counted. */
ssize_t write(int descriptor, const void *bytes, size_t size) {
  if (descriptor == 2) return NEXT(write)(descriptor, bytes, size);
  long call;
  int fails = begin(1, &call);
  if (call == at && fault == TORN) {
    if (NEXT(write)(descriptor, bytes, size / 2) < 0) abort();
    end();
  }
  if (fails && call == at && size > 1) return NEXT(write)(descriptor, bytes, size / 2);
  if (fails || is_interrupted()) {
    errno = fails ? error_number : EINTR;
    return -1;
  }
  ssize_t result = NEXT(write)(descriptor, bytes, part(size, 3));
  done(call);
  return result;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t offset) {
  long call;
  int fails = begin(1, &call);
  if (call == at && fault == TORN) {
    if (NEXT(pwrite)(descriptor, bytes, size / 2, offset) < 0) abort();
    end();
  }
  if (fails && call == at && size > 1) return NEXT(pwrite)(descriptor, bytes, size / 2, offset);
  if (fails || is_interrupted()) {
    errno = fails ? error_number : EINTR;
    return -1;
  }
  ssize_t result = NEXT(pwrite)(descriptor, bytes, part(size, 3), offset);
  done(call);
  return result;
}

ssize_t read(int descriptor, void *bytes, size_t size) {
  if (is_interrupted()) {
    errno = EINTR;
    return -1;
  }
  return NEXT(read)(descriptor, bytes, part(size, 5));
}

static int synced(int (*next)(int), int descriptor) {
  long call;
  if (begin(1, &call)) {
    errno = error_number;
    return -1;
  }
  int result = next(descriptor);
  done(call);
  return result;
}

int fsync(int descriptor) { return synced(NEXT(fsync), descriptor); }

int fdatasync(int descriptor) { return synced(NEXT(fdatasync), descriptor); }

int ftruncate(int descriptor, off_t length) {
  long call;
  begin(0, &call);
  int result = NEXT(ftruncate)(descriptor, length);
  done(call);
  return result;
}

int rename(const char *from, const char *to) {
  long call;
  begin(0, &call);
  int result = NEXT(rename)(from, to);
  done(call);
  return result;
}

int unlink(const char *path) {
  long call;
  begin(0, &call);
  int result = NEXT(unlink)(path);
  done(call);
  return result;
}

int open(const char *path, int flags, ...) {
  long call = 0;
  int creates = (flags & (O_CREAT | O_TRUNC)) != 0;
  if (creates) begin(0, &call);
  int result = NEXT(open)(path, flags, 0666);
  if (creates) done(call);
  return result;
}

/* SQLite's names for them. */
ssize_t pwrite64(int, const void *, size_t, off64_t) __attribute__((alias("pwrite")));
int ftruncate64(int, off64_t) __attribute__((alias("ftruncate")));
int open64(const char *, int, ...) __attribute__((alias("open")));
