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
    if line.isShort, next.isShort, line.endsWithTime, next.endsWithTime { return true }
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

    /// True for a line that is too short for a wrapped one, even in a narrow column.
    var isShort: Bool { count < Self.wrapped / 2 }

    private var first: DecodedScalar { UTF8Codec.decode(text.bytes, at: min(start, text.count - 1)) }

    var isLowercase: Bool { TextBytes.isLetter(text[start]) && text[start] & 0x20 != 0 }

    // MARK: - Kinds of lines

    /// True for a line of plain text: no item, row, heading, rule, field of a form or quotation.
    var isProse: Bool {
      quotes == 0 && !(isRule || isRow || isHeading || isBullet || isNumbered || hasKey || gaps().count > 1)
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
      let edge = (low..<end).last { text.has("*/", at: $0) || opensComment(at: $0) }
      if let edge, text[edge] == UInt8(ascii: "/"),
        (edge..<start).allSatisfy({
          text[$0] != 0x0A && text[$0] != 0x0D || text[behindSpace($0 + 1)] == UInt8(ascii: "*")
            || text.has("\r\n", at: $0)
        })
      {
        return mark != UInt8(ascii: "@") && mark != UInt8(ascii: "-")
      }
      return text[start] == UInt8(ascii: "*") && count >= Self.wrapped && mark & 0x20 != 0
    }

    /// True for `/*` at the beginning of a line, before a space or another asterisk.
    private func opensComment(at place: Int) -> Bool {
      guard text.has("/*", at: place), text[place + 2] <= 0x20 || text[place + 2] == UInt8(ascii: "*") else {
        return false
      }
      var begin = place
      while place - begin < SentenceFinder.reach, Self.isSpace(text[begin - 1]) { begin -= 1 }
      return begin == 0 || text[begin - 1] == 0x0A || text[begin - 1] == 0x0D
    }

    private func behindSpace(_ place: Int) -> Int {
      var place = place
      while Self.isSpace(text[place]) { place += 1 }
      return place
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

    /// The place of the hour in the line of a time of day; -1 for one with seconds.
    var time: Int? {
      for position in start..<min(end, start + 48) {
        guard let hour = hour(before: position) else { continue }
        if text[position + 3] == UInt8(ascii: ":"), text.isDigit(position + 4) { return -1 }
        if position < start + 20 { return hour - start }
      }
      return nil
    }

    var endsWithTime: Bool { end - 3 > start && hour(before: end - 3) != nil }

    /// The place of an hour with one or two digits before a colon and the two digits of minutes.
    private func hour(before colon: Int) -> Int? {
      guard text[colon] == UInt8(ascii: ":"), text.isDigit(colon - 1), !text.isDigit(colon + 3),
        text.isDigit(colon + 1), text.isDigit(colon + 2)
      else { return nil }
      let hour = text.isDigit(colon - 2) ? colon - 2 : colon - 1
      return text.isDigit(hour - 1) || hour < start ? nil : hour
    }

    /// The places of words behind a tab or three spaces; in short lines behind two, unless a sentence ends there.
    private func gaps(inShort: Bool = false) -> [Int] {
      (start..<end).filter {
        !Self.isSpace(text[$0]) && $0 > start
          && (text[$0 - 1] == 0x09 || text.has("   ", at: $0 - 3)
            || inShort && text.has("  ", at: $0 - 2) && !".!?:".utf8.contains(text[$0 - 3]))
      }
    }

    /// True for a number, perhaps behind a sign and a currency.
    private func isAmount(at place: Int) -> Bool {
      var place = place
      for _ in 0..<3 {
        place += "+- ".utf8.contains(text[place]) ? 1 : text.currencySize(at: place)
        // A minus.
        if text[place] == 0xE2, text[place + 1] == 0x88, text[place + 2] == 0x92 { place += 3 }
      }
      return text.isDigit(place)
    }

    /// True if both lines have two gaps, or one each at a tab, before amounts, at the same column or in short lines.
    /// Justified text has single gaps anywhere.
    func hasColumns(with next: Line) -> Bool {
      let areShort = isShort && next.isShort
      let (gaps, others) = (gaps(inShort: areShort), next.gaps(inShort: areShort))
      func column(_ gap: Int, _ line: Line) -> Int {
        (line.begin..<gap).reduce(0) { $0 + (text[$1] & 0xC0 == 0x80 ? 0 : 1) }
      }
      return min(gaps.count, others.count) > (areShort ? 0 : 1)
        || gaps.contains { gap in
          others.contains {
            text[gap - 1] == 0x09 && text[$0 - 1] == 0x09 || isAmount(at: gap) && isAmount(at: $0)
              || column(gap, self) == column($0, next)
          }
        }
    }
  }
}
