/// Collects labelled texts and trains a word-count classifier on them. A text is counted when it is added,
/// and not kept: see `TrainingTexts` for the memory.
///
///     let trainer = try WordCountTrainer()
///     for (text, label) in data { try trainer.add(text, label: label) }
///     let report = try trainer.finish(modelDirectory: "my-model")
public final class WordCountTrainer {
  private let options: TrainOptions
  private var texts: TrainingTexts
  /// The label of each text. Labels are numbered in the order of their first texts.
  private var targets: [Int32] = []
  private var labels: [[UInt8]] = []
  private var labelNumbers: [[UInt8]: Int32] = [:]
  /// The group of each text. Groups are numbered in the order of their first texts.
  private var groups: [Int32] = []
  private var groupNumbers: [[UInt8]: Int32] = [:]

  /// - Throws: `.invalidArgument` for an option outside its range.
  public init(options: TrainOptions = TrainOptions()) throws(BertQAError) {
    try options.validate()
    self.options = options
    texts = TrainingTexts(options)
  }

  public var textCount: Int { targets.count }

  public var labelCount: Int { labels.count }

  /// The number of different groups. Texts without a group count as one.
  public var groupCount: Int { groupNumbers.count }

  /// Counts the words of one more text. A text without words counts too. A failure changes nothing.
  /// - Parameters:
  ///   - text: UTF-8, at most 2³¹ - 1 bytes. Invalid bytes are not words.
  ///   - label: UTF-8, neither blank nor with a NUL. Labels are equal if their bytes are.
  ///   - group: any bytes. With two or more groups, the folds of the cross-validation contain whole groups.
  ///     Its figures and the calibration then hold for groups not seen, such as other authors or sources.
  ///   - call: nil: that of the trainer's options.
  /// - Throws: `.invalidArgument` for an invalid label, `.tooLarge`, `.outOfMemory`, `.cancelled`,
  ///   `.deadlineExceeded`.
  public func add(
    _ text: UnsafeBufferPointer<UInt8>, label: UnsafeBufferPointer<UInt8>, group: [UInt8] = [],
    call: CallOptions? = nil
  ) throws(BertQAError) {
    try TextLimit.check(text, "text")
    guard ObjectReader.isLabel(label), UTF8Codec.isValid(label) else {
      throw BertQAError(
        .invalidArgument, argument: "label",
        "of text \(textCount) is blank, has a NUL or is not valid UTF-8: every text needs a name")
    }
    guard textCount < Int(Int32.max) else {
      throw BertQAError(.tooLarge, "there are more than \(Int32.max) texts")
    }
    let monitor = CallMonitor(call ?? options.call)
    try monitor.check()
    try Memory.require(2 * label.count)
    try targets.makeRoom(for: 1)
    try labels.makeRoom(for: 1)
    try labelNumbers.makeRoom()
    try groups.makeRoom(for: 1)
    try groupNumbers.makeRoom()
    let number = try number(of: Array(label))
    try texts.add(text, monitor)
    if number == labels.count { append(label: Array(label)) }
    targets.append(Int32(number))
    // There are no more groups than texts.
    let groupNumber = groupNumbers[group] ?? Int32(groupNumbers.count)
    groupNumbers[group] = groupNumber
    groups.append(groupNumber)
  }

  public func add(
    _ text: UnsafeBufferPointer<UInt8>, label: String, group: [UInt8] = [], call: CallOptions? = nil
  ) throws(BertQAError) {
    try withBytes(of: label) { label throws(BertQAError) in
      try add(text, label: label, group: group, call: call)
    }
  }

  public func add(
    _ text: String, label: String, group: String = "", call: CallOptions? = nil
  ) throws(BertQAError) {
    try withBytes(of: text) { bytes throws(BertQAError) in
      try add(bytes, label: label, group: Array(group.utf8), call: call)
    }
  }

  /// Returns the number of a label; a new one gets the next number.
  private func number(of label: [UInt8]) throws(BertQAError) -> Int {
    if let number = labelNumbers[label] { return Int(number) }
    guard labels.count < ObjectReader.labelLimit.upperBound else {
      throw BertQAError(.tooLarge, "there are more than \(labels.count) labels")
    }
    return labels.count
  }

  private func append(label: [UInt8]) {
    labelNumbers[label] = Int32(labels.count)
    labels.append(label)
  }

  /// Trains on all added texts and writes the model to `modelDirectory`, which must not exist or be empty.
  /// The directory appears complete or not at all. More texts may be added afterwards.
  /// - Parameter call: nil: that of the trainer's options.
  /// - Throws: `.invalidArgument` if there are fewer than two labels, fewer texts than folds, or no words, or
  ///   if an option leads to weights that are not finite; `.io`; `.cancelled`; `.deadlineExceeded`;
  ///   `.outOfMemory`.
  public func finish(modelDirectory: String, call: CallOptions? = nil) throws(BertQAError) -> TrainingReport {
    try finish(OutputDirectory(path: modelDirectory), CallMonitor(call ?? options.call))
  }

  private func finish(
    _ output: OutputDirectory, _ monitor: CallMonitor
  ) throws(BertQAError) -> TrainingReport {
    let (model, report) = try train(monitor)
    try model.write(to: output, options: options)
    try monitor.check()
    try output.commit()
    return report
  }

  /// Trains on all added texts and returns the model.
  func train(_ monitor: CallMonitor) throws(BertQAError) -> (WordCountModel, TrainingReport) {
    try monitor.check()
    try monitor.hold(texts.byteCount)
    // Each text's label, by name, and the number of the text.
    try Memory.require(2 * textCount, of: Int.self)
    let (names, targets) = sortedLabels()
    try check(targets, labelCount: names.count)
    var report = TrainingReport()
    report.textCount = textCount
    report.labels = names
    report.labelTexts = [Int](repeating: 0, count: names.count)
    for target in targets { report.labelTexts[Int(target)] += 1 }

    let team = ThreadPool.Team(
      maxThreads: options.threads > 0 ? options.threads : ThreadPool.shared.size)
    let order = try texts.termsInOrder(monitor)
    var temperature = LengthTemperature.one
    if options.folds > 0 {
      let metrics = try crossValidate(
        targets, labelCount: names.count, order: order, team: team, &temperature, monitor)
      report.accuracy = metrics.accuracy
      report.macroF1 = metrics.macroF1
      report.calibrationError = metrics.calibrationError
      report.precision = metrics.precision
      report.recall = metrics.recall
      report.f1 = metrics.f1
      report.confusion = metrics.confusion
    }
    let fitted = try FittedModel(
      texts, rows: Array(0..<textCount), targets: targets, labelCount: names.count, order: order, options,
      team: team, monitor
    ) { options.progress?("training", $0) }
    guard !fitted.selection.terms.isEmpty else {
      throw BertQAError(
        .invalidArgument,
        "no words are left in \(textCount) texts; lower min_word_length or min_document_count, or raise "
          + "max_document_fraction")
    }
    report.vocabularySize = fitted.selection.terms.count
    report.iterations = fitted.model.iterations
    report.hasConverged = fitted.model.hasConverged
    report.loss = fitted.model.loss
    let model = try WordCountModel(
      fitted, texts, labels: names, options, temperature: temperature, monitor)
    return (model, report)
  }

  /// Returns the labels sorted by their bytes, and the number of each text's label in this order.
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
        .invalidArgument, argument: "folds",
        "is \(options.folds), but there are only \(textCount) texts")
    }
  }

  /// Predicts each text with a model trained only on the other folds, including the choice of terms and their
  /// weights.
  /// - Parameter temperature: set to the one that fits the predictions, if the options request it.
  private func crossValidate(
    _ targets: [Int32], labelCount: Int, order: [UInt32], team: borrowing ThreadPool.Team,
    _ temperature: inout LengthTemperature, _ monitor: CallMonitor
  ) throws(BertQAError) -> PredictionMetrics {
    var metrics = PredictionMetrics(labelCount: labelCount)
    let folds =
      groupCount > 1
      ? try Folds(count: options.folds, groups: groups, groupCount: groupCount)
      : try Folds(count: options.folds, targets: targets, labelCount: labelCount, seed: options.seed)
    let calibration =
      options.calibrates
      ? try Calibration(textCount: textCount, labelCount: labelCount, foldCount: folds.count, monitor) : nil
    for fold in 0..<folds.count {
      let fitted = try FittedModel(
        texts, rows: folds.kept(fold), targets: targets, labelCount: labelCount, order: order, options,
        team: team, monitor
      ) { part in
        options.progress?("cross-validation", (Double(fold) + part) / Double(folds.count))
      }
      try fitted.predict(texts, rows: folds.heldOut(fold)) { row, logits throws(BertQAError) in
        let target = Int(targets[row])
        if let calibration {
          try calibration.add(
            fold: fold, target: target, logits: logits, of: fitted.labels,
            occurrences: fitted.occurrenceCount(texts, row: row))
        } else {
          metrics.add(target: target, logits: &logits, of: fitted.labels)
        }
      }
    }
    if let calibration {
      metrics = try calibration.metrics(team)
      temperature = try calibration.temperature(team)
    }
    return metrics
  }
}
