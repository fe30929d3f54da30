/// Brackets, quotes and punctuation at the edges of an answer, which have no part in it: `(1834`, `64 kg)`, `, a town`.
extension ExpressionFinder {
  /// Pairs are seldom nested deeper.
  private static let mostMarks = 8

  /// Returns the range without brackets and quotes at its edges that lack their partner, without markup around it, and
  /// without the punctuation of the text around it. If one inside lacks its partner and that is adjacent, the range
  /// includes it. O(range).
  func withoutStrayMarks(_ range: TextRange) -> TextRange {
    var range = range
    for _ in 0..<Self.mostMarks {
      let next = trimmed(paired(range) ?? withoutMarkup(range) ?? range)
      if next == range || next.start == next.end { break }
      range = next
    }
    return range
  }

  // MARK: - Pairs

  private struct Mark {
    let scalar: UInt32
    let range: Range<Int>
  }

  /// Returns the range with one mark more or less; nil if it needs none.
  private func paired(_ range: TextRange) -> TextRange? {
    var opened: [Mark] = []
    var closed: [Mark] = []
    /// By kind of quotation mark.
    var quotes = [0, 0, 0]
    var position = range.start
    while position < range.end, let mark = mark(at: position) {
      position = mark.range.upperBound
      switch mark.scalar {
      case _ where Self.closer(of: mark.scalar) != nil: opened.append(mark)
      case let closer where Self.isCloser(closer):
        if let open = opened.last, Self.closer(of: open.scalar) == closer {
          opened.removeLast()
        } else {
          closed.append(mark)
        }
      case let scalar: if let kind = Self.quoteKind(scalar) { quotes[kind] += 1 }
      }
    }
    let (before, first) = (mark(before: range.start), mark(at: range.start))
    let (last, behind) = (mark(before: range.end), mark(at: range.end))
    if let open = opened.last {
      if open.range.upperBound == range.end {
        return TextRange(start: range.start, end: open.range.lowerBound)
      }
      if open.range.lowerBound == range.start, open.scalar != UInt32(UInt8(ascii: "<")) {
        return TextRange(start: open.range.upperBound, end: range.end)
      }
      if let behind, behind.scalar == Self.closer(of: open.scalar) {
        return TextRange(start: range.start, end: behind.range.upperBound)
      }
    }
    if let close = closed.first, let end = closed.last {
      if close.range.lowerBound == range.start {
        return TextRange(start: close.range.upperBound, end: range.end)
      }
      let isLast = end.range.upperBound == range.end - (text[range.end - 1] == UInt8(ascii: ".") ? 1 : 0)
      if isLast, !isFace(end.range.lowerBound) {
        return TextRange(start: range.start, end: end.range.lowerBound)
      }
      if let before, Self.closer(of: before.scalar) == close.scalar {
        return TextRange(start: before.range.lowerBound, end: range.end)
      }
    }
    for (kind, count) in quotes.enumerated() where count % 2 == 1 {
      let isOfKind = { (mark: Mark) in Self.quoteKind(mark.scalar) == kind }
      if count == 1, let first, isOfKind(first) {
        return TextRange(start: first.range.upperBound, end: range.end)
      }
      // Inches are written with it.
      if count == 1, let last, isOfKind(last), !text.isDigit(last.range.lowerBound - 1) {
        return TextRange(start: range.start, end: last.range.lowerBound)
      }
      if let behind, isOfKind(behind) { return TextRange(start: range.start, end: behind.range.upperBound) }
      if let before, isOfKind(before) { return TextRange(start: before.range.lowerBound, end: range.end) }
    }
    return nil
  }

  private func mark(at position: Int) -> Mark? {
    guard position < text.count else { return nil }
    let unit = UTF8Codec.decode(text.bytes, at: position)
    return Mark(scalar: unit.scalar, range: position..<position + unit.size)
  }

  private func mark(before position: Int) -> Mark? {
    guard let unit = SentenceFinder(text: text.bytes).unit(before: position) else { return nil }
    return Mark(scalar: unit.scalar, range: position - unit.size..<position)
  }

  private static func closer(of scalar: UInt32) -> UInt32? {
    switch scalar {
    case 0x28: 0x29  // ( )
    case 0x3C: 0x3E  // < >
    case 0x5B: 0x5D  // [ ]
    case 0x7B: 0x7D  // { }
    case 0x3008, 0x300A, 0x300C, 0x300E, 0x3010, 0xFF08: scalar + 1  // 〈 《 「 『 【 （
    default: nil
    }
  }

  /// True for the second mark of a pair; not for `>`, which is more often an arrow or a comparison.
  private static func isCloser(_ scalar: UInt32) -> Bool {
    switch scalar {
    case 0x29, 0x5D, 0x7D, 0x3009, 0x300B, 0x300D, 0x300F, 0x3011, 0xFF09: true
    default: false
    }
  }

  /// Returns the kind of a quotation mark, 0...2. Which of a kind opens depends on the language: “a”, „a“, «a», »a«.
  private static func quoteKind(_ scalar: UInt32) -> Int? {
    switch scalar {
    case 0x22: 0
    case 0xAB, 0xBB: 1
    case 0x201C, 0x201D, 0x201E: 2
    default: nil
    }
  }

  /// True if a bracket ends a face such as `:)` or `;-)`.
  private func isFace(_ bracket: Int) -> Bool {
    switch text[bracket - 1] {
    case UInt8(ascii: ":"), UInt8(ascii: ";"), UInt8(ascii: "-"), UInt8(ascii: "="): true
    default: false
    }
  }

  // MARK: - Punctuation

  private func trimmed(_ range: TextRange) -> TextRange {
    var (start, end) = (range.start, range.end)
    while start < end {
      if let size = space(from: start, to: end) {
        start += size
      } else if let mark = mark(at: start),
        LineMarks.isBoxDrawing(mark.scalar)
          || Self.isSeparator(mark.scalar) && space(from: mark.range.upperBound, to: end) != nil
      {
        start = mark.range.upperBound
      } else {
        break
      }
    }
    while end > start, let mark = mark(before: end), mark.range.lowerBound >= start {
      let low = mark.range.lowerBound
      if space(from: low, to: end) != nil || Self.isPause(mark.scalar) || LineMarks.isBoxDrawing(mark.scalar)
        || Self.isListMark(mark.scalar) && low > start && text[low - 1] <= 0x20
      {
        end = low
      } else {
        break
      }
    }
    return TextRange(start: start, end: end)
  }

  /// Returns the size of the white space at a place.
  private func space(from start: Int, to end: Int) -> Int? {
    guard start < end, case let unit = UTF8Codec.decode(text.bytes, at: start), unit.isWhiteSpace else {
      return nil
    }
    return unit.size
  }

  /// Marks that stand alone between an answer and the text before it: `. ` `, ` `* ` `| `.
  private static func isSeparator(_ scalar: UInt32) -> Bool {
    isPause(scalar) || isListMark(scalar) || scalar == 0x21 || scalar == 0x2E || scalar == 0x3F
  }

  /// `*` `-` `|` `•`; not `+`, which may be a sign.
  private static func isListMark(_ scalar: UInt32) -> Bool {
    scalar == 0x7C || LineMarks.isBullet(scalar) && scalar != 0x2B
  }

  /// `,` `:` `;` and `¶` end no answer.
  private static func isPause(_ scalar: UInt32) -> Bool {
    scalar == 0x2C || scalar == 0x3A || scalar == 0x3B || LineMarks.isPilcrow(scalar)
  }
}
