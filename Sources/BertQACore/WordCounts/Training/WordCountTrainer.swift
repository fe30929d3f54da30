import Synchronization

/// Collects labelled texts and trains a word-count classifier on them. A text is counted when it is added and
/// not kept: see `TrainingTexts` for the memory that takes.
///
///     let trainer = try WordCountTrainer()
///     for (text, label) in data { try trainer.add(text, label: label) }
///     let report = try trainer.finish(modelDirectory: "my-model")
public final class WordCountTrainer {
  private let options: TrainOptions
  private var texts: TrainingTexts
  /// The label of each text, by number in the order of their first texts.
  private var targets: [Int32] = []
  private var labels: [[UInt8]] = []
  private var labelNumbers: [[UInt8]: Int32] = [:]

  public convenience init(options: TrainOptions = TrainOptions()) throws(BertQAError) {
    try options.validate()
    try Self.warmUp()
    self.init(checked: options)
  }

  private init(checked options: TrainOptions) {
    self.options = options
    texts = TrainingTexts(options)
  }

  /// Trains once per process while fork() is held back: see `ForkGuard`. What is found is of no interest.
  private static func warmUp() throws(BertQAError) {
    guard !isWarm.load(ordering: .acquiring) else { return }
    try ForkGuard.hold { () throws(BertQAError) in
      for algorithm in TrainingAlgorithm.allCases {
        var options = TrainOptions()
        options.algorithm = algorithm
        options.maxNGram = 2
        options.usesTFIDF = true
        options.folds = 2
        options.threads = 1
        let trainer = WordCountTrainer(checked: options)
        for text in ["one two", "one two three", "four five", "four six"] {
          try trainer.add(text, label: String(text.prefix(1)))
        }
        _ = try trainer.train()
      }
    }
    isWarm.store(true, ordering: .releasing)
  }

  private static let isWarm = Atomic<Bool>(false)

  public var textCount: Int { targets.count }

  public var labelCount: Int { labels.count }

  /// Counts the words of one more text; one without words counts as a text, too.
  public func add(_ text: UnsafeBufferPointer<UInt8>, label: String) throws(BertQAError) {
    guard text.count <= Int(Int32.max) else {
      throw BertQAError(.tooLarge, "the text has \(text.count) bytes, above the limit of \(Int32.max)")
    }
    guard !label.isEmpty, !label.utf8.contains(0) else {
      throw BertQAError(
        .invalidArgument, "the label of text \(textCount) is empty or has a NUL; every text needs a name")
    }
    guard textCount < Int(Int32.max) else {
      throw BertQAError(.tooLarge, "there are more than \(Int32.max) texts")
    }
    let number = try number(of: Array(label.utf8))
    try texts.add(text)
    targets.append(number)
  }

  public func add(_ text: String, label: String) throws(BertQAError) {
    try withBytes(of: text) { bytes throws(BertQAError) in try add(bytes, label: label) }
  }

  private func number(of label: [UInt8]) throws(BertQAError) -> Int32 {
    if let number = labelNumbers[label] { return number }
    guard labels.count < ObjectReader.labelLimit.upperBound else {
      throw BertQAError(.tooLarge, "there are more than \(labels.count) labels")
    }
    let number = Int32(labels.count)
    labelNumbers[label] = number
    labels.append(label)
    return number
  }

  /// Trains on all that was added and writes the model to `modelDirectory`, which must not exist or be empty
  /// and comes into being complete or not at all. More texts may be added afterwards.
  public func finish(modelDirectory: String) throws(BertQAError) -> TrainingReport {
    let output = try OutputDirectory(path: modelDirectory)
    let (model, report) = try train()
    try model.write(to: output, options: options)
    try output.commit()
    return report
  }

  /// The model of all that was added.
  func train() throws(BertQAError) -> (WordCountModel, TrainingReport) {
    let (names, targets) = sortedLabels()
    try check(targets, labelCount: names.count)
    var report = TrainingReport()
    report.textCount = textCount
    report.labels = names
    report.labelTexts = names.indices.map { label in targets.count { $0 == label } }

    let team = ThreadPool.Team(
      maxThreads: options.threads > 0 ? options.threads : ThreadPool.shared.size)
    let order = texts.wordsInOrder()
    if options.folds > 0 {
      let metrics = try crossValidate(targets, labelCount: names.count, order: order, team: team)
      report.accuracy = metrics.accuracy
      report.macroF1 = metrics.macroF1
      report.calibrationError = metrics.calibrationError
      report.confusion = metrics.confusion
    }
    let fitted = try FittedModel(
      texts, rows: Array(0..<textCount), targets: targets, labelCount: names.count, order: order, options,
      team: team
    ) { options.progress?("training", $0) ?? false }
    guard !fitted.selection.words.isEmpty else {
      throw BertQAError(
        .invalidArgument,
        "no word is left of \(textCount) texts; lower min_word_length or min_document_count, or raise "
          + "max_document_fraction")
    }
    report.vocabularySize = fitted.selection.words.count
    report.iterations = fitted.model.iterations
    report.hasConverged = fitted.model.hasConverged
    report.loss = fitted.model.loss
    return (try WordCountModel(fitted, texts, labels: names, options), report)
  }

  /// The labels sorted by their bytes, and the number among these of each text's label.
  private func sortedLabels() -> (names: [String], targets: [Int32]) {
    let order = labels.indices.sorted { labels[$0].lexicographicallyPrecedes(labels[$1]) }
    var ranks = [Int32](repeating: 0, count: labels.count)
    for (rank, number) in order.enumerated() { ranks[number] = Int32(rank) }
    return (order.map { String(decoding: labels[$0], as: UTF8.self) }, targets.map { ranks[Int($0)] })
  }

  private func check(_ targets: [Int32], labelCount: Int) throws(BertQAError) {
    guard let first = targets.first, targets.contains(where: { $0 != first }) else {
      throw BertQAError(
        .invalidArgument,
        "a classifier needs texts with at least two labels, but \(textCount) text(s) have \(labelCount)")
    }
    guard options.folds <= textCount else {
      throw BertQAError(
        .invalidArgument, "folds is \(options.folds), but there are only \(textCount) texts")
    }
  }

  /// Predicts each text by a model trained on the other folds alone, its words and their weights included.
  private func crossValidate(
    _ targets: [Int32], labelCount: Int, order: [UInt32], team: borrowing ThreadPool.Team
  ) throws(BertQAError) -> PredictionMetrics {
    var metrics = PredictionMetrics(labelCount: labelCount)
    let folds = Folds(count: options.folds, targets: targets, labelCount: labelCount, seed: options.seed)
    for fold in 0..<folds.count {
      let fitted = try FittedModel(
        texts, rows: folds.kept(fold), targets: targets, labelCount: labelCount, order: order, options,
        team: team
      ) { part in
        options.progress?("cross-validation", (Double(fold) + part) / Double(folds.count)) ?? false
      }
      try fitted.predict(texts, rows: folds.heldOut(fold), targets: targets, into: &metrics)
    }
    return metrics
  }
}
