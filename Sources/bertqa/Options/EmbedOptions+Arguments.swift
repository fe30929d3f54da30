import BertQACore

extension EmbedOptions {
  static let poolings: KeyValuePairs<String, Pooling> = ["model": .model, "mean": .mean, "cls": .cls]

  static let rows = [
    OptionRow(
      .pooling, value: "P", choices: poolings.map(\.key),
      "how a text's token vectors become one: {}; default model",
      detail: "cls is the vector of the first, special token; model is what the model's "
        + "sentence-transformers files say, else the mean."),
    OptionRow(.normalize, "scale vectors to length 1; default: as the model's files say"),
    OptionRow(.noNormalize, "leave their length as it is"),
    OptionRow(
      .maxSequenceLength, value: "N", "tokens of one window; default: as the model's files say"),
    OptionRow(
      .truncate,
      "cut longer texts, as sentence-transformers does; default: average the vectors of their windows"),
  ]

  /// Sets the option if it is one of these; ignores all others.
  mutating func set(_ given: ParsedOption) throws(ToolError) {
    switch given.option {
    case .pooling: pooling = try given.choice(from: Self.poolings)
    case .maxSequenceLength: maxSequenceLength = try given.integer()
    case .normalize: normalizes = true
    case .noNormalize: normalizes = false
    case .truncate: truncates = true
    default: break
    }
  }
}
