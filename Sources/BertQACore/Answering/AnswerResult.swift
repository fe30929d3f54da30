/// What a document says to a question.
public struct AnswerResult: Sendable, Equatable {
  /// Why a text could not be asked or answered: it has no tokens.
  public enum EmptyInput: Sendable, Equatable {
    case emptyQuestion
    case emptyDocument
  }

  /// Best first; they do not overlap. Ties: the earlier one, then the shorter one.
  public let answers: [Answer]

  /// The score of "no answer": the least, over the windows, of the start logit + end logit of [CLS].
  /// 0 if no window was run.
  public let nullScore: Float

  /// The best candidate's score less `nullScore`; -∞ if there is no candidate.
  public let gap: Float

  /// The chance that the document does not answer the question: of a model with a calibration, by `gap` and
  /// `windowCount` alone; of others, the share of "no answer" in the softmax that gives the answers' probabilities.
  public let noAnswerProbability: Float

  /// Whether `gap` is below the threshold. Always told, whatever `handlesImpossibleAnswer` says.
  public let isImpossible: Bool

  /// The threshold that was applied: the options', else the model's, which rises with the logarithm of
  /// `windowCount` if the model says so.
  public let noAnswerThreshold: Float

  /// Whether the question had more than `maxQuestionLength` tokens; the rest was not looked at.
  public let questionWasTruncated: Bool

  /// Windows that the model was run on.
  public let windowCount: Int

  /// Windows that `maxWindows` left out.
  public let skippedWindowCount: Int

  /// Which of the texts had no tokens, if one had none: the question, if both.
  public let emptyInput: EmptyInput?
}

extension AnswerResult {
  static func empty(
    _ input: EmptyInput, questionWasTruncated: Bool, noAnswerThreshold: Float
  ) -> AnswerResult {
    AnswerResult(
      answers: [], nullScore: 0, gap: -.infinity, noAnswerProbability: 1, isImpossible: true,
      noAnswerThreshold: noAnswerThreshold, questionWasTruncated: questionWasTruncated, windowCount: 0,
      skippedWindowCount: 0,
      emptyInput: input)
  }
}
