/// Replaces spaces by a visible character and splits before it, as SentencePiece does.
struct Metaspace: PreTokenizer {
  /// When the character is inserted before a pre-token that does not begin with it.
  enum Prepending: String, Sendable {
    case always
    case never
    /// Only if the pre-token begins at the beginning of the caller's text.
    case first
  }

  /// The character, in UTF-8 the first byte lowest.
  private let mark: UInt32
  private let markSize: Int
  private let prepending: Prepending
  private let splits: Bool
  /// True if the model adds the mark, as `PreTokens.mark`.
  private var leavesMarks = false

  init(_ mark: Unicode.Scalar, _ prepending: Prepending, splits: Bool) {
    (self.mark, markSize) = UTF8Codec.encode(mark.value)
    self.prepending = prepending
    self.splits = splits
  }

  func leaving(_ part: TakenStep) -> any PreTokenizer {
    var step = self
    if case .marking = part { step.leavesMarks = splits && prepending == .always }
    return step
  }

  func cut(_ preTokens: inout PreTokens, _ monitor: CallMonitor?) throws(BertQAError) {
    if leavesMarks, try cutAtSpaces(&preTokens, monitor) { return }
    try preTokens.text.writeSources(monitor)
    preTokens.newText.removeAll(begin: preTokens.text.begin)
    preTokens.newRanges.truncate(to: 0)
    var poll = TextPoll(monitor)
    for index in 0..<preTokens.ranges.count {
      let range = preTokens.ranges[index]
      try append(&preTokens, Int(range.start)..<Int(range.end), &poll, monitor)
    }
    try preTokens.newText.seal()
    preTokens.takeNewText()
    preTokens.takeNewRanges()
  }

  /// Appends the characters of a pre-token and its parts.
  private func append(
    _ preTokens: inout PreTokens, _ range: Range<Int>, _ poll: inout TextPoll, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    let text = UnsafePointer(preTokens.text.base)
    var position = range.lowerBound
    // Each space grows by at most three bytes.
    var spaceCount = 0
    for index in range where text[index] == 0x20 { spaceCount &+= 1 }
    try preTokens.newText.makeRoom(for: range.count + 3 * spaceCount + 8)
    var begin = preTokens.newText.count
    if isMarked(preTokens.text, range), !beginsWithMark(text, range) {
      preTokens.newText.appendReserved(mark, size: markSize, from: preTokens.text.source(of: position))
    }
    while position < range.upperBound {
      try poll.reach(position)
      if text[position] == 0x20 || beginsWithMark(text, position..<range.upperBound) {
        if splits, preTokens.newText.count > begin {
          try preTokens.newRanges.append(ByteRange(begin, preTokens.newText.count))
          begin = preTokens.newText.count
        }
        preTokens.newText.appendReserved(mark, size: markSize, from: preTokens.text.source(of: position))
        position += text[position] == 0x20 ? 1 : markSize
        continue
      }
      let end = plainEnd(text, position &+ 1..<range.upperBound)
      try preTokens.newText.append(copying: preTokens.text, position..<end, monitor)
      position = end
    }
    if preTokens.newText.count > begin {
      try preTokens.newRanges.append(ByteRange(begin, preTokens.newText.count))
    }
  }

  private func isMarked(_ text: borrowing NormalizedText, _ range: Range<Int>) -> Bool {
    switch prepending {
    case .always: true
    case .never: false
    case .first: text.source(of: range.lowerBound).start == 0
    }
  }

  /// True at the mark and at a space, which becomes one.
  private func beginsWithMark(_ text: UnsafePointer<UInt8>, _ range: Range<Int>) -> Bool {
    let position = range.lowerBound
    if text[position] == 0x20 { return true }
    // Readable after the end of the text: `NormalizedText.padding`.
    let mask = markSize == 4 ? UInt32.max : (1 << UInt32(8 * markSize)) - 1
    return UInt32(littleEndian: UnsafeRawPointer(text + position).loadUnaligned(as: UInt32.self)) & mask
      == mark
  }

  /// Returns the position of the next space or possible mark.
  @inline(__always)
  private func plainEnd(_ text: UnsafePointer<UInt8>, _ range: Range<Int>) -> Int {
    ByteScan.first(
      of: 0x20, or: UInt8(truncatingIfNeeded: mark), in: text, from: range.lowerBound, to: range.upperBound)
  }

  /// Splits before spaces and leaves the mark to the model. Returns false, and does nothing, if the text contains
  /// marks.
  private func cutAtSpaces(_ preTokens: inout PreTokens, _ monitor: CallMonitor?) throws(BertQAError) -> Bool
  {
    let text = UnsafePointer(preTokens.text.base)
    preTokens.newRanges.truncate(to: 0)
    var poll = TextPoll(monitor)
    for index in 0..<preTokens.ranges.count {
      var begin = Int(preTokens.ranges[index].start)
      let end = Int(preTokens.ranges[index].end)
      var position = text[begin] == 0x20 ? begin &+ 1 : begin
      while true {
        try poll.reach(position)
        position = plainEnd(text, position..<end)
        if position == end { break }
        if text[position] == 0x20 {
          try preTokens.newRanges.append(ByteRange(begin, position))
          begin = position
        } else if beginsWithMark(text, position..<end) {
          preTokens.newRanges.truncate(to: 0)
          return false
        }
        position &+= 1
      }
      try preTokens.newRanges.append(ByteRange(begin, end))
    }
    preTokens.takeNewRanges()
    preTokens.mark = PreTokenPrefix(utf8: mark, size: markSize)
    return true
  }
}

extension Metaspace {
  init(_ step: ObjectReader) throws(BertQAError) {
    let text = try step.required("replacement", step.string)
    guard let mark = text.unicodeScalars.first, text.unicodeScalars.count == 1 else {
      throw step.mismatch("replacement", .string(text), expected: "one character")
    }
    let scheme = try step.string("prepend_scheme")
    guard var prepending = Prepending(rawValue: scheme ?? "always") else {
      throw step.mismatch("prepend_scheme", .string(scheme ?? ""), expected: "always, never or first")
    }
    // Older files have no scheme.
    if try step.bool("add_prefix_space") == false {
      guard scheme == nil || prepending == .never else {
        throw step.mismatch(
          "prepend_scheme", .string(scheme ?? ""), expected: "never: \"add_prefix_space\" is false")
      }
      prepending = .never
    }
    self.init(mark, prepending, splits: try step.bool("split") ?? true)
  }
}
