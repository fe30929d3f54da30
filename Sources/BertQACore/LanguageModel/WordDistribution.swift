import Glibc

/// The softmax of a model's logits: the probability of each word.
struct WordDistribution {
  /// By id.
  let logits: UnsafeBufferPointer<Float>
  private let highest: Float
  /// The sum of exp(logit - highest).
  private let total: Double

  /// Throws `.invalidModel` if the logits are not finite, which weights or states near the limits of Float
  /// can cause.
  /// - Parameter exponentials: [vocabulary], scratch; holds exp(logit - highest) afterwards.
  init(
    _ logits: UnsafeBufferPointer<Float>, _ exponentials: UnsafeMutablePointer<Float>, _ kernels: Kernels
  ) throws(BertQAError) {
    var highest = -Float.infinity
    for logit in logits where logit > highest { highest = logit }
    for (index, logit) in logits.enumerated() { exponentials[index] = logit - highest }
    kernels.table.exp_f32(exponentials, logits.count, exponentials)
    let total = Self.sum(of: UnsafeBufferPointer(start: exponentials, count: logits.count))
    // The exponential of the highest one is 1. Infinities and NaN make it NaN.
    guard total >= 1, total.isFinite else {
      throw SequenceModel.overflow("the prediction")
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

  /// Returns the probabilities of all words.
  /// - Parameter exponentials: as `init` left them.
  func probabilities(_ exponentials: UnsafePointer<Float>) -> [Float] {
    let scale = 1 / total
    return logits.indices.map { Float(Double(exponentials[$0]) * scale) }
  }

  /// Adds in four chains, then adds their sums: the order depends only on the count.
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

/// The highest scores and their ids, highest first, equal ones by id.
enum TopWords {
  /// Returns the `count` highest, or all. O(scores · log count).
  static func ids(of scores: UnsafeBufferPointer<Float>, count: Int) -> [Int32] {
    let count = min(count, scores.count)
    guard count > 0 else { return [] }
    if count == 1 { return [best(of: scores)] }
    func precedes(_ left: Int32, _ right: Int32) -> Bool {
      let (first, second) = (scores[Int(left)], scores[Int(right)])
      return first > second || first == second && left < right
    }
    // Collects candidates up to twice the count, then drops the lower half.
    var candidates: [Int32] = []
    candidates.reserveCapacity(2 * count)
    var threshold = -Float.infinity
    for id in 0..<Int32(scores.count) where scores[Int(id)] > threshold || candidates.count < count {
      candidates.append(id)
      guard candidates.count == 2 * count, count < scores.count else { continue }
      candidates.sort(by: precedes)
      candidates.removeLast(count)
      threshold = scores[Int(candidates[count - 1])]
    }
    candidates.sort(by: precedes)
    return Array(candidates.prefix(count))
  }

  /// Returns the id of the highest score; of equal ones, the first.
  static func best(of scores: UnsafeBufferPointer<Float>) -> Int32 {
    var best: Int32 = 0
    for id in 1..<Int32(max(1, scores.count)) where scores[Int(id)] > scores[Int(best)] { best = id }
    return best
  }
}
