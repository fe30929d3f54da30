/// The places where a range of a text may begin and end.
///
/// Ranges of tokens are not always what readers see as whole: some begin with the white space before the word, some
/// lack its first letter, and a tokenizer that drops combining marks leaves them out. The ranges of all answers and
/// entities are made here.
struct TextEdges {
  let text: UnsafeBufferPointer<UInt8>

  /// The clusters found last: ranges come in text order, and one cluster can contain many of their edges.
  private var lastAtStart = 0..<0
  private var lastAtEnd = 0..<0

  /// The maximum bytes of a cluster on either side of an edge; a longer one is cut.
  static let reach = 4096

  /// The maximum number of marks that `isInsideWord` passes.
  private static let mostMarks = 64

  init(text: UnsafeBufferPointer<UInt8>) { self.text = text }

  // MARK: - Tokens

  /// Returns the range of a token, with the adjacent letters that belong to its word and to no token.
  func range(of token: Int, of tokens: Tokens) -> TextRange {
    let low = token > 0 ? Int(tokens.ends[token - 1]) : 0
    let high = token + 1 < tokens.count ? Int(tokens.starts[token + 1]) : text.count
    var start = Int(tokens.starts[token])
    var end = max(start, Int(tokens.ends[token]))
    // A trimmed range may lack the whole of a short word.
    while let unit = unit(before: start, low: low), Self.isLetter(unit) || start == end && !unit.isWhiteSpace
    {
      start -= unit.size
    }
    while end < high, isInsideWord(end) { end += UTF8Codec.decode(text, at: end).size }
    return TextRange(start: start, end: end)
  }

  /// Returns the range of the tokens `first` through `last` as readers see it; empty if it contains only white space.
  mutating func visibleRange(ofTokens first: Int, through last: Int, of tokens: Tokens) -> TextRange {
    let (first, last) = (range(of: first, of: tokens), range(of: last, of: tokens))
    return visible(TextRange(start: first.start, end: max(first.start, last.end)))
  }

  /// Returns the range without white space at its ends, extended to whole characters at its edges: the marks, joiners
  /// and selectors after them, and the characters that those belong to. Empty if it contains only white space.
  mutating func visible(_ range: TextRange) -> TextRange {
    let trimmed = trimmed(range)
    if trimmed.count == 0 { return trimmed }
    return TextRange(start: clusterStart(trimmed.start), end: clusterEnd(trimmed.end))
  }

  private func trimmed(_ range: TextRange) -> TextRange {
    var (start, end) = (range.start, range.end)
    while start < end, case let unit = UTF8Codec.decode(text, at: start), unit.isWhiteSpace {
      start += unit.size
    }
    while let unit = unit(before: end, low: start), unit.isWhiteSpace { end -= unit.size }
    return TextRange(start: min(start, end), end: end)
  }

  private func unit(before position: Int, low: Int) -> DecodedScalar? {
    guard position > low, let base = text.baseAddress else { return nil }
    return UTF8Codec.decodeBackwards(base, before: position, begin: low)
  }

  // MARK: - Words

  /// True if no word boundary lies from the `end` of a token through the `start` of the next one: letters and digits
  /// meet, in scripts that put spaces between words.
  func isOneWord(from end: Int, through start: Int) -> Bool {
    // The tokens share one character.
    if start < end { return true }
    if end == start, isMark(at: start) { return true }
    var position = end
    while isInsideWord(position) {
      if position >= start { return true }
      position += UTF8Codec.decode(text, at: position).size
    }
    return false
  }

  /// True if a word continues across a place, by UAX #29's rules for letters, digits, and the marks after them.
  func isInsideWord(_ position: Int) -> Bool {
    guard position > 0, position < text.count else { return false }
    var (before, behind) = (position, position)
    var (left, right) = (WordBreak.extend, WordBreak.extend)
    for _ in 0..<Self.mostMarks where right == .extend {
      guard behind < text.count else { return false }
      let unit = UTF8Codec.decode(text, at: behind)
      right = WordTables.shared.wordBreak(unit.scalar)
      behind += unit.size
    }
    guard right.isWord else { return false }
    for _ in 0..<Self.mostMarks where left == .extend {
      guard let unit = unit(before: before, low: 0) else { return false }
      left = WordTables.shared.wordBreak(unit.scalar)
      before -= unit.size
    }
    return left.isWord && left.joins(right)
  }

  /// True if a mark at a place belongs to the character before it.
  private func isMark(at position: Int) -> Bool {
    guard position > 0, position < text.count, text[position] >= 0x80,
      let before = unit(before: position, low: 0),
      !before.isWhiteSpace
    else { return false }
    let properties = GraphemeBreak.shared.properties(of: UTF8Codec.decode(text, at: position).scalar)
    return GraphemeBreak.Class.extend...GraphemeBreak.Class.spacingMark ~= properties & 15
  }

  private static func isLetter(_ unit: DecodedScalar) -> Bool {
    let kind = WordTables.shared.wordBreak(unit.scalar)
    return kind.isWord || kind == .single
  }

  // MARK: - Clusters

  /// Returns the beginning of the grapheme cluster that a place lies inside; the place itself if a cluster begins
  /// there.
  mutating func clusterStart(_ position: Int) -> Int {
    guard let cluster = cluster(across: position, lastAtStart) else { return position }
    lastAtStart = cluster
    return cluster.lowerBound
  }

  /// Returns the end of the grapheme cluster that a place lies inside; the place itself if a cluster ends there.
  mutating func clusterEnd(_ position: Int) -> Int {
    guard let cluster = cluster(across: position, lastAtEnd) else { return position }
    lastAtEnd = cluster
    return cluster.upperBound
  }

  /// Returns the cluster that lies on both sides of a place. White space is in none.
  /// - Parameter last: one that is known.
  private func cluster(across position: Int, _ last: Range<Int>) -> Range<Int>? {
    guard position > 0, position < text.count else { return nil }
    if text[position - 1] < 0x80, text[position] < 0x80 { return nil }
    if last.lowerBound < position, position < last.upperBound { return last }
    let breaks = GraphemeBreak.shared
    var start = unitStart(position)
    // Back to a place that is a boundary in any context.
    let low = max(last.upperBound <= position ? last.upperBound : 0, unitStart(max(0, position - Self.reach)))
    var next = properties(UTF8Codec.decode(text, at: start), breaks)
    while let unit = unit(before: start, low: low) {
      let properties = properties(unit, breaks)
      if !GraphemeBreak.joins(properties), !GraphemeBreak.joins(next) { break }
      start -= unit.size
      next = properties
    }
    var scanner = GraphemeBreak.Scanner()
    var end = start
    while end < text.count, end - position < Self.reach {
      let unit = UTF8Codec.decode(text, at: end)
      if scanner.isBoundary(before: properties(unit, breaks)) {
        if end >= position { break }
        start = end
      }
      end += unit.size
    }
    return end == position ? nil : start..<end
  }

  private func properties(_ unit: DecodedScalar, _ breaks: GraphemeBreak) -> UInt8 {
    unit.isWhiteSpace ? GraphemeBreak.Class.control : breaks.properties(of: unit.scalar)
  }

  /// Returns the beginning of the character that a byte belongs to.
  private func unitStart(_ position: Int) -> Int {
    var start = position
    while start > 0, position - start < 3, text[start] & 0xC0 == 0x80 { start -= 1 }
    return start + UTF8Codec.decode(text, at: start).size > position ? start : position
  }
}
