#define _GNU_SOURCE
#include <stdlib.h>

#include "system.h"

const char *bq_environment(const char *name) { return secure_getenv(name); }

// The Swift runtime in the library has this for its `environ` (Package.swift, Scripts/static.sh). With the host's
// environment, SWIFT_BACKTRACE and SWIFT_DEBUG_... would make it print and install signal handlers, and it would
// crash after a host's clearenv(), which sets `environ` to NULL.
static char *nothing[1];
char **__wrap_environ = nothing;
