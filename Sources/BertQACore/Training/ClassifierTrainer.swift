/// Collects labelled texts and trains a classifier on them. A text is not kept. Its words are counted when it is added:
/// see `TrainingTexts` for the memory. Its vector is computed soon after, and kept.
///
///     let trainer = try ClassifierTrainer()
///     for (text, label) in data { try trainer.add(text, label: label) }
///     let report = try trainer.finish(modelDirectory: "my-model")
public final class ClassifierTrainer {
  private let options: TrainOptions
  /// nil: not among the features.
  private let words: CountedWords?
  private let vectors: EmbeddedTexts?
  /// The label of each text. Labels are numbered in the order of their first texts.
  private var targets: [Int32] = []
  private var labels: [[UInt8]] = []
  private var labelNumbers: [[UInt8]: Int32] = [:]
  /// The group of each text. Groups are numbered in the order of their first texts.
  private var groups: [Int32] = []
  private var groupNumbers: [[UInt8]: Int32] = [:]

  /// - Throws: `.invalidArgument` for an option outside its range; with vectors also the errors of loading a model.
  public init(options: TrainOptions = TrainOptions()) throws(BertQAError) {
    try options.validate()
    self.options = options
    words = options.features == .embedding ? nil : CountedWords(options)
    vectors = options.features == .words ? nil : try EmbeddedTexts(options)
  }

  public var textCount: Int { targets.count }

  public var labelCount: Int { labels.count }

  /// The number of different groups. Texts without a group count as one.
  public var groupCount: Int { groupNumbers.count }

  /// Adds one more text. A text without words counts too. A failure changes nothing.
  /// - Parameters:
  ///   - text: UTF-8, at most 2³¹ - 1 bytes. Invalid bytes are not words.
  ///   - label: UTF-8, neither blank nor with a NUL. Labels are equal if their bytes are.
  ///   - group: any bytes. With two or more groups, the folds of the cross-validation contain whole groups. Its
  ///     figures and the calibration then hold for unseen groups, such as other authors or sources.
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
        "is blank, has a NUL or is not valid UTF-8: every text needs a label")
    }
    guard textCount < Int(Int32.max) else {
      throw BertQAError(.tooLarge, "there are more than \(Int32.max) texts")
    }
    let call = call ?? options.call
    let monitor = CallMonitor(call)
    try monitor.check()
    try Memory.require(2 * label.count)
    try targets.makeRoom(for: 1)
    try labels.makeRoom(for: 1)
    try labelNumbers.makeRoom()
    try groups.makeRoom(for: 1)
    try groupNumbers.makeRoom()
    let number = try number(of: Array(label))
    try vectors?.makeRoom(for: text, call, monitor)
    try words?.add(text, monitor)
    try vectors?.add(text)
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
  /// - Throws: `.invalidArgument` if there are fewer than two labels, fewer texts than folds, or no words, or if an
  ///   option leads to weights that are not finite; `.io`; `.cancelled`; `.deadlineExceeded`;
  ///   `.outOfMemory`.
  public func finish(modelDirectory: String, call: CallOptions? = nil) throws(BertQAError) -> TrainingReport {
    try finish(OutputDirectory(path: modelDirectory), call ?? options.call)
  }

  private func finish(
    _ output: OutputDirectory, _ call: CallOptions
  ) throws(BertQAError) -> TrainingReport {
    let monitor = CallMonitor(call)
    let (model, report) = try train(call, monitor)
    try model.write(to: output, training: options.record(report.features), monitor)
    try output.commit(monitor)
    return report
  }

  /// Trains on all added texts and returns the model.
  func train(_ call: CallOptions, _ monitor: CallMonitor) throws(BertQAError) -> (
    any TrainedModel, TrainingReport
  ) {
    try monitor.check()
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
    var sources: [any FeatureSource] = []
    if let words { sources.append(words) }
    if let vectors { sources.append(vectors) }
    for source in sources {
      try source.begin(call, monitor)
      try monitor.hold(source.byteCount)
    }
    guard var source = sources.first else { throw BertQAError(.internal, "a training without features") }
    var temperature = LengthTemperature.one
    for (index, other) in sources.enumerated() where options.folds > 0 {
      var own = LengthTemperature.one
      let metrics = try crossValidate(
        other, targets, labelCount: names.count, team: team, &own, monitor
      ) { [options] part in
        options.progress?("cross-validation", (Double(index) + part) / Double(sources.count))
      }
      if report.replace(by: metrics) { (source, temperature) = (other, own) }
    }
    report.features = source.kind
    let fitted = try FittedModel(
      source, rows: Array(0..<textCount), targets: targets, labelCount: names.count,
      options.applied(to: source.kind), team: team, monitor
    ) { options.progress?("training", $0) }
    report.vocabularySize = fitted.featureCount
    report.iterations = fitted.model.iterations
    report.hasConverged = fitted.model.hasConverged
    report.loss = fitted.model.loss
    return (try source.model(fitted, labels: names, temperature: temperature, monitor), report)
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
    _ source: any FeatureSource, _ targets: [Int32], labelCount: Int, team: borrowing ThreadPool.Team,
    _ temperature: inout LengthTemperature, _ monitor: CallMonitor, progress: (Double) -> Void
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
        source, rows: folds.kept(fold), targets: targets, labelCount: labelCount,
        options.applied(to: source.kind), team: team, monitor
      ) { part in
        progress((Double(fold) + part) / Double(folds.count))
      }
      try fitted.predict(rows: folds.heldOut(fold)) { row, logits throws(BertQAError) in
        let target = Int(targets[row])
        if let calibration {
          try calibration.add(
            fold: fold, target: target, logits: logits, of: fitted.labels,
            occurrences: fitted.occurrenceCount(row: row))
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

extension TrainOptions {
  /// Returns the options that apply to features other than `auto`.
  fileprivate func applied(to features: TrainingFeatures) -> TrainOptions {
    var options = self
    options.features = features
    if features == .embedding { options.algorithm = .logisticRegression }
    return options
  }

  /// Returns a record of the settings that have an effect on the weights.
  fileprivate func record(_ features: TrainingFeatures) -> JSON.Object {
    let options = applied(to: features)
    var record = JSON.Object()
    record["algorithm"] = .string(options.algorithm.description)
    switch options.algorithm {
    case .logisticRegression:
      record["c"] = .number(inverseStrength(features))
      record["tolerance"] = .number(tolerance)
    case .naiveBayes: record["alpha"] = .number(alpha)
    }
    if features == .words {
      record["min_document_count"] = .number(minDocumentCount)
      record["max_document_fraction"] = .number(maxDocumentFraction)
      record["max_vocabulary"] = .number(maxVocabulary)
    }
    return record
  }
}

extension TrainingReport {
  /// Takes the figures of a cross-validation if they are the first or better than the present ones, which then become
  /// the other ones. Returns true if it did.
  fileprivate mutating func replace(by metrics: PredictionMetrics) -> Bool {
    guard accuracy.isNaN || metrics.accuracy > accuracy else {
      (otherAccuracy, otherMacroF1) = (metrics.accuracy, metrics.macroF1)
      return false
    }
    (otherAccuracy, otherMacroF1) = (accuracy, macroF1)
    accuracy = metrics.accuracy
    macroF1 = metrics.macroF1
    calibrationError = metrics.calibrationError
    precision = metrics.precision
    recall = metrics.recall
    f1 = metrics.f1
    confusion = metrics.confusion
    return true
  }
}
