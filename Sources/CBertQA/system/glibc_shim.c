// Swift's Glibc module, linked as a whole, refers to hypotf of glibc 2.35, which nothing here
// calls. This definition reduces the library's requirement to glibc 2.34, the version of Red Hat
// Enterprise Linux 9. It is not exported.
#include <math.h>

// Exact up to its two roundings: a product of floats cannot overflow a double.
float hypotf(float x, float y) {
  if (isinf(x) || isinf(y)) return (float)INFINITY;
  return (float)sqrt((double)x * x + (double)y * y);
}
