/// Searches for bytes, sixteen at a time. Sixteen bytes after the end must be readable: `NormalizedText.padding`.
enum ByteScan {
  typealias Block = SIMD16<UInt8>

  @inline(__always)
  static func block(_ text: UnsafePointer<UInt8>, _ position: Int) -> Block {
    UnsafeRawPointer(text + position).loadUnaligned(as: Block.self)
  }

  /// Returns the first lane that is set; 16 if none is.
  @inline(__always)
  static func firstLane(_ mask: SIMDMask<SIMD16<Int8>>) -> Int {
    let halves = unsafeBitCast(mask, to: SIMD2<UInt64>.self)
    let (low, high) = (UInt64(littleEndian: halves[0]), UInt64(littleEndian: halves[1]))
    if low != 0 { return low.trailingZeroBitCount &>> 3 }
    return 8 &+ high.trailingZeroBitCount &>> 3
  }

  /// Returns the position of the first of either byte in `begin ..< end`; `end` if there is none.
  @inline(__always)
  static func first(
    of first: UInt8, or second: UInt8, in text: UnsafePointer<UInt8>, from begin: Int, to end: Int
  ) -> Int {
    let (firsts, seconds) = (Block(repeating: first), Block(repeating: second))
    var position = begin
    while position < end {
      let block = block(text, position)
      let lane = firstLane((block .== firsts) .| (block .== seconds))
      if lane < 16 { return min(position &+ lane, end) }
      position &+= 16
    }
    return end
  }

  /// Returns the position of the first byte outside ASCII in `begin ..< end`; `end` if there is none.
  @inline(__always)
  static func endOfASCII(in text: UnsafePointer<UInt8>, from begin: Int, to end: Int) -> Int {
    var position = begin
    while position < end {
      let raw = UnsafeRawPointer(text + position).loadUnaligned(as: UInt64.self)
      let high = UInt64(littleEndian: raw) & 0x8080_8080_8080_8080
      if high != 0 { return min(position &+ high.trailingZeroBitCount &>> 3, end) }
      position &+= 8
    }
    return end
  }
}
