import BertQACore

extension EmbedOptions {
  static let poolings: KeyValuePairs<String, Pooling> = ["model": .model, "mean": .mean, "cls": .cls]

  static let rows = [
    OptionRow(
      .pooling, value: "P", choices: poolings.map(\.key),
      "how the token vectors of a text are combined: {}; default model",
      detail: "cls is the vector of the first token, which is special; model is the method in the model's "
        + "sentence-transformers files, or the mean if there are none."),
    OptionRow(.normalize, "scale vectors to length 1; default: as the model's files specify"),
    OptionRow(.noNormalize, "do not scale vectors"),
    OptionRow(
      .maxSequenceLength, value: "N", "length of a window in tokens; default: as the model's files specify"),
    OptionRow(
      .truncate,
      "truncate longer texts, as sentence-transformers does; default: average the vectors of their windows"),
    OptionRow(
      .promptName, value: "NAME",
      "put the prompt of this name, such as query, in the model's files before each text; default: the one they name"
    ),
    OptionRow(.prompt, value: "TEXT", "put TEXT before each text instead; empty for none"),
  ]

  /// Sets the option if it is one of these; ignores all others.
  mutating func set(_ given: ParsedOption) throws(ToolError) {
    switch given.option {
    case .pooling: pooling = try given.choice(from: Self.poolings)
    case .maxSequenceLength: maxSequenceLength = try given.integer()
    case .normalize: normalizes = true
    case .noNormalize: normalizes = false
    case .truncate: truncates = true
    case .promptName: promptName = given.string
    case .prompt: prompt = given.string
    default: break
    }
  }
}
