/// Finds the sentence around a range of a text by rules that need no model and no language. Their base is UAX #29.
///
/// - A run of characters with Unicode's Sentence_Terminal, or of `…`, ends a sentence, with the closing quotes and
///   brackets, footnotes such as `[1]` and combining marks after it.
/// - Those of ASCII and `…` do so only where the text ends, or where white space and then something other than a
///   lower-case letter or `,` `;` `:` follows.
/// - A single `.` does not after an initial or abbreviation: `SentenceFinder+Abbreviations.swift`.
/// - U+2029 ends one, and so does a blank line, except in double-spaced text: `SentenceFinder+DoubleSpacing.swift`.
/// - A single line break is a space like any other, except between the lines of lists, tables, forms and others:
///   `SentenceFinder+Lines.swift`.
/// - Nothing further than `reach` bytes from the range is looked at: a longer sentence is cut at white
///   space there if possible, and never inside a character.
struct SentenceFinder {
  let text: UnsafeBufferPointer<UInt8>

  /// The maximum distance in bytes, on each side.
  static let reach = 1000

  /// Returns the sentence or sentences around `range`, without white space at the ends. O(reach + range).
  func sentence(
    around range: TextRange, _ monitor: CallMonitor? = nil
  ) throws(BertQAError) -> TextRange {
    var start = lowerLimit(of: range)
    let limit = upperLimit(of: range)
    var end = limit
    var position = skipSpace(from: start, limit: limit)
    var content = position
    var poll = TextPoll(monitor, from: position)
    while position < limit {
      try poll.reach(position)
      let boundary: Int
      switch sentenceEnd(at: position, content: content, limit: limit) {
      case .end(let end): boundary = end
      case .none(let next):
        position = next
        continue
      }
      if boundary <= range.start { start = boundary }
      if boundary >= range.end {
        end = boundary
        break
      }
      position = max(skipSpace(from: boundary, limit: limit), position + 1)
      content = position
    }
    start = skipSpace(from: start, limit: range.start)
    while let unit = unit(before: end), unit.isWhiteSpace, end - unit.size >= range.end { end -= unit.size }
    return TextRange(start: start, end: end)
  }

  /// Returns the end of the sentence that begins at `start`. O(its length).
  func sentenceEnd(from start: Int, _ poll: inout TextPoll) throws(BertQAError) -> Int {
    var position = start
    while position < text.count {
      try poll.reach(position)
      if Self.isOrdinary(text[position]) {
        position += 1
        continue
      }
      switch sentenceEnd(at: position, content: start, limit: text.count) {
      case .end(let end): return end
      case .none(let next): position = next
      }
    }
    return position
  }

  /// True for an ASCII character that neither ends a sentence nor breaks a line.
  private static func isOrdinary(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x80..., 0x0A, 0x0D, 0x21, 0x2E, 0x3B, 0x3F: false
    default: true
    }
  }

  /// Returns where to begin: the start of the text, else after the first white space in reach, else the first
  /// character in reach.
  private func lowerLimit(of range: TextRange) -> Int {
    let low = range.start - Self.reach
    if low <= 0 { return 0 }
    if let space = (low..<range.start).first(where: { isWhiteSpace(text[$0]) }) { return space }
    var edges = TextEdges(text: text)
    return min(edges.clusterEnd(low), range.start)
  }

  /// Returns where to stop: the end of the text, else before the last white space in reach, else the end of the last
  /// character in reach.
  private func upperLimit(of range: TextRange) -> Int {
    let high = range.end + Self.reach
    if high >= text.count { return text.count }
    if let space = (range.end..<high).last(where: { isWhiteSpace(text[$0]) }) { return space }
    var edges = TextEdges(text: text)
    return max(edges.clusterStart(high), range.end)
  }

  func unit(before position: Int) -> DecodedScalar? {
    guard position > 0, let base = text.baseAddress else { return nil }
    return UTF8Codec.decodeBackwards(base, before: position, begin: 0)
  }

  /// Returns the place after white space. The byte order mark that files begin with counts as such.
  func skipSpace(from start: Int, limit: Int) -> Int {
    var position = start == 0 && text.byteOrderMarkSize <= limit ? text.byteOrderMarkSize : start
    while position < limit, case let unit = UTF8Codec.decode(text, at: position), unit.isWhiteSpace,
      position + unit.size <= limit
    {
      position += unit.size
    }
    return position
  }
}

// MARK: - Boundaries

extension SentenceFinder {
  private enum Boundary {
    /// A sentence ends there.
    case end(Int)
    /// No sentence ends; the position of the next search.
    case none(next: Int)
  }

  /// Returns the end of the sentence that the text at `position` ends: after a run of terminators with its closing
  /// marks, or before a blank line. Text from `limit` on is not read, but by `continuation(afterBlankLineBehind:)`.
  /// - Parameter content: where the sentence begins.
  private func sentenceEnd(at position: Int, content: Int, limit: Int) -> Boundary {
    let first = UTF8Codec.decode(text, at: position)
    if Self.isLineBreak(first.scalar) {
      if isBeforeBlankLine(position, limit: limit) {
        return continuation(afterBlankLineBehind: position).map { .none(next: $0) } ?? .end(position)
      }
      if separatesLines(position, content: content, limit: limit) { return .end(position) }
      return .none(next: position + lineBreakSize(at: position))
    }
    var end = position
    var isCertain = false
    while end < limit, case let unit = UTF8Codec.decode(text, at: end), isTerminator(unit, at: end) {
      isCertain = isCertain || Self.isCertain(unit.scalar)
      end += unit.size
    }
    if end == position { return .none(next: position + first.size) }
    // A run that does not end a sentence has no end inside it either; trying each of its marks would take quadratic
    // time.
    let behindRun = end
    let isSingleDot = first.scalar == 0x2E && end == position + 1
    end = closersEnd(from: end, limit: limit)
    if isCertain || end >= limit { return .end(min(end, limit)) }
    let behind = UTF8Codec.decode(text, at: end)
    guard behind.isWhiteSpace else {
      // Scripts without spaces use ASCII's marks, too. A full-width dot may be within a number.
      let mark = unit(before: behindRun)?.scalar
      let isEnd = mark != 0x2E && mark != 0x2026 && isUnspaced(behind)
      return isEnd ? .end(end) : .none(next: behindRun)
    }
    let next = skipSpace(from: end, limit: limit)
    if next >= limit { return .end(end) }
    let unit = UTF8Codec.decode(text, at: next)
    if isTerminator(unit, at: next) || Self.isContinuation(unit.scalar) { return .none(next: behindRun) }
    let word = skipOpeners(from: next, limit: limit)
    if isLowercase(at: word, limit: limit) { return .none(next: behindRun) }
    if isSingleDot, isAbbreviation(dot: position, content: content, next: word) {
      return .none(next: behindRun)
    }
    return .end(end)
  }

  static func isLineBreak(_ scalar: UInt32) -> Bool {
    scalar == 0x0A || scalar == 0x0D || scalar == 0x85 || scalar == 0x2028 || scalar == 0x2029
  }

  /// Returns the bytes of the line break at a place, of which CR and LF are one; 0 if there is none.
  func lineBreakSize(at position: Int) -> Int {
    if 0x20..<0x80 ~= text[position] { return 0 }
    let unit = UTF8Codec.decode(text, at: position)
    guard Self.isLineBreak(unit.scalar) else { return 0 }
    let isPair = unit.scalar == 0x0D && position + 1 < text.count && text[position + 1] == 0x0A
    return isPair ? 2 : unit.size
  }

  func isTerminator(_ unit: DecodedScalar, at position: Int) -> Bool {
    switch unit.scalar {
    case 0x21, 0x2E, 0x3F, 0x2026: return true
    // Khmer's, which the Unicode of Swift 6.0 does not list.
    case 0x17D4, 0x17D5: return true
    // The Greek question mark and the semicolon are canonically the same.
    case 0x3B, 0x37E:
      guard let before = self.unit(before: position) else { return false }
      return 0x370...0x3FF ~= before.scalar || 0x1F00...0x1FFF ~= before.scalar
    case ..<0x80: return false
    default: return unit.unicodeScalar.properties.isSentenceTerminal
    }
  }

  /// True if a terminator ends a sentence before any character: no abbreviation is written with it.
  private static func isCertain(_ scalar: UInt32) -> Bool {
    switch scalar {
    case ..<0x80, 0x37E, 0x2024, 0x2026, 0xFE52, 0xFF0E: false
    default: true
    }
  }

  /// `,` `-` and others of UAX #29's SContinue, which continue a sentence; not dashes, which begin one as well.
  private static func isContinuation(_ scalar: UInt32) -> Bool {
    switch scalar {
    case 0x2C, 0x3A, 0x3B, 0x60C, 0x61B, 0x3001, 0xFF0C, 0xFF1A, 0xFF1B: true
    default: false
    }
  }

  /// True for a letter of a script without spaces between words, and for an opening quotation mark.
  private func isUnspaced(_ unit: DecodedScalar) -> Bool {
    if WordTables.shared.wordBreak(unit.scalar) == .single { return unit.scalar > 0xE00 }
    let category = unit.unicodeScalar.properties.generalCategory
    return unit.scalar > 0x3000 && (category == .openPunctuation || category == .initialPunctuation)
  }

  /// True if the space between two words has a blank line or a line break that ends a sentence.
  func hasBoundary(in range: Range<Int>) -> Bool {
    // Most spaces have none.
    let part = range.prefix(CallPoll.textInterval)
    guard let lineBreak = part.first(where: { lineBreakSize(at: $0) > 0 }) else { return false }
    if hasBlankLine(in: range) { return true }
    return !isBeforeBlankLine(lineBreak, limit: range.upperBound)
      && separatesLines(lineBreak, content: lineBreak, limit: text.count)
  }

  /// True if the text between two words has a blank line that ends a sentence. Only its first part is searched.
  func hasBlankLine(in range: Range<Int>) -> Bool {
    let limit = min(range.upperBound, range.lowerBound + CallPoll.textInterval)
    var position = range.lowerBound
    while position < limit {
      let unit = UTF8Codec.decode(text, at: position)
      if Self.isLineBreak(unit.scalar), isBeforeBlankLine(position, limit: limit) {
        guard let next = continuation(afterBlankLineBehind: position) else { return true }
        position = next
        continue
      }
      position += unit.size
    }
    return false
  }

  /// True for a paragraph separator, and for a line break before a blank line.
  private func isBeforeBlankLine(_ lineBreak: Int, limit: Int) -> Bool {
    if UTF8Codec.decode(text, at: lineBreak).scalar == 0x2029 { return true }
    var next = lineBreak + lineBreakSize(at: lineBreak)
    while next < limit {
      let unit = UTF8Codec.decode(text, at: next)
      if Self.isLineBreak(unit.scalar) { return true }
      guard unit.isWhiteSpace else { return false }
      next += unit.size
    }
    return false
  }
}

// MARK: - Around a boundary

extension SentenceFinder {
  /// The maximum bytes of a footnote.
  private static let longestNote = 24

  /// Returns the end of the closing quotes and brackets, footnotes and marks after a sentence's terminators.
  private func closersEnd(from start: Int, limit: Int) -> Int {
    var end = start
    while end < limit {
      let unit = UTF8Codec.decode(text, at: end)
      if isCloser(unit, at: end, limit: limit) {
        end += unit.size
      } else if let note = noteEnd(at: end, limit: limit) {
        end = note
      } else if end == start, let quote = spacedQuoteEnd(at: end, limit: limit) {
        end = quote
      } else {
        break
      }
    }
    return end
  }

  func isCloser(_ unit: DecodedScalar, at position: Int, limit: Int) -> Bool {
    switch unit.scalar {
    case 0x22, 0x27, 0x29, 0x5D, 0x7D: return true  // " ' ) ] }
    case 0x2A, 0x5F, 0x60: return true  // Markdown's * _ `
    case ..<0x80: return false
    default: break
    }
    switch unit.unicodeScalar.properties.generalCategory {
    case .closePunctuation, .finalPunctuation: return true
    case .openPunctuation: return false
    case .nonspacingMark, .enclosingMark, .format: return true
    case .otherNumber: return true  // ¹
    case .initialPunctuation:
      // Closes in German, for example: „Ja.“
      let next = position + unit.size
      return next >= limit || UTF8Codec.decode(text, at: next).isWhiteSpace
    default: return false
    }
  }

  /// `[1]`, `[a]`, `[citation needed]`
  private func noteEnd(at position: Int, limit: Int) -> Int? {
    guard text[position] == UInt8(ascii: "[") else { return nil }
    var end = position + 1
    while end < min(limit, position + Self.longestNote) {
      if text[end] == UInt8(ascii: "]") { return end + 1 }
      if text[end] == UInt8(ascii: "[") { return nil }
      end += 1
    }
    return nil
  }

  /// The French closing quote, which a space comes before: `. »`
  private func spacedQuoteEnd(at position: Int, limit: Int) -> Int? {
    let space = UTF8Codec.decode(text, at: position)
    let quote = position + space.size
    guard space.isWhiteSpace, quote + 2 <= limit, text[quote] == 0xC2, text[quote + 1] == 0xBB else {
      return nil
    }
    // Before a letter it opens, as in German.
    if quote + 2 < limit, !UTF8Codec.decode(text, at: quote + 2).isWhiteSpace { return nil }
    return quote + 2
  }

  /// Returns the position after quotes and brackets that may begin a sentence.
  private func skipOpeners(from start: Int, limit: Int) -> Int {
    var position = start
    for _ in 0..<4 where position < limit {
      let unit = UTF8Codec.decode(text, at: position)
      let properties = unit.unicodeScalar.properties
      switch properties.generalCategory {
      case .openPunctuation, .initialPunctuation: position += unit.size
      default:
        guard properties.isQuotationMark || unit.scalar == 0xBF || unit.scalar == 0xA1 else {
          return position
        }
        position += unit.size
      }
    }
    return min(position, limit)
  }

  /// True if a word begins in lower case and continues in it: iPhone begins a sentence.
  func isLowercase(at position: Int, limit: Int) -> Bool {
    guard position < limit else { return false }
    let first = UTF8Codec.decode(text, at: position)
    // Georgian sentences begin with letters that Unicode classifies as lower case.
    guard first.unicodeScalar.properties.isLowercase, !(0x10D0...0x10FF ~= first.scalar) else { return false }
    let next = position + first.size
    return next >= limit || !UTF8Codec.decode(text, at: next).unicodeScalar.properties.isUppercase
  }
}
