// What Swift's Glibc module leaves out.
#include <getopt.h>
#include <linux/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Returns the time of a file's creation in nanoseconds since 1970; 0 if the file system or an old
// kernel does not tell. `path` is relative to the directory; if it is empty, the descriptor itself is
// the file.
static inline unsigned long long bq_creation_time(int descriptor, const char *path) {
  const int empty_path = 0x1000;  // AT_EMPTY_PATH
  struct statx status;
  long result = syscall(SYS_statx, descriptor, path, *path ? 0 : empty_path, STATX_BTIME, &status);
  if (result != 0 || !(status.stx_mask & STATX_BTIME)) return 0;
  return (unsigned long long)status.stx_btime.tv_sec * 1000000000 + status.stx_btime.tv_nsec;
}
