/// A model trained on some of the texts.
struct FittedModel: ~Copyable {
  let model: LinearModel
  /// nil: all features.
  let selection: FeatureSelection?
  let featureCount: Int
  /// The label of each output: the labels that occur in the training texts.
  let labels: [Int]
  private let source: any FeatureSource
  private let monitor: CallMonitor

  /// - Parameters:
  ///   - rows: the training texts.
  ///   - targets: the label of every text.
  ///   - progress: receives the finished fraction, 0...1.
  /// - Throws: `.invalidArgument` if the options lead to a model that is not finite in single precision.
  init(
    _ source: any FeatureSource, rows: [Int], targets: [Int32], labelCount: Int, _ options: TrainOptions,
    team: borrowing ThreadPool.Team, _ monitor: CallMonitor,
    progress: (Double) -> Void
  ) throws(BertQAError) {
    try monitor.check()
    let selection = try source.selection(rows: rows, monitor)
    let matrix = try source.matrix(rows: rows, selection, monitor)
    var occurs = [Bool](repeating: false, count: labelCount)
    for row in rows { occurs[Int(targets[row])] = true }
    let labels = occurs.indices.filter { occurs[$0] }
    var outputs = [Int32](repeating: 0, count: labelCount)
    for (output, label) in labels.enumerated() { outputs[label] = Int32(output) }
    let rowTargets = rows.map { outputs[Int(targets[$0])] }

    let featureCount = matrix.featureCount
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
          LogisticLoss(
            matrix, targets: rowTargets, labelCount: labels.count, c: options.inverseStrength(source.kind)),
          labelCount: labels.count, options, team: team, progress: progress)
      }
    guard model.isFinite else {
      throw BertQAError(
        .invalidArgument, argument: options.algorithm == .naiveBayes ? "alpha" : "c",
        "is \(options.algorithm == .naiveBayes ? options.alpha : options.inverseStrength(source.kind)), but training with it leads to weights "
          + "that are not finite: choose a value closer to 1")
    }
    self.model = model
    self.selection = selection
    self.featureCount = featureCount
    self.labels = labels
    self.source = source
    self.monitor = monitor
  }

  /// Predicts texts that the model has not seen.
  /// - Parameter use: receives each text's row and the logits of `labels`.
  func predict(
    rows: [Int],
    use: (_ row: Int, _ logits: inout [Double]) throws(BertQAError) -> Void
  ) throws(BertQAError) {
    let matrix = try source.matrix(rows: rows, selection, monitor)
    var logits = [Double](repeating: 0, count: labels.count)
    for (index, row) in rows.enumerated() {
      try monitor.check()
      model.score(matrix, row: index, into: &logits)
      try use(row, &logits)
    }
  }

  /// Returns the number of occurrences of the model's features in a text.
  func occurrenceCount(row: Int) -> Int { source.occurrenceCount(row: row, selection) }
}

extension LinearModel {
  /// A model with only one label.
  fileprivate init(constantFor featureCount: Int) throws(BertQAError) {
    self.init(labelCount: 1, weights: try GrowableBuffer(repeating: 0, count: featureCount), bias: [0])
  }
}
