import BertQACore

/// Names the class of a record's text, which is its first field, or of a pair of texts, the second field.
struct ClassifyTask: FilterTask {
  let context: Context
  let options: ClassifyOptions
  /// How many labels to give; nil for all.
  let labelLimit: Int?

  let columns = ["label", "probability"]

  func results(for inputs: [TaskInput]) throws(BertQAError) -> [Result<Classification, BertQAError>] {
    try context.classifyEach(
      inputs.map { TextPair(text: $0.texts[0], second: $0.texts.dropFirst().first) }, options: options)
  }

  func windowCount(of result: Classification) -> Int { result.windowCount }

  func write(_ result: Classification, of input: TaskInput, to writer: inout JSONWriter) {
    writer.object { result.writeMembers(text: input.texts[0], labelLimit: labelLimit, to: &$0) }
  }

  func write(_ result: Classification, of input: TaskInput, to writer: inout CellWriter) {
    if let best = result.scores.first {
      if let label = result.label { writer.text(label.utf8) } else { writer.empty() }
      // A regression has a number instead.
      writer.number(result.problemType == .regression ? best.logit : best.probability)
    } else {
      writer.empty()
      writer.empty()
    }
  }
}
