import BertQACore

/// Held-out texts and the classifier's predictions for them.
struct Holdout {
  private struct Prediction {
    let target: Int
    /// nil if the classifier gave no label.
    let predicted: Int?
    let probability: Float
  }

  private var names: [ExactString: Int] = [:]
  private var predictions: [Prediction] = []
  /// The number of texts with too few words to classify.
  private var unclassifiedCount = 0

  mutating func add(_ result: Classification, label: String) {
    let target = index(of: label)
    let predicted = result.scores.first.map { index(of: $0.label) }
    if predicted == nil { unclassifiedCount += 1 }
    predictions.append(
      Prediction(target: target, predicted: predicted, probability: result.scores.first?.probability ?? 0))
  }

  private mutating func index(of name: String) -> Int {
    if let index = names[ExactString(name)] { return index }
    names[ExactString(name)] = names.count
    return names.count - 1
  }

  private var facts: [(String, Facts.Value)] {
    [
      ("text_count", .integer(predictions.count)), ("unclassified_count", .integer(unclassifiedCount)),
    ]
  }

  /// The evaluation over the labels that occur or were predicted, sorted by their bytes.
  var evaluation: EvaluationRecord {
    let labels = names.keys.map(\.string).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    var places = [Int](repeating: 0, count: labels.count)
    for (place, label) in labels.enumerated() { places[names[ExactString(label)] ?? 0] = place }
    var metrics = PredictionMetrics(labelCount: labels.count)
    var labelTexts = [Int](repeating: 0, count: labels.count)
    for prediction in predictions {
      labelTexts[places[prediction.target]] += 1
      metrics.add(
        target: places[prediction.target], predicted: prediction.predicted.map { places[$0] },
        probability: Double(prediction.probability))
    }
    return EvaluationRecord(
      labels: labels, labelTexts: labelTexts, accuracy: metrics.accuracy, macroF1: metrics.macroF1,
      calibrationError: metrics.calibrationError, precision: metrics.precision, recall: metrics.recall,
      f1: metrics.f1, confusion: metrics.confusion)
  }

  func lines() -> [UInt8] {
    let evaluation = evaluation
    return Array("held out:\n".utf8) + Facts(facts + evaluation.facts).lines() + evaluation.tableLines()
  }

  /// Writes the members, with the names that the training report uses.
  func writeMembers(to writer: inout JSONWriter) {
    let evaluation = evaluation
    writer.members(facts + evaluation.facts)
    evaluation.writeLabels(to: &writer)
  }
}
