import BertQACore

extension FilterSettings {
  /// The options of tasks other than answering; some have the same names, but other defaults.
  mutating func readOtherOptions(_ arguments: ParsedArguments) throws(ToolError) {
    let command = FilterCommand.invocation
    for (option, value) in arguments.options {
      try classifyOptions.set(option, value, command: command)
      try embedOptions.set(option, value, command: command)
      switch (option, value) {
      case (.topK, let value?) where task == .classify:
        labelLimit = try ClassifyOptions.labelLimit(value, command: command)
      case (.secondField, let value?): texts = [texts[0], try FieldPath(value, of: option, command: command)]
      default: break
      }
    }
  }
}
