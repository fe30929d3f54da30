import Foundation
import Testing

@testable import BertQACore

/// Ranges of tokens become ranges that readers see as whole, whatever the tokenizer's ranges are.
@Suite struct TextEdgesTests {
  private static let folder = TokenizerFixture.folder.deletingLastPathComponent()

  /// Each kind of range: with the space before the word, without it, without a letter, without marks.
  static let kinds = [
    "uncased", "cased", "byte-level", "untrimmed", "pre-split", "characters", "unigram",
  ]

  static func tokenizer(_ kind: String) throws -> any Tokenizer {
    func pipeline(_ name: String) throws -> String {
      try String(
        contentsOf: folder.appendingPathComponent("pipeline-\(name)/tokenizer.json"), encoding: .utf8)
    }
    func made(_ json: String) throws -> any Tokenizer {
      try TokenizerFiles(ModelDirectory(files: ["tokenizer.json": Array(json.utf8)])).makeTokenizer()
    }
    switch kind {
    case "uncased": return try TokenizerFixture.tokenizer()
    case "cased":
      var configuration = TokenizerConfiguration()
      configuration.lowercase = false
      return try TokenizerFixture.tokenizer(configuration)
    case "untrimmed":
      return try made(
        pipeline("byte-level").replacingOccurrences(
          of: "\"trim_offsets\":true", with: "\"trim_offsets\":false"))
    case "pre-split":
      // RobBERT's order: each word gets a space that its range does not have, and that is trimmed all the same.
      let step = #"{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,"use_regex":true}"#
      let json = try pipeline("byte-level")
      try #require(json.contains("\"pre_tokenizer\":" + step))
      return try made(
        json.replacingOccurrences(
          of: "\"pre_tokenizer\":" + step,
          with:
            "\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Whitespace\"},\(step)]}")
      )
    default: return try made(pipeline(kind))
    }
  }

  /// Words of many scripts, composed and decomposed, and characters of several code points.
  static let parts = [
    "Amsterdam", "in", "A", "José", "Jose\u{301}", "Ångström", "A\u{30A}ngstro\u{308}m", "Việt",
    "Vie\u{302}\u{323}t",
    "naïve", "1984", "3.5", "€5", "don't", "U.S.", "Nîmes", "Москва", "Йод", "И\u{306}од", "Αθήνα",
    "Αθη\u{301}να",
    "दिल्ली", "ढाका", "தமிழ்", "한국", "\u{1112}\u{1161}\u{11AB}국", "東京", "が\u{3099}", "東京タワー", "กรุงเทพ", "القاهِرة",
    "ירוּשלים", "👩‍👩‍👧", "👍🏽", "🇳🇱🇧🇪", "❤️", "❤\u{FE0F}\u{200D}🔥", "1️⃣", "☃︎", "x\u{20DD}", "می‌خواهم", "co\u{AD}op",
    "ﬁne",
    "½", "²", "(", ")", ",", ".", "—", "-", "/",
  ]
  static let spaces = [" ", " ", " ", "", "", "\n", "\u{A0}", "\u{3000}", "\u{2009}", "  "]

  static func texts(_ random: inout TestRandom, count: Int) -> [String] {
    (0..<count).map { _ in
      (0..<Int.random(in: 1...9, using: &random)).map { _ in
        parts.randomElement(using: &random)! + spaces.randomElement(using: &random)!
      }.joined()
    }
  }

  /// Also where the reach ends inside a code point.
  @Test(arguments: ["\u{20D0}", "\u{301}\u{20D0}", "\u{1D167}\u{20D0}"])
  func longClustersAreCutAtCodePoints(marks: String) {
    let text = Array(("a" + String(repeating: marks, count: 3000)).utf8)
    text.withUnsafeBufferPointer { text in
      for number in stride(from: 1, to: 2999, by: 7) {
        var edges = TextEdges(text: text)
        let place = 1 + number * marks.utf8.count
        let (start, end) = (edges.clusterStart(place), edges.clusterEnd(place))
        #expect(start < place && place < end)
        #expect(text[start] & 0xC0 != 0x80 && (end == text.count || text[end] & 0xC0 != 0x80), "\(place)")
      }
    }
  }

  /// Bytes at which characters begin, and the text's end.
  private static func boundaries(_ text: String) -> Set<Int> {
    Set(text.indices.map { text.utf8.distance(from: text.startIndex, to: $0) } + [text.utf8.count])
  }

  /// Letters and digits of scripts that put spaces between words.
  private static func isSpacedLetter(_ character: Character) -> Bool {
    guard let scalar = character.unicodeScalars.first, character.isLetter || character.isNumber else {
      return false
    }
    switch scalar.value {
    case 0xE00..<0x1000, 0x2E80..<0xAC00, 0x20000...: return false
    default:
      return character.unicodeScalars.first!.properties.numericType == nil || ("0"..."9").contains(character)
    }
  }

  static func check(_ range: TextRange, in text: String, words: Bool) -> String? {
    if range.count == 0 { return nil }
    let part = range.text(in: text)
    let ends = boundaries(text)
    if !ends.contains(range.start) || !ends.contains(range.end) { return "cuts a character" }
    if part.first!.isWhitespace || part.last!.isWhitespace { return "has white space around it" }
    guard words else { return nil }
    let indices = range.range(in: text)
    if indices.lowerBound > text.startIndex, isSpacedLetter(text[text.index(before: indices.lowerBound)]),
      isSpacedLetter(part.first!)
    {
      return "begins inside a word"
    }
    if indices.upperBound < text.endIndex, isSpacedLetter(text[indices.upperBound]),
      isSpacedLetter(part.last!)
    {
      return "ends inside a word"
    }
    return nil
  }

  @Test(arguments: kinds) func rangesOfTokensAreWhole(kind: String) throws {
    let tokenizer = try Self.tokenizer(kind)
    var random = TestRandom(33)
    var wholeWords = 0
    for text in Self.texts(&random, count: 300) {
      let bytes = Array(text.utf8)
      try bytes.withUnsafeBufferPointer { bytes in
        let document = try PreparedDocument(
          borrowing: bytes, tokenizer: tokenizer, CallMonitor(CallOptions()))
        for first in 0..<document.tokenCount {
          for last in first..<min(first + 4, document.tokenCount) {
            let range = document.bytes(ofTokens: first, through: last)
            let fault = Self.check(range, in: text, words: false)
            #expect(
              fault == nil,
              "\(text.debugDescription): \(range.text(in: text).debugDescription) \(fault ?? "")")
            let whole = document.bytes(
              ofTokens: document.firstTokenOfWord(first), through: document.lastTokenOfWord(last))
            let other = Self.check(whole, in: text, words: true)
            #expect(
              other == nil,
              "\(text.debugDescription): \(whole.text(in: text).debugDescription) \(other ?? "")")
            #expect(whole.start <= range.start && whole.end >= range.end)
            wholeWords += 1
          }
        }
      }
    }
    #expect(wholeWords > 1000)
  }

  /// All that tokens have together is all of the text that is no white space, for tokenizers that drop nothing.
  @Test(arguments: ["byte-level", "untrimmed", "pre-split"]) func noLetterIsLost(kind: String) throws {
    let tokenizer = try Self.tokenizer(kind)
    var random = TestRandom(34)
    for text in Self.texts(&random, count: 300) {
      try Array(text.utf8).withUnsafeBufferPointer { bytes in
        let tokens = try tokenizer.tokens(of: bytes, nil)
        let edges = TextEdges(text: bytes)
        let letters = Set(
          (0..<tokens.count).flatMap {
            let range = edges.range(of: $0, of: tokens)
            return Array(range.start..<range.end)
          })
        var at = 0
        for scalar in text.unicodeScalars {
          if scalar.properties.generalCategory == .uppercaseLetter
            || scalar.properties.generalCategory == .otherLetter
          {
            #expect(letters.contains(at), "\(text.debugDescription) at \(at)")
          }
          at += String(scalar).utf8.count
        }
      }
    }
  }

  @Test func redactionLeavesNothingOfACharacterOrWord() throws {
    for kind in Self.kinds {
      let tokenizer = try Self.tokenizer(kind)
      var random = TestRandom(35)
      var count = 0
      for text in Self.texts(&random, count: 100) {
        try Array(text.utf8).withUnsafeBufferPointer { bytes in
          let document = try PreparedDocument(
            borrowing: bytes, tokenizer: tokenizer, CallMonitor(CallOptions()))
          guard document.tokenCount > 0 else { return }
          let token = Int.random(in: 0..<document.tokenCount, using: &random)
          let range = document.bytes(
            ofTokens: document.firstTokenOfWord(token), through: document.lastTokenOfWord(token))
          if range.count == 0 { return }
          let entity = Entity(label: "X", bytes: range, codePoints: range, utf16: range, score: 1)
          let redacted = try EntityList.redact(text, [entity], .text(Array("\u{E000}".utf8)))
          let parts = redacted.split(separator: "\u{E000}", omittingEmptySubsequences: false)
          // As characters, so that a mark behind the replacement would hide it.
          #expect(parts.count == 2, "\(text.debugDescription) \(redacted.debugDescription)")
          #expect(text.hasPrefix(parts[0]) && text.hasSuffix(parts.last ?? ""))
          count += 1
        }
      }
      #expect(count > 70)
    }
  }

  /// Ranges that cut characters, as callers may give them.
  @Test(arguments: [
    ("Jose\u{301} said", 0, 4, "[X] said"), ("Jose\u{301} said", 4, 6, "Jos[X] said"),
    ("a❤\u{FE0F}b", 1, 4, "a[X]b"),
    ("👩‍👩‍👧 x", 4, 5, "[X] x"), ("x 🇳🇱🇧🇪", 2, 6, "x [X]🇧🇪"), ("x é", 3, 4, "x [X]"), ("a b", 1, 1, "a[X] b"),
  ])
  func redactionTakesWholeCharacters(_ text: String, _ start: Int, _ end: Int, _ expected: String) throws {
    let range = TextRange(start: start, end: end)
    let entity = Entity(label: "X", bytes: range, codePoints: range, utf16: range, score: 1)
    #expect(try EntityList.redact(text, [entity]) == expected)
  }

  @Test func patternsHaveWholeCharacters() throws {
    for (text, expected) in [
      ("call +49 30 901820\u{20E3} now", "+49 30 901820\u{20E3}"),
      ("jose\u{301}@example.org", "jose\u{301}@example.org"),
      ("10.0.0.1\u{301},", "10.0.0.1\u{301}"), ("https://a.org/b\u{FE0F} c", "https://a.org/b\u{FE0F}"),
    ] {
      let found = try EntityList(piiIn: text).entities
      #expect(found.map { $0.bytes.text(in: text) } == [expected])
    }
  }

  /// Every character once as the edge of the one before: as Swift's own rules say, but for white space.
  @Test func clustersAreThoseOfUnicode() throws {
    var random = TestRandom(36)
    let scalars: [Unicode.Scalar] = [
      "a", "e", "\u{301}", "\u{200D}", "\u{FE0F}", "❤", "👩", "🏽", "🇳", "🇱", "क", "\u{94D}", "\u{93F}",
      "\u{1100}",
      "\u{1161}", "\u{11A8}", "가", "각", "\u{600}", "\u{0}", "漢", "\u{E0067}", "1", "\u{20E3}",
    ]
    for _ in 0..<2000 {
      var text = ""
      for _ in 0..<Int.random(in: 1...12, using: &random) {
        text.unicodeScalars.append(scalars.randomElement(using: &random)!)
      }
      let expected = Self.boundaries(text)
      Array(text.utf8).withUnsafeBufferPointer { bytes in
        var edges = TextEdges(text: bytes)
        for position in 0...bytes.count {
          let isBoundary = expected.contains(position)
          #expect(
            (edges.clusterStart(position) == position) == isBoundary, "\(text.debugDescription) \(position)")
          #expect((edges.clusterEnd(position) == position) == isBoundary)
          var fresh = TextEdges(text: bytes)
          #expect(fresh.clusterStart(position) == edges.clusterStart(position))
          #expect(fresh.clusterEnd(position) == edges.clusterEnd(position))
        }
      }
    }
  }

  /// Far more marks, flags or joiners than an edge looks at, with an entity at each: neither time nor ranges grow without
  /// bound.
  @Test func hostileTextsTakeBoundedWork() throws {
    for part in ["\u{301}", "🇳", "\u{200D}", "a\u{301}", "क\u{94D}", "👩\u{200D}"] {
      let text = Array(String(repeating: part, count: 8 * TextEdges.reach / part.utf8.count).utf8)
      text.withUnsafeBufferPointer { bytes in
        var edges = TextEdges(text: bytes)
        var last = 0
        for position in stride(from: 0, to: bytes.count, by: part.utf8.count) {
          let range = edges.visible(TextRange(start: position, end: position + part.utf8.count))
          #expect(range.start >= last - 2 * TextEdges.reach && range.count < 4 * TextEdges.reach)
          last = range.start
        }
      }
    }
  }
}
