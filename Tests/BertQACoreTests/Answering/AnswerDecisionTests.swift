import Foundation
import Testing

@testable import BertQACore

/// Threshold and probabilities as functions of the gap and the number of windows.
@Suite struct AnswerDecisionTests {
  static let tokenizer = FakeTokenizer(["who", "a", "b"])
  static let calibration = AnswerCalibration(slope: 0.5, midpoint: -1, spanTemperature: 0.5)

  @Test func atTheMidpointAnswerAndNoAnswerAreEquallyProbable() {
    #expect(Self.calibration.answerChance(gap: -1) == 0.5)
    #expect(abs(Self.calibration.answerChance(gap: 1) - 1 / (1 + exp(-1))) < 1e-15)
    #expect(Self.calibration.answerChance(gap: -.infinity) == 0)
    #expect(Self.calibration.answerChance(gap: .infinity) == 1)
  }

  @Test func windowsRaiseThresholdAndMidpointAlike() throws {
    let decision = AnswerDecision(threshold: -0.4, rise: 0.7, calibration: Self.calibration)
    #expect(decision.threshold(windows: 1, asked: nil) == -0.4)
    #expect(decision.threshold(windows: 0, asked: nil) == -0.4)
    #expect(abs(decision.threshold(windows: 100, asked: nil) - (-0.4 + 0.7 * Float(log(100.0)))) < 1e-6)
    for windows in [1, 2, 10, 1000] {
      let rise = 0.7 * Float(log(Double(windows)))
      let chance = try #require(decision.answerChance(gap: -1 + rise, windows: windows))
      #expect(abs(chance - 0.5) < 1e-6)
    }
  }

  @Test func theCallersThresholdIsAppliedAsItIs() {
    let decision = AnswerDecision(threshold: -0.4, rise: 0.7)
    for asked in [-Float.infinity, 0, 2.5] {
      #expect(decision.threshold(windows: 100, asked: asked) == asked)
    }
  }

  @Test func aModelWithoutCalibrationSaysNoChance() {
    #expect(AnswerDecision(threshold: 1, rise: 1).answerChance(gap: 3, windows: 9) == nil)
  }

  /// For a document of several windows, the result's values depend on the windows that were read.
  @Test(arguments: [0, 2]) func theResultSaysWhatWasApplied(maxWindows: Int) throws {
    let decision = AnswerDecision(threshold: 1, rise: 2, calibration: Self.calibration)
    let answerer = QuestionAnswerer(
      Self.tokenizer, .marking(start: Self.tokenizer.id("a"), end: Self.tokenizer.id("b")), decision)
    let options = AnswerOptions.with {
      $0.maxSequenceLength = 10
      $0.documentStride = 2
      $0.maxWindows = maxWindows
    }
    let document = String(repeating: "a b ", count: 20)
    let result = try answerer.ask("who", document, options)
    #expect(result.windowCount == (maxWindows == 0 ? 10 : 2))
    #expect(result.noAnswerThreshold == Float(1 + 2 * log(Double(result.windowCount))))
    #expect(result.gap == 10 && result.isImpossible == false)
    let chance = 1 / (1 + exp(-0.5 * (10 + 1 - 2 * log(Double(result.windowCount)))))
    #expect(abs(Double(result.noAnswerProbability) - (1 - chance)) < 1e-6)
    // Prepared, it is the same.
    let prepared = try answerer.prepare(document)
    try Array("who".utf8).withUnsafeBufferPointer { question in
      let same = try answerer.answer(question: question, document: prepared, options: options)
      #expect(same == result)
    }
  }

  @Test func whatHasNoCandidateHasNoAnswer() throws {
    let decision = AnswerDecision(rise: 1, calibration: Self.calibration)
    let answerer = QuestionAnswerer(Self.tokenizer, .random(seed: 1), decision)
    for document in ["", "... !"] {
      let result = try answerer.ask("who", document, AnswerOptions())
      #expect(result.answers.isEmpty && result.isImpossible && result.noAnswerProbability == 1)
    }
    // n_best_size can leave no span at all.
    let model = FakeModel { _, position in position == 5 ? (9, 0) : position == 3 ? (0, 9) : (0, 0) }
    let result = try QuestionAnswerer(Self.tokenizer, model, decision)
      .ask("who", "a b a", AnswerOptions.with { $0.nBestSize = 1 })
    #expect(result.answers.isEmpty && result.noAnswerProbability == 1)
  }

  @Test func hugeDifferencesDoNotOverflow() throws {
    let model = FakeModel { ids, position in
      position == 0 ? (-1e36, -1e36) : (Float(position) * 1e35, position % 2 == 0 ? -1e36 : 1e36)
    }
    for slope in [1e-6, 1e6] {
      let calibration = AnswerCalibration(slope: slope, midpoint: 1e6, spanTemperature: 1 / slope)
      let result = try QuestionAnswerer(Self.tokenizer, model, AnswerDecision(calibration: calibration))
        .ask("who", "a b a a b", AnswerOptions())
      #expect(result.answers[0].probability == 1)
      #expect(result.noAnswerProbability == 0)
    }
  }
}
