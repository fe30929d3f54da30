/// How good predictions are.
struct PredictionMetrics {
  /// [true label][predicted label]
  private(set) var confusion: [[Int]]
  private var bins = [Bin](repeating: Bin(), count: 15)

  private struct Bin {
    var count = 0
    var right = 0
    var probability = 0.0
  }

  init(labelCount: Int) {
    confusion = Array(repeating: Array(repeating: 0, count: labelCount), count: labelCount)
  }

  mutating func add(target: Int, predicted: Int, probability: Double) {
    confusion[target][predicted] += 1
    let bin = min(bins.count - 1, Int(probability * Double(bins.count)))
    bins[bin].count += 1
    bins[bin].right += target == predicted ? 1 : 0
    bins[bin].probability += probability
  }

  private var total: Double { Double(confusion.joined().reduce(0, +)) }

  var accuracy: Double { Double(confusion.indices.reduce(0) { $0 + confusion[$1][$1] }) / total }

  /// A label that is neither right nor predicted anywhere counts as 0.
  var macroF1: Double {
    let scores = confusion.indices.map { label in
      let right = confusion[label][label]
      let both = confusion[label].reduce(0, +) + confusion.reduce(0) { $0 + $1[label] }
      return both > 0 ? 2 * Double(right) / Double(both) : 0
    }
    return scores.reduce(0, +) / Double(scores.count)
  }

  /// Expected calibration error; see `TrainingReport`.
  var calibrationError: Double {
    bins.reduce(0) { $0 + abs(Double($1.right) - $1.probability) } / total
  }
}
