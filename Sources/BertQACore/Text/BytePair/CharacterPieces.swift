/// Characters of byte-level pre-tokens that may be read as whole pieces instead of as bytes to be merged.
///
/// The result is the same if (1) merging the character's bytes alone gives the piece, (2) no merge takes a part of the
/// character across either of its ends, and (3) every merge of a piece that contains all of it ranks after those that
/// make it: then its own merges precede any other that it takes part in.
///
/// Until a merge takes a part of it, the character's bytes merge as if they were alone. So such a merge is possible
/// only if the part is at some time a symbol while the next of the character's own merges has a greater rank, or at
/// its beginning an equal one: of equal ranks the leftmost comes first. `crossings` has the pairs of adjacent
/// characters that allow such a merge of a part of either.
///
/// Between two characters that are read whole, only the merge of a piece that ends with the first and a piece that
/// begins with the second is possible. If there is none, as for most pairs of ideographs, no piece reaches
/// across, and the symbols on either side merge on their own. `joints` has the other pairs.
final class CharacterPieces: @unchecked Sendable {
  // Unchecked: the memory is written in init only.

  private let pages: AlignedBuffer<UInt16>
  private let pieces: AlignedBuffer<Int32>
  private let joints: PairFilter.Memory
  private let crossings: PairFilter.Memory
  /// For the last byte of a character and the first byte of the next, where one of the two is read as bytes: true if a
  /// merge across is possible that is not among `joints`.
  private let byteCrossings: AlignedBuffer<Bool>
  private let merges: MergeTable

  /// For inner loops; valid as long as the object.
  struct Lookup {
    fileprivate let pages: UnsafePointer<UInt16>
    fileprivate let pieces: UnsafePointer<Int32>
    fileprivate let joints: PairFilter
    fileprivate let crossings: PairFilter
    fileprivate let byteCrossings: UnsafePointer<Bool>
    fileprivate let merges: MergeTable.Lookup
  }

  var lookup: Lookup {
    Lookup(
      pages: pages.base, pieces: pieces.base, joints: PairFilter(joints), crossings: PairFilter(crossings),
      byteCrossings: byteCrossings.base, merges: merges.lookup)
  }

  /// - Parameters:
  ///   - pieces: the bytes of each, by id; nil for those that spell no bytes.
  ///   - pairs: the pieces of each merge, by rank.
  ///   - symbols: the piece of each byte, or -1.
  init(
    _ pieces: [[UInt8]?], _ pairs: [(left: Int32, right: Int32)], _ merges: MergeTable,
    symbols: UnsafePointer<Int32>
  ) throws(BertQAError) {
    let lookup = merges.lookup
    // For each piece that is a character, the greatest rank of the merges that make it; -1 for other pieces.
    var ranks = [Int32](repeating: -1, count: pieces.count)
    var scalars: [(scalar: UInt32, id: Int32)] = []
    var table = TwoStageTable<Int32>(defaultValue: -1)
    for byte in 0..<UInt32(0x80) { table.assign(symbols[Int(byte)], from: byte, count: 1) }
    var parts = CharacterParts(pieces, pairs)
    for (id, piece) in pieces.enumerated() {
      guard let piece, 2...4 ~= piece.count, let scalar = Self.character(piece) else { continue }
      let steps = MergeStep.all(of: piece, lookup, symbols)
      guard steps.last?.result == Int32(id) else { continue }
      ranks[id] = steps.reduce(-1) { max($0, $1.rank) }
      scalars.append((scalar, Int32(id)))
      table.assign(Int32(id), from: scalar, count: 1)
      parts.add(Int32(id), piece, steps)
    }
    let ends = pieces.map { PieceEnds($0 ?? [], table) }
    // Pieces of characters that are never read whole.
    var excluded: Set<Int32> = []
    var crossings: [UInt64] = []
    // Tokenizers have few merges of parts of characters; a table made on purpose must not take long.
    var budget = 1 << 16 + 16 * pairs.count
    for (rank, pair) in pairs.enumerated() {
      for id in [pair.left, pair.right] where ranks[Int(id)] >= rank { excluded.insert(id) }
      let (left, right) = (ends[Int(pair.left)], ends[Int(pair.right)])
      guard right.beginsCharacter, !left.isWhole || !right.isWhole else { continue }
      let lefts =
        left.last >= 0 ? [CharacterPart(id: left.last)] : parts.ending(with: pieces[Int(pair.left)])
      let rights =
        right.first >= 0 ? [CharacterPart(id: right.first)] : parts.beginning(with: pieces[Int(pair.right)])
      budget -= lefts.count * rights.count
      if budget < 0 {
        excluded.formUnion(lefts.lazy.filter { $0.rank > rank }.map(\.id))
        excluded.formUnion(rights.lazy.filter { $0.rank >= rank }.map(\.id))
        continue
      }
      for left in lefts {
        for right in rights where left.rank > rank || right.rank >= rank {
          crossings.append(lookup.hash(left.id, right.id))
        }
      }
    }
    let joints = try PairFilter.Memory(pairCount: pairs.count)
    let byteCrossings = try AlignedBuffer(repeating: false, count: 1 << 16)
    for pair in pairs {
      let (left, right) = (ends[Int(pair.left)], ends[Int(pair.right)])
      guard right.beginsCharacter else { continue }
      let areRead =
        left.last >= 0 && right.first >= 0 && !excluded.contains(left.last) && !excluded.contains(right.first)
      if areRead { PairFilter(joints).insert(lookup.hash(left.last, right.first)) }
      if !areRead || !left.isWhole || !right.isWhole {
        byteCrossings[Int(left.lastByte) << 8 | Int(right.firstByte)] = true
      }
    }
    self.crossings = try PairFilter.Memory(pairCount: crossings.count)
    for hash in crossings { PairFilter(self.crossings).insert(hash) }
    self.joints = joints
    self.byteCrossings = byteCrossings
    self.merges = merges
    pages = try AlignedBuffer(copying: table.pages)
    let values = try AlignedBuffer(copying: table.values)
    for (scalar, id) in scalars where excluded.contains(id) {
      values[Int(table.pages[Int(scalar >> 8)]) << 8 | Int(scalar & 0xFF)] = -1
    }
    self.pieces = values
  }

  /// Returns the character that the bytes encode, or nil.
  private static func character(_ bytes: [UInt8]) -> UInt32? {
    bytes.withUnsafeBufferPointer {
      let decoded = UTF8Codec.decode($0, at: 0)
      return decoded.size == $0.count && UTF8Codec.isValid($0) ? decoded.scalar : nil
    }
  }
}

/// One of the merges that make a piece from its bytes, in order.
private struct MergeStep {
  let rank: Int32
  let result: Int32
  /// Bytes of the first and of the last symbol before the merge.
  let firstSize: Int
  let lastSize: Int

  /// Merges the bytes alone.
  static func all(
    of bytes: [UInt8], _ merges: MergeTable.Lookup, _ symbols: UnsafePointer<Int32>
  ) -> [MergeStep] {
    var ids = bytes.map { symbols[Int($0)] }
    var sizes = bytes.map { _ in 1 }
    var steps: [MergeStep] = []
    guard !ids.contains(where: { $0 < 0 }) else { return steps }
    while ids.count > 1 {
      var (merge, position) = (Merge.none, 0)
      for index in 0..<ids.count - 1 {
        let next = merges.merge(ids[index], ids[index + 1])
        if next.rank < merge.rank { (merge, position) = (next, index) }
      }
      guard merge.exists else { break }
      steps.append(
        MergeStep(
          rank: merge.rank, result: merge.result, firstSize: sizes[0], lastSize: sizes[sizes.count - 1]))
      ids[position] = merge.result
      sizes[position] += sizes[position + 1]
      ids.remove(at: position + 1)
      sizes.remove(at: position + 1)
    }
    return steps
  }
}

/// A character as a neighbour of a merge that takes a part of it.
private struct CharacterPart {
  /// The piece of the character.
  let id: Int32
  /// The greatest rank of the character's own merges that are next while the part is a symbol; -1 if it never is.
  var rank: Int32 = -1
}

/// The characters that begin or end with bytes that merges take across their ends.
private struct CharacterParts {
  private var characters: [UInt32: [CharacterPart]] = [:]

  init(_ pieces: [[UInt8]?], _ pairs: [(left: Int32, right: Int32)]) {
    for pair in pairs {
      guard let left = pieces[Int(pair.left)], let right = pieces[Int(pair.right)] else { continue }
      if Self.isEnding(left) { characters[Self.key(left)] = [] }
      if Self.isBeginning(right) { characters[Self.key(right)] = [] }
    }
  }

  private static func isEnding(_ bytes: [UInt8]) -> Bool {
    bytes.count <= 3 && bytes.allSatisfy { $0 & 0xC0 == 0x80 }
  }

  private static func isBeginning(_ bytes: [UInt8]) -> Bool {
    guard let lead = bytes.first, lead >= 0xC0 else { return false }
    return bytes.count < UTF8Codec.size(lead: lead)
  }

  /// - Parameter bytes: at most 3.
  private static func key(_ bytes: some Sequence<UInt8>) -> UInt32 {
    bytes.reduce(0) { $0 << 8 | UInt32($1) }
  }

  mutating func add(_ id: Int32, _ bytes: [UInt8], _ steps: [MergeStep]) {
    for size in 1..<bytes.count {
      let first = steps.lazy.filter { $0.firstSize == size }.map(\.rank).max() ?? -1
      characters[Self.key(bytes.prefix(size))]?.append(CharacterPart(id: id, rank: first))
      let last = steps.lazy.filter { $0.lastSize == size }.map(\.rank).max() ?? -1
      characters[Self.key(bytes.suffix(size))]?.append(CharacterPart(id: id, rank: last))
    }
  }

  func ending(with bytes: [UInt8]?) -> [CharacterPart] {
    guard let bytes, Self.isEnding(bytes) else { return [] }
    return characters[Self.key(bytes)] ?? []
  }

  func beginning(with bytes: [UInt8]?) -> [CharacterPart] {
    guard let bytes, Self.isBeginning(bytes) else { return [] }
    return characters[Self.key(bytes)] ?? []
  }
}

/// The ends of a piece.
private struct PieceEnds {
  /// 0 if the piece spells no bytes.
  var firstByte: UInt8 = 0
  var lastByte: UInt8 = 0
  /// The pieces of its first and last characters; -1 for parts of characters and characters that are no pieces.
  var first: Int32 = -1
  var last: Int32 = -1
  /// True if its first byte is that of a character.
  var beginsCharacter = false
  /// True if it consists of whole characters.
  var isWhole = false

  init(_ bytes: [UInt8], _ characters: TwoStageTable<Int32>) {
    firstByte = bytes.first ?? 0
    lastByte = bytes.last ?? 0
    beginsCharacter = bytes.first.map { $0 & 0xC0 != 0x80 } ?? false
    bytes.withUnsafeBufferPointer { bytes in
      guard let base = bytes.baseAddress, bytes.count > 0 else { return }
      let head = UTF8Codec.decode(base, at: 0, end: bytes.count)
      if head.isWellFormed(first: base[0]) { first = characters[head.scalar] }
      let tail = UTF8Codec.decodeBackwards(base, before: bytes.count, begin: 0)
      if tail.isWellFormed(first: base[bytes.count - tail.size]) { last = characters[tail.scalar] }
      isWhole = UTF8Codec.isValid(bytes)
    }
  }
}

extension CharacterPieces.Lookup {
  @inline(__always)
  private func character(_ preToken: UnsafePointer<UInt8>, _ position: Int, _ end: Int) -> (
    size: Int, id: Int32
  ) {
    let decoded = UTF8Codec.decode(preToken, at: position, end: end)
    let page = Int(pages[Int(decoded.scalar &>> 8)])
    return (decoded.size, pieces[page &<< 8 | Int(decoded.scalar & 0xFF)])
  }

  /// Writes the symbols of a pre-token in well-formed UTF-8 and returns their number. There must be room for `size`
  /// of them. The id of a symbol that a merge may join to the next one is written as its complement.
  @inline(__always)
  func read(
    _ preToken: UnsafePointer<UInt8>, _ size: Int, bytes symbols: UnsafePointer<Int32>,
    _ ids: UnsafeMutablePointer<Int32>, _ starts: UnsafeMutablePointer<Int32>, _ monitor: CallMonitor?
  ) throws(BertQAError) -> Int {
    var count = 0
    var position = 0
    var poll = TextPoll(monitor)
    // Whether a merge across the beginning of the character at `position` is possible.
    var before = Boundary()
    var last: Int32 = 0
    var wasWhole = true
    var (characterSize, id) = character(preToken, 0, size)
    while position < size {
      try poll.reach(position)
      let next = position &+ characterSize
      var behind = Boundary()
      var (nextSize, nextID) = (0, id)
      if next < size {
        (nextSize, nextID) = character(preToken, next, size)
        behind.joinsBytes = byteCrossings[Int(preToken[next &- 1]) &<< 8 | Int(preToken[next])]
        if id >= 0, nextID >= 0 {
          let hash = merges.hash(id, nextID)
          // Most letters of alphabets are joined: looking for those that are not would take longer than it saves.
          behind.joins = max(characterSize, nextSize) < 3 || joints.mayContain(hash)
          behind.isCrossed = behind.joinsBytes && crossings.mayContain(hash)
        } else {
          behind.isCrossed = behind.joinsBytes
        }
      }
      let isWhole = id >= 0 && !before.isCrossed && !behind.isCrossed
      let isJoined = before.joins || before.joinsBytes && !(isWhole && wasWhole)
      // What is written for the first symbol is replaced below.
      ids[max(0, count &- 1)] = isJoined ? ~last : last
      if isWhole {
        ids[count] = id
        starts[count] = Int32(truncatingIfNeeded: position)
        count &+= 1
        last = id
        position = next
      } else {
        while true {
          last = symbols[Int(preToken[position])]
          starts[count] = Int32(truncatingIfNeeded: position)
          position &+= 1
          if position == next { break }
          ids[count] = ~last
          count &+= 1
        }
        ids[count] = last
        count &+= 1
      }
      (characterSize, id, before, wasWhole) = (nextSize, nextID, behind, isWhole)
    }
    starts[count] = Int32(truncatingIfNeeded: size)
    return count
  }
}

/// The merges that are possible between two characters of a pre-token.
private struct Boundary {
  /// True if a merge of pieces that contain the two is possible.
  var joins = false
  /// True if another merge is possible, for characters that are read as bytes.
  var joinsBytes = false
  /// True if a merge may take a part of either, which is then read as bytes.
  var isCrossed = false
}
