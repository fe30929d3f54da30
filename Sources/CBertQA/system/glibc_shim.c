// Swift's Glibc module, linked as a whole, refers to hypotf of glibc 2.35, which nothing here calls.
// With this definition the library needs glibc 2.34 only, that of Red Hat Enterprise Linux 9. It is
// not exported.
#include <math.h>

// Exact up to its two roundings: no product of floats overflows a double.
float hypotf(float x, float y) {
  if (isinf(x) || isinf(y)) return (float)INFINITY;
  return (float)sqrt((double)x * x + (double)y * y);
}
