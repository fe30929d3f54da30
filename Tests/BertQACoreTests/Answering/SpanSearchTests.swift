import Foundation
import Testing

@testable import BertQACore

/// Best-k, merging over windows, alignment, overlap and softmax against exhaustive search.
@Suite struct SpanSearchTests {
  static let tokenizer = FakeTokenizer(["a", "b", "c", "##x", "##y", ".", "who", "?"])

  static func randomDocument(_ words: Int, _ random: inout TestRandom) -> String {
    let choice = ["a", "bx", "cxy", "ayxyx", "b.", "½", "ß", "ßx", "unknown", "a\u{FFFD}", ".", "c"]
    let spaces = [" ", " ", " ", "\n", "\n\n"]
    return (0..<words).map { _ in
      choice.randomElement(using: &random)! + spaces.randomElement(using: &random)!
    }.joined()
  }

  static func check(
    _ document: String, _ model: FakeModel, _ options: AnswerOptions,
    _ decision: AnswerDecision = AnswerDecision(), note: String
  ) throws {
    let result = try QuestionAnswerer(tokenizer, model, decision).ask("who a ?", document, options)
    let expected = try ReferenceSearch(
      question: "who a ?", document: document, tokenizer, model, options, decision)
    #expect(result.nullScore == expected.nullScore, "\(note)")
    #expect(abs(Double(result.noAnswerProbability) - expected.noAnswerProbability) < 1e-6, "\(note)")
    #expect(result.answers.map(\.bytes) == expected.found.map(\.bytes), "\(note)")
    #expect(result.answers.map(\.score) == expected.found.map(\.score), "\(note)")
    for (answer, found) in zip(result.answers, expected.found) {
      #expect(abs(Double(answer.probability) - found.probability) < 1e-6, "\(note)")
      #expect(answer.startLogit + answer.endLogit == answer.score, "\(note)")
      #expect(answer.gap == found.gap, "\(note)")
    }
    #expect(result.gap == expected.found.first?.gap ?? -.infinity, "\(note)")
    #expect(result.stop == expected.stop, "\(note)")
    #expect(result.windowCount == expected.windowCount, "\(note)")
    #expect(abs(Double(result.noAnswerThreshold) - expected.threshold) < 1e-5, "\(note)")
    #expect(result.isImpossible == (result.gap < result.noAnswerThreshold), "\(note)")
    let probabilities = result.answers.map(\.probability)
    #expect(probabilities == probabilities.sorted(by: >), "\(note)")
    #expect(probabilities.reduce(result.noAnswerProbability, +) < 1 + 1e-5, "\(note)")
  }

  @Test(arguments: 0..<300) func equalsExhaustiveSearch(seed: UInt64) throws {
    var random = TestRandom(seed)
    let options = AnswerOptions.with {
      let length = Int.random(in: 8...40, using: &random)
      $0.maxSequenceLength = length
      $0.documentStride = seed % 2 == 0 ? nil : Int.random(in: 0...(length - 7), using: &random)
      $0.maxQuestionLength = 64
      $0.maxAnswerLength = Int.random(in: 1...12, using: &random)
      $0.topK = [1, 3, 10, 1000].randomElement(using: &random)!
      $0.nBestSize = [0, 0, 1, 3, 20].randomElement(using: &random)!
      $0.maxWindows = [-1, 0, 0, 1, 2, 5].randomElement(using: &random)!
      $0.alignsToWords = Bool.random(using: &random)
    }
    let document = Self.randomDocument(Int.random(in: 1...60, using: &random), &random)
    let model = FakeModel.random(
      seed: seed, spread: [0.5, 4, 30].randomElement(using: &random)!,
      quantum: [0, 0, 1].randomElement(using: &random)!)
    let decision = AnswerDecision(
      threshold: Float.random(in: -3...3, using: &random),
      rise: [0, 1.5].randomElement(using: &random)!,
      calibration: [
        nil, AnswerCalibration(slope: 0.4, midpoint: -0.5, spanTemperature: 0.6),
        AnswerCalibration(slope: 30, midpoint: 2, spanTemperature: 5),
      ].randomElement(using: &random)!)
    try Self.check(document, model, options, decision, note: "\(options), \(decision) on \(document)")
  }

  @Test func equalsExhaustiveSearchWithDefaultOptions() throws {
    var random = TestRandom(7)
    let document = Self.randomDocument(500, &random)
    let options = AnswerOptions.with { $0.topK = 20 }
    try Self.check(document, .random(seed: 7), options, note: "defaults")
  }

  @Test func allLogitsEqualGivesTheFirstAndShortest() throws {
    let model = FakeModel { _, _ in (1, 1) }
    let options = AnswerOptions.with {
      $0.topK = 3
      $0.alignsToWords = false
    }
    let result = try QuestionAnswerer(Self.tokenizer, model).ask("who", "a b cx", options)
    #expect(result.answers.map(\.bytes) == [0, 2, 4].map { TextRange(start: $0, end: $0 + 1) })
  }

  @Test func hugeDifferencesDoNotOverflow() throws {
    let model = FakeModel { ids, position in
      position == 0 ? (-1e36, -1e36) : (Float(position) * 1e35, position % 2 == 0 ? -1e36 : 1e36)
    }
    let result = try QuestionAnswerer(Self.tokenizer, model).ask("who", "a b c a b", AnswerOptions())
    #expect(result.answers[0].probability == 1)
    #expect(result.noAnswerProbability == 0)
  }

  @Test func nBestSizeCanLeaveNoCandidate() throws {
    // The best start is behind the best end.
    let model = FakeModel { ids, position in position == 5 ? (9, 0) : position == 3 ? (0, 9) : (0, 0) }
    let options = AnswerOptions.with { $0.nBestSize = 1 }
    let result = try QuestionAnswerer(Self.tokenizer, model).ask("who", "a b c", options)
    #expect(result.answers.isEmpty)
    #expect(result.gap == -.infinity)
    #expect(result.isImpossible)
    #expect(result.noAnswerProbability == 1)
  }

  @Test func exponentialIsAccurate() {
    let inexact = (0..<87_000).map { -Float($0) / 1000 }.first {
      // NaN is not near either.
      !(abs(Double(exponential(ofNonPositive: $0)) / exp(Double($0)) - 1) < 3e-7)
    }
    #expect(inexact == nil)
    #expect(exponential(ofNonPositive: 0) == 1)
    #expect(exponential(ofNonPositive: -87.5) == 0)
    #expect(exponential(ofNonPositive: -.infinity) == 0)
  }
}

/// Answers that are more than punctuation, and not cut at their edges.
@Suite struct AnswerEdgeTests {
  static let tokenizer = FakeTokenizer(["a", "b", "c", ".", ",", "!", "(", ")", "who", "?", "@", "5", "x"])

  /// Answers to a model that scores single tokens by their order from the end.
  static func answers(_ document: String, top: Int = 1, aligned: Bool = true) throws -> AnswerResult {
    let options = AnswerOptions.with {
      $0.topK = top
      $0.maxAnswerLength = 1
      $0.alignsToWords = aligned
    }
    let model = FakeModel { _, position in (Float(position), Float(position)) }
    return try QuestionAnswerer(tokenizer, model).ask("who", document, options)
  }

  @Test func anAnswerIsNeverPunctuationAlone() throws {
    let document = "a b ) . ! ,"
    let result = try Self.answers(document, top: 9)
    #expect(result.answers.map { $0.bytes.text(in: document) } == ["b", "a"])
    let raw = try Self.answers(document, top: 9, aligned: false)
    #expect(raw.answers.map { $0.bytes.text(in: document) } == [",", "!", ".", ")", "b", "a"])
    // Shares of all spans, not only of the returned ones.
    #expect(result.answers.map(\.probability) == raw.answers.suffix(2).map(\.probability))
    #expect(result.noAnswerProbability == raw.noAnswerProbability)
  }

  @Test func spansWithPunctuationAndAWordAreCandidates() throws {
    let options = AnswerOptions.with { $0.maxAnswerLength = 3 }
    // The best start is the bracket, the best end the word.
    let model = FakeModel { _, position in position == 4 ? (9, 0) : position == 5 ? (0, 9) : (0, 0) }
    let result = try QuestionAnswerer(Self.tokenizer, model).ask("who", "a ( b )", options)
    #expect(result.answers[0].score == 18)
    #expect(result.answers[0].bytes.text(in: "a ( b )") == "b")
  }

  @Test(arguments: ["\n\n", "\n \t\n", "\r\n\r\n", "\u{2029}", "\u{FFFD}\n\n"])
  func anAnswerDoesNotCrossABlankLine(_ gap: String) throws {
    // The best start is "b", the best end "c".
    let model = FakeModel { _, position in position == 4 ? (9, 0) : position == 5 ? (0, 9) : (0, 0) }
    func answer(_ document: String, aligned: Bool = true) throws -> String? {
      let options = AnswerOptions.with { $0.alignsToWords = aligned }
      let result = try QuestionAnswerer(Self.tokenizer, model).ask("who", document, options)
      return result.answers.first?.bytes.text(in: document)
    }
    #expect(try answer("a b\(gap)c x") == "b")
    #expect(try answer("a b\(gap)c x", aligned: false) == "b\(gap)c")
    #expect(try answer("a b\r\nc x") == "b\r\nc")
  }

  @Test func aDocumentOfPunctuationHasNoAnswer() throws {
    let result = try Self.answers("... !!! (,)", top: 5)
    #expect(result.answers.isEmpty && result.isImpossible && result.gap == -.infinity)
    #expect(result.emptyInput == nil && result.noAnswerProbability < 1)
  }

  @Test(arguments: ["$", "€", "±", "漢", "😀", "½", "é"])
  func symbolsAndLettersAreContent(_ symbol: String) throws {
    let result = try Self.answers("a \(symbol)")
    #expect(result.answers[0].bytes.text(in: "a \(symbol)") == symbol)
  }

  @Test(arguments: ["+", "=", "|", "│", "━", "—", "“", "。", "•", "´", "\u{301}"])
  func marksAreNone(_ mark: String) throws {
    let result = try Self.answers("a \(mark)")
    #expect(result.answers[0].bytes.text(in: "a \(mark)") == "a")
  }

  @Test func edgesDoNotCutAndAnswersDoNotOverlap() throws {
    let document = "x b.c@b.com (b) 5.5 a"
    let result = try Self.answers(document, top: 9)
    #expect(result.answers.map { $0.bytes.text(in: document) } == ["a", "5.5", "b", "b.c@b.com", "x"])
    #expect(try Self.answers(document, aligned: false).answers[0].bytes.text(in: document) == "a")
    let raw = try Self.answers(document, top: 3, aligned: false).answers
    #expect(raw.map { $0.bytes.text(in: document) } == ["a", "5", "."])
  }
}
