import BertQACore

extension FilterSettings {
  static let windowPoolings: KeyValuePairs<String, ClassifyOptions.WindowPooling> = [
    "mean": .mean, "max": .max,
  ]
  static let poolings: KeyValuePairs<String, EmbedOptions.Pooling> = [
    "model": .model, "mean": .mean, "cls": .cls,
  ]

  /// The options of tasks other than answering; some have the same names, but other defaults.
  mutating func readOtherOptions(_ arguments: ParsedArguments) throws(ToolError) {
    let command = FilterCommand.invocation
    for (option, value) in arguments.options {
      switch (option, value) {
      case (.topK, _): labelLimit = answerOptions.topK
      case (.maxSequenceLength, _):
        classifyOptions.maxSequenceLength = answerOptions.maxSequenceLength
        embedOptions.maxSequenceLength = answerOptions.maxSequenceLength
      case (.documentStride, _): classifyOptions.documentStride = answerOptions.documentStride
      case (.explain, let value?):
        classifyOptions.contributions = try value.integer(of: option, command: command)
      case (.windowPooling, let value?):
        classifyOptions.windowPooling = try value.choice(
          of: option, from: Self.windowPoolings, command: command)
      case (.pooling, let value?):
        embedOptions.pooling = try value.choice(of: option, from: Self.poolings, command: command)
      case (.normalize, _): embedOptions.normalizes = true
      case (.noNormalize, _): embedOptions.normalizes = false
      case (.truncate, _): embedOptions.truncates = true
      case (.secondField, let value?): texts = [texts[0], try FieldPath(value, of: option, command: command)]
      default: break
      }
    }
    if task == .classify, let labelLimit, labelLimit < 1 {
      throw .usage("--top-k is \(labelLimit), but must be at least 1", command: command)
    }
    if classifyOptions.contributions < 0 {
      throw .usage("--explain takes a number of words, not a negative one", command: command)
    }
  }
}
