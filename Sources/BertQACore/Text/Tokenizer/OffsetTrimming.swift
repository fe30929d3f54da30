/// Removes the white space at a token's edges from its range: `trim_offsets` of the post-processors ByteLevel and
/// RobertaProcessing, with their peculiarities.
struct OffsetTrimming: Sendable {
  /// The number of white-space characters that a token's spelling begins and ends with.
  struct Spaces {
    var leading: Int
    var trailing: Int
  }

  /// One processor of a sequence; each trims the range that the one before left.
  private let addsPrefixSpace: [Bool]
  /// For each id: 0 for no space, `oneBefore`, or a greater number.
  private let counts: SharedBuffer<UInt8>
  private let vocabulary: Vocabulary

  /// - Parameter addsPrefixSpace: `add_prefix_space` of each processor that trims.
  init(
    _ vocabulary: Vocabulary, addsPrefixSpace: [Bool], _ monitor: CallMonitor?
  ) throws(BertQAError) {
    self.vocabulary = vocabulary
    self.addsPrefixSpace = addsPrefixSpace
    counts = try SharedBuffer(count: vocabulary.count)
    for id in 0..<vocabulary.count {
      if id % CallPoll.elementInterval == 0 { try monitor?.check() }
      let spaces = Self.spaces(of: vocabulary.piece(Int32(id)))
      let isOneBefore = spaces.leading == 1 && spaces.trailing == 0 && addsPrefixSpace.count == 1
      counts.base[id] =
        spaces.leading + spaces.trailing == 0 ? 0 : isOneBefore ? Self.oneBefore : Self.oneBefore + 1
    }
  }

  /// For each id of the model 0 if its piece has no space at its ends. Valid as long as this object.
  var table: UnsafePointer<UInt8> { UnsafePointer(counts.base) }

  /// In `table`: one space at the beginning of the piece and none at its end, and only one processor trims.
  static var oneBefore: UInt8 { 1 }

  /// Counts white space, and the "Ġ" of byte-level pieces, at the ends of a spelling.
  static func spaces(of piece: UnsafeBufferPointer<UInt8>) -> Spaces {
    guard let base = piece.baseAddress else { return Spaces(leading: 0, trailing: 0) }
    func isSpace(_ scalar: UInt32) -> Bool { scalar == 0x120 || CharacterClass.isWhiteSpace(scalar) }
    var spaces = Spaces(leading: 0, trailing: 0)
    var position = 0
    while position < piece.count {
      let decoded = UTF8Codec.decode(base, at: position, end: piece.count)
      guard isSpace(decoded.scalar) else { break }
      spaces.leading += 1
      position += decoded.size
    }
    position = piece.count
    while position > 0 {
      let decoded = UTF8Codec.decodeBackwards(base, before: position, begin: 0)
      guard isSpace(decoded.scalar) else { break }
      spaces.trailing += 1
      position -= decoded.size
    }
    return spaces
  }

  /// Returns the range of a token of the model.
  func trimmed(
    _ start: Int, _ end: Int, id: Int32, isFirst: Bool, in text: UnsafeBufferPointer<UInt8>
  ) -> Range<Int> {
    trimmed(start, end, Self.spaces(of: vocabulary.piece(id)), isFirst: isFirst, in: text)
  }

  /// Returns the range of a token that begins and ends with that many spaces.
  func trimmed(
    _ start: Int, _ end: Int, _ spaces: Spaces, isFirst: Bool, in text: UnsafeBufferPointer<UInt8>
  ) -> Range<Int> {
    var range = start..<max(start, end)
    for addsPrefixSpace in addsPrefixSpace {
      range = Self.trimmed(range, spaces, isFirst: isFirst, addsPrefixSpace: addsPrefixSpace, in: text)
    }
    return range
  }

  private static func trimmed(
    _ range: Range<Int>, _ spaces: Spaces, isFirst: Bool, addsPrefixSpace: Bool,
    in text: UnsafeBufferPointer<UInt8>
  ) -> Range<Int> {
    var (start, end) = (range.lowerBound, range.upperBound)
    // One space before the first token counts as inserted, even if it was not.
    let isPutIn = addsPrefixSpace && (isFirst || start == 0) && spaces.leading == 1
    if !isPutIn {
      for _ in 0..<spaces.leading {
        guard start < end else { break }
        start += UTF8Codec.decode(text, at: start).size
      }
      start = min(start, end)
    }
    guard spaces.trailing > 0, hasCharacters(spaces.trailing, in: text, before: end) else {
      return start..<end
    }
    // Counts characters from the front: invalid sequences cannot be told apart otherwise.
    var count = 0
    var position = start
    while position < end {
      position += UTF8Codec.decode(text, at: position).size
      count += 1
    }
    position = start
    for _ in 0..<max(0, count - spaces.trailing) { position += UTF8Codec.decode(text, at: position).size }
    return start..<position
  }

  /// True if at least `count` characters of the text precede `end`.
  private static func hasCharacters(
    _ count: Int, in text: UnsafeBufferPointer<UInt8>, before end: Int
  ) -> Bool {
    var position = 0
    for _ in 0..<count {
      guard position < end else { return false }
      position += UTF8Codec.decode(text, at: position).size
    }
    return true
  }
}
