/// Markup at the edges of an answer: Markdown's emphasis and links, and HTML's tags. What stands around all of the answer
/// has no part in it: `**Ann**`, `<b>Ann</b>`, `[Ann](ann.md)`. Emphasis of a part is not cut.
extension ExpressionFinder {
  /// Returns the range with one piece of markup less, or with the partner of one inside; nil if it needs none. O(range).
  func withoutMarkup(_ range: TextRange) -> TextRange? {
    withWholeEmphasis(range) ?? withoutLink(range) ?? withoutTags(range)
  }

  // MARK: - Emphasis

  /// One to three equal marks that open or close emphasis, unlike those of `5 * 3` and `file_name`.
  private struct Run {
    /// Of the whole run, which the edge of an answer may cut.
    let range: Range<Int>
    let opens: Bool
    let closes: Bool
  }

  private func withWholeEmphasis(_ range: TextRange) -> TextRange? {
    for mark in "*_~`".utf8 {
      guard case let (first?, last?, count) = runs(of: mark, in: range), count < 3 else { continue }
      let start = first.range.lowerBound <= range.start && first.opens ? first.range.upperBound : range.start
      let end = last.range.upperBound >= range.end && last.closes ? last.range.lowerBound : range.end
      if count == 2 {
        if start > range.start, end < range.end, !isDunder(start..<end) {
          return TextRange(start: start, end: end)
        }
      } else if first.opens, let behind = run(of: mark, across: range.end), behind.closes,
        behind.range != first.range
      {
        return TextRange(start: start, end: start > range.start ? range.end : behind.range.upperBound)
      } else if last.closes, let before = run(of: mark, across: range.start), before.opens,
        before.range != last.range, !text.isAlphanumeric(before.range.lowerBound - 1)
      {
        return TextRange(start: end < range.end ? range.start : before.range.lowerBound, end: end)
      }
    }
    return nil
  }

  /// Returns the first and the last run of a mark, and how many there are.
  private func runs(of mark: UInt8, in range: TextRange) -> (first: Run?, last: Run?, count: Int) {
    var (first, last, count): (Run?, Run?, Int) = (nil, nil, 0)
    var position = range.start
    while position < range.end {
      if text[position] == mark, let run = run(of: mark, across: position) {
        if count == 0 { first = run }
        last = run
        count += 1
      }
      repeat {
        position += 1
      } while position < range.end && text[position - 1] == mark && text[position] == mark
    }
    return (first, last, count)
  }

  /// Returns the run that a place is in, or at an end of.
  private func run(of mark: UInt8, across place: Int) -> Run? {
    let longest = 3
    var (start, end) = (place, place)
    while place - start <= longest, text[start - 1] == mark { start -= 1 }
    while end - place <= longest, text[end] == mark { end += 1 }
    guard 1...longest ~= end - start else { return nil }
    // Names have underscores.
    let mayCut = mark != UInt8(ascii: "_")
    let follows = text.isAlphanumeric(start - 1) || text.nameLetter(before: start, begin: 0) > 0
    let precedes = text.isAlphanumeric(end) || text.nameLetter(at: end) > 0
    let opens = text[end] > 0x20 && (mayCut || !follows)
    let closes = text[start - 1] > 0x20 && (mayCut || !precedes)
    return opens || closes ? Run(range: start..<end, opens: opens, closes: closes) : nil
  }

  /// True for what stands between the underscores of Python's `__init__`.
  private func isDunder(_ name: Range<Int>) -> Bool {
    let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
    return text.has("__", at: name.lowerBound - 2)
      && name.allSatisfy { text.isWordByte($0) && !capitals.contains(text[$0]) }
  }

  // MARK: - Links

  /// Returns the text of a link that is the whole answer: `[Ann](ann.md)`, `[[Ann]]`, `[[ann|Ann]]`, and `[Ann]` before
  /// its address.
  private func withoutLink(_ range: TextRange) -> TextRange? {
    guard text[range.start] == UInt8(ascii: "[") else { return nil }
    let isPage = text[range.start + 1] == UInt8(ascii: "[")
    var start = range.start + (isPage ? 2 : 1)
    var close = start
    while close < range.end, text[close] != UInt8(ascii: "]") {
      if text[close] == UInt8(ascii: "[") { return nil }
      if isPage, text[close] == UInt8(ascii: "|") { start = close + 1 }
      close += 1
    }
    var end = close + 2
    if isPage {
      guard text.has("]]", at: close) else { return nil }
    } else {
      guard text.has("](", at: close) else { return nil }
      while end < range.end, text[end - 1] != UInt8(ascii: ")") { end += 1 }
    }
    // Of `[Ann]` before its address, the end is one less.
    return end >= range.end ? TextRange(start: start, end: close) : nil
  }

  // MARK: - Tags

  private struct Tag {
    let name: Range<Int>
    let isClosing: Bool
    let range: Range<Int>
  }

  /// The maximum bytes of a tag.
  private static let longestTag = 512

  private func withoutTags(_ range: TextRange) -> TextRange? {
    let first = tag(at: range.start)
    if let last = tag(before: range.end), last.isClosing, last.range.lowerBound >= range.start {
      if let first, isPair(first, last), !has(last, in: first.range.upperBound..<last.range.lowerBound) {
        return TextRange(start: first.range.upperBound, end: last.range.lowerBound)
      }
      if !has(last, in: range.start..<last.range.lowerBound) {
        return TextRange(start: range.start, end: last.range.lowerBound)
      }
    }
    guard let first, first.range.upperBound < range.end else { return nil }
    if !first.isClosing {
      guard let behind = tag(at: range.end), isPair(first, behind),
        !has(first, in: first.range.upperBound..<range.end)
      else { return nil }
    }
    return TextRange(start: first.range.upperBound, end: range.end)
  }

  private func isPair(_ first: Tag, _ second: Tag) -> Bool {
    !first.isClosing && second.isClosing && isSameName(first, second)
  }

  private func isSameName(_ first: Tag, _ second: Tag) -> Bool {
    first.name.count == second.name.count
      && first.name.allSatisfy {
        text[$0] | 0x20 == text[$0 - first.name.lowerBound + second.name.lowerBound] | 0x20
      }
  }

  /// True if a part of the text has a tag of the same name.
  private func has(_ named: Tag, in part: Range<Int>) -> Bool {
    part.contains { position in tag(at: position).map { isSameName($0, named) } ?? false }
  }

  /// Returns the tag that begins at a place, such as `<b>`, `</b>` or `<a href=ann.html>`; nil for `<ann@example.org>`.
  private func tag(at start: Int) -> Tag? {
    guard text[start] == UInt8(ascii: "<") else { return nil }
    let isClosing = text[start + 1] == UInt8(ascii: "/")
    let name = start + (isClosing ? 2 : 1)
    guard TextBytes.isLetter(text[name]) else { return nil }
    var end = name
    while text.isAlphanumeric(end), end - start < Self.longestTag { end += 1 }
    let nameEnd = end
    guard text[end] <= 0x20 || text[end] == UInt8(ascii: ">") || text[end] == UInt8(ascii: "/") else {
      return nil
    }
    while text[end] != UInt8(ascii: ">") {
      guard end < text.count, end - start < Self.longestTag, text[end] != UInt8(ascii: "<") else {
        return nil
      }
      end += 1
    }
    return Tag(name: name..<nameEnd, isClosing: isClosing, range: start..<end + 1)
  }

  /// Returns the tag that ends at a place.
  private func tag(before end: Int) -> Tag? {
    guard text[end - 1] == UInt8(ascii: ">") else { return nil }
    var start = end - 1
    while start > 0, end - start < Self.longestTag, text[start] != UInt8(ascii: "<") { start -= 1 }
    return tag(at: start).flatMap { $0.range.upperBound == end ? $0 : nil }
  }
}
