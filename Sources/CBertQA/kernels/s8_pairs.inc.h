// Template: the sums of a tile of int8 products by vpmaddubsw, for instruction sets without VNNI. It adds
// two products of bytes in 16 bits, and saturates. Activations are therefore at most 128 here, with which no
// two products reach 2^15, and so are widened only every second step of four columns. Where a row's weights
// could overflow 16 bits in two steps, which depends on the weights alone, the wrong sums are replaced
// afterwards: results are exact for any weights. The including file defines
//   INLINE, VI       as for s8_kernels.inc.h
//   vi_byte_pairs    in each int16: the sum of the products of the two u8s of the first operand and the two
//                    s8s of the second there
//   vi_add16         the sums of int16s, modulo 2^16
//   vi_multiply_add  in each int32: the sum of the products of the two pairs of int16s there
//   S8_ROWS          weight rows of a tile

#include <string.h>

// What is known of a tile's weight rows.
enum { MAX_LARGE = 32 };
typedef struct {
  const int8_t *w;  // the first row
  // The columns, multiples of 8, at which two steps may overflow.
  uint16_t large[S8_ROWS][MAX_LARGE];
  uint16_t large_count[S8_ROWS];
  // Every step is to be widened.
  int every_step;
} s8_rows;

// Whether 128 · the positive or the negative weights of two columns and of those four further, which are added
// in one 16-bit lane, may overflow it: of the four steps of 8 columns, any bit of a byte.
INLINE uint32_t large_weights(__m256i w) {
  const __m256i none = _mm256_setzero_si256(), ones = _mm256_set1_epi8(1);
  const __m256i up = _mm256_maddubs_epi16(ones, _mm256_max_epi8(w, none));
  const __m256i down = _mm256_maddubs_epi16(ones, _mm256_min_epi8(w, none));
  // The upper two lanes of a step have only their own columns, which is never too much.
  const __m256i most = _mm256_add_epi16(up, _mm256_srli_epi64(up, 32));
  const __m256i least = _mm256_add_epi16(down, _mm256_srli_epi64(down, 32));
  return (uint32_t)_mm256_movemask_epi8(
      _mm256_or_si256(_mm256_cmpgt_epi16(most, _mm256_set1_epi16(255)),
                      _mm256_cmpgt_epi16(_mm256_set1_epi16(-255), least)));
}

// The steps of row `r` in which its weights may overflow; 0 where they are too many.
INLINE int find_large(const int8_t *w, size_t in, s8_rows *known, int r) {
  size_t count = 0;
  for (size_t k = 0; k + 8 <= in; k += 32) {
    __m256i columns = _mm256_setzero_si256();
    if (k + 32 <= in)
      columns = _mm256_loadu_si256((const __m256i *)(w + k));
    else
      memcpy(&columns, w + k, (in - k) / 8 * 8);
    for (uint32_t found = large_weights(columns); found;) {
      if (count == MAX_LARGE) return 0;
      const uint32_t bit = (uint32_t)__builtin_ctz(found) / 8 * 8;
      known->large[r][count++] = (uint16_t)(k + bit);
      found &= ~(0xFFu << bit);
    }
  }
  known->large_count[r] = (uint16_t)count;
  return 1;
}

// Looks at `rows` rows that will meet `blocks` blocks: with few, looking costs more than it saves.
INLINE void look_at_rows(const int rows, const int8_t *w, size_t in, size_t blocks,
                         s8_rows *known) {
  known->w = w;
  known->every_step = in > UINT16_MAX || blocks < 4;
  for (int r = 0; r < rows && !known->every_step; r++)
    known->every_step = !find_large(w + (size_t)r * in, in, known, r);
}

INLINE VI splat_quad(const int8_t *w) {
  int32_t quad;
  memcpy(&quad, w, sizeof quad);
  return vi_splat(quad);
}

INLINE VI lanes_at(const uint8_t *x, size_t in, int v) {
  return vi_load(x + v / VECS * in * BQ_LANES + v % VECS * VL * 4);
}

// dots[r][v] = Σ_k w[r][k] · x[k], for rows that are `known`.
INLINE void dot_tile_s8(const int rows, const int blocks, const s8_rows *known, const uint8_t *x,
                        size_t in, VI dots[][TILE_VECS]) {
  const VI ones = vi_splat(0x00010001);
  const int8_t *w = known->w;
  size_t k = 0;
  for (; k + 8 <= in && !known->every_step; k += 8) {
    PREFETCH_ROWS(w, in, k / 4);
    VI first[TILE_VECS], second[TILE_VECS];
    BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) {
      first[v] = lanes_at(x + k * BQ_LANES, in, v);
      second[v] = lanes_at(x + (k + 4) * BQ_LANES, in, v);
    }
    BQ_UNROLL_FOR (int r = 0; r < rows; r++) {
      const VI weight = splat_quad(w + r * in + k), next = splat_quad(w + r * in + k + 4);
      BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++)
        dots[r][v] += vi_multiply_add(
            vi_add16(vi_byte_pairs(first[v], weight), vi_byte_pairs(second[v], next)), ones);
    }
  }
  for (; k < in; k += 4)
    BQ_UNROLL_FOR (int r = 0; r < rows; r++) {
      const VI weight = splat_quad(w + r * in + k);
      BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++)
        dots[r][v] +=
            vi_multiply_add(vi_byte_pairs(lanes_at(x + k * BQ_LANES, in, v), weight), ones);
    }
  if (known->every_step) return;
  BQ_UNROLL_FOR (int r = 0; r < rows; r++)
    for (size_t i = 0; i < known->large_count[r]; i++) {
      const size_t at = known->large[r][i];
      const VI weight = splat_quad(w + r * in + at), next = splat_quad(w + r * in + at + 4);
      BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) {
        const VI a = vi_byte_pairs(lanes_at(x + at * BQ_LANES, in, v), weight);
        const VI b = vi_byte_pairs(lanes_at(x + (at + 4) * BQ_LANES, in, v), next);
        dots[r][v] += vi_multiply_add(a, ones) + vi_multiply_add(b, ones) -
                      vi_multiply_add(vi_add16(a, b), ones);
      }
    }
}
