// Template: the sums of a tile of int8 products by vpmaddubsw, for instruction sets without VNNI.
// The instruction adds two products of bytes in 16 bits, with saturation. Activations are therefore
// at most 128 here, so that two products stay below 2^15, and sums are widened only every second
// step of four columns. If a row's weights could overflow 16 bits in two steps, which is determined
// at load time, the wrong sums are corrected afterwards: results are exact for any weights. The
// including file defines
//   INLINE, KERNEL, SUFFIXED, VI  as for s8_kernels.inc.h
//   vi_byte_pairs    in each int16: the sum of the products of the two u8s of the first operand and the two
//                    s8s of the second there
//   vi_add16         the sums of int16s, modulo 2^16
//   vi_multiply_add  in each int32: the sum of the products of the two pairs of int16s there

#include <string.h>

// Returns Σ |w| of the columns that are added in one 16-bit lane: two columns and the two that are
// four further. The upper two of a step's four lanes have only their own columns, which never
// overflow.
INLINE __m256i lane_sizes(__m256i w) {
  const __m256i own = _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_set1_epi8(1));
  return _mm256_add_epi16(own, _mm256_srli_epi64(own, 32));
}

// Returns one bit for each of the four steps of 8 columns: 1 if 128 · the positive or the negative
// weights of a lane may overflow it.
INLINE uint64_t large_steps(__m256i w) {
  const __m256i none = _mm256_setzero_si256(), most = _mm256_set1_epi16(255);
  // The fast path: almost always the weights are small enough whatever their signs.
  if (!_mm256_movemask_epi8(_mm256_cmpgt_epi16(lane_sizes(w), most))) return 0;
  const __m256i up = lane_sizes(_mm256_max_epi8(w, none));
  const __m256i down = lane_sizes(_mm256_min_epi8(w, none));
  const __m256i lanes = _mm256_cmpgt_epi16(_mm256_max_epi16(up, down), most);
  return (uint64_t)(~_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(lanes, none))) & 15);
}

KERNEL void SUFFIXED(find_large_s8)(const int8_t *w, size_t rows, size_t columns, uint64_t *large) {
  const size_t words = bq_large_words(columns);
  memset(large, 0, rows * words * sizeof *large);
  for (size_t r = 0; r < rows; r++, w += columns, large += words) {
    size_t count = 0;
    for (size_t k = 0; k + 8 <= columns; k += 32) {
      __m256i part = _mm256_setzero_si256();
      if (k + 32 <= columns)
        part = _mm256_loadu_si256((const __m256i *)(w + k));
      else
        memcpy(&part, w + k, (columns - k) / 8 * 8);
      const uint64_t found = large_steps(part);
      large[k / 512] |= found << k / 8 % 64;
      count += (size_t)__builtin_popcountll(found);
    }
    // Correcting one sum costs as much as widening every step of 16.
    if (count > columns / 8 / 16) large[0] = UINT64_MAX;
  }
}

INLINE VI lanes_at(const uint8_t *x, size_t in, int v) {
  return vi_load(x + v / VECS * in * BQ_LANES + v % VECS * VL * 4);
}

// Adds to dots[r] the difference between the exact sums of 8 columns and the overflowed ones.
INLINE void replace_sums(const int blocks, const int8_t *w, const uint8_t *x, size_t in,
                         VI dots[TILE_VECS]) {
  const VI ones = vi_splat(0x00010001), weight = splat_quad(w), next = splat_quad(w + 4);
  BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) {
    const VI a = vi_byte_pairs(lanes_at(x, in, v), weight);
    const VI b = vi_byte_pairs(lanes_at(x + 4 * BQ_LANES, in, v), next);
    dots[v] +=
        vi_multiply_add(a, ones) + vi_multiply_add(b, ones) - vi_multiply_add(vi_add16(a, b), ones);
  }
}

// dots[r][v] = Σ_k w[r][k] · x[k] for rows from `o`. As in f32_kernels.inc.h, one loop iteration
// does several steps, and three rows share a pointer.
INLINE void pairs_tile_s8(const int rows, const int blocks, const bq_weights_s8 *weights, size_t o,
                          const uint8_t *x, size_t in, VI dots[][TILE_VECS]) {
  enum { STEPS = 2, COLUMNS = 8 * STEPS };
  const VI ones = vi_splat(0x00010001);
  const int thirds = (rows + 2) / 3;
  const size_t words = bq_large_words(in);
  const uint64_t *large = weights->large ? weights->large + o * words : NULL;
  int each = !large;
  BQ_UNROLL_FOR (int r = 0; r < rows; r++) each = each || large[(size_t)r * words] == UINT64_MAX;
  const int8_t *w = weights->w + o * in, *from[(S8_ROWS + 2) / 3];
  const char *next = (const char *)w + (size_t)rows * in;
  const size_t end = each ? 0 : in / COLUMNS * COLUMNS;
  const uint8_t *at = x, *whole = x + end * BQ_LANES, *last = x + in * BQ_LANES;
  CLEAR_TILE(dots, vi_splat(0));
  BQ_UNROLL_FOR (int t = 0; t < thirds; t++) from[t] = w + 3 * (size_t)t * in;
  while (at < whole) {
    const int bytes = rows * COLUMNS;
    BQ_UNROLL_FOR (int i = 0; i < bytes; i += 64) __builtin_prefetch(next + i, 0, 2);
    next += bytes;
    BQ_UNROLL_FOR (int t = 0; t < thirds; t++) BQ_OPAQUE(from[t]);
    BQ_UNROLL_FOR (int i = 0; i < COLUMNS; i += 8) {
      VI first[TILE_VECS], second[TILE_VECS];
      BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) {
        first[v] = lanes_at(at + i * BQ_LANES, in, v);
        second[v] = lanes_at(at + (i + 4) * BQ_LANES, in, v);
      }
      BQ_UNROLL_FOR (int r = 0; r < rows; r++) {
        const int8_t *row = from[r / 3] + (size_t)(r % 3) * in + i;
        const VI weight = splat_quad(row), later = splat_quad(row + 4);
        BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++)
          dots[r][v] += vi_multiply_add(
              vi_add16(vi_byte_pairs(first[v], weight), vi_byte_pairs(second[v], later)), ones);
      }
    }
    BQ_UNROLL_FOR (int t = 0; t < thirds; t++) from[t] += COLUMNS;
    at += COLUMNS * BQ_LANES;
  }
  // The remaining steps, or all of them, one at a time.
  while (at < last) {
    BQ_UNROLL_FOR (int r = 0; r < rows; r++) {
      const VI weight = splat_quad(from[r / 3] + (size_t)(r % 3) * in);
      BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++)
        dots[r][v] += vi_multiply_add(vi_byte_pairs(lanes_at(at, in, v), weight), ones);
    }
    BQ_UNROLL_FOR (int t = 0; t < thirds; t++) from[t] += 4;
    at += 4 * BQ_LANES;
  }
  if (each) return;
  BQ_UNROLL_FOR (int r = 0; r < rows; r++)
    for (size_t i = 0; i < words; i++)
      for (uint64_t left = large[(size_t)r * words + i]; left; left &= left - 1) {
        const size_t k = i * 512 + (size_t)__builtin_ctzll(left) * 8;
        if (k < end) replace_sums(blocks, w + (size_t)r * in + k, x + k * BQ_LANES, in, dots[r]);
      }
}
