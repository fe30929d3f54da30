// What the Swift runtime in the library has in place of its own and libc's (--wrap in Package.swift; Scripts/static.sh
// replaces `environ` only).
#include <stdbool.h>
#include <stdint.h>

// With the host's environment, SWIFT_BACKTRACE and SWIFT_DEBUG_... would make the runtime print and install signal
// handlers, and it would crash after a host's clearenv(), which sets `environ` to NULL.
static char *nothing[1];
char **__wrap_environ = nothing;

// Without an environment, the reporter of crashes is never on. These two keep its code out of the library. Settings of 0
// are off; the runtime's struct is shorter.
bool __wrap__swift_backtrace_isThunkFunction(const char *name) {
  (void)name;
  return false;
}
int64_t __wrap__swift_backtraceSettings[32];

// Unicode.Scalar.Properties.name has 550 KB of tables. Nothing uses it (Tests/c/gate.py).
intptr_t __wrap__swift_stdlib_getScalarName(uint32_t scalar, uint8_t *buffer, intptr_t capacity) {
  (void)scalar, (void)buffer, (void)capacity;
  return 0;
}
