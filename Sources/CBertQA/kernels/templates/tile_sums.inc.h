// Template: sums of products by AMX, of up to two tiles of rows and up to two tiles of columns,
// which are blocks of tokens. Registers 0 … 3 hold the sums, 4 and 5 rows, 6 and 7 columns.

enum {
  TILE = 16,                                       // rows of a tile
  TILE_BYTES = 64,                                 // bytes of a row of a tile
  TILE_KEYS = TILE_BYTES / (int)sizeof(uint16_t),  // bfloat16s of a row
};

// [rows][blocks][16 rows][16 tokens], int32 or float.
typedef struct {
  int32_t of[2][2][TILE * BQ_LANES] __attribute__((aligned(64)));
} tile_sums;

INLINE void use_tiles(void) {
  // Palette 1, with all eight registers at full size.
  static const struct {
    uint8_t palette, start, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
  } shapes __attribute__((aligned(64))) = {
      1, 0, {0}, {64, 64, 64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16, 16, 16}};
  _tile_loadconfig(&shapes);
}

INLINE void clear_sums(const int rows, const int blocks) {
  _tile_zero(0);
  if (blocks > 1) _tile_zero(1);
  if (rows > 1) _tile_zero(2);
  if (rows > 1 && blocks > 1) _tile_zero(3);
}

// Adds the products of 64 bytes of each row. w's rows are `row` bytes apart, x's `width` bytes, and
// x's second tile is `next` bytes after the first.
#define BQ_ADD_TILES(dot)                              \
  do {                                                 \
    _tile_loadd(4, w, row);                            \
    _tile_loadd(6, x, width);                          \
    dot(0, 4, 6);                                      \
    if (blocks > 1) _tile_loadd(7, x + next, width);   \
    if (blocks > 1) dot(1, 4, 7);                      \
    if (rows > 1) _tile_loadd(5, w + TILE * row, row); \
    if (rows > 1) dot(2, 5, 6);                        \
    if (rows > 1 && blocks > 1) dot(3, 5, 7);          \
  } while (0)
INLINE void add_tiles(const int bf16, const int rows, const int blocks, const void *rows_at,
                      size_t row, const void *columns_at, size_t width, size_t next) {
  const char *w = rows_at, *x = columns_at;
  if (bf16)
    BQ_ADD_TILES(_tile_dpbf16ps);
  else
    BQ_ADD_TILES(_tile_dpbsud);
}
#undef BQ_ADD_TILES

INLINE void store_sums(const int rows, const int blocks, tile_sums *sums) {
  _tile_stored(0, sums->of[0][0], TILE_BYTES);
  if (blocks > 1) _tile_stored(1, sums->of[0][1], TILE_BYTES);
  if (rows > 1) _tile_stored(2, sums->of[1][0], TILE_BYTES);
  if (rows > 1 && blocks > 1) _tile_stored(3, sums->of[1][1], TILE_BYTES);
}
