// Template: the shared part of all linear layers: the loop over the tiles of a product, and the
// functions that store a tile's sums. After kernels_internal.h, the including file defines
//   KERNEL           attributes of a function that is compiled for the instruction set
//   INLINE           those of an inlined function, and its storage class
//   V, VL            the vector of floats and its length: 4, 8 or 16
//   VI               the vector of VL int32s; a cast between it and V keeps the bits
//   v_load, v_store  of VL floats at any address
//   v_splat, v_max   the vector of one float; the greater
//   v_gelu, …        the activations of f32_math.inc.h
//   TILE_BLOCKS      blocks of 16 tokens in a tile
// and, optionally,
//   HAS_FAST_GELU    if it defines v_gelu_fast and v_gelu_tanh_fast, with absolute errors of at most 6e-6

#include <math.h>

enum {
  VECS = BQ_LANES / VL,  // vectors in a block of tokens
  TILE_VECS = TILE_BLOCKS * VECS,
  // Bytes of activations that should stay in the L2 cache while all weights are read.
  PANEL_BYTES = 512 * 1024,
  // Weight rows that are a multiple of SET_BYTES apart share a set of the L1 cache, which has WAYS lines in many CPUs
  // (Zen 4, Skylake): a tile of more rows would evict its own.
  SET_BYTES = 4096,
  WAYS = 8,
};

// Calls TILE(rows, blocks, o, b) with constant rows and blocks for every tile of outputs from o and
// blocks from b. Weight rows are the outer loop within a panel of tokens: they are read from memory
// once per panel and stay in the L1 or L2 cache for the whole panel.
#define BQ_FOR_TILES(ROWS, block_bytes, block_count, outs, TILE)                              \
  do {                                                                                        \
    size_t panel_ = PANEL_BYTES / (block_bytes) / TILE_BLOCKS * TILE_BLOCKS;                  \
    if (panel_ < TILE_BLOCKS) panel_ = TILE_BLOCKS;                                           \
    const size_t count_ = (block_count);                                                      \
    for (size_t from_ = 0; from_ < count_; from_ += panel_) {                                 \
      const size_t left_ = count_ - from_;                                                    \
      const size_t to_ = from_ + (left_ < panel_ ? left_ : panel_);                           \
      size_t o_ = 0;                                                                          \
      if ((ROWS) > WAYS && (block_bytes) % (BQ_LANES * SET_BYTES) == 0)                       \
        for (; o_ + WAYS <= (outs); o_ += WAYS) BQ_TILE_ROW_(WAYS, o_, from_, to_, TILE);     \
      for (; o_ + (ROWS) <= (outs); o_ += (ROWS)) BQ_TILE_ROW_((ROWS), o_, from_, to_, TILE); \
      for (; o_ + 2 <= (outs); o_ += 2) BQ_TILE_ROW_(2, o_, from_, to_, TILE);                \
      for (; o_ < (outs); o_++) BQ_TILE_ROW_(1, o_, from_, to_, TILE);                        \
    }                                                                                         \
  } while (0)
#define BQ_TILE_ROW_(rows, o, from, to, TILE)                                           \
  do {                                                                                  \
    size_t b_ = (from);                                                                 \
    for (; b_ + TILE_BLOCKS <= (to); b_ += TILE_BLOCKS) TILE(rows, TILE_BLOCKS, o, b_); \
    for (; TILE_BLOCKS > 1 && b_ < (to); b_++) TILE(rows, 1, o, b_);                    \
  } while (0)

#define CLEAR_TILE(acc, zero)                 \
  BQ_UNROLL_FOR (int r_ = 0; r_ < rows; r_++) \
    BQ_UNROLL_FOR (int v_ = 0; v_ < blocks * VECS; v_++) acc[r_][v_] = zero

// Prefetches the cache lines of `rows` outputs of `blocks` blocks, 64 bytes each, so that they are
// present when the tile's sums are complete.
INLINE void prefetch_outputs(const int rows, const int blocks, const void *y, size_t block_bytes,
                             size_t row_bytes) {
  BQ_UNROLL_FOR (int b = 0; b < blocks; b++)
    BQ_UNROLL_FOR (int r = 0; r < rows; r++)
      __builtin_prefetch((const char *)y + (size_t)b * block_bytes + (size_t)r * row_bytes, 1, 3);
}

// Prefetches a step's share of the next `rows` weight rows, which follow the current ones in
// memory. Without it they arrive at memory latency: the hardware does not predict a dozen short
// streams.
#define PREFETCH_ROWS(w, row_bytes, step) \
  __builtin_prefetch((const char *)(w) + (size_t)rows * ((row_bytes) + 4 * (step)), 0, 2)

// y[i] = f(y[i]) for n values, a multiple of 16, where f is an epilogue's activation. It is not
// inlined, as a tile would contain it `rows` times.
#define BQ_EACH(op) \
  for (size_t i = 0; i < n; i += VL) v_store(y + i, op(v_load(y + i)))
__attribute__((noinline, unused)) KERNEL static void activate_tile(int32_t epilogue, float *y,
                                                                   size_t n) {
  switch (epilogue) {
    case BQ_EPILOGUE_GELU: BQ_EACH(v_gelu); break;
    case BQ_EPILOGUE_GELU_TANH: BQ_EACH(v_gelu_tanh); break;
    case BQ_EPILOGUE_SILU: BQ_EACH(v_silu); break;
    case BQ_EPILOGUE_RELU: BQ_EACH(v_relu); break;
    case BQ_EPILOGUE_TANH: BQ_EACH(v_tanh); break;
  }
}

// The same for results that are then rounded to 8 bits.
#ifdef HAS_FAST_GELU
__attribute__((noinline, unused)) KERNEL static void activate_fast_tile(int32_t epilogue, float *y,
                                                                        size_t n) {
  switch (epilogue) {
    case BQ_EPILOGUE_GELU: BQ_EACH(v_gelu_fast); break;
    case BQ_EPILOGUE_GELU_TANH: BQ_EACH(v_gelu_tanh_fast); break;
    default: activate_tile(epilogue, y, n);
  }
}
#else
#define activate_fast_tile activate_tile
#endif
#undef BQ_EACH

// Stores sums (bias included) of `rows` outputs of `blocks` blocks as f32; y points at the first
// output.
INLINE void store_tile(const int rows, const int blocks, V acc[][TILE_VECS], int32_t epilogue,
                       void (*activate)(int32_t, float *, size_t), float *y, size_t y_stride) {
  BQ_UNROLL_FOR (int r = 0; r < rows; r++)
    BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) {
      float *to = y + v / VECS * y_stride + r * BQ_LANES + v % VECS * VL;
      V sum = acc[r][v];
      if (epilogue == BQ_EPILOGUE_RESIDUAL) sum += v_load(to);
      if (epilogue == BQ_EPILOGUE_GATE) sum *= v_load(to);
      v_store(to, sum);
    }
  if (epilogue != BQ_EPILOGUE_BIAS && epilogue != BQ_EPILOGUE_RESIDUAL &&
      epilogue != BQ_EPILOGUE_GATE)
    for (int b = 0; b < blocks; b++) activate(epilogue, y + b * y_stride, rows * BQ_LANES);
}

// Writes the lanes begin ..< end of one feature of a block.
INLINE void store_lanes(const V *value, size_t begin, size_t end, float *to) {
  float lanes[BQ_LANES];
  if (begin == 0 && end == BQ_LANES) {
    BQ_UNROLL_FOR (int v = 0; v < VECS; v++) v_store(to + v * VL, value[v]);
  } else {
    BQ_UNROLL_FOR (int v = 0; v < VECS; v++) v_store(lanes + v * VL, value[v]);
    for (size_t i = begin; i < end; i++) to[i] = lanes[i];
  }
}

// Stores the products of a tile and a factor per query: `rows` features of an attention's output,
// for the queries query_begin ..< query_end relative to the tile's first lane.
INLINE void store_queries(const int rows, const int blocks, V acc[][TILE_VECS], const V *factor,
                          size_t query_begin, size_t query_end, float *out, size_t out_stride) {
  BQ_UNROLL_FOR (int r = 0; r < rows; r++) {
    BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) acc[r][v] = acc[r][v] * factor[v];
    BQ_UNROLL_FOR (int b = 0; b < blocks; b++) {
      const size_t from = (size_t)b * BQ_LANES, to = from + BQ_LANES;
      store_lanes(acc[r] + b * VECS, query_begin > from ? query_begin - from : 0,
                  query_end < to ? query_end - from : BQ_LANES,
                  out + b * out_stride + r * BQ_LANES);
    }
  }
}

// Calls TILE(blocks, biased, block) with constant blocks and `biased` for every tile of an
// attention's queries. `biased` is true if scores have a bias.
#define BQ_FOR_QUERIES(a, TILE)                  \
  do {                                           \
    if ((a).query_begin >= (a).query_end) break; \
    if ((a).bias || (a).band)                    \
      BQ_FOR_QUERY_BLOCKS_(a, 1, TILE);          \
    else                                         \
      BQ_FOR_QUERY_BLOCKS_(a, 0, TILE);          \
  } while (0)
#define BQ_FOR_QUERY_BLOCKS_(a, biased, TILE)                                           \
  do {                                                                                  \
    const size_t last_ = ((a).query_end + BQ_LANES - 1) / BQ_LANES;                     \
    size_t b_ = (a).query_begin / BQ_LANES;                                             \
    for (; b_ + TILE_BLOCKS <= last_; b_ += TILE_BLOCKS) TILE(TILE_BLOCKS, biased, b_); \
    for (; TILE_BLOCKS > 1 && b_ < last_; b_++) TILE(1, biased, b_);                    \
  } while (0)

// Returns a score with the call's bias, before scaling, for vector v of the queries from block
// `block`. key is relative to the chunk.
INLINE V add_bias(const bq_attention *a, V score, size_t block, int v, size_t key) {
  static const float ramp[BQ_LANES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  block += (size_t)(v / VECS);
  const int lane = v % VECS * VL;
  if (a->bias)
    score += v_load(a->bias + (ptrdiff_t)(block - a->query_begin / BQ_LANES) * a->bias_stride +
                    (ptrdiff_t)(key - a->key_begin) * a->bias_step + lane);
  if (a->band && key >= a->key_begin + a->always) {
    const float first = (float)((ptrdiff_t)(block * BQ_LANES) - (ptrdiff_t)key);
    const V behind = v_load(ramp + lane) + v_splat(first), band = v_splat((float)a->band);
    const VI far = (VI)(v_max(behind, v_splat(0) - behind) > band);
    score = (V)((~far & (VI)score) | (far & (VI)v_splat(-INFINITY)));
  }
  return score;
}

// Calls TILE(rows, blocks, key, block) with constant rows and blocks for every tile of keys and of
// their blocks of distances in relative_keys_…; to_ points at the tile's results.
#define BQ_FOR_DISTANCES(a, width, ROWS, TILE)                                                   \
  do {                                                                                           \
    if ((a).query_begin >= (a).query_end) break;                                                 \
    const size_t blocks_ = (width) / BQ_LANES;                                                   \
    for (size_t key_ = (a).key_begin; key_ < (a).key_end;) {                                     \
      float *to_ = y + (key_ - (a).key_begin) * (width);                                         \
      ptrdiff_t b_ = (ptrdiff_t)((a).query_begin / BQ_LANES) - (ptrdiff_t)(key_ / BQ_LANES) - 1; \
      const ptrdiff_t last_ = b_ + (ptrdiff_t)blocks_;                                           \
      const int whole_ = key_ % (ROWS) == 0 && (a).key_end - key_ >= (ROWS);                     \
      for (; b_ + TILE_BLOCKS <= last_; b_ += TILE_BLOCKS, to_ += TILE_BLOCKS * BQ_LANES)        \
        BQ_DISTANCE_ROWS_(ROWS, whole_, TILE_BLOCKS, TILE);                                      \
      for (; TILE_BLOCKS > 1 && b_ < last_; b_++, to_ += BQ_LANES)                               \
        BQ_DISTANCE_ROWS_(ROWS, whole_, 1, TILE);                                                \
      key_ += whole_ ? (ROWS) : 1;                                                               \
    }                                                                                            \
  } while (0)
#define BQ_DISTANCE_ROWS_(ROWS, whole, blocks, TILE) \
  do {                                               \
    if (whole)                                       \
      TILE(ROWS, blocks, key_, b_);                  \
    else                                             \
      TILE(1, blocks, key_, b_);                     \
  } while (0)
