/// The merges of a byte-pair vocabulary: for two pieces side by side, when they are merged and into what.
///
/// An open-addressed hash table of 8 bytes a slot: the two ids and the rank, 21 bits each.
final class MergeTable: @unchecked Sendable {
  // Unchecked: the memory is written in init only.

  /// Ids and ranks are less.
  static var limit: Int { 1 << 21 }
  /// Of two pieces that are not merged: more than any rank.
  static var none: Int32 { .max }
  /// A longer chain of slots means that the merges were chosen to collide.
  private static var maximumChain: Int { 128 }
  private static var empty: UInt64 { .max }

  private let slots: AlignedBuffer<UInt64>
  private let mask: Int
  private let shift: UInt64
  private var multiplier: UInt64 = 0
  /// The piece that each merge makes, by rank.
  private let results: AlignedBuffer<Int32>
  let count: Int

  /// - Parameter merges: by rank. Of equal pairs the last one counts.
  init(_ merges: [(left: Int32, right: Int32, result: Int32)]) throws(BertQAError) {
    var slotCount = 1024
    while slotCount < merges.count * 2 { slotCount *= 2 }
    slots = try AlignedBuffer(repeating: Self.empty, count: slotCount)
    mask = slotCount - 1
    shift = UInt64(64 - slotCount.trailingZeroBitCount)
    results = try AlignedBuffer(uninitializedCount: max(1, merges.count))
    count = merges.count
    for (rank, merge) in merges.enumerated() { results[rank] = merge.result }
    for seed: UInt64 in 1...8 {
      multiplier = SplitMix64.mixed(seed &* SplitMix64.increment) | 1
      if insertAll(merges) { return }
    }
    throw BertQAError(
      .invalidModel, "\"merges\": the pairs collide on purpose; check where the file came from")
  }

  private func insertAll(_ merges: [(left: Int32, right: Int32, result: Int32)]) -> Bool {
    slots.base.update(repeating: Self.empty, count: mask + 1)
    for (rank, merge) in merges.enumerated() {
      let key = Self.key(merge.left, merge.right)
      var slot = firstSlot(key)
      var steps = 0
      while slots[slot] != Self.empty, slots[slot] &>> 21 != key {
        slot = (slot + 1) & mask
        steps += 1
        if steps == Self.maximumChain { return false }
      }
      slots[slot] = key << 21 | UInt64(rank)
    }
    return true
  }

  @inline(__always)
  private static func key(_ left: Int32, _ right: Int32) -> UInt64 {
    UInt64(UInt32(bitPattern: left)) &<< 21 | UInt64(UInt32(bitPattern: right))
  }

  @inline(__always)
  private func firstSlot(_ key: UInt64) -> Int {
    Int(truncatingIfNeeded: (key &* multiplier) &>> shift)
  }

  /// The rank of the merge of two pieces, or `none`.
  @inline(__always)
  func rank(_ left: Int32, _ right: Int32) -> Int32 {
    let key = Self.key(left, right)
    var slot = firstSlot(key)
    while true {
      let found = slots.base[slot]
      if found &>> 21 == key { return Int32(truncatingIfNeeded: found & 0x1F_FFFF) }
      if found == Self.empty { return Self.none }
      slot = (slot &+ 1) & mask
    }
  }

  /// The piece that the merge of a rank makes.
  @inline(__always)
  func result(_ rank: Int32) -> Int32 { results.base[Int(rank)] }
}
