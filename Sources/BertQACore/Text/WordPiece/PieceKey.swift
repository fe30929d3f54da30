/// A piece of at most 15 bytes, without its "##", as two words that compare at once.
///
/// The first byte is the lowest, padded with zeros; the top byte of `high` is `tag`, never zero
/// except for the empty piece.
struct PieceKey: Equatable, BitwiseCopyable {
  /// Longest piece that has a key.
  static var maximumCount: Int { 15 }

  var low: UInt64
  var high: UInt64

  /// Sixteen bytes from `bytes`, all readable, with no tag.
  @inline(__always)
  init(loading bytes: UnsafePointer<UInt8>) {
    let raw = UnsafeRawPointer(bytes)
    low = UInt64(littleEndian: raw.loadUnaligned(as: UInt64.self))
    high = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
  }

  @inline(__always)
  init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
  }

  /// The key of the first `count` bytes, 0...15; `continuation` is 1 for a "##" piece and 0 else.
  @inline(__always)
  func prefix(_ count: Int, continuation: UInt64) -> PieceKey {
    // Without a branch on the length: words of text make it unpredictable.
    let bits = UInt64(truncatingIfNeeded: count &* 8)
    let lowMask = ~(UInt64.max << bits)
    let highMask = ~(UInt64.max << (max(bits, 64) &- 64))
    let tag = (UInt64(truncatingIfNeeded: count) &<< 1 | continuation) &<< 56
    return PieceKey(low: low & lowMask, high: high & highMask | tag)
  }
}
