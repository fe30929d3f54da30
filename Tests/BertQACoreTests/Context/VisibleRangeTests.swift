import Testing

@testable import BertQACore

/// Answers and entities of every family, whose tokenizers are of the kinds that published models have.
@Suite struct VisibleRangeTests {
  private func texts(_ state: UInt64) -> [String] {
    var random = TestRandom(state)
    return TextEdgesTests.texts(&random, count: 40) + [
      "the king of  France\u{A0}", " Jose\u{301}, he ", "\u{301} a",
    ]
  }

  private func checkUnits(_ bytes: TextRange, _ codePoints: TextRange, _ utf16: TextRange, in text: String) {
    let part = bytes.text(in: text)
    #expect(String(decoding: Array(text.utf16)[utf16.start..<utf16.end], as: UTF16.self) == part)
    let scalars = Array(text.unicodeScalars)[codePoints.start..<codePoints.end]
    #expect(String(String.UnicodeScalarView(scalars)) == part)
  }

  @Test(
    arguments: [
      "tiny-bert", "tiny-bert-cased", "tiny-roberta", "tiny-albert", "tiny-mpnet", "tiny-deberta",
      "tiny-modernbert",
    ],
    [true, false])
  func answersAreWhole(name: String, alignsToWords: Bool) throws {
    let context = try Context(modelDirectory: TinyModel.path(name))
    var options = AnswerOptions()
    options.topK = 20
    options.maxSequenceLength = 32
    options.alignsToWords = alignsToWords
    var count = 0
    for text in texts(7) {
      for answer in try context.answer(question: "who", document: text, options: options).answers {
        let fault = TextEdgesTests.check(answer.bytes, in: text, words: alignsToWords)
        #expect(fault == nil, "\(answer.text(in: text).debugDescription) of \(text.debugDescription)")
        #expect(answer.bytes.count > 0)
        checkUnits(answer.bytes, answer.codePoints, answer.utf16, in: text)
        #expect(answer.sentence.start <= answer.bytes.start && answer.sentence.end >= answer.bytes.end)
        #expect(TextEdgesTests.check(answer.sentence, in: text, words: false) == nil)
        count += 1
      }
    }
    #expect(count > 40)
  }

  @Test(
    arguments: [
      "tiny-bert-entities", "tiny-xlm-roberta-entities", "tiny-albert-entities", "tiny-mpnet-entities",
      "tiny-deberta-entities", "tiny-modernbert-entities",
    ], TokenAggregation.allCases)
  func entitiesAreWhole(name: String, aggregation: TokenAggregation) throws {
    let context = try Context(modelDirectory: TinyModel.path(name))
    var options = EntityOptions()
    options.ignoredLabels = []
    options.aggregation = aggregation
    var count = 0
    for text in texts(8) {
      for entity in try context.entities(of: text, options: options).entities {
        // A word is whole where labels are of words.
        let words = [.first, .average, .max].contains(aggregation)
        let fault = TextEdgesTests.check(entity.bytes, in: text, words: words)
        #expect(fault == nil, "\(entity.bytes.text(in: text).debugDescription) of \(text.debugDescription)")
        #expect(entity.bytes.count > 0)
        checkUnits(entity.bytes, entity.codePoints, entity.utf16, in: text)
        count += 1
      }
    }
    #expect(count > 40)
  }
}
