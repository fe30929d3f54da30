import CBertQA

/// The range of a piece in the bytes of all.
struct PieceBounds: BitwiseCopyable {
  var begin: UInt32
  var end: UInt32
}

/// Finds pieces by their bytes: hash tables built once from a vocabulary, read by any thread.
///
/// Pieces of at most 15 bytes lie in one table, longer ones in a second that refers to their bytes.
/// Memory: 85 to 165 bytes a piece.
final class PieceIndex: @unchecked Sendable {
  // Unchecked: all memory is written in init only.

  /// The text of all pieces, with 16 readable bytes after the last.
  private let bytes: AlignedBuffer<UInt8>
  /// The range of each piece in `bytes`, by id.
  private let bounds: AlignedBuffer<PieceBounds>
  /// The number of pieces.
  let count: Int
  /// The number of pieces that are not empty.
  let filledCount: Int

  private(set) var short: ShortPieceTable
  private let shortMemory: ShortPieceTable.Memory

  /// Ids of the longer pieces, -1 in empty slots.
  private let longIDs: AlignedBuffer<Int32>
  private let longMask: Int
  private(set) var emptyPieceID: Int32?

  /// Takes over `bytes`, which must have 16 readable bytes after the last piece, and `bounds`.
  init(
    bytes: consuming AlignedBuffer<UInt8>, bounds: consuming AlignedBuffer<PieceBounds>, count: Int,
    _ monitor: CallMonitor? = nil
  ) throws(BertQAError) {
    var (longCount, filledCount) = (0, 0)
    for id in 0..<count {
      let size = bounds[id].end - bounds[id].begin
      if size > PieceKey.maximumCount { longCount += 1 }
      if size > 0 { filledCount += 1 }
    }
    self.bytes = bytes
    self.bounds = bounds
    self.count = count
    self.filledCount = filledCount
    let slots = max(1024, Self.powerOfTwo(above: count * 4))
    shortMemory = try ShortPieceTable.Memory(slotCount: slots)
    short = ShortPieceTable(shortMemory, slotCount: slots)
    let longSlots = Self.powerOfTwo(above: longCount * 2 + 1)
    longMask = longSlots - 1
    longIDs = try AlignedBuffer(repeating: -1, count: longSlots)
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

  var fingerprint: UInt64 {
    let ends = bq_fingerprint(bounds.base, count * MemoryLayout<PieceBounds>.stride, 0)
    return bq_fingerprint(bytes.base, count == 0 ? 0 : Int(bounds[count - 1].end), ends)
  }

  // MARK: Looking up

  /// Returns the bytes of a piece with its "##", followed by a NUL. `id` must be valid.
  func piece(_ id: Int32) -> UnsafeBufferPointer<UInt8> {
    let (begin, end) = (bounds[Int(id)].begin, bounds[Int(id)].end)
    return UnsafeBufferPointer(start: bytes.base + Int(begin), count: Int(end - begin))
  }

  /// Returns the id of a piece of more than 15 bytes, or -1.
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
    // Eight bytes at a time from the front, then the last eight, which overlap.
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

  /// The bytes of all pieces, to which bounds refer.
  var base: UnsafePointer<UInt8> { UnsafePointer(bytes.base) }

  /// Makes the trie of all pieces that are not empty.
  func trie(_ monitor: CallMonitor?) throws(BertQAError) -> PieceTrie {
    var pieces = try [PieceTrie.Entry](checkedCapacity: count)
    for id in 0..<Int32(count) {
      if Int(id) % CallPoll.elementInterval == 0 { try monitor?.check() }
      let bounds = bounds[Int(id)]
      if bounds.begin < bounds.end { pieces.append(PieceTrie.Entry(bounds: bounds, id: id)) }
    }
    return try PieceTrie.make(pieces, in: base, monitor)
  }

  /// Returns the bytes of a piece after its "##".
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

  /// Fills the tables; false if a chain of slots got too long. Of equal pieces the last one stays.
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
      } else {
        guard insertLong(base, count: count, continuation: continuation, id: id) else { return false }
      }
    }
    return true
  }

  /// Returns unrelated multipliers for different arguments.
  private static func oddNumber(_ number: UInt64) -> UInt64 {
    SplitMix64.mixed(number &* SplitMix64.increment) | 1
  }

  private func insertLong(
    _ piece: UnsafePointer<UInt8>, count: Int, continuation: UInt64, id: Int32
  ) -> Bool {
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
