/// Characters of byte-level pre-tokens that may be read as whole pieces instead of as bytes to be merged.
///
/// The result is the same if (1) merging the character's bytes alone gives the piece, (2) no merge crosses either end
/// of the character without containing all of it, and (3) every merge that contains all of it ranks behind those that
/// make it: then its own merges precede any other that it takes part in, in any context.
final class CharacterPieces: @unchecked Sendable {
  // Unchecked: the memory is written in init only.

  private let pages: AlignedBuffer<UInt16>
  private let pieces: AlignedBuffer<Int32>
  /// For the last byte of a character and the first byte of the next: true if a merge takes a part of either.
  private let crossings: AlignedBuffer<Bool>

  /// For inner loops; valid as long as the object.
  struct Lookup {
    fileprivate let pages: UnsafePointer<UInt16>
    fileprivate let pieces: UnsafePointer<Int32>
    fileprivate let crossings: UnsafePointer<Bool>

    /// Returns the piece of a code point, or -1.
    @inline(__always)
    func piece(_ scalar: UInt32) -> Int32 {
      pieces[Int(pages[Int(scalar &>> 8)]) &<< 8 | Int(scalar & 0xFF)]
    }

    @inline(__always)
    func isCrossed(_ last: UInt8, _ first: UInt8) -> Bool { crossings[Int(last) &<< 8 | Int(first)] }
  }

  var lookup: Lookup {
    Lookup(pages: pages.base, pieces: pieces.base, crossings: crossings.base)
  }

  /// - Parameters:
  ///   - pieces: the bytes of each, by id; nil for those that spell no bytes.
  ///   - pairs: the pieces of each merge, by rank.
  ///   - symbols: the piece of each byte, or -1.
  init(
    _ pieces: [[UInt8]?], _ pairs: [(left: Int32, right: Int32)], _ merges: MergeTable.Lookup,
    symbols: UnsafePointer<Int32>
  ) throws(BertQAError) {
    let crossings = try AlignedBuffer(repeating: false, count: 1 << 16)
    // For each piece that is a character, the greatest rank of the merges that make it; -1 for other pieces.
    var ranks = [Int32](repeating: -1, count: pieces.count)
    var scalars: [(scalar: UInt32, id: Int32)] = []
    for (id, piece) in pieces.enumerated() {
      guard let piece, 2...4 ~= piece.count, let scalar = Self.character(piece),
        let made = Self.made(piece, merges, symbols), made.id == Int32(id)
      else { continue }
      ranks[id] = made.rank
      scalars.append((scalar, Int32(id)))
    }
    var isEarly = [Bool](repeating: false, count: pieces.count)
    for (rank, pair) in pairs.enumerated() {
      for id in [pair.left, pair.right] where ranks[Int(id)] >= rank { isEarly[Int(id)] = true }
      guard let left = pieces[Int(pair.left)], let right = pieces[Int(pair.right)], let last = left.last,
        let first = right.first, first & 0xC0 != 0x80
      else { continue }
      if !Self.isWhole(left) || !Self.isWhole(right) { crossings[Int(last) << 8 | Int(first)] = true }
    }
    var table = TwoStageTable<Int32>(defaultValue: -1)
    for (scalar, id) in scalars where !isEarly[Int(id)] { table.assign(id, from: scalar, count: 1) }
    self.crossings = crossings
    pages = try AlignedBuffer(copying: table.pages)
    let pageCount = Int(table.pages.max() ?? 0) + 1
    let values = try AlignedBuffer<Int32>(repeating: -1, count: pageCount << 8)
    for (page, index) in table.pages.enumerated() where index != 0 {
      for offset in 0..<256 { values[Int(index) << 8 | offset] = table[UInt32(page << 8 | offset)] }
    }
    self.pieces = values
  }

  /// Returns the character that the bytes encode, or nil.
  private static func character(_ bytes: [UInt8]) -> UInt32? {
    let decoded = bytes.withUnsafeBufferPointer { UTF8Codec.decode($0, at: 0) }
    return decoded.size == bytes.count && isWhole(bytes) ? decoded.scalar : nil
  }

  private static func isWhole(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBufferPointer { UTF8Codec.isValid($0) }
  }

  /// Merges the bytes alone. Returns the piece, if they become one, and the greatest rank of the merges.
  private static func made(
    _ bytes: [UInt8], _ merges: MergeTable.Lookup, _ symbols: UnsafePointer<Int32>
  ) -> (id: Int32, rank: Int32)? {
    var ids = bytes.map { symbols[Int($0)] }
    guard !ids.contains(where: { $0 < 0 }) else { return nil }
    var greatest: Int32 = -1
    while ids.count > 1 {
      let ranks = (0..<ids.count - 1).map { merges.rank(ids[$0], ids[$0 + 1]) }
      guard let least = ranks.min(), least != MergeTable.none, let position = ranks.firstIndex(of: least)
      else { return nil }
      greatest = max(greatest, least)
      ids[position] = merges.result(least)
      ids.remove(at: position + 1)
    }
    return (ids[0], greatest)
  }
}

extension CharacterPieces.Lookup {
  /// Writes the symbols of a pre-token in well-formed UTF-8 and returns their number. There must be room for `size`
  /// of them.
  @inline(__always)
  func read(
    _ preToken: UnsafePointer<UInt8>, _ size: Int, bytes symbols: UnsafePointer<Int32>,
    _ ids: UnsafeMutablePointer<Int32>, _ starts: UnsafeMutablePointer<Int32>, _ monitor: CallMonitor?
  ) throws(BertQAError) -> Int {
    var count = 0
    var position = 0
    var poll = TextPoll(monitor)
    // True if a merge crosses the beginning of the character at `position`.
    var isCrossedBefore = false
    while position < size {
      try poll.reach(position)
      let decoded = UTF8Codec.decode(preToken, at: position, end: size)
      let next = position &+ decoded.size
      let isCrossedBehind = next < size && isCrossed(preToken[next &- 1], preToken[next])
      let isCut = isCrossedBefore || isCrossedBehind
      isCrossedBefore = isCrossedBehind
      if decoded.size > 1 {
        let id = piece(decoded.scalar)
        if id >= 0, !isCut {
          ids[count] = id
          starts[count] = Int32(truncatingIfNeeded: position)
          count &+= 1
          position = next
          continue
        }
      }
      while position < next {
        ids[count] = symbols[Int(preToken[position])]
        starts[count] = Int32(truncatingIfNeeded: position)
        count &+= 1
        position &+= 1
      }
    }
    starts[count] = Int32(truncatingIfNeeded: size)
    return count
  }
}
