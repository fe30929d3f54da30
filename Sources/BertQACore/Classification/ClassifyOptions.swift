/// Options for classification. Each field names the models that use it. The names in parentheses are those of
/// the C header.
public struct ClassifyOptions: BatchOptions, Sendable {
  /// Word-count models: the maximum number of contributions to return (`contributions`).
  public var contributions = 0
  /// Encoders: the number of tokens in a window, including special tokens (`max_seq_len`); at least 8. nil:
  /// as many as the model takes.
  public var maxSequenceLength: Int?
  /// Encoders: the number of tokens that two neighbouring windows of a long text share (`doc_stride`); nil: windows end
  /// where sections of the text do.
  public var documentStride: Int?
  /// Encoders: how the logits of a long text's windows are combined (`window_pooling`).
  public var windowPooling = WindowPooling.mean
  /// If no label has at least this probability, the result has no label (`min_probability`), 0...1. 0: the
  /// most probable label, however improbable. Regression models have no probabilities and reject other
  /// values.
  public var minProbability: Float = 0
  /// Models of entailment: the labels of the result, in place of the model's own (`labels`).
  public var labels: [String] = []
  /// With `labels`: the sentence that a text may entail, with one `{}` for the label (`hypothesis_template`).
  public var hypothesisTemplate = "This example is {}."
  /// With `labels`: true if each label is judged by itself, so that several or none may be probable (`multi_label`).
  public var allowsSeveralLabels = false
  public var call = CallOptions()

  public init() {}

  /// With the numbers of `bertqa_window_pooling`.
  public enum WindowPooling: Int32, Sendable, CaseIterable {
    case mean = 0
    case max = 1
  }
}

extension ClassifyOptions {
  /// Rejects values that no model can use. The names are those of the C ABI.
  func validate(for problemType: ProblemType) throws(BertQAError) {
    try BertQAError.check("min_probability", minProbability, (0...1).contains(minProbability), "0 to 1")
    try ObjectReader.checkLabels(labels)
    guard !labels.isEmpty || !allowsSeveralLabels && hypothesisTemplate == Self().hypothesisTemplate else {
      throw BertQAError(
        .invalidArgument, argument: allowsSeveralLabels ? "multi_label" : "hypothesis_template",
        "needs labels")
    }
    guard minProbability == 0 || problemType != .regression else {
      throw BertQAError(
        .invalidArgument, argument: "min_probability",
        "is \(minProbability), but the model predicts a number, which has no probability")
    }
  }
}

extension Classification {
  /// Removes the label if the most probable one is not probable enough.
  mutating func require(_ options: ClassifyOptions) {
    guard options.minProbability > 0, let best = scores.first else { return }
    isNone = best.probability < options.minProbability
  }
}
