/// Divides a long text into sections that a model reads one at a time.
///
/// A section ends before a heading or after a blank line if one is in its last 40 %, else after a sentence in its
/// last half, else after the last sentence that it contains. A heading stays with what follows it. Sections share
/// tokens only inside a sentence that is longer than a section; such a sentence is cut between lines, else words. The
/// last two sections share the rest of the text about equally.
struct TextSections: Sendable {
  /// What begins at a token, from weak to strong.
  enum Boundary: UInt8 {
    case none
    case line
    /// The line after a heading, which a section keeps together with it.
    case lineBelowHeading
    case sentence
    /// A heading, or text after a blank line.
    case paragraph
  }

  /// By token: a `Boundary`.
  private let boundaries: [UInt8]

  /// Takes time linear in the text.
  init(_ text: TokenizedText, _ monitor: CallMonitor? = nil) throws(BertQAError) {
    var boundaries = BoundaryMarks(
      values: try [UInt8](repeating: 0, count: text.count, monitor), ends: text.tokens.ends)
    try boundaries.markLines(of: text.text, monitor)
    try boundaries.markSentences(of: text.text, monitor)
    self.boundaries = boundaries.values
  }

  /// Returns the sections of a text of more than `room` tokens. They cover all tokens, in order.
  /// - Parameters:
  ///   - room: the maximum number of tokens in a section, at least 1.
  ///   - overlap: the number of tokens that neighbours share inside a sentence that is longer than `room`.
  func ranges(
    of text: TokenizedText, room: Int, overlap: Int, _ monitor: CallMonitor? = nil
  ) throws(BertQAError) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var first = 0
    while boundaries.count - first > room {
      try monitor?.check()
      try ranges.makeRoom(for: 1, monitor)
      let section = Section(first: first, room: room, boundaries: boundaries)
      if let end = section.end {
        ranges.append(first..<end)
        first = end
        continue
      }
      var end = section.longSentenceEnd
      while end > first + room / 2 + 1, !isWordStart(end, of: text) { end -= 1 }
      // A word that is longer than half of a section is cut.
      if !isWordStart(end, of: text) { end = section.longSentenceEnd }
      ranges.append(first..<end)
      let next = max(section.longSentenceStart, end - min(overlap, room / 2))..<end
      let line = next.first { boundaries[$0] >= Boundary.line.rawValue }
      first = line ?? next.first { isWordStart($0, of: text) } ?? end
    }
    try ranges.makeRoom(for: 1, monitor)
    ranges.append(first..<boundaries.count)
    return ranges
  }

  private func isWordStart(_ token: Int, of text: TokenizedText) -> Bool {
    boundaries[token] > 0 || !text.continuesWord(token)
  }
}

// MARK: - One section

/// The choice of the end of one section.
private struct Section {
  /// nil: a sentence that is longer than a section is in the way.
  private(set) var end: Int?
  var longSentenceStart: Int { last(.sentence, above: first) ?? first }
  /// Where to cut such a sentence: before the last line in the section's last half, else at the section's limit.
  var longSentenceEnd: Int { last(.line, above: first + room / 2) ?? first + room }

  private let first: Int
  private let room: Int
  private let boundaries: [UInt8]

  /// - Parameter boundaries: of all tokens; more than `room` of them from `first` on.
  init(first: Int, room: Int, boundaries: [UInt8]) {
    self.first = first
    self.room = room
    self.boundaries = boundaries
    end =
      balancedEnd ?? last(.paragraph, above: first + room * 3 / 5) ?? last(.sentence, above: first + room / 2)
    if end == nil, let last = last(.sentence, above: first),
      hasSentence(above: first + room, through: last + room)
    {
      end = last
    }
  }

  /// If the rest fits in two sections: the strongest boundary that makes two; of equals, the one nearest to the
  /// middle.
  private var balancedEnd: Int? {
    let left = boundaries.count - first
    guard left <= room + room / 2 else { return nil }
    let middle = first + left / 2
    var best: Int?
    for token in max(first + 1, boundaries.count - room)...first + room
    where boundaries[token] >= TextSections.Boundary.sentence.rawValue {
      guard let known = best else {
        best = token
        continue
      }
      if (boundaries[token], abs(known - middle)) > (boundaries[known], abs(token - middle)) { best = token }
    }
    return best
  }

  /// Returns the last token up to the section's limit, and above `low`, with at least this boundary before it.
  private func last(_ boundary: TextSections.Boundary, above low: Int) -> Int? {
    var token = first + room
    while token > max(low, first) {
      if boundaries[token] >= boundary.rawValue { return token }
      token -= 1
    }
    return nil
  }

  /// True if a sentence begins at one of these tokens, or the text ends there.
  private func hasSentence(above low: Int, through high: Int) -> Bool {
    if high >= boundaries.count { return true }
    return (low...high).contains { boundaries[$0] >= TextSections.Boundary.sentence.rawValue }
  }
}

// MARK: - Boundaries

private struct BoundaryMarks {
  /// By token: a `TextSections.Boundary`.
  private(set) var values: [UInt8]
  /// By token: its last byte plus 1.
  let ends: [UInt32]
  /// The first token after the place that was marked last.
  private var token = 0

  /// More lines in a row, with blank lines between them, are a list rather than headings.
  private static let mostHeadings = 3

  init(values: [UInt8], ends: [UInt32]) {
    self.values = values
    self.ends = ends
  }

  /// Marks the first token that ends after byte `position`. Positions never decrease within a pass.
  private mutating func mark(_ boundary: TextSections.Boundary, at position: Int) {
    while token < ends.count, Int(ends[token]) <= position { token += 1 }
    guard token < ends.count, values[token] < boundary.rawValue else { return }
    let staysWithHeading = values[token] == TextSections.Boundary.lineBelowHeading.rawValue
    if !(staysWithHeading && boundary == .sentence) { values[token] = boundary.rawValue }
  }

  mutating func markLines(of text: UnsafeBufferPointer<UInt8>, _ monitor: CallMonitor?) throws(BertQAError) {
    token = 0
    let finder = SentenceFinder(text: text)
    var poll = TextPoll(monitor)
    var isBehindBlank = true
    var headings = 0
    var line = try TextLine(from: 0, in: text, &poll)
    while line.start < text.count {
      let next = try TextLine(from: line.next, in: text, &poll)
      if !line.isBlank {
        let isBeforeBlank = next.isBlank && finder.continuation(afterBlankLineBehind: line.end) == nil
        let isUnderline = headings > 0 && line.isUnderline(in: text)
        let isHeading = line.isHeading(isAlone: isBehindBlank && isBeforeBlank, before: next, in: text)
        if headings > 0, headings < Self.mostHeadings {
          mark(.lineBelowHeading, at: line.content)
        } else {
          mark(isBehindBlank || isHeading ? .paragraph : .line, at: line.content)
          headings = 0
        }
        headings = isHeading ? headings + 1 : isUnderline ? headings : 0
        isBehindBlank = isBeforeBlank
      }
      line = next
    }
  }

  mutating func markSentences(
    of text: UnsafeBufferPointer<UInt8>, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    token = 0
    let finder = SentenceFinder(text: text)
    var poll = TextPoll(monitor)
    var position = 0
    while position < text.count {
      let content = finder.skipSpace(from: position, limit: min(text.count, position + CallPoll.textInterval))
      try poll.reach(content)
      if content > position {
        position = content
        continue
      }
      mark(.sentence, at: position)
      position = max(try finder.sentenceEnd(from: position, &poll), position + 1)
    }
  }
}

/// A line of a text.
private struct TextLine {
  let start: Int
  /// After white space at the start; `end` if there is nothing else.
  let content: Int
  /// Before the line break, or the text's end.
  let end: Int
  /// After the line break.
  let next: Int

  /// Longer lines are not headings of plain text.
  private static let longestHeading = 80

  init(from start: Int, in text: UnsafeBufferPointer<UInt8>, _ poll: inout TextPoll) throws(BertQAError) {
    self.start = start
    let finder = SentenceFinder(text: text)
    var end = start
    while end < text.count, finder.lineBreakSize(at: end) == 0 {
      end += 1
      try poll.reach(end)
    }
    self.end = end
    next = end < text.count ? end + finder.lineBreakSize(at: end) : end
    content = finder.skipSpace(from: start, limit: end)
  }

  var isBlank: Bool { content == end }

  /// True for the line under a heading: `=====`, `-----`.
  func isUnderline(in text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard !isBlank, let mark = [UInt8(ascii: "="), UInt8(ascii: "-")].first(where: { $0 == text[content] })
    else {
      return false
    }
    let rest = text[content..<end].drop { $0 == mark }
    return rest.startIndex - content >= 3 && rest.allSatisfy { BertQACore.isWhiteSpace($0) }
  }

  /// True for a heading of Markdown or a wiki, and for a short line between blank lines that ends without punctuation.
  func isHeading(isAlone: Bool, before next: TextLine, in text: UnsafeBufferPointer<UInt8>) -> Bool {
    let bytes = text[content..<end]
    guard let first = bytes.first else { return false }
    let rest = bytes.drop { $0 == first }
    let marks = rest.startIndex - content
    switch first {
    case UInt8(ascii: "#") where marks <= 6: if rest.first == 0x20 { return true }
    case UInt8(ascii: "=") where marks >= 2: if rest.last == first { return true }
    default: break
    }
    guard bytes.count <= Self.longestHeading, next.isUnderline(in: text) || isAlone else { return false }
    return !Self.beginsItem(UTF8Codec.decode(text, at: content).scalar)
      && !Self.isPunctuation(lastScalar(in: text))
  }

  /// The first character of a list's item, a quotation, a table's row.
  private static func beginsItem(_ scalar: UInt32) -> Bool {
    LineMarks.isBullet(scalar) || LineMarks.isBoxDrawing(scalar) || scalar == 0x3E || scalar == 0x7C  // > |
  }

  private func lastScalar(in text: UnsafeBufferPointer<UInt8>) -> DecodedScalar? {
    let finder = SentenceFinder(text: text)
    var last = end
    while let unit = finder.unit(before: last) {
      if !unit.isWhiteSpace { return unit }
      last -= unit.size
    }
    return nil
  }

  private static func isPunctuation(_ unit: DecodedScalar?) -> Bool {
    guard let unit, !LineMarks.isPilcrow(unit.scalar) else { return false }
    return switch unit.unicodeScalar.properties.generalCategory {
    case .otherPunctuation, .dashPunctuation, .openPunctuation: true
    default: false
    }
  }
}
