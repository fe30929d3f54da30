// Template: exp, 2^x, erf, tanh and activations on vectors. kernels.h states the errors of exp,
// tanh and the activations, which hold for every instruction set. The coefficients are minimax fits
// by iteratively reweighted least squares. After kernels_internal.h, the including file defines
//   INLINE        storage class and attributes of an inlined function
//   V, VI         vectors of VL floats and of VL int32s, with the compiler's operators; a cast between
//                 them keeps the bits
//   v_splat       the vector of one float
//   v_fma         v_fma(a, b, c) = a · b + c
//   v_max, v_min  NaN in lanes where the second operand is NaN
// and, optionally,
//   HAS_V_SCALE   if it defines its own v_scale(p, t, n) = p · 2^n, where t = n + 1.5 · 2^23
//   HAS_EXP2, HAS_EXP2_FAST  if it defines its own v_exp2; v_exp2_byte and v_exp2_fast: see below

#ifndef HAS_V_SCALE
// p · 2^n in two factors, each normal even if the product is subnormal.
INLINE V v_scale(V p, V t, V n) {
  (void)n;
  const VI whole = (VI)t - 0x4B400000;
  const VI half = whole >> 1;
  return p * (V)((half + 127) << 23) * (V)((whole - half + 127) << 23);
}
#endif

INLINE V v_horner(V t, const float *c, int count) {
  V p = v_splat(c[count - 1]);
  BQ_UNROLL_FOR (int i = count - 2; i >= 0; i--) p = v_fma(p, t, v_splat(c[i]));
  return p;
}

// exp(x) = 2^n · exp(r), n = round(x / ln 2), |r| ≤ ln(2)/2. ln 2 is split in two, so that n times
// its upper part is exact even without FMA.
INLINE V v_exp(V x) {
  static const float q[] = {0.49999993f, 0.1666652f, 0.04166839f, 0.00836875f, 0.00138145f};
  const V magic = v_splat(12582912.0f);  // 1.5 · 2^23: adding it rounds to an integer
  // The limits give 0 and infinity. x is the second operand, so that NaN passes through.
  x = v_min(v_splat(89.0f), v_max(v_splat(-104.0f), x));
  const V t = v_fma(x, v_splat(1.44269504f), magic);
  const V n = t - magic;
  V r = v_fma(n, v_splat(-0.693145752f), x);
  r = v_fma(n, v_splat(-1.42860677e-6f), r);
  const V p = v_splat(1.0f) + v_fma(r * r, v_horner(r, q, 5), r);
  return v_scale(p, t, n);
}

#ifndef HAS_EXP2
// 2^x for x ≤ 0, as softmax needs it, with a relative error of 2e-7. Results do not fall below
// 2^-126.
INLINE V v_exp2(V x) {
  static const float q[] = {1.0f,          0.693146978f,   0.240222421f,
                            0.0555073374f, 0.00967151265f, 0.00132647271f};
  const V magic = v_splat(12582912.0f);
  x = v_max(v_splat(-126.0f), x);
  const V t = x + magic;
  const V p = v_horner(x - (t - magic), q, 6);
  return (V)((VI)p + ((VI)t << 23));
}
#endif

#ifndef HAS_EXP2_FAST
// 2^x for x ≤ 8 with a relative error of 1e-4, for results that are rounded to bytes. They do not fall below
// 2^-126.
INLINE V v_exp2_byte(V x) {
  static const float q[] = {0.999928057f, 0.693260968f, 0.24261114f, 0.0551716685f};
  const V magic = v_splat(12582912.0f);
  x = v_max(x, v_splat(-126.0f));
  const V t = x + magic;
  return (V)((VI)v_horner(x - (t - magic), q, 4) + ((VI)t << 23));
}

// The same for results that are rounded to bfloat16; 0 below -126.
INLINE V v_exp2_fast(V x) { return (V)((VI)v_exp2_byte(x) & (VI)(x > v_splat(-126))); }
#endif

// x·P(x²)/Q(x²) for |x| ≤ 3.925; beyond that erf rounds to ±1.
INLINE V v_erf(V x) {
  static const float p[] = {1.1283791f,    0.19261952f,    0.053037762f,
                            0.0038609283f, 0.00028709627f, 2.0331020e-6f};
  static const float q[] = {1.0f,         0.50403643f,   0.11502142f,
                            0.015157984f, 0.0011858988f, 3.8033504e-5f};
  x = v_min(v_splat(3.925f), v_max(v_splat(-3.925f), x));
  const V t = x * x;
  const V y = x * v_horner(t, p, 6) / v_horner(t, q, 6);
  return v_min(v_splat(1.0f), v_max(v_splat(-1.0f), y));
}

// m / (m + 2), m = exp(2|x|) - 1, with the sign of x. exp(2|x|) = 2^n · exp(r) as in v_exp; for
// small x, n is 0 and m is exp(r) - 1 without cancellation.
INLINE V v_tanh(V x) {
  static const float q[] = {0.49999993f, 0.1666652f, 0.04166839f, 0.00836875f, 0.00138145f};
  const V magic = v_splat(12582912.0f);
  const V twice = v_max(x, v_splat(0) - x) * v_splat(2.0f);
  // Beyond 18.2 the result rounds to 1. x is the second operand, so that NaN passes through.
  const V y = v_min(v_splat(18.5f), twice);
  const V t = v_fma(y, v_splat(1.44269504f), magic);
  const V n = t - magic;
  V r = v_fma(n, v_splat(-0.693145752f), y);
  r = v_fma(n, v_splat(-1.42860677e-6f), r);
  const V power = (V)(((VI)t - 0x4B400000 + 127) << 23);
  const V m = v_fma(power, v_fma(r * r, v_horner(r, q, 5), r), power - v_splat(1.0f));
  const V size = m / (m + v_splat(2.0f));
  return (V)((VI)size | ((VI)x & (VI)v_splat(-0.0f)));
}

INLINE V v_gelu(V x) {
  const V half = x * v_splat(0.5f);
  return v_fma(half, v_erf(x * v_splat(0.707106781f)), half);
}

INLINE V v_silu(V x) { return x / (v_splat(1.0f) + v_exp(v_splat(0) - x)); }

// (1 + tanh(u)) / 2 = 1 / (1 + exp(-2u)), here u = √(2/π) · (x + 0.044715 x³).
INLINE V v_gelu_tanh(V x) {
  const V factor = v_fma(x * x, v_splat(-0.0713548163f), v_splat(-1.59576912f));
  return x / (v_splat(1.0f) + v_exp(x * factor));
}

// x is the second operand, so that NaN passes through.
INLINE V v_relu(V x) { return v_max(v_splat(0), x); }
