import Foundation
import Testing

@testable import BertQACore

@Suite struct SectionRankingTests {
  /// Documents of sections of words; a token is a word.
  static func scores(_ question: String, _ documents: [[String]]) throws -> [Double] {
    var sections: [DocumentSection] = []
    var texts: [TokenizedText] = []
    let tokenizer = FakeTokenizer([])
    for (index, parts) in documents.enumerated() {
      let bytes = Array(parts.joined(separator: " ").utf8)
      // The text outlives the test.
      let text = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
      _ = text.initialize(from: bytes)
      var tokens = Tokens()
      for word in bytes.indices.split(whereSeparator: { bytes[$0] == UInt8(ascii: " ") }) {
        tokens.ids.append(0)
        tokens.starts.append(UInt32(word.startIndex))
        tokens.ends.append(UInt32(word.endIndex))
      }
      texts.append(TokenizedText(text: UnsafeBufferPointer(text), tokens: tokens, tokenizer: tokenizer))
      var first = 0
      for (number, part) in parts.enumerated() {
        let count = part.split(separator: " ").count
        sections.append(
          DocumentSection(
            document: index, window: TokenWindow(index: number, firstToken: first, tokenCount: count)))
        first += count
      }
    }
    return try Array(question.utf8).withUnsafeBufferPointer {
      try SectionRanking(question: $0).scores(of: sections, texts: texts)
    }
  }

  static func scores(_ question: String, _ sections: [String]) throws -> [Double] {
    try scores(question, [sections])
  }

  /// Okapi BM25 by hand: sections of 3, 2 and 4 tokens.
  @Test func scoresAreBM25() throws {
    let scores = try Self.scores("a b", ["a a c", "b c", "c c c a"])
    func term(_ frequency: Double, _ length: Double, _ sections: Double) -> Double {
      log(1 + (3 - sections + 0.5) / (sections + 0.5)) * frequency * 2.2
        / (frequency + 1.2 * (0.25 + 0.75 * length / 3))
    }
    let expected = [term(2, 3, 2), term(1, 2, 1), term(1, 4, 2)]
    for (score, expected) in pairs(scores, expected) { #expect(abs(score - expected) < 1e-12) }
  }

  /// One token of a question may be a whole text.
  @Test func longQuestionsCanBeStopped() throws {
    var call = CallOptions()
    call.deadline = 1
    let question = [UInt8](repeating: UInt8(ascii: "a"), count: 1 << 20)
    let error = failure {
      try question.withUnsafeBufferPointer { _ = try SectionRanking(question: $0, CallMonitor(call)) }
    }
    #expect(error?.status == .deadlineExceeded)
  }

  @Test func duplicatesAndPunctuationDoNotCount() throws {
    let sections = ["a ? zzz", "b b ?", "c"]
    #expect(try Self.scores("a, b - a?", sections) == Self.scores("b a", sections))
    #expect(try Self.scores("?!", sections) == [0, 0, 0])
    #expect(try Self.scores("other words", sections) == [0, 0, 0])
  }

  /// A question's word and one of a text that is the same term, or another one.
  @Test(arguments: [
    ("inventor", "invented", true), ("Invent", "INVENTION", true), ("invest", "invent", false),
    ("go", "goes", false), ("1987", "1985", false), ("1234567", "1234568", false),
    ("covid19", "COVID-19", false), ("José", "jose", true), ("Jose\u{301}", "josé", true),
    ("L'Eau", "eau", true), ("Mary\u{2019}s", "mary", true), ("Москва", "москвы", false),
    ("москвичка", "москвич", true), ("한국어는", "한국", true), ("韓", "韓國", true), ("國", "韓國", true),
    ("カタカナ語", "カタカナ", true), ("Ahab", "_Ahab_", true), ("file name", "file_name", true),
    ("football", "foot\u{AD}ball", true), ("été", "l\u{2019}été\u{202F}!", true),
  ])
  func termsAreTheFirstLettersOfWords(_ case: (String, String, Bool)) throws {
    let (question, text, isFound) = `case`
    let score = try Self.scores(question, [text, "x"])[0]
    #expect((score > 0) == isFound, "\(question), \(text)")
  }

  /// Statistics are those of all documents.
  @Test func documentsAreOneCollection() throws {
    let texts = ["a a c", "b c", "c c c a"]
    #expect(try Self.scores("a b", texts.map { [$0] }) == Self.scores("a b", texts))
  }

  @Test func theBestComeFirstAndOfEqualsTheEarlier() throws {
    let ranked = try RankedSections(scores: [1, 2, 0, 2], nil)
    #expect(ranked.order == [1, 3, 0, 2])
    #expect((0..<4).map(ranked.rank) == [0.5, 1, 0, 1])
    let unknown = try RankedSections(scores: [0, 0], nil)
    #expect(unknown.order == [0, 1] && unknown.rank(of: 1) == 1 && unknown.best == 0)
  }
}
