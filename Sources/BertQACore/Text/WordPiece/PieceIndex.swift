import CBertQA

/// Where a piece lies in the bytes of all.
struct PieceBounds: BitwiseCopyable {
  var begin: UInt32
  var end: UInt32
}

/// Finds pieces by their bytes: hash tables built once from a vocabulary, read by any thread.
///
/// Pieces of at most 15 bytes lie in one table, longer ones in a second that refers to their bytes.
/// `prefixLengths` says which lengths are worth a probe.
/// Memory: 90 to 180 bytes a piece.
final class PieceIndex: @unchecked Sendable {
  // Unchecked: all memory is written in init only.

  /// The text of all pieces, with 16 readable bytes after the last.
  private let bytes: AlignedBuffer<UInt8>
  /// Where each piece lies in `bytes`, by id.
  private let bounds: AlignedBuffer<PieceBounds>
  /// Pieces.
  let count: Int

  private(set) var short: ShortPieceTable
  private let shortMemory: ShortPieceTable.Memory

  /// For a hash of "##" or not and the first four bytes: bit n is set if a piece of n bytes begins
  /// so, 4 ≤ n ≤ 15; bit 0 if a longer one does. Pieces of equal hash share an element.
  private let prefixLengths: AlignedBuffer<UInt16>
  private let prefixShift: UInt64
  /// For "##" or not and the first byte: bit n is set if a piece of n ≤ 3 bytes begins so.
  private let shortLengths: AlignedBuffer<UInt8>

  /// Ids of the longer pieces, -1 in empty slots.
  private let longIDs: AlignedBuffer<Int32>
  private let longMask: Int
  /// Those of the longer pieces that a word may contain: without "##", and with it.
  private let longFirst: LongPieceList
  private let longNext: LongPieceList
  private(set) var emptyPieceID: Int32?

  /// 100 characters of four bytes: no word, so no piece of one, is longer.
  static var maximumWordBytes: Int { 400 }
  private static var longPrefixBit: UInt16 { 1 }

  /// Takes over `bytes`, which must have 16 readable bytes after the last piece, and `bounds`.
  init(
    bytes: consuming AlignedBuffer<UInt8>, bounds: consuming AlignedBuffer<PieceBounds>, count: Int,
    _ monitor: CallMonitor? = nil
  ) throws(BertQAError) {
    var longCount = 0
    for id in 0..<count where bounds[id].end - bounds[id].begin > 15 { longCount += 1 }
    self.bytes = bytes
    self.bounds = bounds
    self.count = count
    let slots = max(1024, Self.powerOfTwo(above: count * 4))
    shortMemory = try ShortPieceTable.Memory(slotCount: slots)
    short = ShortPieceTable(shortMemory, slotCount: slots)
    let prefixes = slots / 2
    prefixShift = UInt64(64 - prefixes.trailingZeroBitCount)
    prefixLengths = try AlignedBuffer(repeating: 0, count: prefixes)
    shortLengths = try AlignedBuffer(repeating: 0, count: 512)
    let longSlots = Self.powerOfTwo(above: longCount * 2 + 1)
    longMask = longSlots - 1
    longIDs = try AlignedBuffer(repeating: -1, count: longSlots)
    let (first, next) = try Self.longPieces(self.bytes, self.bounds, count)
    longFirst = try LongPieceList(first, monitor)
    longNext = try LongPieceList(next, monitor)

    var seed: UInt64 = 0
    repeat {
      seed += 1
      if seed > 8 {
        throw BertQAError(
          .invalidModel, "vocabulary: the pieces collide on purpose; check where the file came from")
      }
    } while try !insertAll(seed: seed, monitor)
  }

  private static func powerOfTwo(above count: Int) -> Int {
    1 << (Int.bitWidth - max(1, count).leadingZeroBitCount)
  }

  /// The pieces of more than 15 bytes that a word may contain: without "##", and with it.
  private static func longPieces(
    _ bytes: borrowing AlignedBuffer<UInt8>, _ bounds: borrowing AlignedBuffer<PieceBounds>, _ count: Int
  ) throws(BertQAError) -> (first: [LongPieceList.Piece], next: [LongPieceList.Piece]) {
    var first: [LongPieceList.Piece] = []
    var next: [LongPieceList.Piece] = []
    for id in 0..<count {
      let content = content(of: bounds[id], in: bytes.base)
      guard content.count > PieceKey.maximumCount, content.count <= maximumWordBytes else { continue }
      let piece = LongPieceList.Piece(
        base: content.base, count: Int32(content.count), id: Int32(id), parent: -1, jump: -1, depth: 0)
      if content.continuation == 1 {
        try next.makeRoom(for: 1)
        next.append(piece)
      } else {
        try first.makeRoom(for: 1)
        first.append(piece)
      }
    }
    return (first, next)
  }

  var fingerprint: UInt64 {
    let ends = bq_fingerprint(bounds.base, count * MemoryLayout<PieceBounds>.stride, 0)
    return bq_fingerprint(bytes.base, count == 0 ? 0 : Int(bounds[count - 1].end), ends)
  }

  // MARK: Looking up

  /// The bytes of a piece, with its "##" and a NUL behind; `id` must be one.
  func piece(_ id: Int32) -> UnsafeBufferPointer<UInt8> {
    let (begin, end) = (bounds[Int(id)].begin, bounds[Int(id)].end)
    return UnsafeBufferPointer(start: bytes.base + Int(begin), count: Int(end - begin))
  }

  @inline(__always)
  private func prefixSlot(firstFour: UInt64, continuation: UInt64) -> Int {
    let key = firstFour & 0xFFFF_FFFF | continuation &<< 32
    return Int(truncatingIfNeeded: (key &* SplitMix64.increment) &>> prefixShift)
  }

  /// The id of a piece of more than 15 bytes, or -1.
  func longID(_ piece: UnsafePointer<UInt8>, count: Int, continuation: UInt64) -> Int32 {
    var slot = longSlot(piece, count: count, continuation: continuation)
    while longIDs[slot] >= 0 {
      if isEqual(longIDs[slot], piece, count: count, continuation: continuation) {
        return longIDs[slot]
      }
      slot = (slot &+ 1) & longMask
    }
    return -1
  }

  private func longSlot(_ piece: UnsafePointer<UInt8>, count: Int, continuation: UInt64) -> Int {
    // Whole words from the front, then the last one, which overlaps.
    let raw = UnsafeRawPointer(piece)
    var hash = short.multiplier.low ^ (UInt64(count) << 1 | continuation)
    var offset = 0
    while true {
      let last = offset >= count - 8
      let word = raw.loadUnaligned(fromByteOffset: last ? count - 8 : offset, as: UInt64.self)
      let product = (hash ^ UInt64(littleEndian: word)).multipliedFullWidth(by: short.multiplier.high)
      hash = product.high ^ product.low
      if last { return Int(truncatingIfNeeded: hash) & longMask }
      offset += 8
    }
  }

  private func isEqual(
    _ id: Int32, _ piece: UnsafePointer<UInt8>, count: Int, continuation: UInt64
  ) -> Bool {
    let content = content(of: id)
    return content.count == count && content.continuation == continuation
      && (0..<count).allSatisfy { content.base[$0] == piece[$0] }
  }

  /// The bytes of a piece after its "##".
  @inline(__always)
  func content(
    of id: Int32
  ) -> (base: UnsafePointer<UInt8>, count: Int, continuation: UInt64) {
    Self.content(of: bounds[Int(id)], in: bytes.base)
  }

  @inline(__always)
  private static func content(
    of bounds: PieceBounds, in bytes: UnsafeMutablePointer<UInt8>
  ) -> (base: UnsafePointer<UInt8>, count: Int, continuation: UInt64) {
    let base = UnsafePointer(bytes) + Int(bounds.begin)
    let count = Int(bounds.end &- bounds.begin)
    let isContinuation = count >= 2 && base[0] == 0x23 && base[1] == 0x23
    return isContinuation ? (base + 2, count &- 2, 1) : (base, count, 0)
  }

  // MARK: Building

  /// Fills the tables; false if some chain of slots got too long. Of equal pieces the last one stays.
  private func insertAll(seed: UInt64, _ monitor: CallMonitor?) throws(BertQAError) -> Bool {
    short.removeAll(
      multiplier: PieceKey(low: Self.oddNumber(seed * 2), high: Self.oddNumber(seed * 2 + 1)))
    longIDs.base.update(repeating: -1, count: longMask + 1)
    for id in 0..<Int32(count) {
      if Int(id) % CallPoll.elementInterval == 0 { try monitor?.check() }
      let (base, count, continuation) = content(of: id)
      if count + Int(continuation) == 0 {
        emptyPieceID = id
      } else if count <= PieceKey.maximumCount {
        let key = PieceKey(loading: base).prefix(count, continuation: continuation)
        guard short.insert(key, id: id) else { return false }
        if count >= 4 {
          prefixLengths.base[prefixSlot(firstFour: key.low, continuation: continuation)] |= 1 << count
        } else if count > 0 {
          shortLengths.base[Int(base[0]) << 1 | Int(continuation)] |= 1 << count
        }
      } else {
        guard insertLong(base, count: count, continuation: continuation, id: id) else { return false }
      }
    }
    return true
  }

  /// Multipliers that have nothing in common for different arguments.
  private static func oddNumber(_ number: UInt64) -> UInt64 {
    SplitMix64.mixed(number &* SplitMix64.increment) | 1
  }

  private func insertLong(
    _ piece: UnsafePointer<UInt8>, count: Int, continuation: UInt64, id: Int32
  ) -> Bool {
    let firstFour = PieceKey(loading: piece).low
    prefixLengths.base[prefixSlot(firstFour: firstFour, continuation: continuation)] |= Self.longPrefixBit
    var slot = longSlot(piece, count: count, continuation: continuation)
    for _ in 0..<ShortPieceTable.maximumChain {
      let found = longIDs[slot]
      if found < 0 || isEqual(found, piece, count: count, continuation: continuation) {
        longIDs[slot] = id
        return true
      }
      slot = (slot &+ 1) & longMask
    }
    return false
  }
}

// MARK: - The longest match

extension PieceIndex {
  /// Longest words, in characters, that are split into pieces.
  static var maximumWordCharacters: Int { 100 }

  /// Splits a word greedily into the longest pieces, the first from those without "##".
  ///
  /// Appends them to `pending`, with ranges in the word; appends nothing and returns false if the word
  /// cannot be split. `word` has 16 readable bytes after its end; `count` ≤ 400.
  @inline(__always)
  func split(
    _ word: UnsafePointer<UInt8>, count: Int, into pending: inout PendingTokens
  ) -> Bool {
    let table = short
    let first = pending.count
    var start = 0
    while start < count {
      let (id, length) = longestMatch(
        word + start, remaining: count &- start, continuation: start == 0 ? 0 : 1, in: table)
      if id < 0 {
        pending.count = first
        return false
      }
      pending.append(id, start: start, end: start &+ length)
      start &+= length
    }
    return true
  }

  /// The longest piece that the `remaining` > 0 bytes at `text` begin with; id -1 if there is none.
  @inline(__always)
  private func longestMatch(
    _ text: UnsafePointer<UInt8>, remaining: Int, continuation: UInt64, in table: ShortPieceTable
  ) -> (id: Int32, length: Int) {
    let bytes = PieceKey(loading: text)
    if remaining >= 4 {
      let known = prefixLengths[prefixSlot(firstFour: bytes.low, continuation: continuation)]
      if remaining > PieceKey.maximumCount, known & Self.longPrefixBit != 0 {
        var work = 0
        let found = longestLongMatch(text, remaining: remaining, continuation: continuation, work: &work)
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

  /// The longest of the pieces of more than 15 bytes.
  /// - Parameter work: grows by the words of 8 bytes and the pieces looked at.
  @inline(never)
  func longestLongMatch(
    _ text: UnsafePointer<UInt8>, remaining: Int, continuation: UInt64, work: inout Int
  ) -> (id: Int32, length: Int) {
    continuation == 0
      ? longFirst.longestMatch(text, remaining: remaining, work: &work)
      : longNext.longestMatch(text, remaining: remaining, work: &work)
  }
}
