import Foundation
import Testing

@testable import BertQACore

@Suite struct SentenceTests {
  /// The sentence around the first occurrence of `answer`.
  static func sentence(_ answer: String, in text: String) throws -> String {
    let bytes = Array(text.utf8)
    let needle = Array(answer.utf8)
    let start = bytes.indices.first { bytes[$0...].starts(with: needle) } ?? 0
    return try bytes.withUnsafeBufferPointer {
      try SentenceFinder(text: $0).sentence(around: TextRange(start: start, end: start + needle.count))
    }.text(in: bytes)
  }

  @Test(arguments: [
    // answer, before, sentence, behind
    ("fox", "", "The fox.", ""),
    ("fox", "One. ", "The fox runs.", " Two."),
    ("fox", "One! ", "\"The fox runs?\"", " Two"),
    ("fox", "One…\n", "The fox runs", "\n \t\n Two"),
    ("fox", "Heading\n\n", "The fox\nruns (far away.)", " Two"),
    ("fox", "一。", "The fox 是！", "二"),
    ("fox", "“Eins.” ", "Der fox.", " Über"),
    ("fox", "One. ", "Mr. Smith, J. R. Fox, i.e. the U.S. Envoy, saw Dr. No. 5 and the fox at 3.14 p.m.", ""),
    ("fox", "It is 3. ", "The fox ate No. 5.", " Two"),
    ("fox", "One. ", "Yahoo! is a fox. and so on.", " Two."),
    ("fox", "It was no. ", "The fox.", " Two"),
    ("fox", "See example.com. ", "The fox.", " Two"),
    ("runs. The fox", "One. ", "He runs. The fox sleeps.", " Two."),
    ("fox.", "One. ", "The fox.", " Two."),
    ("fox", "Wait... ", "The fox?!", "\u{A0}Two."),
    ("fox", "One. ", "The fox ate \"Mr. Smith.\"", " Two."),
    ("fox", "One.\r\n\r\n", "The fox", "\r\n\r\nTwo."),
    ("fox", "", "fox", ""),
    ("fox", "\u{FEFF}", "The fox.", " Two."),
    ("fox", "\u{FEFF} ", "1. The fox.", " Two."),
    ("fox", "\u{FEFF}# The den\n", "The fox.", " Two."),
  ])
  func rules(_ answer: String, _ before: String, _ sentence: String, _ behind: String) throws {
    #expect(try Self.sentence(answer, in: before + sentence + behind) == sentence)
  }

  /// 443 sentences of Fixtures/sentences.txt, asked for at their first and last characters.
  @Test(arguments: ["\n", "\r\n", "\r", "\u{85}", "\u{2028}"])
  func sentencesOfManyLanguagesAndKinds(lineBreak: String) throws {
    let file = TokenizerFixture.folder.deletingLastPathComponent().appendingPathComponent("sentences.txt")
    var wrong: [String] = []
    var count = 0
    for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    where !line.hasPrefix("#") {
      let parts = line.replacingOccurrences(of: "␤", with: lineBreak).components(separatedBy: "‖")
      let text = Array(parts.joined().utf8)
      var position = 0
      for part in parts {
        let sentence = part.trimmingCharacters(in: .whitespacesAndNewlines)
        let start = position + part.utf8.count - part.drop { $0.isWhitespace }.utf8.count
        position += part.utf8.count
        guard let first = sentence.first, let last = sentence.last else { continue }
        count += 1
        let end = start + sentence.utf8.count
        for range in [
          TextRange(start: start, end: start + String(first).utf8.count),
          TextRange(start: end - String(last).utf8.count, end: end),
        ] {
          let found = try text.withUnsafeBufferPointer {
            try SentenceFinder(text: $0).sentence(around: range)
          }
          if found.start != start || found.end != end {
            wrong.append("\(sentence) → \(found.text(in: text))")
          }
        }
      }
    }
    #expect(count == 443)
    #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
  }

  /// Whether the line break at ↵ ends a sentence.
  @Test(arguments: [
    // Wrapped text, with white space at the ends of its lines, and justified.
    ("by Isambard      ↵Brunel in the year 1859, as the people said.    \n", false),
    ("by Isambard\t↵Brunel in the year 1859.\t\n", false),
    ("The bridge was   built by Isambard↵Brunel in the year 1859,   as they said.", false),
    ("The bridge   was built by Isambard↵Brunel   in the year 1859.", false),
    // Columns.
    ("Year\tSum↵2019\t500", true),
    ("Apples      5↵Pears      12", true),
    ("Name        City↵Ann Smith   Rome\n", true),
    ("Zoë        Rome↵Ann        Oslo", true),
    ("a   longer   b↵long   c   d", true),
    ("Notes:   ↵1. Ann came", true),
    ("Subtotal       $50.00↵Shipping        $5.00", true),
    ("Shipping        €5.00↵Total          €55.00", true),
    ("Shipping and the packing of it      EUR 5↵Total       EUR 55", true),
    ("Paris       +5↵London     -12", true),
    ("Temperature in Paris at noon       +5↵London     \u{2212}12", true),
    ("Manager   Ann Lee↵Director    Bob Ray", true),
    ("Director    Bob Ray↵Clerk  Carl Sun", true),
    ("I came.  He left↵the den.  She went", false),
    ("It was built for   $50 by Isambard↵Brunel in   the year 1859.", false),
    // Scores, ratios and times of day in wrapped text, and schedules.
    ("Bayern gewann 3:2 durch ein Tor von Thomas↵Müller zum 3:2 in der Nacht", false),
    ("At 10:30 the train left for Thomas↵Müller, who at 12:15 came", false),
    ("10:30 Opening↵11:00 Coffee", true),
    ("9:30 Opening↵12:00 Lunch", true),
    ("Rome 9:05↵Oslo 10:07", true),
    ("Oslo 10:07↵Stockholm 12:08", true),
    ("[9:05] Ann came↵[10:07] Bob left", true),
    ("3:2 for Thomas↵3:2 for Ann", false),
    ("Everyone came to the opening at 10:30↵and the guests left at 12:15", false),
    ("Mon 10:30 Opening↵Tue 11:00 Coffee", true),
    ("[09/May/2026:07:29:29 +0000] a↵host [09/May/2026:07:29:30 +0000] b", true),
    // Comments in C, and lists.
    ("/* The bridge was built↵ * by Isambard", false),
    ("/**\n * The bridge was built↵ * by Isambard", false),
    ("  /**\n   * By Isambard↵   * Brunel", false),
    ("/**\n * The bridge.↵ * @param x", true),
    ("/** One. */\n* milk↵* bread", true),
    ("* see /etc/*↵* bread", true),
    ("/* The bridge of src/*.c\n * was built↵ * by Isambard", false),
    ("/*\r\n * The bridge was built↵ * by Isambard", false),
    ("/* One. */↵* bread", true),
    ("Block /* in robots.\n* Signed by: Ann↵* Witness: Bob", true),
    ("/* is a pattern.\n\n* Signed by: Ann↵* Witness: Bob", true),
    ("/* is a pattern.\nIt blocks.\n* Signed by: Ann↵* Witness: Bob", true),
    ("/*.html\n* Signed by: Ann↵* Witness: Bob", true),
    ("* milk↵* bread", true),
  ])
  func lineBreaks(_ marked: String, _ isBoundary: Bool) {
    let start = marked.utf8.distance(
      from: marked.startIndex, to: marked.firstIndex(of: "↵") ?? marked.endIndex)
    let text = Array(marked.replacingOccurrences(of: "↵", with: "\n").utf8)
    let found = text.withUnsafeBufferPointer {
      SentenceFinder(text: $0).hasBoundary(in: start..<start + 1)
    }
    #expect(found == isBoundary, "\(marked)")
  }

  /// UAX #29: of every character with Sentence_Terminal, ASCII's and full stops of other widths apart.
  @Test func everySentenceTerminalEndsASentence() throws {
    var count = 0
    for value in UInt32(0x80)...0x10FFFF {
      guard let scalar = Unicode.Scalar(value), scalar.properties.isSentenceTerminal else { continue }
      #expect(try Self.sentence("fox", in: "One. A fox\(scalar) Two") == "A fox\(scalar)")
      count += 1
    }
    #expect(count > 100)
  }

  @Test func quotedAbbreviations() throws {
    #expect(try Self.sentence("fox", in: "One. “Mr. Fox” is a fox. Two.") == "“Mr. Fox” is a fox.")
  }

  @Test func aSentenceIsCutAtWhiteSpaceInReach() throws {
    let long = String(repeating: "word ", count: 1000)
    let sentence = try Self.sentence("fox", in: long + "fox " + long)
    #expect(sentence.hasPrefix("word ") && sentence.hasSuffix(" word"))
    #expect((1900...2003).contains(sentence.utf8.count))
  }

  @Test func aSentenceIsNeverCutInsideACodePoint() throws {
    for shift in 0..<4 {
      let long = String(repeating: "語", count: 1000)
      let pad = String(repeating: "x", count: shift)
      let sentence = try Self.sentence("fox", in: long + pad + "fox" + pad + long)
      #expect(!sentence.unicodeScalars.contains("\u{FFFD}"))
      #expect((1990...2003).contains(sentence.utf8.count))
    }
  }

  /// Any bytes: the sentence contains the range and has no white space around it.
  @Test func anyBytesGiveARangeAroundTheAnswer() throws {
    var random = TestRandom(5)
    let likely = Array(".!? \n\"aA".utf8) + [0xE3, 0x80, 0x82, 0xE2, 0xA6, 0xC2, 0xA0, 0xFF]
    for _ in 0..<2000 {
      let count = Int.random(in: 1...60, using: &random)
      let bytes = (0..<count).map { _ in likely.randomElement(using: &random)! }
      let start = Int.random(in: 0..<bytes.count, using: &random)
      let range = TextRange(start: start, end: Int.random(in: start...bytes.count, using: &random))
      let sentence = try bytes.withUnsafeBufferPointer {
        try SentenceFinder(text: $0).sentence(around: range)
      }
      #expect(sentence.start >= 0 && sentence.start <= range.start)
      #expect(sentence.end >= range.end && sentence.end <= bytes.count)
      if sentence.start < range.start { #expect(!isWhiteSpace(bytes[sentence.start])) }
      if sentence.end > range.end { #expect(!isWhiteSpace(bytes[sentence.end - 1])) }
    }
  }
}
