// Template: an attention's context, the weights of keys times values, by AMX: tiles of 16 features
// of 32 keys times tiles of 16 pairs of keys of 16 queries. Tiles begin at the first key, so that
// results do not depend on the position of a window. The including file includes bf16_kernels.inc.h
// and tile_sums.inc.h before it.

// values[key / 32][head_dim][32], bfloat16, of keys from key_begin, with 0 beyond the last key. v
// points at key_begin's block.
INLINE void values_to_tiles(const bq_attention *a, const float *v, uint16_t *values) {
  const size_t dim = a->head_dim, keys = a->key_end - a->key_begin;
  const size_t before = a->key_begin % BQ_LANES, last = (before + keys - 1) / BQ_LANES;
  memset(values, 0, (keys + TILE_KEYS - 1) / TILE_KEYS * TILE_KEYS * dim * sizeof *values);
  for (size_t b = 0; b <= last; b++) {
    const size_t left = before + keys - b * BQ_LANES;
    const __mmask16 lanes = (__mmask16)(left < BQ_LANES ? (1u << left) - 1 : 0xFFFF);
    for (size_t d = 0; d < dim; d++) {
      const V x = _mm512_maskz_loadu_ps(lanes, v + b * a->stride + d * BQ_LANES);
      uint16_t row[BQ_LANES];
      _mm256_storeu_si256((__m256i *)row, (__m256i)_mm512_cvtneps_pbh(x));
      // key_begin is a multiple of 4.
      for (size_t lane = b == 0 ? before : 0; lane < BQ_LANES && lane < left; lane += 4) {
        const size_t key = b * BQ_LANES + lane - before;
        memcpy(values + (key / TILE_KEYS * dim + d) * TILE_KEYS + key % TILE_KEYS, row + lane,
               4 * sizeof *row);
      }
    }
  }
}

// Finishes features from `d` of the queries from block `block`.
INLINE void finish_context(const int rows, const int blocks, const bq_attention *a,
                           const tile_sums *sums, const V *inverse, size_t d, size_t block,
                           float *out) {
  enum { ROWS = 8 };
  const size_t from = block * BQ_LANES, end = a->query_end - from;
  const size_t begin = a->query_begin > from ? a->query_begin - from : 0;
  float *to = out + block * a->out_stride + d * BQ_LANES;
  for (size_t i = 0; i < (size_t)rows * TILE; i += ROWS) {
    V acc[ROWS][TILE_VECS];
    BQ_UNROLL_FOR (size_t r = 0; r < ROWS; r++)
      BQ_UNROLL_FOR (int b = 0; b < blocks; b++)
        acc[r][b] = (V)vi_load(sums->of[i / TILE][b] + (i % TILE + r) * BQ_LANES);
    store_queries(ROWS, blocks, acc, inverse, begin, end, to + i * BQ_LANES, a->out_stride);
  }
}

// Sets the weights of the padding keys in the last tile to 0.
INLINE void clear_rest(const int blocks, const bq_attention *a) {
  const size_t keys = a->key_end - a->key_begin, tiles = (keys + TILE_KEYS - 1) / TILE_KEYS;
  const size_t pairs = (keys + 1) / 2, width = (size_t)blocks * BQ_LANES;
  memset(a->scratch + pairs * width, 0, (tiles * TILE - pairs) * width * sizeof *a->scratch);
}

INLINE void context_rows(const int rows, const int blocks, const bq_attention *a,
                         const uint16_t *values, const V *inverse, size_t d, size_t block,
                         float *out) {
  tile_sums sums;
  const size_t width = (size_t)blocks * TILE_BYTES;
  const char *weights = (const char *)a->scratch;
  values += d * TILE_KEYS;
  clear_sums(rows, blocks);
  for (size_t key = a->key_begin; key < a->key_end; key += TILE_KEYS) {
    add_tiles(1, rows, blocks, values, TILE_BYTES, weights, width, TILE_BYTES);
    values += a->head_dim * TILE_KEYS, weights += TILE * width;
  }
  store_sums(rows, blocks, &sums);
  finish_context(rows, blocks, a, &sums, inverse, d, block, out);
}

// Like context_keys_bf16, for values from values_to_tiles.
INLINE void context_keys_tiles(const int blocks, const bq_attention *a, const uint16_t *values,
                               const V *inverse, size_t block, float *out) {
  clear_rest(blocks, a);
  size_t d = 0;
  for (; d + 2 * TILE <= a->head_dim; d += 2 * TILE)
    context_rows(2, blocks, a, values, inverse, d, block, out);
  if (d < a->head_dim) context_rows(1, blocks, a, values, inverse, d, block, out);
}
