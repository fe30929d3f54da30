import Testing

@testable import BertQACore

/// Blank lines in double-spaced texts divide sentences no more than line breaks do; others end them.
@Suite struct DoubleSpacingTests {
  private static let story =
    "The lighthouse on the northern shore was built by Ann Smith and Thomas Miller between 1880 and 1912, when the "
    + "last of its keepers left. Since then the lamp has been lit by a clock, which Mr. Jones of Whitby repairs every "
    + "second year in May. Nobody lives there now; in summer, though, boats bring visitors to the rocks below it."

  private static func wrapped(_ width: Int) -> [String] {
    var lines: [String] = []
    for word in story.split(separator: " ") {
      if let line = lines.last, line.count + word.count < width {
        lines[lines.count - 1] += " \(word)"
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }

  /// The sentences of a text, with one space where there is white space.
  private static func sentences(_ text: String) throws -> [String] {
    try Array(text.utf8).withUnsafeBufferPointer { bytes in
      let finder = SentenceFinder(text: bytes)
      var poll = TextPoll(nil)
      var found: [String] = []
      var start = finder.skipSpace(from: 0, limit: bytes.count)
      while start < bytes.count {
        let end = max(try finder.sentenceEnd(from: start, &poll), start + 1)
        let sentence = String(decoding: bytes[start..<end], as: UTF8.self)
        found.append(sentence.split(whereSeparator: \.isWhitespace).joined(separator: " "))
        start = finder.skipSpace(from: end, limit: bytes.count)
      }
      return found
    }
  }

  private static func hasBlankLine(_ text: String) -> Bool {
    Array(text.utf8).withUnsafeBufferPointer { SentenceFinder(text: $0).hasBlankLine(in: 0..<$0.count) }
  }

  /// Lines of different widths begin with names and numbers. Where one ends with an abbreviation, a sentence may end.
  @Test(arguments: ["\n\n", "\r\n\r\n", "\r\r\n", "\n  \n", "\n\n  ", "\u{85}\u{85}"])
  func linesAreWrapped(_ blank: String) throws {
    let expected = try Self.sentences(Self.story)
    #expect(expected.count == 3)
    for width in 50...110 where !Self.wrapped(width).contains(where: { $0.hasSuffix("Mr.") }) {
      let text = blank.filter { !$0.isNewline } + Self.wrapped(width).joined(separator: blank)
      #expect(try Self.sentences(text + "\n") == expected, "\(width)")
      #expect(
        try Self.sentences("A heading\n\n\n\n\(text)\n\n\nThe end") == ["A heading"] + expected + ["The end"])
    }
  }

  private static let line = "The lighthouse on the northern shore was built"

  @Test(arguments: [
    "by a town\n\nand its lake", "in 1880 by\n\nAnn Smith and her brother, who lived in the\n\nvillage",
    "by\n \nan oil lamp", "by\r\r\nan oil lamp",
  ])
  func theSentenceGoesOn(_ rest: String) {
    #expect(!Self.hasBlankLine("\(Self.line) \(rest)"))
  }

  @Test(arguments: [
    "\n\nAnn Smith lives there", "\n\n1912", "\n\n\nby Ann", "\n\n- by Ann", "\n\n1. by Ann", "\n\n| by Ann",
    "\n\n# by Ann", "\n\n  by Ann", "\n\nby: Ann", "\n\nby Ann\nSmith", ".\n\nby Ann", ":\n\nby Ann",
    ".”\n\nby Ann", "\u{2029}\nby Ann",
  ])
  func otherBlankLinesEndASentence(_ rest: String) {
    #expect(Self.hasBlankLine(Self.line + rest))
  }

  @Test func theyDoAfterOtherLines() {
    for line in ["A line before it\n\(Self.line)", "A short line", String(repeating: Self.line, count: 3)] {
      #expect(Self.hasBlankLine("\(line)\n\nby Ann"))
    }
  }

  @Test func headlinesAreApart() throws {
    let headlines = [
      "Prime minister visits the flooded region again", "Stock market falls for the third day in a row",
      "Lighthouse sold to an unknown buyer from Whitby",
    ]
    #expect(try Self.sentences(headlines.joined(separator: "\n\n")) == headlines)
  }

  /// Of any bytes, the sentences are the whole text.
  @Test(arguments: 0..<300) func anyBytes(seed: UInt64) throws {
    var random = TestRandom(seed)
    let likely = [
      "\n\n", "\n", "\r\r\n", "\r", " ", "a", "É", ".", "\u{2029}", String(repeating: "word ", count: 10),
    ]
    let text = (0..<40).map { _ in likely.randomElement(using: &random)! }.joined()
    let joined = try Self.sentences(text).joined(separator: " ")
    #expect(joined == text.split(whereSeparator: \.isWhitespace).joined(separator: " "))
  }
}
