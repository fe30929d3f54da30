#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include "system.h"

const char *bq_path_of_binary(void) {
  static const char here;
  Dl_info info;
  if (dladdr(&here, &info) == 0) return NULL;
  // For a program found through PATH the linker knows only the name of the call.
  return strchr(info.dli_fname, '/') ? info.dli_fname : "/proc/self/exe";
}
