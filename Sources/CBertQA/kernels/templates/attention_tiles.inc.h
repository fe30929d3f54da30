// Template: one head of one window in bfloat16 with AMX. It shares the softmax of
// bf16_attention.inc.h. Keys and values are converted to tiles for every two blocks of queries,
// which costs less than storing all of them. The including file includes value_tiles.inc.h before
// it.

// Writes rows of one key each, [16][32 features from d], for the block of keys at k:
// [feature/2][16][2].
INLINE void keys_to_tile(const uint16_t *k, size_t d, uint16_t *rows) {
  const __m512i pairs =
      _mm512_mullo_epi32(_mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
                         _mm512_set1_epi32(BQ_LANES));
  const int *from = (const int *)(k + d * BQ_LANES);
  BQ_UNROLL_FOR (int key = 0; key < BQ_LANES; key++)
    _mm512_storeu_si512(rows + key * 2 * BQ_LANES, _mm512_i32gather_epi32(pairs, from + key, 4));
}

INLINE void score_block_tiles(const int blocks, const head_bf16 *h, size_t block, size_t key_block,
                              tile_sums *sums) {
  uint16_t rows[TILE * TILE_KEYS] __attribute__((aligned(64)));
  const bq_attention *a = h->a;
  const uint16_t *q = h->q + block * a->stride;
  clear_sums(1, blocks);
  for (size_t d = 0; d < a->head_dim; d += TILE_KEYS) {
    keys_to_tile(h->k + key_block * a->stride, d, rows);
    add_tiles(1, 1, blocks, rows, TILE_BYTES, q + d * BQ_LANES, TILE_BYTES, a->stride * sizeof *q);
  }
  store_sums(1, blocks, sums);
}

// Like score_keys_bf16.
INLINE void score_keys_tiles(const int blocks, const int biased, const head_bf16 *h, size_t block,
                             float *strip, V most[TILE_VECS]) {
  tile_sums sums;
  const bq_attention *a = h->a;
  BQ_UNROLL_FOR (int b = 0; b < blocks; b++) most[b] = v_splat(-INFINITY);
  for (size_t key = a->key_begin; key < a->key_end;) {
    const size_t lane = key % BQ_LANES, left = a->key_end - key;
    const size_t run = left < BQ_LANES - lane ? left : BQ_LANES - lane;
    score_block_tiles(blocks, h, block, key / BQ_LANES, &sums);
    for (size_t r = 0; r < run; r++, strip += blocks * BQ_LANES)
      BQ_UNROLL_FOR (int b = 0; b < blocks; b++) {
        V score = (V)vi_load(sums.of[0][b] + (lane + r) * BQ_LANES);
        if (biased) score = add_bias(a, score, block, b, key + r);
        most[b] = v_max(most[b], score);
        v_store(strip + b * VL, score);
      }
    key += run;
  }
  // The last key's missing neighbour in a pair.
  BQ_UNROLL_FOR (int b = 0; b < blocks; b++) v_store(strip + b * VL, v_splat(-INFINITY));
}

// Writes rows of one feature each, [2 · 16 from d][32 keys from `first`], where the first key is 0,
// with 0 beyond the last key. v points at key_begin's block.
INLINE void values_to_tile(const bq_attention *a, const uint16_t *v, size_t d, size_t first,
                           uint16_t *rows) {
  const size_t before = a->key_begin % BQ_LANES, keys = a->key_end - a->key_begin;
  for (size_t i = 0; i < TILE_KEYS; i += 4) {
    const size_t key = first + i, token = before + key;
    const size_t left = key < keys ? keys - key : 0;
    const uint16_t *from = v + token / BQ_LANES * a->stride + d * BQ_LANES + token % BQ_LANES;
    const uint64_t mask = left >= 4 ? UINT64_MAX : ((uint64_t)1 << 16 * left) - 1;
    for (size_t r = 0; r < 2 * TILE; r++) {
      uint64_t four = 0;
      if (left) memcpy(&four, from + r * BQ_LANES, sizeof four);
      four &= mask;
      memcpy(rows + r * TILE_KEYS + i, &four, sizeof four);
    }
  }
}

// Like context_keys_tiles, for values in their original layout.
INLINE void context_values(const int blocks, const bq_attention *a, const uint16_t *v,
                           const V *inverse, size_t block, float *out) {
  uint16_t rows[2 * TILE * TILE_KEYS] __attribute__((aligned(64)));
  tile_sums sums;
  const size_t keys = a->key_end - a->key_begin, width = (size_t)blocks * TILE_BYTES;
  for (size_t d = 0; d < a->head_dim; d += 2 * TILE) {
    const char *weights = (const char *)a->scratch;
    clear_sums(2, blocks);
    for (size_t key = 0; key < keys; key += TILE_KEYS, weights += TILE * width) {
      values_to_tile(a, v, d, key, rows);
      add_tiles(1, 2, blocks, rows, TILE_BYTES, weights, width, TILE_BYTES);
    }
    store_sums(2, blocks, &sums);
    finish_context(2, blocks, a, &sums, inverse, d, block, out);
  }
}

TARGET static void attention_bf16(const bq_attention *a, const uint16_t *q, const uint16_t *k,
                                  const uint16_t *v, float *out) {
  // A tile sums 32 keys together, so keys outside the band would change the rounding of those
  // inside.
  if (a->head_dim % TILE_KEYS || a->band) {
    bq_attention_bf16_avx512_vnni_bf16(a, q, k, v, out);
    return;
  }
  const bq_attention call = *a;  // a copy that no store can change
  const head_bf16 h = {&call, q, k};
  const uint16_t *values = v + call.key_begin / BQ_LANES * call.stride;
#define BQ_TILE(blocks, biased, block)                               \
  do {                                                               \
    V most[TILE_VECS], inverse[TILE_VECS];                           \
    score_keys_tiles(blocks, biased, &h, block, call.scratch, most); \
    soften_bf16(blocks, &call, most, inverse);                       \
    clear_rest(blocks, &call);                                       \
    context_values(blocks, &call, values, inverse, block, out);      \
  } while (0)
  use_tiles();
  BQ_FOR_QUERIES(call, BQ_TILE);
  _tile_release();
#undef BQ_TILE
}
