import Foundation
import Testing

@testable import BertQACore

@Suite struct SectionRankingTests {
  static let tokenizer = FakeTokenizer(["a", "b", "c", "d", "?", "##x"])

  static func ids(_ text: String) -> [Int32] { text.split(separator: " ").map { tokenizer.id(String($0)) } }

  static func sections(_ texts: [String], document: Int = 0) -> [DocumentSection] {
    var first = 0
    return texts.enumerated().map { index, section in
      defer { first += ids(section).count }
      return DocumentSection(
        document: document,
        window: TokenWindow(index: index, firstToken: first, tokenCount: ids(section).count))
    }
  }

  static func scores(_ question: String, _ sections: [String]) throws -> [Double] {
    try SectionRanking(question: ids(question)[...], tokenizer: tokenizer)
      .scores(of: Self.sections(sections), ids: [sections.flatMap(ids)])
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

  /// Statistics are those of all documents.
  @Test func documentsAreOneCollection() throws {
    let texts = ["a a c", "b c", "c c c a"]
    let several = texts.enumerated().flatMap { Self.sections([$1], document: $0) }
    let scores = try SectionRanking(question: Self.ids("a b")[...], tokenizer: Self.tokenizer)
      .scores(of: several, ids: texts.map(Self.ids))
    let together = try Self.scores("a b", texts)
    #expect(scores == together)
  }

  @Test func theBestComeFirstAndOfEqualsTheEarlier() throws {
    let ranked = try RankedSections(scores: [1, 2, 0, 2], nil)
    #expect(ranked.order == [1, 3, 0, 2])
    #expect((0..<4).map(ranked.rank) == [0.5, 1, 0, 1])
    let unknown = try RankedSections(scores: [0, 0], nil)
    #expect(unknown.order == [0, 1] && unknown.rank(of: 1) == 1 && unknown.best == 0)
  }
}
