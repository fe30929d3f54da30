// Template: the conversion of activations to bytes for one instruction set. The including file
// includes f32_math.inc.h and tiles.inc.h before it, and also defines
//   SUFFIXED(name)  the name of the instruction set's version of a kernel
//   vi_store        stores VL int32s at any address
//   vi_bits         the bits of VL floats as int32s
// and, optionally,
//   HAS_BYTE_PAIRS  if linear_s8 accepts no activations above 128

#ifdef HAS_BYTE_PAIRS
enum { BYTE_STEPS = 126 };
#else
enum { BYTE_STEPS = BQ_BYTE_STEPS };
#endif

// round(x · inverse) + zero, by adding the 1.5 · 2^23 within `zero`: four features' bytes in each
// lane.
INLINE VI quantize_quad(const float *x, V inverse, const V zero[4]) {
  const VI a = vi_bits(v_fma(v_load(x), inverse, zero[0]));
  const VI b = vi_bits(v_fma(v_load(x + BQ_LANES), inverse, zero[1]));
  const VI c = vi_bits(v_fma(v_load(x + 2 * BQ_LANES), inverse, zero[2]));
  const VI d = vi_bits(v_fma(v_load(x + 3 * BQ_LANES), inverse, zero[3]));
  return (a & 0xFF) | (b & 0xFF) << 8 | (c & 0xFF) << 16 | d << 24;
}

// Quantizes one vector of tokens. The range, which includes 0, is divided into BYTE_STEPS, and its
// lower end is mapped between 0.5 and 1.5, so that no rounding leaves 0 ... BYTE_STEPS + 2.
INLINE void quantize_lanes(const float *x, size_t features, uint8_t *y, float *scale,
                           float *offset) {
  V low[4], high[4];
  BQ_UNROLL_FOR (int i = 0; i < 4; i++) low[i] = high[i] = v_splat(0);
  for (size_t f = 0; f < features; f += 4)
    BQ_UNROLL_FOR (int i = 0; i < 4; i++) {
      const V value = v_load(x + (f + (size_t)i) * BQ_LANES);
      low[i] = v_min(low[i], value);
      high[i] = v_max(high[i], value);
    }
  const V least = v_min(v_min(low[0], low[1]), v_min(low[2], low[3]));
  const V most = v_max(v_max(high[0], high[1]), v_max(high[2], high[3]));
  const V range = v_max(most - least, v_splat(1e-30f));
  const V step = range * v_splat(1.0f / BYTE_STEPS), inverse = v_splat(BYTE_STEPS) / range;
  // Adding 1.5 · 2^23 rounds to an integer, which is then in the low bits.
  const V magic = v_splat(12582912.0f);
  const V zero = (magic + v_splat(1)) - least * inverse;
  const V zeros[4] = {zero, zero, zero, zero};
  v_store(scale, step);
  v_store(offset, (magic - zero) * step);
  for (size_t f = 0; f < features; f += 4)
    vi_store(y + f * BQ_LANES, quantize_quad(x + f * BQ_LANES, inverse, zeros));
}

KERNEL void SUFFIXED(quantize_u8)(const float *x, size_t blocks, size_t features, uint8_t *y,
                                  float *scale, float *offset) {
  for (size_t b = 0; b < blocks; b++)
    for (int v = 0; v < VECS; v++) {
      const size_t at = b * features * BQ_LANES;
      quantize_lanes(x + at + v * VL, features, y + at + v * VL * 4, scale + b * BQ_LANES + v * VL,
                     offset + b * BQ_LANES + v * VL);
    }
}
