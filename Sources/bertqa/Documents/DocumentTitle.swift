import BertQACore

/// The title that a text in Markdown or reStructuredText begins with.
struct DocumentTitle {
  private(set) var bytes: [UInt8]?

  private typealias Line = ArraySlice<UInt8>

  /// Texts with other endings, such as configurations, begin with comments that look like headings.
  private static let endings = MarkdownDocument.endings + [".rst", ".txt"]
  /// What follows is not read.
  private static let reach = 8192
  /// A longer title is cut before a character.
  private static let longest = 198

  /// - Parameter name: the file's, in lower case and without the ending of a compressed file.
  init(_ text: UnsafeBufferPointer<UInt8>, named name: String) {
    guard
      !FilePath.split(name).name.dropFirst().contains("." as Character)
        || Self.endings.contains(where: name.hasSuffix)
    else { return }
    var lines = Self.lines(text)
    let title = Self.frontMatter(&lines) ?? Self.heading(&lines)
    bytes = title.flatMap { Self.shown($0) }
  }

  // MARK: - Front matter

  /// Returns the number of bytes of Markdown's front matter and what stands before it; 0 for none.
  static func frontMatterSize(_ text: UnsafeBufferPointer<UInt8>) -> Int {
    let lines = lines(text)
    return frontMatterEnd(lines).map { lines[$0].endIndex } ?? 0
  }

  /// Returns the index of the line that ends front matter, which is YAML between `---` or TOML between `+++`. A YAML
  /// document may also end with `...`.
  private static func frontMatterEnd(_ lines: ArraySlice<Line>) -> Int? {
    guard let mark = lines.first.map(trimmed),
      ["---", "+++"].contains(where: { mark.elementsEqual($0.utf8) })
    else { return nil }
    let content = lines.dropFirst()
    let ends = [mark, mark.first == UInt8(ascii: "-") ? Array("...".utf8)[...] : mark]
    guard let end = content.firstIndex(where: { ends.contains(trimmed($0)) }) else { return nil }
    // Between two rules of Markdown is text, after a blank line or without keys.
    let isRule = mark.first == UInt8(ascii: "-") && end > content.startIndex && !beginsWithKey(content)
    return isRule ? nil : end
  }

  /// True for lines of YAML that begin with `key:`, perhaps after comments.
  private static func beginsWithKey(_ lines: ArraySlice<Line>) -> Bool {
    guard let line = lines.first(where: { $0.first != UInt8(ascii: "#") }), let first = line.first,
      first > 0x40 || "\"'".utf8.contains(first) || 0x30...0x39 ~= first
    else { return false }
    let nexts = line.dropFirst() + " ".utf8
    return zip(line, nexts).contains { $0 == UInt8(ascii: ":") && $1 <= UInt8(ascii: " ") }
  }

  /// Returns the title of Markdown's front matter, and skips it.
  private static func frontMatter(_ lines: inout ArraySlice<Line>) -> Line? {
    guard let end = frontMatterEnd(lines) else { return nil }
    let isYAML = trimmed(lines[lines.startIndex]).first == UInt8(ascii: "-")
    let parts = lines[..<end].drop { !isTitle($0, before: UInt8(ascii: isYAML ? ":" : "=")) }
    lines = lines[(end + 1)...]
    guard let first = parts.first?.drop(while: { !":=".utf8.contains($0) }).dropFirst() else { return nil }
    var value = trimmed(first)
    if isYAML {
      // A value may continue in indented lines, and have a mark such as `>-` in its first one.
      if let mark = value.first, ">|".utf8.contains(mark),
        value.dropFirst().allSatisfy({ $0 < UInt8(ascii: ":") })
      {
        value = []
      }
      for line in parts.dropFirst().prefix(while: { $0.first.map { $0 <= UInt8(ascii: " ") } ?? true }) {
        value.append(UInt8(ascii: " "))
        value += trimmed(line)
      }
      value = trimmed(value)
    }
    if value.count > 1, let quote = value.first, quote == value.last, "\"'".utf8.contains(quote) {
      value = value.dropFirst().dropLast()
    }
    return value.isEmpty ? nil : value
  }

  /// True for the line of the title in front matter, in TOML perhaps with spaces before its sign.
  private static func isTitle(_ line: Line, before sign: UInt8) -> Bool {
    line.starts(with: "title".utf8) && trimmed(line.dropFirst(5)).first == sign
  }

  // MARK: - Headings

  /// Returns the text of the heading that comes first, or after comments and pictures.
  private static func heading(_ lines: inout ArraySlice<Line>) -> Line? {
    repeat { skipBlank(&lines) } while skipInvisible(&lines)
    guard let first = lines.popFirst() else { return nil }
    let second = lines.first ?? []
    if first.starts(with: "# ".utf8) {
      // Lines of a comment.
      if second.starts(with: "# ".utf8) || trimmed(second).elementsEqual("#".utf8) { return nil }
      let text = trimmed(first.dropFirst(2))
      let marks = text.reversed().prefix { $0 == UInt8(ascii: "#") }.count
      let rest = text.dropLast(marks)
      return trimmed(marks == 0 || rest.last == UInt8(ascii: " ") || rest.isEmpty ? rest : text)
    }
    if let mark = underline(first) {
      // reStructuredText also has lines above titles.
      guard lines.count > 1, underline(lines[lines.startIndex + 1]) == mark else { return nil }
      return trimmed(second)
    }
    return underline(second) == nil ? nil : trimmed(first)
  }

  /// Skips a comment or a line with a picture. Returns false if there is none.
  private static func skipInvisible(_ lines: inout ArraySlice<Line>) -> Bool {
    guard let first = lines.first else { return false }
    if first.starts(with: "<!--".utf8) {
      let end = lines.firstIndex { line in
        zip(line, line.dropFirst(2)).contains { $0 == UInt8(ascii: "-") && $1 == UInt8(ascii: ">") }
      }
      lines = end.map { lines[($0 + 1)...] } ?? []
      return true
    }
    if first.starts(with: ".. ".utf8) {
      lines = lines.dropFirst().drop { $0.first == UInt8(ascii: " ") || $0.first == UInt8(ascii: "\t") }
      return true
    }
    guard first.starts(with: "[![".utf8) || first.starts(with: "![".utf8) else { return false }
    lines.removeFirst()
    return true
  }

  /// Returns the mark of a line such as `====`; nil for any other line.
  private static func underline(_ line: Line) -> UInt8? {
    let line = trimmed(line)
    guard line.count > 2, let mark = line.first, "=-~*^+#`".utf8.contains(mark) else { return nil }
    return line.allSatisfy { $0 == mark } ? mark : nil
  }

  // MARK: - Lines

  /// Returns the first lines from the first one with text. Their indices are those of the text.
  private static func lines(_ text: UnsafeBufferPointer<UInt8>) -> ArraySlice<Line> {
    let beginning = Array(text.prefix(reach))
    let end: UInt8 = beginning.contains(0x0A) ? 0x0A : 0x0D
    var lines = beginning[beginning.byteOrderMarkSize...].split(
      separator: end, omittingEmptySubsequences: false)[...]
    skipBlank(&lines)
    return lines
  }

  private static func skipBlank(_ lines: inout ArraySlice<Line>) {
    lines = lines.drop { trimmed($0).isEmpty }
  }

  private static func trimmed(_ line: Line) -> Line {
    var line = line.drop { $0 <= UInt8(ascii: " ") }
    while let last = line.last, last <= UInt8(ascii: " ") { line.removeLast() }
    return line
  }

  private static func shown(_ line: Line) -> [UInt8]? {
    var end = line.prefix(longest)
    if let next = line.dropFirst(longest).first, next & 0xC0 == 0x80 {
      while let last = end.popLast(), last & 0xC0 == 0x80 {}
    }
    var title: [UInt8] = []
    PlainText.append(end, to: &title)
    return title
  }
}
