/// How token labels become entities: the strategies of transformers' token-classification pipeline, with the
/// numbers of `bertqa_aggregation`.
public enum TokenAggregation: Int32, Sendable, CaseIterable, CustomStringConvertible {
  /// As the model's `config.json` specifies ("bertqa": {"aggregation": …}), else `simple`.
  case model = 0
  /// Every token is an entity.
  case none = 1
  /// Neighbouring tokens with the same tag form an entity; B- starts another one.
  case simple = 2
  /// As `simple`, for words, whose label is that of their first token.
  case first = 3
  /// As `first`, but a word's label has the highest mean probability over the word's tokens.
  case average = 4
  /// As `first`, but a word's label is that of the token with the highest probability.
  case max = 5

  /// The name in the command line, Python and `config.json`.
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
