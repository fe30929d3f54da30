/// Splits pre-tokens greedily into the longest pieces of a WordPiece vocabulary. Built once, read by any thread.
///
/// Pieces of at most 15 bytes are in the vocabulary's hash table, and `prefixLengths` limits the probes to lengths that
/// occur. Longer ones are in tries: hash tables need a probe for each length, hundreds in a hostile vocabulary.
final class PieceMatcher: @unchecked Sendable {
  // Unchecked: all memory is written in init only.

  /// Owns the memory of `table`.
  private let pieces: PieceIndex
  let table: ShortPieceTable
  /// For a hash of the first four bytes and of whether the piece has "##": bit n is set if a piece of n bytes begins
  /// so, 4 ≤ n ≤ 15; bit 0 if a longer one does. Pieces of equal hash share an element.
  private let prefixLengths: AlignedBuffer<UInt16>
  private let prefixShift: UInt64
  /// For the first byte and whether the piece has "##": bit n is set if a piece of n ≤ 3 bytes begins so.
  private let shortLengths: AlignedBuffer<UInt8>
  /// The pieces of 16 to 400 bytes without "##", and those with it.
  private let longFirst: PieceTrie
  private let longNext: PieceTrie

  /// Longer pre-tokens are unknown.
  static var maximumWordCharacters: Int { 100 }
  /// 100 characters of four bytes.
  static var maximumWordBytes: Int { 400 }
  private static var longPrefixBit: UInt16 { 1 }
  /// Bounds the memory of the tries, which is a multiple of it; real vocabularies have a hundredth.
  private static var longPieceLimit: Int { 32 << 20 }

  init(_ vocabulary: Vocabulary, _ monitor: CallMonitor? = nil) throws(BertQAError) {
    pieces = vocabulary.index
    table = pieces.short
    let slots = (table.slotMask + 1) / 2
    prefixShift = UInt64(64 - slots.trailingZeroBitCount)
    prefixLengths = try AlignedBuffer(repeating: 0, count: slots)
    shortLengths = try AlignedBuffer(repeating: 0, count: 512)
    var (first, next): ([PieceTrie.Entry], [PieceTrie.Entry]) = ([], [])
    var longByteCount = 0
    for id in 0..<Int32(pieces.count) {
      if Int(id) % CallPoll.elementInterval == 0 { try monitor?.check() }
      let (base, count, continuation) = pieces.content(of: id)
      if count >= 4 {
        let bit = count <= PieceKey.maximumCount ? 1 << UInt16(count) : Self.longPrefixBit
        let firstFour = PieceKey(loading: base).low
        prefixLengths.base[Self.prefixSlot(firstFour, continuation, prefixShift)] |= bit
      } else if count > 0 {
        shortLengths.base[Int(base[0]) << 1 | Int(continuation)] |= 1 << UInt8(count)
      }
      guard count > PieceKey.maximumCount, count <= Self.maximumWordBytes else { continue }
      longByteCount += count
      let begin = UInt32(base - pieces.base)
      let bounds = PieceBounds(begin: begin, end: begin + UInt32(count))
      if continuation == 0 {
        try first.makeRoom(for: 1)
        first.append(PieceTrie.Entry(bounds: bounds, id: id))
      } else {
        try next.makeRoom(for: 1)
        next.append(PieceTrie.Entry(bounds: bounds, id: id))
      }
    }
    guard longByteCount <= Self.longPieceLimit else {
      throw BertQAError(
        .tooLarge,
        "vocabulary: its pieces of more than \(PieceKey.maximumCount) bytes have \(longByteCount) bytes; at most "
          + "\(Self.longPieceLimit) are supported")
    }
    longFirst = try PieceTrie.make(first, in: pieces.base, monitor)
    longNext = try PieceTrie.make(next, in: pieces.base, monitor)
  }

  @inline(__always)
  private static func prefixSlot(_ firstFour: UInt64, _ continuation: UInt64, _ shift: UInt64) -> Int {
    let key = firstFour & 0xFFFF_FFFF | continuation &<< 32
    return Int(truncatingIfNeeded: (key &* SplitMix64.increment) &>> shift)
  }
}

extension PieceMatcher {
  /// Splits a pre-token greedily into the longest pieces, the first from those without "##", unless the text itself
  /// begins with "##": then also from those that are spelled so.
  ///
  /// Appends them to `pending`, with ranges in the pre-token; appends nothing and returns false if it cannot be
  /// split. `preToken` has 16 readable bytes after its end; `count` ≤ 400.
  @inline(__always)
  func split(
    _ preToken: UnsafePointer<UInt8>, count: Int, into pending: inout PendingTokens
  ) -> Bool {
    let table = self.table
    let first = pending.count
    var start = 0
    if count >= 2, preToken[0] == 0x23, preToken[1] == 0x23 {
      let (id, length) = spelledContinuation(preToken, count: count, in: table)
      if id >= 0 {
        pending.append(id, start: 0, end: length)
        start = length
      }
    }
    while start < count {
      let (id, length) = longestMatch(
        preToken + start, remaining: count &- start, continuation: start == 0 ? 0 : 1, in: table)
      if id < 0 {
        pending.count = first
        return false
      }
      pending.append(id, start: start, end: start &+ length)
      start &+= length
    }
    return true
  }

  /// Returns the longest piece with "##" whose spelling a pre-token begins with, and the length with "##"; id -1 if
  /// there is none.
  @inline(never)
  private func spelledContinuation(
    _ preToken: UnsafePointer<UInt8>, count: Int, in table: ShortPieceTable
  ) -> (id: Int32, length: Int) {
    if count > 2 {
      let (id, length) = longestMatch(preToken + 2, remaining: count &- 2, continuation: 1, in: table)
      if id >= 0 { return (id, length &+ 2) }
    }
    return (table.id(of: PieceKey(low: 0, high: 0).prefix(0, continuation: 1)), 2)
  }

  /// Returns the longest piece that the `remaining` > 0 bytes at `text` begin with; id -1 if there is none.
  @inline(__always)
  private func longestMatch(
    _ text: UnsafePointer<UInt8>, remaining: Int, continuation: UInt64, in table: ShortPieceTable
  ) -> (id: Int32, length: Int) {
    let bytes = PieceKey(loading: text)
    if remaining >= 4 {
      let known = prefixLengths[Self.prefixSlot(bytes.low, continuation, prefixShift)]
      if remaining > PieceKey.maximumCount, known & Self.longPrefixBit != 0 {
        let found = longestLongMatch(text, remaining: remaining, continuation: continuation)
        if found.id >= 0 { return found }
      }
      let allowed: UInt32 = (2 &<< UInt32(truncatingIfNeeded: min(remaining, 15))) &- 1
      var lengths = UInt32(known) & allowed & ~1
      while lengths != 0 {
        let length = 31 &- lengths.leadingZeroBitCount
        let id = table.id(of: bytes.prefix(length, continuation: continuation))
        if id >= 0 { return (id, length) }
        lengths &= ~(1 &<< UInt32(truncatingIfNeeded: length))
      }
    }
    let allowed: UInt32 = (2 &<< UInt32(truncatingIfNeeded: min(remaining, 3))) &- 1
    let known = shortLengths[Int(text[0]) &<< 1 | Int(truncatingIfNeeded: continuation)]
    var lengths = UInt32(known) & allowed
    while lengths != 0 {
      let length = 31 &- lengths.leadingZeroBitCount
      let id = table.id(of: bytes.prefix(length, continuation: continuation))
      if id >= 0 { return (id, length) }
      lengths &= ~(1 &<< UInt32(truncatingIfNeeded: length))
    }
    return (-1, 0)
  }

  /// Returns the longest match of more than 15 bytes. Linear in the text.
  @inline(never)
  func longestLongMatch(
    _ text: UnsafePointer<UInt8>, remaining: Int, continuation: UInt64
  ) -> (id: Int32, length: Int) {
    continuation == 0
      ? longFirst.longestMatch(text, count: remaining) : longNext.longestMatch(text, count: remaining)
  }
}
