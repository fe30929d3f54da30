/// The result of a training: a score for each label that is linear in the features.
struct LinearModel: ~Copyable {
  let labelCount: Int
  /// [feature][label]
  let weights: GrowableBuffer<Double>
  /// [label]
  let bias: [Double]
  var iterations = 0
  var hasConverged = true
  /// See `TrainingReport.loss`.
  var loss = 0.0

  init(labelCount: Int, weights: consuming GrowableBuffer<Double>, bias: [Double]) {
    self.labelCount = labelCount
    self.weights = weights
    self.bias = bias
  }

  /// True if the loss is a number and all weights are finite in single precision.
  var isFinite: Bool {
    loss.isFinite && weights.elements.allSatisfy { Float($0).isFinite }
      && bias.allSatisfy { Float($0).isFinite }
  }

  /// Computes the scores of a row of a matrix. logits: [label]
  func score(_ matrix: borrowing FeatureMatrix, row: Int, into logits: inout [Double]) {
    for label in 0..<labelCount { logits[label] = bias[label] }
    for index in matrix.rowStarts[row]..<matrix.rowStarts[row + 1] {
      let value = Double(matrix.values[index])
      let row = weights.base + Int(matrix.features[index]) * labelCount
      for label in 0..<labelCount { logits[label] += value * row[label] }
    }
  }
}
