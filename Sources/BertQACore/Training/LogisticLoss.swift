import Glibc

/// The loss of logistic regression and its gradient: mean cross-entropy over the rows plus ‖weights‖² / (2 ·
/// c · rows). It has the same minimum as scikit-learn's LogisticRegression.
///
/// A position has the weights, [feature][output], then the bias, [output]. As in scikit-learn, two labels
/// have one output, the score of the second label against the first. More labels have one output each, and
/// some extra outputs that stay 0 fill registers. Sums are made in blocks of fixed size: results do not
/// depend on the number of threads.
final class LogisticLoss: SmoothFunction {
  let length: Int
  /// The number of outputs, including the extra ones.
  let stride: Int
  let outputs: Int
  private let penalty: Double
  private let matrix: FeatureMatrix
  private let columns: FeatureColumns
  private let targets: [Int32]
  /// [row][output]: the derivative of the loss by the score.
  private let residuals: GrowableBuffer<Double>
  /// [block]
  private let losses: GrowableBuffer<Double>
  /// [block][output]: sums of residuals.
  private let biasGradients: GrowableBuffer<Double>
  /// [block]: sums of squared weights.
  private let squares: GrowableBuffer<Double>
  let monitor: CallMonitor
  /// The error that ends the call, set by the calling thread.
  private var stopped: BertQAError?

  private static let rowsPerBlock = 512
  private static let featuresPerBlock = 1024

  /// - Parameters:
  ///   - targets: the label of each row, 0 ..< labelCount.
  init(
    _ matrix: consuming FeatureMatrix, targets: [Int32], labelCount: Int, c: Double
  ) throws(BertQAError) {
    monitor = matrix.monitor
    outputs = labelCount == 2 ? 1 : labelCount
    switch outputs {
    case 1: stride = 1
    case 2...4: stride = 4
    case 5: stride = 5
    default: stride = (outputs + 7) / 8 * 8
    }
    length = (matrix.featureCount + 1) * stride
    penalty = 1 / (c * Double(matrix.rowCount))
    self.targets = targets
    let rowBlocks = matrix.rowCount / Self.rowsPerBlock + 1
    columns = try FeatureColumns(matrix)
    residuals = try GrowableBuffer(repeating: 0, count: matrix.rowCount * stride)
    losses = try GrowableBuffer(repeating: 0, count: rowBlocks)
    biasGradients = try GrowableBuffer(repeating: 0, count: rowBlocks * stride)
    squares = try GrowableBuffer(repeating: 0, count: matrix.featureCount / Self.featuresPerBlock + 1)
    self.matrix = matrix
  }

  var featureCount: Int { matrix.featureCount }

  func evaluate(
    _ position: UnsafePointer<Double>, gradient: UnsafeMutablePointer<Double>,
    team: borrowing ThreadPool.Team
  ) throws(BertQAError) -> Double {
    switch stride {
    case 1: try evaluate(ScoreRow1.self, position, gradient, team)
    case 4: try evaluate(ScoreRow4.self, position, gradient, team)
    case 5: try evaluate(ScoreRowPair<ScoreRow4, ScoreRow1>.self, position, gradient, team)
    default: try evaluate(ScoreRowPair<ScoreRow4, ScoreRow4>.self, position, gradient, team)
    }
  }

  /// Processes `Row.count` outputs at a time.
  private func evaluate<Row: ScoreRow>(
    _: Row.Type, _ position: UnsafePointer<Double>, _ gradient: UnsafeMutablePointer<Double>,
    _ team: borrowing ThreadPool.Team
  ) throws(BertQAError) -> Double {
    let (rows, features) = (matrix.rowCount, matrix.featureCount)
    team.run(count: losses.count, whileWaiting: { [self] in _ = goesOn(seat: 0) }) { [self] block, seat in
      guard goesOn(seat: seat) else { return }
      let first = block * Self.rowsPerBlock
      score(Row.self, first..<max(first, min(rows, first + Self.rowsPerBlock)), block: block, position)
    }
    team.run(count: squares.count, whileWaiting: { [self] in _ = goesOn(seat: 0) }) { [self] block, seat in
      guard goesOn(seat: seat) else { return }
      let first = block * Self.featuresPerBlock
      differentiate(
        Row.self, first..<max(first, min(features, first + Self.featuresPerBlock)), block: block, position,
        gradient)
    }
    if let stopped { throw stopped }
    let scale = 1 / Double(rows)
    let bias = gradient + features * stride
    for output in 0..<stride {
      bias[output] = (0..<losses.count).reduce(0) { $0 + biasGradients[$1 * stride + output] } * scale
    }
    return losses.elements.reduce(0, +) * scale + squares.elements.reduce(0, +) * penalty / 2
  }

  /// True if a block should be computed: false once the calling thread, which has seat 0, has to stop.
  private func goesOn(seat: Int) -> Bool {
    if seat == 0, stopped != nil { return false }
    do throws(BertQAError) {
      try CallPoll(monitor, isCaller: seat == 0).check()
      return true
    } catch {
      if seat == 0 { stopped = error }
      return false
    }
  }

  /// Computes the scores of some rows, their losses and residuals.
  private func score<Row: ScoreRow>(
    _: Row.Type, _ rows: Range<Int>, block: Int, _ position: UnsafePointer<Double>
  ) {
    let (stride, outputs) = (stride, outputs)
    let (starts, features, values) = (matrix.rowStarts.base, matrix.features.base, matrix.values.base)
    let bias = position + matrix.featureCount * stride
    let biasGradient = biasGradients.base + block * stride
    biasGradient.update(repeating: 0, count: stride)
    var loss = 0.0
    for row in rows {
      let scores = residuals.base + row * stride
      for first in Swift.stride(from: 0, to: stride, by: Row.count) {
        var sum = Row(bias + first)
        for index in starts[row]..<starts[row &+ 1] {
          let weights = Row(position + (Int(features[index]) &* stride &+ first))
          sum.add(weights, times: Double(values[index]))
        }
        sum.store(scores + first)
      }
      loss += Self.lossAndResiduals(scores, outputs, target: Int(targets[row]))
      for output in outputs..<stride { scores[output] = 0 }
      for output in 0..<stride { biasGradient[output] += scores[output] }
    }
    losses[block] = loss
  }

  /// Returns the loss of a row and replaces the scores by its derivatives.
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

  /// Computes the gradient of some features.
  private func differentiate<Row: ScoreRow>(
    _: Row.Type, _ features: Range<Int>, block: Int, _ position: UnsafePointer<Double>,
    _ gradient: UnsafeMutablePointer<Double>
  ) {
    let stride = stride
    let (starts, rows, values) = (columns.starts.base, columns.rows.base, columns.values.base)
    let scale = 1 / Double(matrix.rowCount)
    var square = 0.0
    for feature in features {
      let weights = position + feature * stride
      let sums = gradient + feature * stride
      for first in Swift.stride(from: 0, to: stride, by: Row.count) {
        var sum = Row()
        for index in starts[feature]..<starts[feature &+ 1] {
          sum.add(Row(residuals.base + (Int(rows[index]) &* stride &+ first)), times: Double(values[index]))
        }
        sum.store(sums + first)
      }
      for output in 0..<stride {
        square += weights[output] * weights[output]
        sums[output] = sums[output] * scale + penalty * weights[output]
      }
    }
    squares[block] = square
  }
}
