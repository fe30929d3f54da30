/// How to classify; each field says which models heed it. The names in parentheses are those of the C header.
public struct ClassifyOptions: Sendable {
  /// Word-count models: how many contributions to give, at most (`contributions`).
  public var contributions = 0
  /// Encoders: tokens of one window, special tokens included (`max_seq_len`), 8 or more; nil: as many as the model
  /// takes.
  public var maxSequenceLength: Int?
  /// Encoders: tokens that two neighbouring windows of a long text share (`doc_stride`), lowered to a third of the
  /// window; nil: 128.
  public var documentStride: Int?
  /// Encoders: how the logits of a long text's windows become one (`window_pooling`).
  public var windowPooling = WindowPooling.mean
  /// Where no label has this probability the result has none (`min_probability`), 0...1. 0: the most probable label,
  /// however improbable. Models of numbers have no probabilities and refuse it.
  public var minProbability: Float = 0
  public var call = CallOptions()

  public init() {}

  /// In the numbering of `bertqa_window_pooling`.
  public enum WindowPooling: Int32, Sendable, CaseIterable {
    case mean = 0
    case max = 1
  }
}

extension ClassifyOptions {
  /// Refuses what no model could heed; the names are those of the C ABI.
  func validate(for problemType: ProblemType) throws(BertQAError) {
    guard (0...1).contains(minProbability) else {
      throw BertQAError(
        .invalidArgument, argument: "min_probability", "is \(minProbability), but must be 0 to 1")
    }
    guard minProbability == 0 || problemType != .regression else {
      throw BertQAError(
        .invalidArgument, argument: "min_probability",
        "is \(minProbability), but the model predicts a number, which has no probability")
    }
  }
}

extension Classification {
  /// Has no label where the most probable one is not probable enough.
  mutating func require(_ options: ClassifyOptions) {
    guard options.minProbability > 0, let best = scores.first else { return }
    isNone = best.probability < options.minProbability
  }
}
