/// A word-count classifier: scores that are linear in the counts of a text's words. Immutable.
final class WordCountModel: @unchecked Sendable {
  // Sendable: nothing changes after init.

  let settings: WordCountSettings
  let labels: [String]
  /// The features: words, and pairs of them.
  let table: WordTable
  /// [feature][label]
  let weights: GrowableBuffer<Float>
  /// [label]
  let bias: [Float]
  /// [feature], empty without TF-IDF.
  let idf: GrowableBuffer<Float>

  init(
    settings: WordCountSettings, labels: [String], table: consuming WordTable,
    weights: consuming GrowableBuffer<Float>, bias: [Float], idf: consuming GrowableBuffer<Float>
  ) {
    self.settings = settings
    self.labels = labels
    self.table = table
    self.weights = weights
    self.bias = bias
    self.idf = idf
  }

  /// What was trained, in single precision.
  convenience init(
    _ fitted: borrowing FittedModel, _ texts: borrowing TrainingTexts, labels: [String],
    _ options: TrainOptions
  ) throws(BertQAError) {
    var table = WordTable()
    for id in fitted.selection.words { _ = try table.insert(texts.table.word(Int(id))) }
    var weights = GrowableBuffer<Float>()
    try weights.reserve(fitted.model.weights.count)
    for weight in fitted.model.weights.elements { try weights.append(Float(weight)) }
    var idf = GrowableBuffer<Float>()
    for weight in fitted.selection.idf ?? [] { try idf.append(Float(weight)) }
    self.init(
      settings: WordCountSettings(options), labels: labels, table: table, weights: weights,
      bias: fitted.model.bias.map { Float($0) }, idf: idf)
  }

  var labelCount: Int { labels.count }
  var featureCount: Int { table.count }
}
