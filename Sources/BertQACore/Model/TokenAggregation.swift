/// How labels of tokens become entities: the strategies of transformers' token-classification pipeline, in the
/// numbering of `bertqa_aggregation`.
public enum TokenAggregation: Int32, Sendable, CaseIterable, CustomStringConvertible {
  /// What the model's `config.json` says ("bertqa": {"aggregation": …}), else `simple`.
  case model = 0
  /// Every token is an entity.
  case none = 1
  /// Neighbouring tokens of one tag are an entity; B- begins another.
  case simple = 2
  /// As `simple`, of words, which have the label of their first token.
  case first = 3
  /// The same, with the most probable label by the mean over the word's tokens.
  case average = 4
  /// The same, with the label of the token that is surest of its own.
  case max = 5

  /// The name that the command line, Python and `config.json` use.
  public var description: String {
    switch self {
    case .model: "model"
    case .none: "none"
    case .simple: "simple"
    case .first: "first"
    case .average: "average"
    case .max: "max"
    }
  }
}
