import Foundation
import Testing

@testable import BertQACore

@Suite struct SectionRankingTests {
  static let tokenizer = FakeTokenizer(["a", "b", "c", "d", "?", "##x"])

  static func ids(_ text: String) -> [Int32] { text.split(separator: " ").map { tokenizer.id(String($0)) } }

  static func scores(_ question: String, _ sections: [String]) throws -> [Double] {
    var first = 0
    let windows = sections.enumerated().map { index, section in
      defer { first += ids(section).count }
      return TokenWindow(index: index, firstToken: first, tokenCount: ids(section).count)
    }
    return try SectionRanking(question: ids(question)[...], tokenizer: tokenizer)
      .scores(of: windows, ids: sections.flatMap(ids))
  }

  /// Okapi BM25 by hand: sections of 3, 2 and 4 tokens.
  @Test func scoresAreBM25() throws {
    let scores = try Self.scores("a b", ["a a c", "b c", "c c c a"])
    func term(_ frequency: Double, _ length: Double, _ sections: Double) -> Double {
      log(1 + (3 - sections + 0.5) / (sections + 0.5)) * frequency * 2.2
        / (frequency + 1.2 * (0.25 + 0.75 * length / 3))
    }
    let expected = [term(2, 3, 2), term(1, 2, 1), term(1, 4, 2)]
    for (score, expected) in zip(scores, expected) { #expect(abs(score - expected) < 1e-12) }
  }

  @Test func duplicatesPunctuationAndUnknownWordsDoNotCount() throws {
    let sections = ["a ? zzz", "b b ?", "c"]
    #expect(try Self.scores("a b a ? zzz", sections) == Self.scores("a b", sections))
    #expect(try Self.scores("? zzz", sections) == [0, 0, 0])
  }

  @Test func theBestAreTakenInDocumentOrderAndOfEqualsTheEarlier() throws {
    let document = Self.ids("c a a c c a b b")
    let windows = (0..<4).map { TokenWindow(index: $0, firstToken: 2 * $0, tokenCount: 2) }
    func best(_ count: Int, _ question: String) throws -> [Int] {
      try SectionRanking(question: Self.ids(question)[...], tokenizer: Self.tokenizer)
        .best(count, of: windows, ids: document).map(\.index)
    }
    #expect(try best(2, "a") == [0, 1])
    #expect(try best(1, "b") == [3])
    #expect(try best(2, "a b") == [0, 3])
    #expect(try best(2, "?") == [0, 1])
    #expect(try best(9, "a") == [0, 1, 2, 3])
  }
}
