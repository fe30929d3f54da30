// Defines the functions of glibc 2.38 and of GCC 12's libstdc++ that Debian 13's static Swift
// library uses, based on glibc 2.34. Linked into the results of cross-arm64.sh, it lets them run on
// older systems. All names stay local to the linked file.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// glibc 2.38's versions differ only in that they do not set errno.
__asm__(".symver earlier_fmod, fmod@GLIBC_2.17\n.symver earlier_fmodf, fmodf@GLIBC_2.17");
double earlier_fmod(double, double);
float earlier_fmodf(float, float);

#pragma GCC visibility push(hidden)

double fmod(double x, double y) { return earlier_fmod(x, y); }
float fmodf(float x, float y) { return earlier_fmodf(x, y); }

// C23's versions differ from C99's only in accepting binary numbers (0b1), which Swift's library
// does not use.
long __isoc23_strtol(const char *text, char **end, int base) { return strtol(text, end, base); }
long long __isoc23_strtoll(const char *text, char **end, int base) { return strtoll(text, end, base); }
int __isoc23_sscanf(const char *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int count = vsscanf(text, format, arguments);
  va_end(arguments);
  return count;
}

// std::__glibcxx_assert_fail, by its mangled name: a checked container of Swift's runtime found a
// defect.
_Noreturn void _ZSt21__glibcxx_assert_failPKciS0_S0_(const char *file, int line, const char *function,
                                                     const char *condition) {
  (void)file, (void)line, (void)function, (void)condition;
  abort();
}
