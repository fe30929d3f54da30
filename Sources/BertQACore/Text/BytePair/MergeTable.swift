/// The merge of two adjacent pieces.
struct Merge: BitwiseCopyable {
  /// No merge: its rank is above any other.
  static var none: Merge { Merge(rank: .max, result: -1) }

  /// Lower ones come first.
  let rank: Int32
  /// The piece that it makes.
  let result: Int32

  @inline(__always) var exists: Bool { rank != .max }
}

/// The merges of a byte-pair vocabulary, by their two pieces.
///
/// An open-addressed hash table of 16 bytes a slot. A filter of 13 to 26 bits a merge precedes it: most pairs have no
/// merge, and a small table stays in the cache.
final class MergeTable: @unchecked Sendable {
  // Unchecked: the memory is written in init only.

  /// Ids and ranks are below this.
  static var limit: Int { 1 << 21 }
  /// A longer chain of slots means that the merges were chosen to collide.
  private static var maximumChain: Int { 128 }

  fileprivate struct Slot: BitwiseCopyable {
    static var empty: Slot { Slot(pair: .max, merge: .none) }

    let pair: UInt64
    let merge: Merge
  }

  private let slots: AlignedBuffer<Slot>
  private let filter: PairFilter.Memory
  private(set) var lookup: Lookup

  /// The table for inner loops; valid as long as the object.
  struct Lookup {
    fileprivate let slots: UnsafeMutablePointer<Slot>
    fileprivate let filter: PairFilter
    fileprivate let mask: Int
    fileprivate let shift: UInt64
    fileprivate var multiplier: UInt64 = 1
  }

  /// - Parameter merges: by rank. Of equal pairs the last one counts.
  init(
    _ merges: [(left: Int32, right: Int32, result: Int32)], _ monitor: CallMonitor? = nil
  ) throws(BertQAError) {
    var slotCount = 1024
    while slotCount * 3 < merges.count * 4 { slotCount *= 2 }
    slots = try AlignedBuffer(repeating: .empty, count: slotCount)
    filter = try PairFilter.Memory(pairCount: merges.count)
    lookup = Lookup(
      slots: slots.base, filter: PairFilter(filter), mask: slotCount - 1,
      shift: UInt64(64 - slotCount.trailingZeroBitCount))
    for seed: UInt64 in 1...8 {
      try monitor?.check()
      lookup.multiplier = SplitMix64.mixed(seed &* SplitMix64.increment) | 1
      if insertAll(merges) { return }
    }
    throw BertQAError(
      .invalidModel, "\"merges\": the pairs collide on purpose; check where the file came from")
  }

  private func insertAll(_ merges: [(left: Int32, right: Int32, result: Int32)]) -> Bool {
    slots.base.update(repeating: .empty, count: lookup.mask + 1)
    filter.removeAll()
    for (rank, merge) in merges.enumerated() {
      let pair = Lookup.pair(merge.left, merge.right)
      let hash = lookup.hash(merge.left, merge.right)
      var slot = Int(truncatingIfNeeded: hash >> lookup.shift)
      var steps = 0
      while slots[slot].merge.exists, slots[slot].pair != pair {
        slot = (slot + 1) & lookup.mask
        steps += 1
        if steps == Self.maximumChain { return false }
      }
      slots[slot] = Slot(
        pair: pair, merge: Merge(rank: Int32(truncatingIfNeeded: rank), result: merge.result))
      lookup.filter.insert(hash)
    }
    return true
  }
}

extension MergeTable.Lookup {
  @inline(__always)
  fileprivate static func pair(_ left: Int32, _ right: Int32) -> UInt64 {
    UInt64(UInt32(bitPattern: left)) &<< 21 | UInt64(UInt32(bitPattern: right))
  }

  /// Returns a hash of two pieces, whose upper bits depend on both.
  @inline(__always)
  func hash(_ left: Int32, _ right: Int32) -> UInt64 { Self.pair(left, right) &* multiplier }

  /// Returns the merge of two pieces, or `.none`.
  @inline(__always)
  func merge(_ left: Int32, _ right: Int32) -> Merge {
    let pair = Self.pair(left, right)
    let hash = hash(left, right)
    if !filter.mayContain(hash) { return .none }
    var slot = Int(truncatingIfNeeded: hash &>> shift)
    while true {
      let found = slots[slot]
      // An empty slot has no merge.
      if found.pair == pair || found.pair == .max { return found.merge }
      slot = (slot &+ 1) & mask
    }
  }
}

/// A set of hashes of pairs of pieces, with false positives: 13 to 26 bits a pair.
struct PairFilter {
  struct Memory: ~Copyable {
    fileprivate let words: AlignedBuffer<UInt64>

    init(pairCount: Int) throws(BertQAError) {
      var count = 64
      while count * 5 < pairCount { count *= 2 }
      let words = try AlignedBuffer<UInt64>(repeating: 0, count: count)
      self.words = words
    }

    func removeAll() { words.base.update(repeating: 0, count: words.capacity) }
  }

  private let words: UnsafeMutablePointer<UInt64>
  private let shift: UInt64

  /// A filter that may be used as long as `memory` lives.
  init(_ memory: borrowing Memory) {
    words = memory.words.base
    shift = UInt64(58 - memory.words.capacity.trailingZeroBitCount)
  }

  func insert(_ hash: UInt64) {
    let bit = hash >> shift
    words[Int(truncatingIfNeeded: bit >> 6)] |= 1 << (bit & 63)
  }

  @inline(__always)
  func mayContain(_ hash: UInt64) -> Bool {
    let bit = hash &>> shift
    return words[Int(truncatingIfNeeded: bit &>> 6)] &>> (bit & 63) & 1 != 0
  }
}
