/// A classifier's result for one text.
public struct Classification: Sendable {
  /// All labels of the model, most probable first; equal ones in the model's order. Empty if there was not
  /// enough text.
  public var scores: [LabelScore]
  /// Word-count models: the words that contributed most for and against the first label, largest magnitude first.
  public var contributions: [WordContribution] = []
  public var problemType = ProblemType.singleLabel
  /// Word-count models: true if the text has fewer distinct words than the model requires, so there is no
  /// result.
  public var notEnoughText = false
  /// The number of distinct words that a word-count model counted; 0 for other models.
  public var distinctWords = 0
  /// The number of windows that an encoder read; 0 for other models.
  public var windowCount = 0
  /// True if no label is as probable as the options require (`min_probability`). `scores` is filled in
  /// anyway.
  public var isNone = false

  /// The most probable label; nil if there was not enough text or no label is probable enough.
  public var label: String? { isNone ? nil : scores.first?.label }
}

public struct LabelScore: Sendable, Equatable {
  public var label: String
  /// The row of the model's output.
  public var id: Int
  /// The softmax over all labels or the label's own sigmoid, depending on the problem type; NaN for
  /// regression.
  public var probability: Float
  /// The model's output; for regression, the predicted value.
  public var logit: Float
}

/// One occurrence of a word (or word pair) in the text and its weight.
public struct WordContribution: Sendable, Equatable {
  public var bytes: TextRange
  public var codePoints: TextRange
  public var utf16: TextRange
  /// The amount added to the first label's logit, relative to the mean of all labels. A word's contribution
  /// is the sum over its occurrences.
  public var weight: Float
}
