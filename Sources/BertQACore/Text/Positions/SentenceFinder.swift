/// Finds the sentence around a range of a text by rules that need no model and no language.
///
/// - A run of `.` `!` `?` `…`, with the closing quotes and brackets behind it, ends a sentence if the text
///   ends there, or if white space and then something other than a lower-case letter follows.
/// - A single `.` does not after an initial (`J.`), letters with dots inside (`e.g.`), or one of a few
///   abbreviations that come before a name or number (`Mr.`, `No.` before a digit).
/// - A run with `。` `！` `？` always ends one.
/// - A blank line always ends one; a single line break is a space like any other.
/// - Nothing further than `reach` bytes from the range is looked at: a longer sentence is cut at white
///   space there if possible, and never inside a code point.
struct SentenceFinder {
  let text: UnsafeBufferPointer<UInt8>

  /// In bytes, on each side.
  static let reach = 1000

  /// The sentence, or sentences, that `range` lies in, without white space around them. O(reach + range).
  func sentence(
    around range: TextRange, _ monitor: CallMonitor? = nil
  ) throws(BertQAError) -> TextRange {
    var start = lowerLimit(of: range)
    var end = upperLimit(of: range)
    var position = start
    let limit = end
    var poll = TextPoll(monitor, from: position)
    while position < limit {
      try poll.reach(position)
      let boundary: Int
      switch sentenceEnd(at: position, limit: limit) {
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
      position = max(boundary, position + 1)
    }
    while start < range.start, let space = spaceLength(at: start), start + space <= range.start {
      start += space
    }
    return TextRange(start: start, end: trimmedEnd(end, down: range.end))
  }

  /// Where to begin: the start of the text, or else behind the first white space in reach, or else the
  /// first code point in reach.
  private func lowerLimit(of range: TextRange) -> Int {
    let low = range.start - Self.reach
    if low <= 0 { return 0 }
    if let space = (low..<range.start).first(where: { isWhiteSpace(text[$0]) }) { return space }
    return (low..<min(low + 3, range.start)).first { !isContinuationByte(text[$0]) } ?? range.start
  }

  /// Where to stop: the end of the text, or else before the last white space in reach, or else the end of the
  /// last code point in reach.
  private func upperLimit(of range: TextRange) -> Int {
    let high = range.end + Self.reach
    if high >= text.count { return text.count }
    if let space = (range.end..<high).last(where: { isWhiteSpace(text[$0]) }) { return space }
    return (max(high - 3, range.end)...high).last { !isContinuationByte(text[$0]) } ?? range.end
  }

  private func trimmedEnd(_ end: Int, down low: Int) -> Int {
    var end = end
    trimming: while end > low {
      for length in 1...3 where end - length >= low && spaceLength(at: end - length) == length {
        end -= length
        continue trimming
      }
      break
    }
    return end
  }

  private func isContinuationByte(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }

  /// Bytes of the white space character at `position`, if there is one: ASCII, no-break or ideographic.
  private func spaceLength(at position: Int) -> Int? {
    let unit = UTF8Codec.decode(text, at: position)
    switch unit.unicodeScalar {
    case "\t"..."\r", " ", "\u{A0}", "\u{3000}": return unit.size
    default: return nil
    }
  }
}

// MARK: - Boundaries

extension SentenceFinder {
  private enum Boundary {
    /// A sentence ends there.
    case end(Int)
    /// None ends; where to look next.
    case none(next: Int)
  }

  /// If what begins at `position` ends a sentence, where that sentence ends: behind a run of terminators
  /// with its closing marks, or before a blank line. Text from `limit` on is not looked at.
  private func sentenceEnd(at position: Int, limit: Int) -> Boundary {
    let byte = text[position]
    if byte == UInt8(ascii: "\n") {
      return isBlankLine(behind: position, limit: limit) ? .end(position) : .none(next: position + 1)
    }
    if byte < 0x80 && !isTerminator(Unicode.Scalar(byte)) { return .none(next: position + 1) }
    var end = position
    var isCertain = false
    while end < limit, case let unit = UTF8Codec.decode(text, at: end), isTerminator(unit.unicodeScalar) {
      if unit.scalar > 0x3000 { isCertain = true }
      end += unit.size
    }
    if end == position { return .none(next: position + 1) }
    // A run that ends no sentence has no end inside it either: looking at each of its marks takes quadratic time.
    let behindRun = end
    let isSingleDot = byte == UInt8(ascii: ".") && end == position + 1
    while end < limit, case let unit = UTF8Codec.decode(text, at: end), isCloser(unit.unicodeScalar) {
      end += unit.size
    }
    if isCertain || end >= limit { return .end(min(end, limit)) }
    guard let next = nextCharacter(behindSpaceAt: end, limit: limit) else { return .none(next: behindRun) }
    if next.properties.isLowercase { return .none(next: behindRun) }
    return isSingleDot && isAbbreviation(before: position, next: next) ? .none(next: behindRun) : .end(end)
  }

  private func isTerminator(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case ".", "!", "?", "…", "。", "！", "？": true
    default: false
    }
  }

  private func isCloser(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case ")", "]", "}", "\"", "'", "”", "’", "»", "」", "』", "）", "】", "〉", "》": true
    default: false
    }
  }

  /// The first character behind the white space at `position`: a line break if there is none; nil if
  /// there is no white space.
  private func nextCharacter(behindSpaceAt position: Int, limit: Int) -> Unicode.Scalar? {
    guard var next = spaceLength(at: position).map({ position + $0 }) else { return nil }
    while next < limit, let space = spaceLength(at: next) { next += space }
    return next < limit ? UTF8Codec.decode(text, at: next).unicodeScalar : "\n"
  }

  private func isBlankLine(behind lineBreak: Int, limit: Int) -> Bool {
    var next = lineBreak + 1
    while next < limit, text[next] != UInt8(ascii: "\n") {
      guard isWhiteSpace(text[next]) else { return false }
      next += 1
    }
    return next < limit
  }
}

// MARK: - Abbreviations

extension SentenceFinder {
  /// English abbreviations that come before a name or number far more often than at a sentence's end.
  static let leading: Set<String> = [
    "Mr", "Mrs", "Ms", "Dr", "Prof", "Sr", "Jr", "St", "Mt", "Ft", "Gen", "Col", "Capt", "Lt", "Sgt",
    "Rev", "Hon", "Gov", "Sen", "Rep", "Pres", "vs", "cf", "al", "approx",
  ]

  /// Those that do so before a digit only.
  private static let leadingNumbers: Set<String> = [
    "No", "no", "Nos", "nos", "Fig", "fig", "Vol", "vol", "Art", "Sec", "Ch", "pp", "ca",
    "Jan", "Feb", "Mar", "Apr", "Jun", "Jul", "Aug", "Sep", "Sept", "Oct", "Nov", "Dec",
  ]

  private static let longest = 12

  /// Whether the dot at `dot` belongs to an abbreviation or initial. `next` is the character behind the
  /// white space that follows.
  private func isAbbreviation(before dot: Int, next: Unicode.Scalar) -> Bool {
    var start = dot
    while start > 0 && isWordByte(text[start - 1]) {
      start -= 1
      if dot - start > Self.longest { return false }
    }
    let letters = String(decoding: text[start..<dot], as: UTF8.self).unicodeScalars
    let word = String(letters.drop { !$0.properties.isAlphabetic })  // less opening quotes
    let parts = word.split(separator: ".", omittingEmptySubsequences: false)
    // U.S, e.g, Ph.D; but not example.com, and not the last dot of an ellipsis.
    if parts.count > 1 { return parts.allSatisfy { (1...2).contains($0.count) } }
    if let letter = word.unicodeScalars.first, word.unicodeScalars.count == 1 {
      return letter.properties.isAlphabetic && letter.value < 0x3000
    }
    if Self.leadingNumbers.contains(word) { return ("0"..."9").contains(next) }
    return Self.leading.contains(word)
  }

  /// A letter, a dot, or any byte of a character beyond ASCII.
  private func isWordByte(_ byte: UInt8) -> Bool {
    let lower = byte | 0x20
    return byte >= 0x80 || (lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z"))
      || byte == UInt8(ascii: ".")
  }
}
