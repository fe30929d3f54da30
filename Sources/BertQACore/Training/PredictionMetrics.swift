/// The quality of predictions. Memory: linear in the labels and in the pairs of labels that occur.
package struct PredictionMetrics {
  /// The number of texts per pair of labels, with the true label in the high half.
  private var pairs: [UInt64: Int] = [:]
  /// [label]: the number of texts with it, of texts predicted as it, and of texts that are both.
  private var labels: [LabelCounts]
  private var bins = [Bin](repeating: Bin(), count: 15)
  private var total = 0
  private var predictedCount = 0
  private var rightCount = 0

  private struct LabelCounts {
    var actual = 0
    var predicted = 0
    var right = 0
  }

  private struct Bin {
    var count = 0
    var right = 0
    var probability = 0.0
  }

  package init(labelCount: Int) { labels = Array(repeating: LabelCounts(), count: labelCount) }

  /// - Parameters:
  ///   - predicted: nil if there was no prediction. This counts as wrong, but for no other label.
  ///   - probability: of the predicted label, 0...1.
  package mutating func add(target: Int, predicted: Int?, probability: Double) {
    labels[target].actual += 1
    total += 1
    guard let predicted else { return }
    let isRight = target == predicted
    pairs[UInt64(target) << 32 | UInt64(predicted), default: 0] += 1
    labels[predicted].predicted += 1
    labels[predicted].right += isRight ? 1 : 0
    predictedCount += 1
    rightCount += isRight ? 1 : 0
    let bin = min(bins.count - 1, Int(probability * Double(bins.count)))
    bins[bin].count += 1
    bins[bin].right += isRight ? 1 : 0
    bins[bin].probability += probability
  }

  /// Adds the prediction of the softmax of logits, and overwrites the logits.
  /// - Parameter labels: the label of each logit.
  mutating func add(target: Int, logits: inout [Double], of labels: [Int]) {
    softmax(&logits, count: labels.count)
    var best = 0
    for output in labels.indices where logits[output] > logits[best] { best = output }
    add(target: target, predicted: labels[best], probability: logits[best])
  }

  package var accuracy: Double { Double(rightCount) / Double(total) }

  /// See `TrainingReport`.
  package var f1: [Double] {
    labels.map { label in
      let both = label.actual + label.predicted
      return both > 0 ? 2 * Double(label.right) / Double(both) : 0
    }
  }

  package var macroF1: Double { f1.reduce(0, +) / Double(labels.count) }

  /// See `TrainingReport`.
  package var precision: [Double] {
    labels.map { $0.predicted > 0 ? Double($0.right) / Double($0.predicted) : 0 }
  }

  /// See `TrainingReport`.
  package var recall: [Double] { labels.map { $0.actual > 0 ? Double($0.right) / Double($0.actual) : 0 } }

  /// Expected calibration error; see `TrainingReport`.
  package var calibrationError: Double {
    bins.reduce(0) { $0 + abs(Double($1.right) - $1.probability) } / Double(predictedCount)
  }

  /// See `TrainingReport`.
  package var confusion: [ConfusionEntry] {
    pairs.sorted(byKey: { Int($0.key) }).map { pair, count in
      ConfusionEntry(
        trueLabel: Int(pair >> 32), predictedLabel: Int(pair & 0xFFFF_FFFF), count: count)
    }
  }
}
