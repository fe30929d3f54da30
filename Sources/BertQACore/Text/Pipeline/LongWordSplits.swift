/// The splits of longer words seen lately, one behind the other in memory of fixed size, which is emptied when it is
/// full. It changes nothing but the time, and belongs to the memory of one text at a time.
///
/// An entry, in units of 8 bytes: the hash; bytes, pieces and mode; the word, filled up with zeros; ids of the pieces;
/// where each piece ends, counted from the word's beginning.
final class LongWordSplits {
  /// Bytes of the longest word: where a piece ends is kept in a byte.
  static var limit: Int { 255 }
  /// A word has two slots side by side.
  private static var slotBits: UInt64 { 13 }
  private static var slotCount: Int { 1 << Int(slotBits) }
  /// Units of all entries. With the slots, 1 MiB.
  private static var capacity: Int { (1 << 17) - slotCount }

  /// Slots, then entries; made with the first word. A slot is half of the hash above the place of the entry, 0 where
  /// there is none; no entry has place 0.
  private var memory = AlignedBuffer<UInt64>()
  private var base: UnsafeMutablePointer<UInt64>?
  private var used = 1

  @inline(__always)
  private static func slot(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash &>> (64 &- slotBits)) & ~1 }

  /// Appends the pieces of a word, if they are known.
  @inline(__always)
  func append(
    _ key: LongWordKey, at place: WordPlace, to output: inout TokenOutput
  ) throws(BertQAError) -> Bool {
    guard let base else { return false }
    let slots = base + Self.slot(key.hash)
    for way in 0..<2 {
      let slot = slots[way]
      if slot == 0 || slot &>> 32 != key.hash & 0xFFFF_FFFF { continue }
      let entry = base + Self.slotCount + Int(slot & 0xFFFF_FFFF)
      if Self.isEqual(entry, key) {
        try Self.append(entry, (key.count &+ 7) &>> 3, at: place, to: &output)
        return true
      }
    }
    return false
  }

  @inline(__always)
  private static func header(_ key: LongWordKey, _ count: Int) -> UInt64 {
    UInt64(truncatingIfNeeded: count) &<< 16 | UInt64(key.mode) &<< 8 | UInt64(truncatingIfNeeded: key.count)
  }

  @inline(__always)
  private static func isEqual(_ entry: UnsafeMutablePointer<UInt64>, _ key: LongWordKey) -> Bool {
    guard entry[0] == key.hash, entry[1] & 0xFFFF == header(key, 0) else { return false }
    var index = 0
    var unit = 2
    while index < key.count {
      if entry[unit] != LongWordKey.load(key.word, index, key.count) { return false }
      index &+= 8
      unit &+= 1
    }
    return true
  }

  @inline(__always)
  private static func append(
    _ entry: UnsafeMutablePointer<UInt64>, _ wordUnits: Int, at place: WordPlace,
    to output: inout TokenOutput
  ) throws(BertQAError) {
    let count = Int(truncatingIfNeeded: entry[1] &>> 16)
    let ids = UnsafeRawPointer(entry + 2 + wordUnits).assumingMemoryBound(to: Int32.self)
    let ends = UnsafeRawPointer(ids + count).assumingMemoryBound(to: UInt8.self)
    var start = 0
    for index in 0..<count {
      let end = Int(ends[index])
      try output.append(ids[index], place.start(start), place.end(end))
      start = end
    }
  }

  /// Keeps the `count` pieces of a word, if one begins where the one before ends.
  @inline(__always)
  func remember(_ key: LongWordKey, count: Int, piece: (Int) -> WordPiece) throws(BertQAError) {
    guard count <= Self.limit else { return }
    let wordUnits = (key.count + 7) >> 3
    let units = 2 + wordUnits + (5 * count + 7) >> 3
    let base = try makeRoom(for: units)
    let entry = base + Self.slotCount + used
    let ids = UnsafeMutableRawPointer(entry + 2 + wordUnits).assumingMemoryBound(to: Int32.self)
    let ends = UnsafeMutableRawPointer(ids + count).assumingMemoryBound(to: UInt8.self)
    var start = 0
    for index in 0..<count {
      let piece = piece(index)
      guard piece.begin == start else { return }
      ids[index] = piece.id
      ends[index] = UInt8(truncatingIfNeeded: piece.end)
      start = piece.end
    }
    entry[0] = key.hash
    entry[1] = Self.header(key, count)
    for unit in 0..<wordUnits { entry[2 + unit] = LongWordKey.load(key.word, 8 * unit, key.count) }
    let slots = base + Self.slot(key.hash)
    slots[1] = slots[0]
    slots[0] = key.hash &<< 32 | UInt64(truncatingIfNeeded: used)
    used += units
  }

  private func makeRoom(for units: Int) throws(BertQAError) -> UnsafeMutablePointer<UInt64> {
    if let base, used + units <= Self.capacity { return base }
    if base == nil { memory = try AlignedBuffer(uninitializedCount: Self.slotCount + Self.capacity) }
    base = memory.base
    memory.base.initialize(repeating: 0, count: Self.slotCount)
    used = 1
    return memory.base
  }
}
