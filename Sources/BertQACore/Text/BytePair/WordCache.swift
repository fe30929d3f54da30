/// The pieces of words that were cut lately: a table of one word a slot, which a newer word takes over. It changes
/// nothing but the time; its size is fixed, and it belongs to the memory of one text at a time.
struct WordCache {
  /// A word's pieces at most: more are not kept.
  static var pieceLimit: Int { 7 }
  private static var slotBits: UInt64 { 12 }

  /// A slot is the word's key, then how many pieces it has and where each ends, a byte each, then the pieces.
  struct Memory: ~Copyable {
    fileprivate let slots: AlignedBuffer<UInt64>

    init() throws(BertQAError) {
      slots = try AlignedBuffer(repeating: 0, count: 8 << Int(slotBits))
    }
  }

  private let slots: UnsafeMutablePointer<UInt64>

  init(_ memory: borrowing Memory) { slots = memory.slots.base }

  /// Where a word is or would be.
  @inline(__always)
  func slot(of key: PieceKey) -> Slot {
    let hash = (key.low ^ key.high &* 0x9E37_79B9_7F4A_7C15) &* 0xD6E8_FEB8_6659_FD93
    return Slot(base: slots + Int(truncatingIfNeeded: hash &>> (64 &- Self.slotBits)) &<< 3)
  }

  struct Slot {
    fileprivate let base: UnsafeMutablePointer<UInt64>

    /// Whether it holds the word of this key, which is not empty.
    @inline(__always)
    func holds(_ key: PieceKey) -> Bool { base[0] == key.low && base[1] == key.high }

    @inline(__always)
    var count: Int { Int(base[2] & 0xFF) }

    @inline(__always)
    func end(_ piece: Int) -> Int { Int(base[2] &>> (UInt64(truncatingIfNeeded: piece &+ 1) &* 8) & 0xFF) }

    @inline(__always)
    func id(_ piece: Int) -> Int32 {
      UnsafeRawPointer(base + 3).load(fromByteOffset: piece &* 4, as: Int32.self)
    }

    /// Keeps the `count` pieces of a word, unless they are too many.
    @inline(__always)
    func keep(
      _ key: PieceKey, _ ids: UnsafePointer<Int32>, _ starts: UnsafePointer<Int32>, count: Int
    ) {
      guard count <= WordCache.pieceLimit else { return }
      base[0] = key.low
      base[1] = key.high
      var ends = UInt64(truncatingIfNeeded: count)
      for piece in 0..<count {
        ends |=
          UInt64(truncatingIfNeeded: starts[piece &+ 1]) &<< (UInt64(truncatingIfNeeded: piece &+ 1) &* 8)
        UnsafeMutableRawPointer(base + 3).storeBytes(of: ids[piece], toByteOffset: piece &* 4, as: Int32.self)
      }
      base[2] = ends
    }
  }
}
