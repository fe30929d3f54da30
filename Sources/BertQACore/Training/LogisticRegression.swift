import Glibc

/// Logistic regression, like scikit-learn's LogisticRegression with solver "lbfgs".
enum LogisticRegression {
  /// - Parameters:
  ///   - loss: for rows in which every label occurs. It is not made here: Swift 6.0.3 fails on functions that
  ///     consume a matrix and name what they make from it.
  ///   - progress: receives the finished fraction, 0...1.
  static func train(
    _ loss: LogisticLoss, labelCount: Int, _ options: TrainOptions, team: borrowing ThreadPool.Team,
    progress: (Double) -> Void
  ) throws(BertQAError) -> LinearModel {
    let solver = try LBFGS(loss, loss.monitor)
    var first: Double?
    var done = 0.0
    let hasConverged = try solver.minimize(
      tolerance: options.tolerance, maxIterations: options.maxIterations, team: team
    ) { largest in
      // The gradient shrinks by about the same factor in each iteration.
      let start = first ?? largest
      first = start
      let part = log(start / max(largest, 1e-300)) / max(1e-300, log(start / options.tolerance))
      if part.isFinite { done = max(done, min(1, part)) }
      progress(done)
    }
    var model = try LinearModel(loss, position: solver.x.base, labelCount: labelCount)
    model.iterations = solver.iterations
    model.hasConverged = hasConverged
    model.loss = solver.value
    return model
  }
}

extension LinearModel {
  fileprivate init(
    _ loss: LogisticLoss, position: UnsafePointer<Double>, labelCount: Int
  ) throws(BertQAError) {
    let featureCount = loss.featureCount
    let weights = try GrowableBuffer<Double>(repeating: 0, count: featureCount * labelCount)
    var bias = [Double](repeating: 0, count: labelCount)
    for feature in 0...featureCount {
      let row = position + feature * loss.stride
      for label in 0..<labelCount {
        // With two labels, half of the score counts for the second and half against the first.
        let weight = labelCount == 2 ? (Double(label) - 0.5) * row[0] : row[label]
        if feature < featureCount {
          weights[feature * labelCount + label] = weight
        } else {
          bias[label] = weight
        }
      }
    }
    self.init(labelCount: labelCount, weights: weights, bias: bias)
  }
}
