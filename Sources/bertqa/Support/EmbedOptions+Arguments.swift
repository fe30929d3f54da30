import BertQACore

let poolings: KeyValuePairs<String, EmbedOptions.Pooling> = ["model": .model, "mean": .mean, "cls": .cls]

extension EmbedOptions {
  /// Takes the options that are its own and leaves the others.
  mutating func set(_ option: Option, _ value: ArgumentText?, command: String) throws(ToolError) {
    switch (option, value) {
    case (.pooling, let value?): pooling = try value.choice(of: option, from: poolings, command: command)
    case (.maxSequenceLength, let value?):
      maxSequenceLength = try value.integer(of: option, command: command)
    case (.normalize, _): normalizes = true
    case (.noNormalize, _): normalizes = false
    case (.truncate, _): truncates = true
    default: break
    }
  }
}
