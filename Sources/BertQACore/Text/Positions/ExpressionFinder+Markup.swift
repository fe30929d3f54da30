/// Markup at the edges of an answer: Markdown's emphasis and links, and HTML's tags. What stands around all of the answer
/// has no part in it: `**Ann**`, `<b>Ann</b>`, `[Ann](ann.md)`. Emphasis of a part is not cut.
extension ExpressionFinder {
  /// Returns the range with one piece of markup less, or with the partner of one inside; nil if it needs none. O(range).
  func withoutMarkup(_ range: TextRange) -> TextRange? {
    withWholeEmphasis(range) ?? withoutLink(range) ?? withoutTags(range)
  }

  // MARK: - Emphasis

  /// One to three equal marks that open or close emphasis, unlike those of `5 * 3` and `file_name`.
  private struct Run: Equatable {
    /// Of the whole run, which the edge of an answer may cut.
    let range: Range<Int>
    let opens: Bool
    let closes: Bool
  }

  private func withWholeEmphasis(_ range: TextRange) -> TextRange? {
    for mark in "*_~`".utf8 {
      let runs = runs(of: mark, in: range)
      guard let first = runs.first, let last = runs.last, runs.count < 3 else { continue }
      let start = first.range.lowerBound <= range.start && first.opens ? first.range.upperBound : range.start
      let end = last.range.upperBound >= range.end && last.closes ? last.range.lowerBound : range.end
      if runs.count == 2 {
        if start > range.start, end < range.end, !isDunder(start..<end) {
          return TextRange(start: start, end: end)
        }
      } else if first.opens, let behind = run(of: mark, across: range.end), behind.closes, behind != first {
        return TextRange(start: start, end: start > range.start ? range.end : behind.range.upperBound)
      } else if last.closes, let before = run(of: mark, across: range.start), before.opens, before != last {
        return TextRange(start: end < range.end ? range.start : before.range.lowerBound, end: end)
      }
    }
    return nil
  }

  private func runs(of mark: UInt8, in range: TextRange) -> [Run] {
    var runs: [Run] = []
    var position = range.start
    while position < range.end {
      if text[position] == mark, let run = run(of: mark, across: position) { runs.append(run) }
      repeat { position += 1 } while text[position - 1] == mark && text[position] == mark
    }
    return runs
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
    let bytes = text.bytes[range.start..<range.end]
    let (opening, closing) = (UInt8(ascii: "["), UInt8(ascii: "]"))
    guard bytes.first == opening, let close = bytes.firstIndex(of: closing) else { return nil }
    let inner = bytes[(range.start + 1)..<close]
    guard let bracket = inner.first, bracket == opening else {
      let isWhole = [nil, range.end - 1].contains(bytes[close...].firstIndex(of: UInt8(ascii: ")")))
      guard isWhole, text[close + 1] == UInt8(ascii: "("), !inner.contains(opening) else { return nil }
      return TextRange(start: inner.startIndex, end: close)
    }
    guard close + 2 == range.end, text[close + 1] == closing else { return nil }
    let page = inner.dropFirst()
    guard !page.contains(opening) else { return nil }
    let bar = page.lastIndex(of: UInt8(ascii: "|"))
    return TextRange(start: bar.map { $0 + 1 } ?? page.startIndex, end: close)
  }

  // MARK: - Tags

  private struct Tag {
    /// In lower case.
    let name: [UInt8]
    let isClosing: Bool
    let range: Range<Int>
  }

  /// The maximum bytes of a tag.
  private static let longestTag = 512

  private func withoutTags(_ range: TextRange) -> TextRange? {
    var opened: [Tag] = []
    var closed: [Tag] = []
    var position = range.start
    while position < range.end {
      guard let tag = tag(at: position), tag.range.upperBound <= range.end else {
        position += 1
        continue
      }
      position = tag.range.upperBound
      if !tag.isClosing {
        opened.append(tag)
      } else if let open = opened.last, open.name == tag.name {
        if open.range.lowerBound == range.start, position == range.end {
          return TextRange(start: open.range.upperBound, end: tag.range.lowerBound)
        }
        opened.removeLast()
      } else {
        closed.append(tag)
      }
    }
    if let first = closed.first, let last = closed.last {
      if last.range.upperBound == range.end {
        return TextRange(start: range.start, end: last.range.lowerBound)
      }
      if first.range.lowerBound == range.start {
        return TextRange(start: first.range.upperBound, end: range.end)
      }
    }
    guard let open = opened.last, open.range.lowerBound == range.start, let behind = tag(at: range.end),
      behind.isClosing, behind.name == open.name
    else { return nil }
    return TextRange(start: open.range.upperBound, end: range.end)
  }

  /// Returns the tag that begins at a place, such as `<b>`, `</b>` or `<a href=ann.html>`; nil for `<ann@example.org>`.
  private func tag(at start: Int) -> Tag? {
    guard text[start] == UInt8(ascii: "<") else { return nil }
    let isClosing = text[start + 1] == UInt8(ascii: "/")
    let nameStart = start + (isClosing ? 2 : 1)
    var end = nameStart
    while text.isAlphanumeric(end), end - start < Self.longestTag { end += 1 }
    guard TextBytes.isLetter(text[nameStart]),
      text[end] <= 0x20 || text[end] == UInt8(ascii: ">") || text[end] == UInt8(ascii: "/")
    else { return nil }
    let name = text.bytes[nameStart..<end].map { $0 | 0x20 }
    while text[end] != UInt8(ascii: ">") {
      guard end < text.count, end - start < Self.longestTag, text[end] != UInt8(ascii: "<") else {
        return nil
      }
      end += 1
    }
    return Tag(name: name, isClosing: isClosing, range: start..<end + 1)
  }
}
