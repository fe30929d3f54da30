/// Blank lines within sentences: those of double-spaced text, and of lines that end in CR CR LF.
extension SentenceFinder {
  /// The most lines before and after two lines that are looked at.
  private static let neighbours = 6

  /// Returns the start of the line after a blank line that does not end a sentence; nil if the blank line does.
  ///
  /// Each of the two lines stands alone. The first has the length of a wrapped line and does not end a sentence. The
  /// second begins in lower case; it may begin with a name or number if other lines nearby are of this kind.
  /// - Parameter lineBreak: the one before the blank line.
  func continuation(afterBlankLineBehind lineBreak: Int) -> Int? {
    guard lineBreak < text.count, UTF8Codec.decode(text, at: lineBreak).scalar != 0x2029,
      let line = SpacedLine(in: self, at: lineBreak), let next = line.next, next.mayContinue(line)
    else {
      return nil
    }
    let isDoubleSpaced =
      next.isLowercase || hasContinuation(from: line, forward: false)
      || hasContinuation(from: next, forward: true)
    return isDoubleSpaced ? next.content : nil
  }

  /// - Parameter forward: false looks at the lines before the first.
  private func hasContinuation(from first: SpacedLine, forward: Bool) -> Bool {
    var line = first
    for _ in 0..<Self.neighbours {
      guard let other = forward ? line.next : line.previous else { return false }
      let (earlier, later) = forward ? (line, other) : (other, line)
      if later.isLowercase, later.mayContinue(earlier) { return true }
      line = other
    }
    return false
  }
}

/// A line between blank lines.
private struct SpacedLine {
  private let finder: SentenceFinder
  private let start: Int
  /// After the indentation.
  let content: Int
  /// Before the line break.
  private let end: Int
  /// In code points, without the indentation.
  private let count: Int

  /// In code points. Longer lines are paragraphs.
  private static let longest = 120
  private static let shortestWrapped = 40

  /// - Parameter place: in the line, or at its line break.
  /// - Returns: nil if the line is blank, is longer than `longest`, or is next to another line that is not blank.
  init?(in finder: SentenceFinder, at place: Int) {
    self.finder = finder
    var (start, end, count) = (place, place, 0)
    while let unit = finder.unit(before: start), !SentenceFinder.isLineBreak(unit.scalar) {
      start -= unit.size
      count += 1
      if count > 2 * Self.longest { return nil }
    }
    while end < finder.text.count, finder.lineBreakSize(at: end) == 0 {
      end += UTF8Codec.decode(finder.text, at: end).size
      count += 1
      if count > 2 * Self.longest { return nil }
    }
    content = finder.skipSpace(from: start, limit: end)
    self.start = start
    self.end = end
    self.count = count - (content - start)
    guard content < end, self.count <= Self.longest, isBlank(before: start), isBlank(after: end) else {
      return nil
    }
  }

  /// The line after one blank line.
  var next: SpacedLine? {
    guard let blank = lineStart(after: end), let next = lineStart(after: skipBlanks(from: blank)) else {
      return nil
    }
    return SpacedLine(in: finder, at: next)
  }

  /// The line before one blank line.
  var previous: SpacedLine? {
    guard let blank = lineBreak(before: start), let end = lineBreak(before: skipBlanksBackwards(from: blank))
    else {
      return nil
    }
    return SpacedLine(in: finder, at: end)
  }

  // MARK: - The line breaks around

  private func isBlank(after end: Int) -> Bool {
    guard let start = lineStart(after: end) else { return true }
    let next = skipBlanks(from: start)
    return next == finder.text.count || lineStart(after: next) != nil
  }

  private func isBlank(before start: Int) -> Bool {
    guard let end = lineBreak(before: start) else { return true }
    let before = skipBlanksBackwards(from: end)
    return before == 0 || lineBreak(before: before) != nil
  }

  /// Returns the place after the line break at `position`; nil if there is none, or no text after it.
  private func lineStart(after position: Int) -> Int? {
    guard position < finder.text.count, case let size = finder.lineBreakSize(at: position), size > 0,
      position + size < finder.text.count
    else {
      return nil
    }
    return position + size
  }

  /// Returns the place of the line break that ends at `position`; nil if none does.
  private func lineBreak(before position: Int) -> Int? {
    guard let unit = finder.unit(before: position), SentenceFinder.isLineBreak(unit.scalar) else {
      return nil
    }
    let start = position - unit.size
    return unit.scalar == 0x0A && start > 0 && finder.text[start - 1] == 0x0D ? start - 1 : start
  }

  /// At most `longest` blanks, so that the work is limited.
  private func skipBlanks(from start: Int) -> Int {
    let limit = min(start + Self.longest, finder.text.count)
    return (start..<limit).first { !Self.isBlank(finder.text[$0]) } ?? limit
  }

  private func skipBlanksBackwards(from start: Int) -> Int {
    let limit = max(start - Self.longest, 0)
    return (limit..<start).last { !Self.isBlank(finder.text[$0]) }.map { $0 + 1 } ?? limit
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  // MARK: - The text

  var isLowercase: Bool { finder.isLowercase(at: content, limit: end) }

  /// True if the line may continue a sentence of the line before it.
  func mayContinue(_ previous: SpacedLine) -> Bool {
    previous.count >= Self.shortestWrapped && !previous.endsSentence
      && content - start <= previous.content - previous.start
      && SentenceFinder.Line(TextBytes(bytes: finder.text), from: start, limit: end).isProse
  }

  private var endsSentence: Bool {
    var position = end
    while position > content, let unit = finder.unit(before: position) {
      position -= unit.size
      if finder.isTerminator(unit, at: position) || unit.scalar == 0x3A { return true }
      guard unit.isWhiteSpace || finder.isCloser(unit, at: position, limit: end) else { return false }
    }
    return false
  }
}
