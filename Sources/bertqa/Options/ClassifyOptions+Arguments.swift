import BertQACore

extension ClassifyOptions {
  static let poolings: KeyValuePairs<String, WindowPooling> = ["mean": .mean, "max": .max]

  static let contributionRow = OptionRow(
    .contributions, value: "N",
    "also print up to N words of the text with the largest weights for the best label, or against it (negative); "
      + "for word-count models",
    detail: "Each word comes with its weight and its range of bytes.")

  static let minProbabilityRow = OptionRow(
    .minProbability, value: "P",
    "give no label if the best probability is below P, 0 to 1; default 0"
  )

  static let labelRows = [
    OptionRow(
      .labels, value: "LABELS", "choose among these labels, separated by commas, instead of the model's own",
      detail: "For models of entailment (zero-shot classification); may be given several times."),
    OptionRow(
      .hypothesisTemplate, value: "TEXT",
      "the sentence that a text with a label entails, {} for the label; default 'This example is {}.'"),
    OptionRow(.multiLabel, "judge each of --labels by itself, so that several or none may be probable"),
  ]

  /// The options that control how encoders read a text.
  static let readingRows = [
    OptionRow(
      .maxSequenceLength, value: "N",
      "length of a window; default 0: the maximum of the model"),
    OptionRow(
      .documentStride, value: "N",
      "overlap of neighbouring windows; by default they end where paragraphs and sentences do"),
    OptionRow(
      .windowPooling, value: "P", choices: poolings.map(\.key),
      "how the logits of several windows are combined: {}; default mean"),
  ]

  /// Throws if options are present that need others.
  static func checkTogether(_ arguments: ParsedArguments) throws(ToolError) {
    try arguments.check(.hypothesisTemplate, .multiLabel, goWith: [.labels])
  }

  /// Sets the option if it is one of these; ignores all others.
  mutating func set(_ given: ParsedOption) throws(ToolError) {
    switch given.option {
    case .contributions: contributions = try given.integer(in: 0...Int.max)
    case .minProbability: minProbability = try given.number()
    case .maxSequenceLength: maxSequenceLength = try given.integer()
    case .documentStride: documentStride = try given.integer()
    case .labels:
      labels += try given.labels()
    case .hypothesisTemplate: hypothesisTemplate = given.string
    case .multiLabel: allowsSeveralLabels = true
    case .windowPooling: windowPooling = try given.choice(from: Self.poolings)
    default: break
    }
  }
}
