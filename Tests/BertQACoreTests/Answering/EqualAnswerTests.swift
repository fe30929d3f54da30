import Testing

@testable import BertQACore

/// Equal answers of several sections.
@Suite struct EqualAnswerTests {
  private static func answers(
    _ texts: [Int: String], top: Int = 3, _ change: (inout AnswerOptions) -> Void = { _ in }
  ) throws -> AnswerResult {
    let options = AnswerOptions.with {
      $0.maxSequenceLength = 24
      $0.topK = top
      $0.maxWindows = -1
      change(&$0)
    }
    return try ReadingTests.ask("who", [ReadingTests.document(6, texts)], ReadingTests.marking(), options)
  }

  @Test func theySupportEachOther() throws {
    let one = try Self.answers([1: "who left a right", 3: "who left b right"])
    #expect(one.answers[0].gap == 10 && one.answers[1].gap == 10)
    let three = try Self.answers([
      0: "who left b right", 1: "who left a right", 3: "who left  a right", 5: "who left a  right",
    ])
    // ln 3 more, at the place of the first.
    #expect(three.answers[0].windowIndex == 1 && abs(three.answers[0].gap - 11.0986) < 1e-3)
    #expect(three.answers[1].windowIndex == 0 && three.answers[1].gap == 10)
    #expect(abs(three.answers[0].probability - 3 * three.answers[1].probability) < 1e-4)
    #expect(three.answers[0].score == 10 && three.gap == three.answers[0].gap)
    #expect(Set(three.answers.map(\.bytes)).count == 3)
  }

  @Test func theyAreOneAnswerOfSeveralDocuments() throws {
    let options = AnswerOptions.with { $0.topK = 5 }
    let result = try ReadingTests.ask(
      "who", ["left a right.", "a. left  a right", "left b right"], ReadingTests.marking(), options)
    let documents = result.answers.map(\.documentIndex)
    #expect(documents.prefix(2) == [0, 2] && result.answers[0].gap > result.answers[1].gap)
  }

  /// Hugging Face's layout has all spans as they are. A single section keeps the best of equal ones.
  @Test func onlySectionsSupportEqualAnswers() throws {
    let strided = try Self.answers([1: "who left a right", 3: "who left a right"]) { $0.documentStride = 0 }
    #expect(strided.answers[0].score == 10 && strided.answers[1].score == 10)
    let single = try ReadingTests.ask(
      "who", ["left a right b left a right"], ReadingTests.marking(), AnswerOptions.with { $0.topK = 2 })
    #expect(single.answers[0].bytes.start == 0 && single.answers[0].gap == 10)
    #expect(single.answers[1].score < single.answers[0].score)
  }

  @Test func theBestAnswerDoesNotDependOnTheirNumber() throws {
    for seed in 0..<50 as Range<UInt64> {
      var random = TestRandom(seed)
      let document = SpanSearchTests.randomDocument(200, &random)
      let model = FakeModel.random(seed: seed, quantum: 1)
      func best(_ top: Int) throws -> Answer {
        let options = AnswerOptions.with {
          $0.maxSequenceLength = 24
          $0.topK = top
        }
        let answerer = QuestionAnswerer(SpanSearchTests.tokenizer, model)
        return try #require(try answerer.ask("who a ?", document, options).answers.first)
      }
      #expect(try best(1) == best(7))
    }
  }

  @Test func textsAreNormalized() {
    func normalized(_ text: String) -> String? {
      Array(text.utf8).withUnsafeBufferPointer {
        FoundAnswers.normalized(TextRange(start: 0, end: text.utf8.count), of: $0)
      }
    }
    #expect(normalized("\u{201C}Judas  Iscariot,\u{201D}") == "judas iscariot")
    #expect(normalized("C++") == "c++" && normalized("C#") == "c#" && normalized("-5") == "-5")
    #expect(normalized("...") == "..." && normalized("\u{C4}\nB") == "\u{E4} b")
    #expect(normalized(String(repeating: "a", count: 513)) == nil)
  }
}
