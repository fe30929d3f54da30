// Template: sums of a table's rows for one instruction set. The including file includes
// recurrent.inc.h before it.

typedef int8_t VB __attribute__((vector_size(VL)));

// The bytes of a number.
INLINE size_t row_size(const int32_t format) {
  return format == BQ_FORMAT_F32 ? 4 : format == BQ_FORMAT_S8 ? 1 : 2;
}

INLINE V v_load_row(const char *row, const int32_t format) {
  if (format != BQ_FORMAT_S8) return v_load_weights(row, format);
  VB bytes;
  memcpy(&bytes, row, sizeof bytes);
  return __builtin_convertvector(bytes, V);
}

// Sums the features i ..< i + vectors · VL.
INLINE void rows_sum(const int vectors, const int32_t format, const char *w, const int32_t *rows,
                     const float *factors, size_t count, size_t width, size_t i, float *y) {
  const size_t size = row_size(format);
  V sums[8];
  BQ_UNROLL_FOR (int v = 0; v < vectors; v++) sums[v] = v_splat(0);
  // Rows are anywhere in a table that is larger than the caches.
  enum { AHEAD = 6, LINE = 64 };
  for (size_t r = 0; r < count; r++) {
    if (r + AHEAD < count) {
      const char *next = w + ((size_t)rows[r + AHEAD] * width + i) * size;
      for (size_t at = 0; at < (size_t)vectors * VL * size; at += LINE)
        __builtin_prefetch(next + at);
    }
    const char *row = w + ((size_t)rows[r] * width + i) * size;
    const V factor = v_splat(factors[r]);
    BQ_UNROLL_FOR (int v = 0; v < vectors; v++)
      sums[v] = v_fma(v_load_row(row + (size_t)v * VL * size, format), factor, sums[v]);
  }
  BQ_UNROLL_FOR (int v = 0; v < vectors; v++) v_store(y + i + (size_t)v * VL, sums[v]);
}

INLINE void sum_rows(const int32_t format, const char *w, const int32_t *rows, const float *factors,
                     size_t count, size_t width, float *y) {
  const size_t size = row_size(format);
  size_t i = 0;
  for (; i + 8 * VL <= width; i += 8 * VL)
    rows_sum(8, format, w, rows, factors, count, width, i, y);
  for (; i + VL <= width; i += VL) rows_sum(1, format, w, rows, factors, count, width, i, y);
  if (i == width) return;
  V sum = v_splat(0);
  for (size_t r = 0; r < count; r++) {
    char rest[sizeof(V)] = {0};
    memcpy(rest, w + ((size_t)rows[r] * width + i) * size, (width - i) * size);
    sum = v_fma(v_load_row(rest, format), v_splat(factors[r]), sum);
  }
  v_store_part(y + i, sum, width - i);
}

KERNEL void SUFFIXED(sum_rows)(const void *w, int32_t format, const int32_t *rows,
                               const float *factors, size_t count, size_t width, float *y) {
  switch (format) {
    case BQ_FORMAT_F16: sum_rows(BQ_FORMAT_F16, w, rows, factors, count, width, y); break;
    case BQ_FORMAT_BF16: sum_rows(BQ_FORMAT_BF16, w, rows, factors, count, width, y); break;
    case BQ_FORMAT_S8: sum_rows(BQ_FORMAT_S8, w, rows, factors, count, width, y); break;
    default: sum_rows(BQ_FORMAT_F32, w, rows, factors, count, width, y);
  }
}
