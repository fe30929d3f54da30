/// The answers to a question.
public struct AnswerResult: Sendable, Equatable {
  /// Why there was nothing to read: a text has no tokens.
  public enum EmptyInput: Sendable, Equatable {
    case emptyQuestion
    /// All documents are empty.
    case emptyDocument
  }

  /// Best first, by `gap`, without overlaps. Of equal gaps, the earlier answer comes first, then the shorter one.
  /// Equal texts of several sections are one answer.
  public let answers: [Answer]

  /// The score of "no answer" (start logit + end logit of [CLS]) in the section of the best answer. With
  /// `documentStride`: the lowest of all windows. 0 if no window was read.
  public let nullScore: Float

  /// The best candidate's gap; -∞ if there is no candidate.
  public let gap: Float

  /// The probability that there is no answer. With a calibration of the model, it depends only on `gap` and, with
  /// `documentStride`, on `windowCount`. Otherwise it is the share of "no answer" in the softmax that gives the
  /// answers' probabilities.
  public let noAnswerProbability: Float

  /// True if `gap` is below the threshold, regardless of `handlesImpossibleAnswer`.
  public let isImpossible: Bool

  /// The applied threshold: the options', else the model's. With `documentStride`, the model's rises with the
  /// logarithm of `windowCount` if the model specifies that.
  public let noAnswerThreshold: Float

  /// True if the question had more than `maxQuestionLength` tokens; the rest was not read.
  public let questionWasTruncated: Bool

  /// The number of windows that the model read.
  public let windowCount: Int

  /// The number of windows that the model did not read.
  public let skippedWindowCount: Int

  /// Why no further window was read.
  public let stop: ReadingStop

  /// nil if there was something to read, or if this is unknown. `.emptyQuestion` if neither has tokens.
  public let emptyInput: EmptyInput?
}

extension AnswerResult {
  /// The result for a question whose texts are empty, or for which no window was read.
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
