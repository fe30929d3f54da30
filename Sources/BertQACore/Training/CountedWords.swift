/// Texts as counts of words.
final class CountedWords: FeatureSource {
  private var texts: TrainingTexts
  private let options: TrainOptions
  /// All terms, sorted by their bytes.
  private var order: [UInt32] = []

  init(_ options: TrainOptions) {
    self.options = options
    texts = TrainingTexts(options)
  }

  var kind: TrainingFeatures { .words }

  var byteCount: Int { texts.byteCount }

  /// Counts the words of one more text. A failure changes nothing.
  func add(_ text: UnsafeBufferPointer<UInt8>, _ monitor: CallMonitor) throws(BertQAError) {
    try texts.add(text, monitor)
  }

  func begin(_ call: CallOptions, _ monitor: CallMonitor) throws(BertQAError) {
    order = try texts.termsInOrder(monitor)
  }

  func selection(rows: [Int], _ monitor: CallMonitor) throws(BertQAError) -> FeatureSelection? {
    try FeatureSelection(texts, rows: rows, order: order, options, monitor)
  }

  func matrix(
    rows: [Int], _ selection: FeatureSelection?, _ monitor: CallMonitor
  ) throws(BertQAError) -> FeatureMatrix {
    guard let selection else { throw BertQAError(.internal, "words without a selection") }
    return try FeatureMatrix(texts, rows: rows, selection, monitor)
  }

  func occurrenceCount(row: Int, _ selection: FeatureSelection?) -> Int {
    guard let selection else { return 0 }
    var count = 0
    for index in texts.rowStarts[row]..<texts.rowStarts[row + 1]
    where selection.features[Int(texts.termIDs[index])] >= 0 {
      count += Int(texts.counts[index])
    }
    return count
  }

  func model(
    _ fitted: borrowing FittedModel, labels: [String], temperature: LengthTemperature, _ monitor: CallMonitor
  ) throws(BertQAError) -> any TrainedModel {
    guard let selection = fitted.selection, !selection.terms.isEmpty else {
      throw BertQAError(
        .invalidArgument,
        "no words are left in \(texts.count) texts; lower min_word_length or min_document_count, or raise "
          + "max_document_fraction")
    }
    return try WordCountModel(
      fitted, selection, texts, labels: labels, options, temperature: temperature, monitor)
  }
}

extension WordCountModel: TrainedModel {
  func write(
    to directory: OutputDirectory, training: JSON.Object, _ monitor: CallMonitor
  ) throws(BertQAError) {
    try write(to: directory, training: training)
  }

  /// Converts a trained model to single precision.
  fileprivate convenience init(
    _ fitted: borrowing FittedModel, _ selection: FeatureSelection, _ texts: borrowing TrainingTexts,
    labels: [String], _ options: TrainOptions, temperature: LengthTemperature, _ monitor: CallMonitor
  ) throws(BertQAError) {
    var table = TermTable()
    for id in selection.terms {
      if table.count % 4096 == 0 { try monitor.check() }
      _ = try table.insert(texts.table.term(Int(id)))
    }
    var weights = GrowableBuffer<Float>()
    try weights.reserve(fitted.model.weights.count)
    for weight in fitted.model.weights.elements { try weights.append(Float(weight)) }
    var idf = GrowableBuffer<Float>()
    for weight in selection.idf ?? [] { try idf.append(Float(weight)) }
    self.init(
      settings: WordCountSettings(options), labels: labels, table: table, weights: weights,
      bias: fitted.model.bias.map { Float($0) }, idf: idf, temperature: temperature)
  }
}

extension WordCountSettings {
  init(_ options: TrainOptions) {
    minWordLength = options.minWordLength
    minDistinctWords = options.minDistinctWords
    maxNGram = options.maxNGram
    usesTFIDF = options.usesTFIDF
  }
}
