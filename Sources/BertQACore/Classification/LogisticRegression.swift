import Glibc

/// Logistic regression, as scikit-learn's LogisticRegression with solver "lbfgs".
enum LogisticRegression {
  /// - Parameters:
  ///   - targets: the label of each row; every label occurs.
  ///   - progress: told which part is done, 0...1; true: stop.
  static func train(
    _ matrix: consuming FeatureMatrix, targets: [Int32], labelCount: Int, _ options: TrainOptions,
    team: borrowing ThreadPool.Team, progress: (Double) -> Bool
  ) throws(BertQAError) -> LinearModel {
    let features = matrix.featureCount
    let loss = try LogisticLoss(matrix, targets: targets, labelCount: labelCount, c: options.c)
    let solver = try LBFGS(loss)
    var first: Double?
    var done = 0.0
    let hasConverged = solver.minimize(
      tolerance: options.tolerance, maxIterations: options.maxIterations, team: team
    ) { largest in
      // The gradient shrinks by about the same factor in each iteration.
      let start = first ?? largest
      first = start
      let part = log(start / max(largest, 1e-300)) / max(1e-300, log(start / options.tolerance))
      if part.isFinite { done = max(done, min(1, part)) }
      return progress(done)
    }
    let weights: GrowableBuffer<Double>
    let bias: [Double]
    if labelCount == 2 {
      // Half of the score for one label, half against the other.
      weights = try GrowableBuffer(repeating: 0, count: features * 2)
      for feature in 0..<features {
        weights[2 * feature] = -solver.x[feature] / 2
        weights[2 * feature + 1] = solver.x[feature] / 2
      }
      bias = [-solver.x[features] / 2, solver.x[features] / 2]
    } else {
      bias = (0..<labelCount).map { solver.x[features * labelCount + $0] }
      weights = try GrowableBuffer(repeating: 0, count: features * labelCount)
      weights.base.update(from: solver.x.base, count: features * labelCount)
    }
    var model = LinearModel(labelCount: labelCount, weights: weights, bias: bias)
    model.iterations = solver.iterations
    model.hasConverged = hasConverged
    model.loss = solver.value
    return model
  }
}
