/// A model trained on some of the texts.
struct FittedModel: ~Copyable {
  let model: LinearModel
  let selection: FeatureSelection
  /// The label of each output: the labels that occur in the training texts.
  let labels: [Int]
  private let monitor: CallMonitor

  /// - Parameters:
  ///   - rows: the training texts.
  ///   - targets: the label of every text.
  ///   - order: all terms, sorted by their bytes.
  ///   - progress: receives the finished fraction, 0...1.
  /// - Throws: `.invalidArgument` if the options lead to a model that is not finite in single precision.
  init(
    _ texts: borrowing TrainingTexts, rows: [Int], targets: [Int32], labelCount: Int, order: [UInt32],
    _ options: TrainOptions, team: borrowing ThreadPool.Team, _ monitor: CallMonitor,
    progress: (Double) -> Void
  ) throws(BertQAError) {
    try monitor.check()
    let selection = try FeatureSelection(texts, rows: rows, order: order, options, monitor)
    let matrix = try FeatureMatrix(texts, rows: rows, selection, monitor)
    var occurs = [Bool](repeating: false, count: labelCount)
    for row in rows { occurs[Int(targets[row])] = true }
    let labels = occurs.indices.filter { occurs[$0] }
    var outputs = [Int32](repeating: 0, count: labelCount)
    for (output, label) in labels.enumerated() { outputs[label] = Int32(output) }
    let rowTargets = rows.map { outputs[Int(targets[$0])] }

    progress(0)
    let matrixSize = matrix.byteCount + labels.count * matrix.featureCount * MemoryLayout<Double>.stride
    try monitor.hold(matrixSize)
    defer { monitor.release(matrixSize) }
    let model =
      if labels.count == 1 {
        try LinearModel(constantFor: matrix.featureCount)
      } else if options.algorithm == .naiveBayes {
        try NaiveBayes.train(
          matrix, targets: rowTargets, labelCount: labels.count, alpha: options.alpha)
      } else {
        try LogisticRegression.train(
          LogisticLoss(matrix, targets: rowTargets, labelCount: labels.count, c: options.c),
          labelCount: labels.count, options, team: team, progress: progress)
      }
    guard model.isFinite else {
      throw BertQAError(
        .invalidArgument, argument: options.algorithm == .naiveBayes ? "alpha" : "c",
        "is \(options.algorithm == .naiveBayes ? options.alpha : options.c), but training with it leads to weights "
          + "that are not finite: choose a value closer to 1")
    }
    self.model = model
    self.selection = selection
    self.labels = labels
    self.monitor = monitor
  }

  /// Predicts texts that the model has not seen.
  /// - Parameter use: receives each text's row and the logits of `labels`.
  func predict(
    _ texts: borrowing TrainingTexts, rows: [Int],
    use: (_ row: Int, _ logits: inout [Double]) throws(BertQAError) -> Void
  ) throws(BertQAError) {
    let matrix = try FeatureMatrix(texts, rows: rows, selection, monitor)
    var logits = [Double](repeating: 0, count: labels.count)
    for (index, row) in rows.enumerated() {
      try monitor.check()
      model.score(matrix, row: index, into: &logits)
      try use(row, &logits)
    }
  }

  /// Returns the number of occurrences of all features in the text.
  func occurrenceCount(_ texts: borrowing TrainingTexts, row: Int) -> Int {
    var count = 0
    for index in texts.rowStarts[row]..<texts.rowStarts[row + 1]
    where selection.features[Int(texts.termIDs[index])] >= 0 {
      count += Int(texts.counts[index])
    }
    return count
  }
}

extension LinearModel {
  /// A model with only one label.
  fileprivate init(constantFor featureCount: Int) throws(BertQAError) {
    self.init(labelCount: 1, weights: try GrowableBuffer(repeating: 0, count: featureCount), bias: [0])
  }
}
