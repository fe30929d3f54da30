/// Performs BERT's steps and WordPiece in one pass over the caller's text, with memory for one text at a time.
///
/// Pre-tokens of ASCII letters and digits are lower-cased many at a time and looked up as a whole (`scan`);
/// everything else goes character by character (`scanCharacters`).
final class WordPieceScanner {
  private let table: NormalizationTable
  private let pieces: PieceMatcher
  private let unknown: Int32
  /// In each byte the bit to set in upper-case letters.
  private let lowercaseBit: UInt64
  /// For each byte the id of the ASCII character that is a pre-token by itself, or one of `Separator`.
  private let separators: AlignedBuffer<Int32>
  private let memory: AlignedBuffer<UInt8>
  private let emptyPreToken: PreTokenBuffer
  private let emptyWindow: ASCIIWindow

  init(
    _ table: NormalizationTable, lowercases: Bool, _ pieces: PieceMatcher, unknown: Int32
  ) throws(BertQAError) {
    self.table = table
    self.pieces = pieces
    self.unknown = unknown
    lowercaseBit = lowercases ? 0x2020_2020_2020_2020 : 0
    separators = try Separator.table(table, pieces.table, unknown: unknown)
    memory = try AlignedBuffer(repeating: 0, count: PreTokenBuffer.memorySize + ASCIIWindow.scratchSize)
    emptyPreToken = PreTokenBuffer(memory.base)
    emptyWindow = ASCIIWindow(scratch: memory.base + PreTokenBuffer.memorySize)
  }
}

/// The effect of a byte after an ASCII pre-token, if it is not the id of a token.
private enum Separator {
  /// Ends the pre-token and is no token.
  static var space: Int32 { -1 }
  /// A control character: dropped, and the pre-token continues.
  static var dropped: Int32 { -2 }
  /// A letter or digit, or not ASCII.
  static var none: Int32 { -3 }

  static func table(
    _ table: NormalizationTable, _ pieces: ShortPieceTable, unknown: Int32
  ) throws(BertQAError) -> AlignedBuffer<Int32> {
    let separators = try AlignedBuffer(repeating: none, count: 256)
    for byte in 0..<128 {
      switch NormalizedScalar.Kind(rawValue: table.scalar(UInt32(byte)).kind) {
      case .space: separators[byte] = space
      case .removed: separators[byte] = dropped
      case .isolated:
        let id = pieces.id(of: PieceKey(low: UInt64(byte), high: 0).prefix(1, continuation: 0))
        separators[byte] = id >= 0 ? id : unknown
      default: break
      }
    }
    return separators
  }
}

// MARK: - Pre-tokens of ASCII

extension WordPieceScanner {
  /// Appends the tokens of a part of the caller's text; nothing outside it has an influence.
  func scan(
    _ text: UnsafePointer<UInt8>, _ range: Range<Int>, into output: inout TokenOutput
  ) throws(BertQAError) {
    let end = range.upperBound
    let table = pieces.table
    let separators = UnsafePointer(self.separators.base)
    let lowercaseBit = self.lowercaseBit
    var poll = TextPoll(output.monitor, from: range.lowerBound)
    var window = emptyWindow
    window.prepare(text, from: range.lowerBound, limit: end, lowercaseBit: lowercaseBit)
    var pending = output.pending
    var position = range.lowerBound
    while position < end {
      if position &+ 16 > window.end, window.end < end || position > window.end {
        try poll.reach(position)
        window.prepare(text, from: position, limit: end, lowercaseBit: lowercaseBit)
      }
      if pending.isFull {
        output.pending = pending
        try output.flush()
        pending = output.pending
      }
      let offset = position &- window.begin
      let count = window.wordCount(at: offset)
      let next = position &+ count
      // The next byte decides if the pre-token is complete.
      let separator = next < end ? separators[Int(text[next])] : Separator.space
      guard count <= PieceKey.maximumCount, separator >= Separator.space else {
        output.pending = pending
        position = try scanCharacters(text, from: position, within: range, &poll, into: &output)
        pending = output.pending
        continue
      }
      if count > 0 {
        let key = PieceKey(loading: window.bytes + offset).prefix(count, continuation: 0)
        let id = table.id(of: key)
        if id >= 0 {
          pending.append(id, start: position, end: next)
        } else {
          pending.count = splitASCII(window.bytes + offset, count: count, at: position, pending)
        }
      }
      position = next &+ 1
      if separator >= 0 {
        pending.append(separator, start: next, end: position)
        if position < end, text[position] == 0x20 { position &+= 1 }
      }
    }
    output.pending = pending
  }

  /// Splits a pre-token that is not a piece as a whole; returns the new count of pending tokens.
  @inline(never)
  private func splitASCII(
    _ preToken: UnsafePointer<UInt8>, count: Int, at position: Int, _ pending: PendingTokens
  ) -> Int {
    var pending = pending
    let first = pending.count
    guard pieces.split(preToken, count: count, into: &pending) else {
      pending.append(unknown, start: position, end: position &+ count)
      return pending.count
    }
    let offset = UInt32(truncatingIfNeeded: position)
    for index in first..<pending.count {
      pending.starts[index] &+= offset
      pending.ends[index] &+= offset
    }
    return pending.count
  }
}

// MARK: - Other characters

extension WordPieceScanner {
  /// Scans character by character from the beginning of a pre-token, until one has ended and ASCII
  /// follows; returns that position.
  @inline(never)
  private func scanCharacters(
    _ text: UnsafePointer<UInt8>, from start: Int, within range: Range<Int>, _ poll: inout TextPoll,
    into output: inout TokenOutput
  ) throws(BertQAError) -> Int {
    let table = self.table
    let end = range.upperBound
    let monitor = output.monitor
    var preToken = emptyPreToken
    var position = start
    while position < end {
      try poll.reach(position)
      let (effect, next) = try table.normalize(text, at: position, within: range, monitor) {
        (utf8, size, start, end) throws(BertQAError) in
        preToken.append(utf8, size: size, start: start, end: end)
      }
      let begin = position
      position = next
      if case .continues = effect { continue }
      try finish(&preToken, into: &output)
      if case .isolated(let utf8, let size) = effect {
        let key = PieceKey(low: UInt64(utf8), high: 0).prefix(size, continuation: 0)
        let id = pieces.table.id(of: key)
        if output.pending.isFull { try output.flush() }
        output.pending.append(id >= 0 ? id : unknown, start: begin, end: next)
      }
      guard next < end, text[next] >= 0x80 else { return next }
    }
    try finish(&preToken, into: &output)
    return position
  }

  /// Appends the tokens of the pre-token, if there is one, and empties it.
  @inline(__always)
  private func finish(_ preToken: inout PreTokenBuffer, into output: inout TokenOutput) throws(BertQAError) {
    if !preToken.isEmpty { try appendPieces(of: preToken, to: &output) }
    preToken.removeAll()
  }

  @inline(never)
  private func appendPieces(of preToken: PreTokenBuffer, to output: inout TokenOutput) throws(BertQAError) {
    if output.pending.isFull { try output.flush() }
    if !preToken.isTooLong {
      if preToken.count <= PieceKey.maximumCount {
        let key = PieceKey(loading: preToken.bytes).prefix(preToken.count, continuation: 0)
        let id = pieces.table.id(of: key)
        if id >= 0 { return output.pending.append(id, start: preToken.begin, end: preToken.end) }
      }
      if split(preToken, into: &output.pending) { return }
    }
    output.pending.append(unknown, start: preToken.begin, end: preToken.end)
  }

  /// Splits the pre-token; false if that is impossible.
  private func split(_ preToken: PreTokenBuffer, into output: inout PendingTokens) -> Bool {
    var pending = output
    let first = pending.count
    guard pieces.split(preToken.bytes, count: preToken.count, into: &pending) else { return false }
    for index in first..<pending.count {
      let start = pending.starts[index]
      let end = pending.ends[index]
      let begin = UInt32(truncatingIfNeeded: preToken.begin)
      pending.starts[index] = preToken.isVerbatim ? begin &+ start : preToken.starts[Int(start)]
      pending.ends[index] = preToken.isVerbatim ? begin &+ end : preToken.ends[Int(end) &- 1]
    }
    output = pending
    return true
  }
}
