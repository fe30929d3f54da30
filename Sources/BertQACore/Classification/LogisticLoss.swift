import Glibc

/// The loss of logistic regression and its gradient: mean cross-entropy over the rows and
/// ‖weights‖² / (2 · c · rows), which has the minimum of scikit-learn's LogisticRegression.
///
/// A position is the weights, [feature][output], then the bias, [output]. With two labels there is one output,
/// the score of the second label against the first, as in scikit-learn; with more there is one for each.
/// Sums are made in blocks of fixed size: results do not depend on the number of threads.
final class LogisticLoss: SmoothFunction {
  let length: Int
  private let outputs: Int
  private let penalty: Double
  private let matrix: FeatureMatrix
  private let columns: FeatureColumns
  private let targets: [Int32]
  /// [row][output]: the loss's derivative by the score.
  private let residuals: GrowableBuffer<Double>
  /// [block]
  private let losses: GrowableBuffer<Double>
  /// [block][output]: sums of residuals.
  private let biasGradients: GrowableBuffer<Double>
  /// [block]: sums of squared weights.
  private let squares: GrowableBuffer<Double>

  private static let rowsPerBlock = 512
  private static let featuresPerBlock = 1024

  /// - Parameter targets: the label of each row, 0 ..< labelCount.
  init(
    _ matrix: consuming FeatureMatrix, targets: [Int32], labelCount: Int, c: Double
  ) throws(BertQAError) {
    outputs = labelCount == 2 ? 1 : labelCount
    length = (matrix.featureCount + 1) * outputs
    penalty = 1 / (c * Double(matrix.rowCount))
    self.targets = targets
    let rowBlocks = matrix.rowCount / Self.rowsPerBlock + 1
    columns = try FeatureColumns(matrix)
    residuals = try GrowableBuffer(repeating: 0, count: matrix.rowCount * outputs)
    losses = try GrowableBuffer(repeating: 0, count: rowBlocks)
    biasGradients = try GrowableBuffer(repeating: 0, count: rowBlocks * outputs)
    squares = try GrowableBuffer(repeating: 0, count: matrix.featureCount / Self.featuresPerBlock + 1)
    self.matrix = matrix
  }

  func evaluate(
    _ position: UnsafePointer<Double>, gradient: UnsafeMutablePointer<Double>,
    team: borrowing ThreadPool.Team
  ) -> Double {
    let (rows, features) = (matrix.rowCount, matrix.featureCount)
    team.run(count: losses.count) { block, _ in
      let first = block * Self.rowsPerBlock
      score(first..<max(first, min(rows, first + Self.rowsPerBlock)), block: block, position)
    }
    team.run(count: squares.count) { block, _ in
      let first = block * Self.featuresPerBlock
      differentiate(
        first..<max(first, min(features, first + Self.featuresPerBlock)), block: block, position, gradient)
    }
    let scale = 1 / Double(rows)
    let bias = gradient + features * outputs
    for output in 0..<outputs {
      bias[output] = (0..<losses.count).reduce(0) { $0 + biasGradients[$1 * outputs + output] } * scale
    }
    return losses.elements.reduce(0, +) * scale + squares.elements.reduce(0, +) * penalty / 2
  }

  /// Scores of some rows, their losses and residuals.
  private func score(_ rows: Range<Int>, block: Int, _ position: UnsafePointer<Double>) {
    let outputs = outputs
    let bias = position + matrix.featureCount * outputs
    let biasGradient = biasGradients.base + block * outputs
    biasGradient.update(repeating: 0, count: outputs)
    var loss = 0.0
    for row in rows {
      let scores = residuals.base + row * outputs
      for output in 0..<outputs { scores[output] = bias[output] }
      for index in matrix.rowStarts[row]..<matrix.rowStarts[row + 1] {
        let value = Double(matrix.values[index])
        let weights = position + Int(matrix.features[index]) * outputs
        for output in 0..<outputs { scores[output] += value * weights[output] }
      }
      loss += Self.lossAndResiduals(scores, outputs, target: Int(targets[row]))
      for output in 0..<outputs { biasGradient[output] += scores[output] }
    }
    losses[block] = loss
  }

  /// The loss of a row; replaces the scores by its derivatives.
  private static func lossAndResiduals(
    _ scores: UnsafeMutablePointer<Double>, _ outputs: Int, target: Int
  ) -> Double {
    guard outputs > 1 else {
      let score = target == 1 ? scores[0] : -scores[0]
      // ln(1 + e^-score) and its derivative, without overflow.
      let power = exp(-abs(score))
      let wrong = (score > 0 ? power : 1) / (1 + power)
      scores[0] = target == 1 ? -wrong : wrong
      return max(-score, 0) + log1p(power)
    }
    let score = scores[target]
    let loss = softmax(scores, count: outputs) - score
    scores[target] -= 1
    return loss
  }

  /// The gradient of some features.
  private func differentiate(
    _ features: Range<Int>, block: Int, _ position: UnsafePointer<Double>,
    _ gradient: UnsafeMutablePointer<Double>
  ) {
    let outputs = outputs
    let scale = 1 / Double(matrix.rowCount)
    var square = 0.0
    for feature in features {
      let weights = position + feature * outputs
      let sums = gradient + feature * outputs
      for output in 0..<outputs { sums[output] = 0 }
      for index in columns.starts[feature]..<columns.starts[feature + 1] {
        let value = Double(columns.values[index])
        let row = residuals.base + Int(columns.rows[index]) * outputs
        for output in 0..<outputs { sums[output] += value * row[output] }
      }
      for output in 0..<outputs {
        square += weights[output] * weights[output]
        sums[output] = sums[output] * scale + penalty * weights[output]
      }
    }
    squares[block] = square
  }
}
