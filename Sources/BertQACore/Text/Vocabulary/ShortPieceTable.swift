import CBertQA

/// An open-addressed hash table of the pieces that have a `PieceKey`: 20 bytes a slot, at most a quarter full,
/// because most probes of the longest match find nothing. A value of pointers, so that loops can keep it in
/// registers; `Memory` owns what they point to.
struct ShortPieceTable {
  /// The slots of a table.
  struct Memory: ~Copyable {
    fileprivate let keys: AlignedBuffer<PieceKey>
    fileprivate let ids: AlignedBuffer<Int32>

    init(slotCount: Int) throws(BertQAError) {
      let keys = try AlignedBuffer(repeating: PieceKey(low: 0, high: 0), count: slotCount)
      let ids = try AlignedBuffer<Int32>(repeating: -1, count: slotCount)
      self.keys = keys
      self.ids = ids
    }
  }

  /// A longer chain of slots means that the pieces were chosen to collide.
  static var maximumChain: Int { 128 }

  private let keys: UnsafeMutablePointer<PieceKey>
  private let ids: UnsafeMutablePointer<Int32>
  let slotMask: Int
  let slotShift: UInt64
  private(set) var multiplier = PieceKey(low: 0, high: 0)

  /// An empty table with `slotCount` slots, a power of two. It may be used as long as `memory` lives.
  init(_ memory: borrowing Memory, slotCount: Int) {
    slotMask = slotCount - 1
    slotShift = UInt64(64 - slotCount.trailingZeroBitCount)
    keys = memory.keys.base
    ids = memory.ids.base
  }

  @inline(__always)
  private func slot(of key: PieceKey) -> Int {
    Int(truncatingIfNeeded: (key.low &* multiplier.low &+ key.high &* multiplier.high) &>> slotShift)
  }

  /// Returns the id of a piece that is not empty, or -1.
  @inline(__always)
  func id(of key: PieceKey) -> Int32 {
    var slot = slot(of: key)
    while true {
      let found = keys[slot]
      if found.low == key.low, found.high == key.high { return ids[slot] }
      if found.high == 0 { return -1 }
      slot = (slot &+ 1) & slotMask
    }
  }

  /// Loads what `id(of:)` will read.
  @inline(__always)
  func prefetch(_ key: PieceKey) {
    let slot = slot(of: key)
    bq_prefetch(keys + slot)
    bq_prefetch(ids + slot)
  }

  /// Empties the table and chooses another hash function.
  mutating func removeAll(multiplier: PieceKey) {
    self.multiplier = multiplier
    keys.update(repeating: PieceKey(low: 0, high: 0), count: slotMask + 1)
  }

  /// Inserts a piece or replaces its id; false if the chain of slots is too long.
  @inline(__always)
  func insert(_ key: PieceKey, id: Int32) -> Bool {
    var slot = slot(of: key)
    for _ in 0..<Self.maximumChain {
      if keys[slot].high == 0 || keys[slot] == key {
        keys[slot] = key
        ids[slot] = id
        return true
      }
      slot = (slot &+ 1) & slotMask
    }
    return false
  }
}

/// A piece of at most 15 bytes, without its "##", as two numbers that compare at once.
///
/// The first byte is the lowest, padded with zeros; the top byte of `high` is `tag`, never zero
/// except for the empty piece.
struct PieceKey: Equatable, BitwiseCopyable {
  /// The maximum bytes of a piece with a key.
  static var maximumCount: Int { 15 }

  var low: UInt64
  var high: UInt64

  /// Loads sixteen bytes, all readable, without a tag.
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

  /// Returns the key of the first `count` bytes, 0...15; `continuation` is 1 for a "##" piece, else 0.
  @inline(__always)
  func prefix(_ count: Int, continuation: UInt64) -> PieceKey {
    // Without a branch on the length, which is unpredictable in texts.
    let bits = UInt64(truncatingIfNeeded: count &* 8)
    let lowMask = ~(UInt64.max << bits)
    let highMask = ~(UInt64.max << (max(bits, 64) &- 64))
    let tag = (UInt64(truncatingIfNeeded: count) &<< 1 | continuation) &<< 56
    return PieceKey(low: low & lowMask, high: high & highMask | tag)
  }
}
