import BertQACore

extension FilterSettings {
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
      case (.explain, let value?): classifyOptions.contributions = try value.integer(of: option, command: command)
      case (.windowPooling, let value?):
        classifyOptions.windowPooling = try value.choice(
          of: option, from: ["mean": .mean, "max": .max], command: command)
      case (.pooling, let value?):
        embedOptions.pooling = try value.choice(
          of: option, from: ["model": .model, "mean": .mean, "cls": .cls], command: command)
      case (.normalize, _): embedOptions.normalizes = true
      case (.noNormalize, _): embedOptions.normalizes = false
      case (.truncate, _): embedOptions.truncates = true
      case (.secondField, let value?): texts = [texts[0], try FieldPath(value, of: option, command: command)]
      default: break
      }
    }
    if let labelLimit, labelLimit < 1 {
      throw .usage("--top-k is \(labelLimit), but must be at least 1", command: command)
    }
    if classifyOptions.contributions < 0 {
      throw .usage("--explain takes a number of words, not a negative one", command: command)
    }
  }
}
