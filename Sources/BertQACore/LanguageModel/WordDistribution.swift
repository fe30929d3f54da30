import Glibc

/// The softmax of a model's logits: how probable each word is.
struct WordDistribution {
  /// By id.
  let logits: UnsafeBufferPointer<Float>
  private let highest: Float
  /// Of exp(logit - highest).
  private let total: Double

  /// Throws `.invalidModel` where the logits are no numbers, as weights or states near the limits of Float
  /// make them.
  /// - Parameter exponentials: [vocabulary], scratch; holds exp(logit - highest) afterwards.
  init(
    _ logits: UnsafeBufferPointer<Float>, _ exponentials: UnsafeMutablePointer<Float>, _ kernels: Kernels
  ) throws(BertQAError) {
    var highest = -Float.infinity
    for logit in logits where logit > highest { highest = logit }
    for (index, logit) in logits.enumerated() { exponentials[index] = logit - highest }
    kernels.table.exp_f32(exponentials, logits.count, exponentials)
    let total = Self.sum(of: UnsafeBufferPointer(start: exponentials, count: logits.count))
    // The highest one's exponential is 1. Infinities and NaN make it NaN.
    guard total >= 1, total.isFinite else {
      throw BertQAError(
        .invalidModel,
        "the logits are not finite numbers: the weights or the values of the state are too large")
    }
    self.logits = logits
    self.highest = highest
    self.total = total
  }

  func logProbability(of id: Int32) -> Double {
    Double(logits[Int(id)] - highest) - log(total)
  }

  func word(_ id: Int32, _ vocabulary: Vocabulary) -> PredictedWord {
    let logProbability = logProbability(of: id)
    return PredictedWord(id, logProbability: logProbability, vocabulary)
  }

  /// The probabilities of all words.
  /// - Parameter exponentials: as `init` left them.
  func probabilities(_ exponentials: UnsafePointer<Float>) -> [Float] {
    let scale = 1 / total
    return logits.indices.map { Float(Double(exponentials[$0]) * scale) }
  }

  /// In four chains, then their sum: an order that depends on the count alone.
  private static func sum(of values: UnsafeBufferPointer<Float>) -> Double {
    var (first, second, third, fourth) = (0.0, 0.0, 0.0, 0.0)
    let whole = values.count / 4 * 4
    for index in stride(from: 0, to: whole, by: 4) {
      first += Double(values[index])
      second += Double(values[index + 1])
      third += Double(values[index + 2])
      fourth += Double(values[index + 3])
    }
    for index in whole..<values.count { first += Double(values[index]) }
    return (first + second) + (third + fourth)
  }
}
