/// Line breaks that end a sentence although no blank line follows: those of lists, tables, forms, logs, subtitles and
/// quoted mail. In other texts lines are wrapped.
extension SentenceFinder {
  /// - Parameters:
  ///   - lineBreak: a line break that no blank line follows.
  ///   - content: where the sentence begins.
  func separatesLines(_ lineBreak: Int, content: Int, limit: Int) -> Bool {
    let bytes = TextBytes(bytes: text)
    var start = lineBreak
    while lineBreak - start < Self.reach, let unit = unit(before: start), !Self.isLineBreak(unit.scalar) {
      start -= unit.size
    }
    let line = Line(bytes, from: start, limit: lineBreak)
    let next = Line(bytes, from: lineBreak + lineBreakSize(at: lineBreak), limit: limit)
    // A sentence has lines before this one only if they are wrapped.
    let first = content < start ? Line(bytes, from: content, limit: lineBreak) : line
    if line.quotes != next.quotes || line.isRule || next.isRule || line.isRow || next.isRow { return true }
    if next.isBullet { return !line.isComment(before: next) }
    if line.isHeading != next.isHeading { return true }
    if next.isNumbered { return first.isNumbered || bytes[line.end - 1] == UInt8(ascii: ":") }
    if next.hasKey, first.hasKey || line.hasKey, !next.isLowercase || line.hasKey && line.count < Line.wrapped
    {
      return true
    }
    return line.time.map { $0 == next.time } == true || line.hasColumns(with: next)
  }
}

extension SentenceFinder {
  /// A line without its indentation, the `>` of quoted mail, and white space at its end. Reads at most `longest` bytes
  /// behind them.
  struct Line {
    private let text: TextBytes
    private let begin: Int
    /// After the indentation.
    private let start: Int
    let end: Int
    private(set) var quotes = 0

    /// Wrapped lines are seldom shorter.
    static let wrapped = 50
    private static let longest = 200

    init(_ text: TextBytes, from start: Int, limit: Int) {
      self.text = text
      begin = start
      var position = start == 0 ? min(text.bytes.byteOrderMarkSize, limit) : start
      while position < limit, position - start < SentenceFinder.reach,
        Self.isSpace(text[position]) || text[position] == UInt8(ascii: ">")
      {
        if text[position] == UInt8(ascii: ">") { quotes += 1 }
        position += 1
      }
      self.start = position
      let finder = SentenceFinder(text: text.bytes)
      while position < limit, position - self.start < Self.longest, finder.lineBreakSize(at: position) == 0 {
        position += 1
      }
      while position > self.start, Self.isSpace(text[position - 1]) { position -= 1 }
      end = position
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    var count: Int { end - start }

    private var first: DecodedScalar { UTF8Codec.decode(text.bytes, at: min(start, text.count - 1)) }

    var isLowercase: Bool { TextBytes.isLetter(text[start]) && text[start] & 0x20 != 0 }

    // MARK: - Kinds of lines

    /// True for a line of plain text: no item, row, heading, rule, field of a form or quotation.
    var isProse: Bool {
      quotes == 0 && !(isRule || isRow || isHeading || isBullet || isNumbered || hasKey || gaps.count > 1)
    }

    /// Matches `-----`, `=====`, the `--` before a signature, an empty line of quoted mail, and the times of a subtitle.
    var isRule: Bool {
      var position = start
      while position < end, text[position] != UInt8(ascii: ">") { position += 1 }
      if position < end, position > start, text.has("--", at: position - 2) { return true }
      return (start..<end).allSatisfy { Self.isSpace(text[$0]) || "=-*_~+".utf8.contains(text[$0]) }
    }

    /// A row of a table in Markdown or with drawn lines, and a line of a tree of files.
    var isRow: Bool { text[start] == UInt8(ascii: "|") || LineMarks.isBoxDrawing(first.scalar) }

    /// Matches `# Heading`, and `[section]` alone.
    var isHeading: Bool {
      if text[start] == UInt8(ascii: "["), count > 2, text[end - 1] == UInt8(ascii: "]") {
        return (start..<end).contains { TextBytes.isLetter(text[$0]) }
      }
      var position = start
      while text[position] == UInt8(ascii: "#") { position += 1 }
      return position > start && position - start <= 6 && text[position] == 0x20
    }

    var isBullet: Bool {
      let first = first
      return LineMarks.isBullet(first.scalar) && Self.isSpace(text[start + first.size])
    }

    /// True if both lines are of a comment in C, where each but the first begins with an asterisk. Without its beginning
    /// they are if the first is as long as wrapped lines are, and the second continues it.
    func isComment(before next: Line) -> Bool {
      guard text[next.start] == UInt8(ascii: "*") else { return false }
      let mark = text[next.start + 2]
      let low = max(0, start - SentenceFinder.reach)
      let edge = (low...start).last { text.has("/*", at: $0) || text.has("*/", at: $0) }
      if let edge, text[edge] == UInt8(ascii: "/"), text[edge - 1] <= 0x20 {
        return mark != UInt8(ascii: "@") && mark != UInt8(ascii: "-")
      }
      return text[start] == UInt8(ascii: "*") && count >= Self.wrapped && mark & 0x20 != 0
    }

    /// Matches `1.`, `2.1.3.`, `II.`, `1)`, `a)`, `(a)`, `(iv)`.
    var isNumbered: Bool {
      var position = start
      if text[position] == UInt8(ascii: "(") { position += 1 }
      var first = position
      while text.isAlphanumeric(position), position - first < 4 {
        position += 1
        if text[position] == UInt8(ascii: "."), text.isDigit(position - 1), text.isDigit(position + 1) {
          position += 1
          first = position
        }
      }
      guard position > first, Self.isSpace(text[position + 1]) else { return false }
      return text[position] == UInt8(ascii: ")")
        || text[position] == UInt8(ascii: ".")
          && (text.isDigit(position - 1) || (first..<position).allSatisfy { "IVX".utf8.contains(text[$0]) })
    }

    /// Matches `Date of birth: 1984`, `**Date:** 1984`, `Notes:`, `NOTE:a`, `name=1984` and `name = 1984`.
    var hasKey: Bool {
      if hasSetting { return true }
      var position = start
      while position < end, position - start < 40, text[position] != UInt8(ascii: ":") {
        if text[position] == UInt8(ascii: ".") && Self.isSpace(text[position + 1]) { return false }
        position += 1
      }
      guard position > start, text[position] == UInt8(ascii: ":") else { return false }
      repeat { position += 1 } while position < end && "*_".utf8.contains(text[position])
      return position >= end || Self.isSpace(text[position])
    }

    /// Matches the settings of a program, and the lines of a calendar or an address book.
    private var hasSetting: Bool {
      var position = start
      while position < end, position - start < 60,
        text.isWordByte(position) || ".-/;".utf8.contains(text[position])
      {
        position += 1
      }
      guard position > start + 1 else { return false }
      if text[position] == UInt8(ascii: ":") {
        return !(start..<position).contains { text[$0] & 0x20 != 0 && TextBytes.isLetter(text[$0]) }
          && TextBytes.isLetter(text[start])
      }
      if text[position] == 0x20 { position += 1 }
      return position < end && text[position] == UInt8(ascii: "=") && text[position + 1] != UInt8(ascii: "=")
    }

    /// The place in the line of a time of day with two digits for the hours; -1 for one with seconds.
    var time: Int? {
      for position in start..<min(end, start + 48)
      where text[position] == UInt8(ascii: ":")
        && [-2, -1, 1, 2].allSatisfy({ text.isDigit(position + $0) })
      {
        if text[position + 3] == UInt8(ascii: ":"), text.isDigit(position + 4) { return -1 }
        if position < start + 20 { return position - start }
      }
      return nil
    }

    /// The places of words behind a tab or three spaces.
    private var gaps: [Int] {
      (start..<end).filter {
        !Self.isSpace(text[$0]) && (text[$0 - 1] == 0x09 || text.has("   ", at: $0 - 3)) && $0 > start
      }
    }

    /// True if both lines have two gaps, or one each at a tab, before digits or at the same column. Justified text has
    /// single gaps anywhere.
    func hasColumns(with next: Line) -> Bool {
      let (gaps, others) = (gaps, next.gaps)
      func column(_ gap: Int, _ line: Line) -> Int {
        (line.begin..<gap).reduce(0) { $0 + (text[$1] & 0xC0 == 0x80 ? 0 : 1) }
      }
      return min(gaps.count, others.count) > 1
        || gaps.contains { gap in
          others.contains {
            text[gap - 1] == 0x09 && text[$0 - 1] == 0x09 || text.isDigit(gap) && text.isDigit($0)
              || column(gap, self) == column($0, next)
          }
        }
    }
  }
}
