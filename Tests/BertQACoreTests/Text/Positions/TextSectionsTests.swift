import Testing

@testable import BertQACore

@Suite struct TextSectionsTests {
  static let tokenizer = FakeTokenizer(["w", "##x", ".", "#", "="])

  private static func ranges(_ text: String, room: Int, overlap: Int = 0) throws -> (Tokens, [Range<Int>]) {
    try Array(text.utf8).withUnsafeBufferPointer { bytes in
      let tokens = try tokenizer.tokens(of: bytes, nil)
      let tokenized = TokenizedText(text: bytes, tokens: tokens, tokenizer: tokenizer)
      return (tokens, try TextSections(tokenized).ranges(of: tokenized, room: room, overlap: overlap))
    }
  }

  /// Returns the texts of the sections.
  private static func sections(_ text: String, room: Int = 10) throws -> [String] {
    let (tokens, ranges) = try ranges(text, room: room)
    return ranges.map {
      TextRange(start: Int(tokens.starts[$0.lowerBound]), end: Int(tokens.ends[$0.upperBound - 1])).text(
        in: text)
    }
  }

  /// Returns a sentence of `count` tokens.
  private static func sentence(_ count: Int) -> String {
    "Who" + String(repeating: " w", count: count - 2) + "."
  }

  @Test(arguments: ["\n\n", "\r\n\r\n", "\n \t\n", "\u{2029}\u{2029}"])
  func aSectionEndsBehindABlankLineInItsLastPart(_ blank: String) throws {
    let (a, b, c) = (Self.sentence(7), Self.sentence(2), Self.sentence(9))
    #expect(try Self.sections(a + blank + b + " " + c) == [a, b, c])
    // In the first part it does not count.
    let d = Self.sentence(5)
    #expect(try Self.sections(d + blank + b + " " + b + " " + c).first == d + blank + b + " " + b)
  }

  @Test(arguments: [" ", "\n", "\r\n"])
  func elseBehindASentence(_ space: String) throws {
    let (a, b, c) = (Self.sentence(7), Self.sentence(2), Self.sentence(9))
    #expect(try Self.sections(a + space + b + space + c) == [a + space + b, c])
    // In the first half if the next sentence fits in a section.
    let short = Self.sentence(3)
    #expect(try Self.sections(short + space + c + space + c) == [short, c, c])
  }

  @Test func sectionsShareTokensOfALongSentenceOnly() throws {
    let long = Self.sentence(25)
    #expect(try Self.ranges(long, room: 10, overlap: 3).1 == [0..<10, 7..<17, 14..<24, 21..<25])
    #expect(try Self.ranges(long, room: 10).1 == [0..<10, 10..<20, 20..<25])
    let (a, b) = (Self.sentence(8), Self.sentence(9))
    #expect(
      try Self.ranges("\(a) \(b) \(long)", room: 10, overlap: 3).1.prefix(3) == [0..<8, 8..<17, 17..<27])
  }

  @Test func aLongSentenceIsCutAtALineThenAtAWord() throws {
    let lines = [7, 7, 7, 7].map { String(repeating: "w ", count: $0) }.joined(separator: "\n")
    #expect(try Self.ranges(lines, room: 10).1 == [0..<7, 7..<14, 14..<21, 21..<28])
    // What is shared begins with a line, too.
    #expect(try Self.ranges(lines, room: 16, overlap: 10).1 == [0..<14, 7..<21, 14..<28])
    #expect(try Self.ranges(lines, room: 16, overlap: 3).1 == [0..<14, 11..<21, 18..<28])
    // A word of three tokens.
    let words = String(repeating: "wxx ", count: 9)
    #expect(try Self.ranges(words, room: 10).1 == [0..<9, 9..<18, 18..<27])
    // A word that is longer than half of a section.
    #expect(
      try Self.ranges("w" + String(repeating: "x", count: 24), room: 10).1 == [0..<10, 10..<20, 20..<25])
  }

  @Test(arguments: [
    "W w", "# W", "### W w", "== W ==", "W w\n===", "W w\n---", "1 W", "W\n\nW", "W w¶",
  ])
  func aHeadingStaysWithWhatFollows(_ heading: String) throws {
    let (a, b) = (Self.sentence(12), Self.sentence(9))
    for blank in ["\n\n", "\r\n\r\n"] {
      let below = heading + blank + b
      #expect(try Self.sections(a + blank + below, room: 18) == [a, below])
    }
  }

  @Test(arguments: ["Who w.", "Who w:", "- w", "* w", "| w", "• w", "○ w", "│ w"])
  func otherLinesDoNot(_ line: String) throws {
    let (a, b) = (Self.sentence(12), Self.sentence(14))
    #expect(try Self.sections(a + "\n\n" + line + "\n\n" + b, room: 18) == [a + "\n\n" + line, b])
  }

  /// A list with blank lines is not one heading.
  @Test func aLongListIsDivided() throws {
    let list = String(repeating: "W w w\n\n", count: 40)
    let sections = try Self.sections(list)
    #expect(sections.allSatisfy { $0.hasPrefix("W w w") && $0.hasSuffix("W w w") })
    // Three of its lines fit.
    #expect(sections.count == 14)
  }

  @Test func theLastTwoShareTheRest() throws {
    let sentences = (0..<14).map { _ in Self.sentence(1 + 1) }.joined(separator: " ")
    // 28 tokens: 20, then 4 and 4 rather than 8 that fit; with room 18, 14 and 14.
    #expect(try Self.ranges(sentences, room: 20).1 == [0..<14, 14..<28])
    #expect(try Self.ranges(sentences, room: 10).1 == [0..<10, 10..<20, 20..<28])
  }

  /// Each line and number looks back at the beginning of its sentence, but not at all of it.
  @Test func aLongBeginningIsNotReadAgain() throws {
    func many(_ text: String) -> String { String(repeating: text, count: 1 << 22) }
    let word = String(repeating: "a", count: 1100)
    for (beginning, rest) in [
      (many(">") + word, "\nb c d"),
      ("a:" + many("*") + word, "\nb: " + String(repeating: "c", count: 60)),
      (many("*"), " 2. Januar"),
    ] {
      let text = Array((beginning + String(repeating: rest, count: 50_000)).utf8)
      var poll = TextPoll(nil)
      let end = try text.withElements { text throws(BertQAError) in
        try SentenceFinder(text: text).sentenceEnd(from: 0, &poll)
      }
      #expect(end == text.count, "\(rest)")
    }
  }

  @Test(arguments: 0..<200) func sectionsCoverAllTokens(seed: UInt64) throws {
    var random = TestRandom(seed)
    let parts = [
      "w", "wx", "wxxx", "w.", "W", "unknown", "\n", "\n\n", "\r\n", "# ", "==", "ß", "½", "\u{FFFD}", ".",
    ]
    let text = (0..<Int.random(in: 1...300, using: &random)).map { _ in
      parts.randomElement(using: &random)! + (Bool.random(using: &random) ? " " : "")
    }.joined()
    let room = Int.random(in: 1...40, using: &random)
    let overlap = Int.random(in: 0...20, using: &random)
    let (tokens, ranges) = try Self.ranges(text, room: room, overlap: overlap)
    guard tokens.count > room else { return }
    #expect(ranges.first?.lowerBound == 0 && ranges.last?.upperBound == tokens.count)
    #expect(ranges.allSatisfy { (1...room).contains($0.count) })
    for (range, next) in zip(ranges, ranges.dropFirst()) {
      #expect(range.lowerBound < next.lowerBound && range.upperBound < next.upperBound)
      #expect((0...overlap).contains(range.upperBound - next.lowerBound))
    }
  }
}
