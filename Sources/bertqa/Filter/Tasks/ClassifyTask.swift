import BertQACore

/// Classifies a record's text, which is its first field, or a pair of texts, whose second text is the second
/// field.
struct ClassifyTask: FilterTask {
  let context: Context
  let options: ClassifyOptions
  /// The maximum number of labels; nil for all.
  let labelLimit: Int?

  /// The values of --fields.
  let fields: [Field]?

  enum Field: String, ResultField {
    case label, id, probability, logit
    case problemType = "problem_type"
    case isTooShort = "is_too_short"
    case isNone = "is_none"
    case distinctWordCount = "distinct_word_count"
    case windowCount = "window_count"

    static let usual: [Field] = [.label, .probability]
  }

  var columns: [String] { (fields ?? Field.usual).map(\.rawValue) }

  func results(
    for inputs: [TaskInput], _ call: CallOptions
  ) throws(BertQAError) -> [Result<Classification, BertQAError>] {
    var options = options
    options.call = call
    return try context.classifyEach(
      inputs.map { TextPair(text: $0.texts[0], second: $0.texts.dropFirst().first) }, options: options)
  }

  func windowCount(of result: Classification) -> Int { result.windowCount }

  func write(_ result: Classification, of input: TaskInput, to writer: inout JSONWriter) {
    guard let fields else {
      return writer.object { result.writeMembers(text: input.texts[0], labelLimit: labelLimit, to: &$0) }
    }
    func write(_ score: LabelScore?, _ writer: inout JSONWriter) {
      writer.object(fields) { self.write($0, of: score, result, &$1) }
    }
    guard let labelLimit, labelLimit > 1 else { return write(result.scores.first, &writer) }
    writer.array { writer in
      for score in result.scores.prefix(labelLimit) { write(score, &writer) }
    }
  }

  func write(_ result: Classification, of input: TaskInput, to writer: inout CellWriter) {
    for field in fields ?? Field.usual { write(field, of: result.scores.first, result, &writer) }
  }

  private func write(
    _ field: Field, of score: LabelScore?, _ result: Classification, _ writer: inout some ValueWriter
  ) {
    switch field {
    case .problemType: return writer.string(result.problemType.description.utf8)
    case .isTooShort: return writer.boolean(result.notEnoughText)
    case .isNone: return writer.boolean(result.isNone)
    case .distinctWordCount: return writer.integer(result.distinctWords)
    case .windowCount: return writer.integer(result.windowCount)
    default: break
    }
    guard let score else { return writer.null() }
    switch field {
    // Several labels are distinguished by their probabilities.
    case .label where result.isNone && labelLimit ?? 1 == 1: writer.null()
    case .label: writer.string(score.label.utf8)
    case .id: writer.integer(score.id)
    // A regression has a number instead of a probability.
    case .probability: writer.number(result.problemType == .regression ? score.logit : score.probability)
    case .logit: writer.number(score.logit)
    default: break
    }
  }
}
