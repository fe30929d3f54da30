/// The answers to a question.
public struct AnswerResult: Sendable, Equatable {
  /// Why there was nothing to read: a text has no tokens.
  public enum EmptyInput: Sendable, Equatable {
    case emptyQuestion
    /// All documents are empty.
    case emptyDocument
  }

  /// Best first, by `gap`; they do not overlap. Of equal gaps the earlier one, then the shorter one. Equal texts of
  /// several sections are one answer.
  public let answers: [Answer]

  /// The score of "no answer", which is the start logit + end logit of [CLS], in the section of the best answer. With
  /// `documentStride`: the least of all windows. 0 if no window was read.
  public let nullScore: Float

  /// That of the best candidate; -∞ if there is no candidate.
  public let gap: Float

  /// The probability that there is no answer. If the model has a calibration, it depends on `gap` only, and with
  /// `documentStride` on `windowCount`; else it is the share of "no answer" in the softmax that gives the answers' probabilities.
  public let noAnswerProbability: Float

  /// True if `gap` is below the threshold, whatever `handlesImpossibleAnswer` is.
  public let isImpossible: Bool

  /// The threshold that was applied: the options', else the model's. With `documentStride` that rises with the logarithm
  /// of `windowCount` if the model says so.
  public let noAnswerThreshold: Float

  /// True if the question had more than `maxQuestionLength` tokens; the rest was not read.
  public let questionWasTruncated: Bool

  /// The number of windows that the model read.
  public let windowCount: Int

  /// The number of windows that it did not read.
  public let skippedWindowCount: Int

  /// Why it read no more.
  public let stop: ReadingStop

  /// nil if there was something to read, or if that is not known. The question, if neither has tokens.
  public let emptyInput: EmptyInput?
}

extension AnswerResult {
  /// That of a question whose texts are empty, or of which no window was read.
  static func empty(
    _ input: EmptyInput?, questionWasTruncated: Bool = false, noAnswerThreshold: Float,
    skippedWindowCount: Int = 0, stop: ReadingStop = .all
  ) -> AnswerResult {
    AnswerResult(
      answers: [], nullScore: 0, gap: -.infinity, noAnswerProbability: 1, isImpossible: true,
      noAnswerThreshold: noAnswerThreshold, questionWasTruncated: questionWasTruncated, windowCount: 0,
      skippedWindowCount: skippedWindowCount, stop: stop, emptyInput: input)
  }
}
