import Glibc

/// Multinomial naive Bayes, like scikit-learn's MultinomialNB.
enum NaiveBayes {
  /// - Parameters:
  ///   - targets: the label of each row; every label occurs.
  ///   - alpha: added to the sum of each feature for each label.
  static func train(
    _ matrix: borrowing FeatureMatrix, targets: [Int32], labelCount: Int, alpha: Double
  ) throws(BertQAError) -> LinearModel {
    let features = matrix.featureCount
    let weights = try GrowableBuffer(repeating: alpha, count: features * labelCount)
    var sums = [Double](repeating: alpha * Double(features), count: labelCount)
    var rows = [Double](repeating: 0, count: labelCount)
    for row in 0..<matrix.rowCount {
      try matrix.monitor.check()
      let label = Int(targets[row])
      rows[label] += 1
      for index in matrix.rowStarts[row]..<matrix.rowStarts[row + 1] {
        let value = Double(matrix.values[index])
        weights[Int(matrix.features[index]) * labelCount + label] += value
        sums[label] += value
      }
    }
    for feature in 0..<features {
      try matrix.monitor.check()
      for label in 0..<labelCount {
        let index = feature * labelCount + label
        weights[index] = log(weights[index]) - log(sums[label])
      }
    }
    let bias = rows.map { log($0 / Double(matrix.rowCount)) }
    var model = LinearModel(labelCount: labelCount, weights: weights, bias: bias)
    model.loss = try model.meanCrossEntropy(matrix, targets: targets)
    return model
  }
}

extension LinearModel {
  /// In nats. Takes O(rows · labels) time.
  fileprivate func meanCrossEntropy(
    _ matrix: borrowing FeatureMatrix, targets: [Int32]
  ) throws(BertQAError) -> Double {
    var sum = 0.0
    var scores = [Double](repeating: 0, count: labelCount)
    for row in 0..<matrix.rowCount {
      try matrix.monitor.check()
      score(matrix, row: row, into: &scores)
      let target = scores[Int(targets[row])]
      sum += softmax(&scores, count: labelCount)
      sum -= target
    }
    return sum / Double(matrix.rowCount)
  }
}
