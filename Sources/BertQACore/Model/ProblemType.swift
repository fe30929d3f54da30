/// The meaning of a classifier's outputs, with the numbers of `bertqa_problem_type`.
public enum ProblemType: Int32, Sendable, CaseIterable, CustomStringConvertible {
  /// Exactly one label is right: probabilities are a softmax and sum to 1.
  case singleLabel = 1
  /// Any number of labels can be right: each has its own sigmoid.
  case multiLabel = 2
  /// The outputs are numbers.
  case regression = 3

  /// Hugging Face's `problem_type`.
  public var description: String {
    switch self {
    case .singleLabel: "single_label_classification"
    case .multiLabel: "multi_label_classification"
    case .regression: "regression"
    }
  }
}
