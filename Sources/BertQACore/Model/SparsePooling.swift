import Glibc

/// How a sparse model (SPLADE: Formal et al. 2021, https://arxiv.org/abs/2107.05720) turns each token's logits into a
/// weight per vocabulary piece: log(1 + max(0, x)), and then the largest of all tokens or the sum.
struct SparsePooling: Sendable, Equatable {
  var sums = false
  /// True for log(1 + log(1 + max(0, x))).
  var logsTwice = false

  /// Returns the weight of a logit.
  func weight(_ logit: Float) -> Float {
    let weight = logit.isNaN ? logit : log1pf(max(0, logit))
    return logsTwice ? log1pf(weight) : weight
  }

  private enum Key {
    static let own = "splade"
    static let strategy = "pooling_strategy"
    static let activation = "activation_function"
  }

  /// Reads a module SpladePooling, or the member of "bertqa" that `write` adds.
  init(_ reader: ObjectReader) throws(BertQAError) {
    let strategy = try reader.string(Key.strategy) ?? "max"
    let activation = try reader.string(Key.activation) ?? "relu"
    guard ["max", "sum"].contains(strategy) else {
      throw reader.mismatch(Key.strategy, .string(strategy), expected: "\"max\" or \"sum\"")
    }
    guard ["relu", "log1p_relu"].contains(activation) else {
      throw reader.mismatch(Key.activation, .string(activation), expected: "\"relu\" or \"log1p_relu\"")
    }
    (sums, logsTwice) = (strategy == "sum", activation == "log1p_relu")
  }

  /// Reads the "bertqa" object of `config.json`; nil if it has no such settings.
  static func own(_ reader: ObjectReader) throws(BertQAError) -> SparsePooling? {
    try reader.reader(Key.own).map { reader throws(BertQAError) in try SparsePooling(reader) }
  }

  /// Writes the settings as a member of "bertqa".
  func write(to own: inout JSON.Object) {
    var object = JSON.Object()
    object[Key.strategy] = .string(sums ? "sum" : "max")
    object[Key.activation] = .string(logsTwice ? "log1p_relu" : "relu")
    own[Key.own] = .object(object)
  }
}
