/// Finds pieces by their bytes: hash tables built once from a vocabulary, read by any thread.
///
/// Pieces of at most 15 bytes lie in one table, longer ones in a second that refers to their bytes.
/// `prefixLengths` says which lengths are worth a probe.
/// Memory: 90 to 180 bytes a piece.
final class PieceIndex: @unchecked Sendable {
  // Unchecked: all memory is written in init only.

  let bytes: UnsafeMutablePointer<UInt8>
  /// Begin and end of each piece in `bytes`, by id.
  let bounds: UnsafeMutablePointer<(begin: UInt32, end: UInt32)>
  let count: Int

  private(set) var short: ShortPieceTable

  /// For a hash of "##" or not and the first four bytes: bit n is set if a piece of n bytes begins
  /// so, 4 ≤ n ≤ 15; bit 0 if a longer one does. Pieces of equal hash share an element.
  let prefixLengths: UnsafeMutablePointer<UInt16>
  let prefixShift: UInt64
  /// For "##" or not and the first byte: bit n is set if a piece of n ≤ 3 bytes begins so.
  let shortLengths: UnsafeMutablePointer<UInt8>

  /// Ids of the longer pieces, -1 in empty slots.
  let longIDs: UnsafeMutablePointer<Int32>
  let longMask: Int
  /// The lengths of the longer pieces that a word may contain, longest first.
  private(set) var longLengths: [Int] = []
  private(set) var emptyPieceID: Int32?

  /// 100 characters of four bytes: no word, so no piece of one, is longer.
  static var maximumWordBytes: Int { 400 }
  static var longPrefixBit: UInt16 { 1 }
  private static var prefixMultiplier: UInt64 { 0x9E37_79B9_7F4A_7C15 }

  /// Takes over `bytes`, which must have 16 readable bytes after the last piece, and `bounds`.
  init(
    bytes: UnsafeMutablePointer<UInt8>,
    bounds: UnsafeMutablePointer<(begin: UInt32, end: UInt32)>, count: Int
  ) throws(BertQAError) {
    self.bytes = bytes
    self.bounds = bounds
    self.count = count
    let slots = max(1024, Self.powerOfTwo(above: count * 4))
    short = ShortPieceTable(slotCount: slots)
    let prefixes = slots / 2
    prefixShift = UInt64(64 - prefixes.trailingZeroBitCount)
    prefixLengths = .allocate(capacity: prefixes)
    prefixLengths.initialize(repeating: 0, count: prefixes)
    shortLengths = .allocate(capacity: 512)
    shortLengths.initialize(repeating: 0, count: 512)
    var longCount = 0
    for id in 0..<count where bounds[id].end - bounds[id].begin > 15 { longCount += 1 }
    let longSlots = Self.powerOfTwo(above: longCount * 2 + 1)
    longMask = longSlots - 1
    longIDs = .allocate(capacity: longSlots)
    longIDs.initialize(repeating: -1, count: longSlots)

    var seed: UInt64 = 0
    repeat {
      seed += 1
      if seed > 8 {
        throw BertQAError(
          .invalidModel, "vocabulary: the pieces collide on purpose; check where the file came from")
      }
    } while !insertAll(seed: seed)
    longLengths.sort(by: >)
  }

  deinit {
    bytes.deallocate()
    bounds.deallocate()
    short.deallocate()
    prefixLengths.deallocate()
    shortLengths.deallocate()
    longIDs.deallocate()
  }

  private static func powerOfTwo(above count: Int) -> Int {
    1 << (Int.bitWidth - max(1, count).leadingZeroBitCount)
  }

  // MARK: Looking up

  @inline(__always)
  func prefixSlot(firstFour: UInt64, continuation: UInt64) -> Int {
    let key = firstFour & 0xFFFF_FFFF | continuation &<< 32
    return Int(truncatingIfNeeded: (key &* Self.prefixMultiplier) &>> prefixShift)
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
    let (begin, end) = bounds[Int(id)]
    let base = UnsafePointer(bytes) + Int(begin)
    let count = Int(end &- begin)
    let isContinuation = count >= 2 && base[0] == 0x23 && base[1] == 0x23
    return isContinuation ? (base + 2, count &- 2, 1) : (base, count, 0)
  }

  // MARK: Building

  /// Fills the tables; false if some chain of slots got too long. Of equal pieces the last one stays.
  private func insertAll(seed: UInt64) -> Bool {
    short.removeAll(
      multiplier: PieceKey(low: Self.oddNumber(seed * 2), high: Self.oddNumber(seed * 2 + 1)))
    longIDs.update(repeating: -1, count: longMask + 1)
    for id in 0..<Int32(count) {
      let (base, count, continuation) = content(of: id)
      if count + Int(continuation) == 0 {
        emptyPieceID = id
      } else if count <= PieceKey.maximumCount {
        let key = PieceKey(loading: base).prefix(count, continuation: continuation)
        guard short.insert(key, id: id) else { return false }
        if count >= 4 {
          prefixLengths[prefixSlot(firstFour: key.low, continuation: continuation)] |= 1 << count
        } else if count > 0 {
          shortLengths[Int(base[0]) << 1 | Int(continuation)] |= 1 << count
        }
      } else {
        guard insertLong(base, count: count, continuation: continuation, id: id) else { return false }
      }
    }
    return true
  }

  /// Multipliers that have nothing in common for different arguments (SplitMix64).
  private static func oddNumber(_ number: UInt64) -> UInt64 {
    var mixed = number &* 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return (mixed ^ mixed >> 31) | 1
  }

  private func insertLong(
    _ piece: UnsafePointer<UInt8>, count: Int, continuation: UInt64, id: Int32
  ) -> Bool {
    let firstFour = PieceKey(loading: piece).low
    prefixLengths[prefixSlot(firstFour: firstFour, continuation: continuation)] |= Self.longPrefixBit
    if count <= Self.maximumWordBytes, !longLengths.contains(count) { longLengths.append(count) }
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
