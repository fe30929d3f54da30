/// What a classifier says of one text.
public struct Classification: Sendable {
  /// Every label of the model, the most probable first; equal ones in the model's order. Empty where there was
  /// not enough text.
  public var scores: [LabelScore]
  /// Word-count models: the words that weighed most for and against the first label, by falling magnitude.
  public var contributions: [WordContribution] = []
  public var problemType = ProblemType.singleLabel
  /// Word-count models: the text has fewer distinct words than the model asks for, so nothing is said of it.
  public var notEnoughText = false
  /// Distinct words counted by a word-count model; 0 for others.
  public var distinctWords = 0
  /// Windows that a BERT model read; 0 for others.
  public var windowCount = 0
  /// No label is as probable as the options ask for (`min_probability`): none of them fits. The scores are there.
  public var isNone = false

  /// The most probable label; nil where there was not enough text, and where none is probable enough.
  public var label: String? { isNone ? nil : scores.first?.label }
}

public struct LabelScore: Sendable, Equatable {
  public var label: String
  /// Row of the model's output.
  public var id: Int
  /// Softmax over all labels or the label's own sigmoid, by the problem type; NaN for regression.
  public var probability: Float
  /// The model's output; for regression the predicted value.
  public var logit: Float
}

/// One occurrence of a word (or word pair) in the text and what it weighed.
public struct WordContribution: Sendable, Equatable {
  public var bytes: TextRange
  public var codePoints: TextRange
  public var utf16: TextRange
  /// Added to the first label's logit, in comparison with the mean of all labels; the sum over all occurrences of
  /// a word is the word's share.
  public var weight: Float
}
