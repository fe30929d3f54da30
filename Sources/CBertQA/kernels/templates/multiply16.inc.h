// Template: the byte products that s8_kernels.inc.h needs, for instruction sets without VNNI. The
// even and the odd bytes become 16-bit numbers for two multiply-adds of pairs. (AVX2's instruction
// for products of bytes, vpmaddubsw, saturates its 16-bit sums.) The including file defines
//   INLINE           storage class and attributes of an inlined function
//   VI               the vector of VL int32s
//   VI16, VU16       vectors of the same size, of int16s and uint16s
//   vi_multiply_add  in each int32: the sum of the products of the two pairs of int16s there

typedef struct {
  VI even, odd;
} byte_pairs;
#define BYTES_X byte_pairs
#define BYTES_W byte_pairs

INLINE byte_pairs v_bytes_x(VI u8) {
  const VI odd = (VI)((VU16)u8 >> 8);
  return (byte_pairs){u8 & 0x00FF00FF, odd};
}

INLINE byte_pairs v_bytes_w(VI s8) {
  return (byte_pairs){(VI)((VI16)((VU16)s8 << 8) >> 8), (VI)((VI16)s8 >> 8)};
}

INLINE VI v_dot(VI sum, byte_pairs x, byte_pairs w) {
  return sum + vi_multiply_add(x.even, w.even) + vi_multiply_add(x.odd, w.odd);
}
