import BertQACore

/// Implements `bertqa embed`.
struct EmbedCommand: Command {
  static let name = "embed"
  static let summary = "turn texts into vectors"

  static let table = CommandTable(
    usages: ["[OPTION]... [TEXT]...", "[OPTION]... --file FILE..."],
    operands: .texts,
    description: [
      "Turn a text into a vector for search, clustering and comparison. Several TEXTs are joined with spaces; "
        + "without TEXT and --file, or for '-', the text is standard input. Vectors are printed in the order of "
        + "the texts. \(DocumentFile.help)"
    ],
    sections: [
      OptionSection(
        "",
        [
          TextSource.row, TextSource.encodingRow, TextSource.forceRow,
          OptionRow(.lines, "read each line of a file as a text, also empty lines"),
          OptionRow(
            .format, value: "F", choices: VectorWriter.formats.map(\.key),
            "json: one object per line with file, line, embedding; npy: a NumPy array of float32 with a row per text; raw: "
              + "only its numbers; default json"),
          OptionRow(
            .tokens, "print the vector of each token, as JSON",
            detail:
              "Models of late interaction (ColBERT) always do, and sparse models (SPLADE) print the weights of "
              + "vocabulary pieces. With --prompt-name query, ColBERT's texts are queries."),
        ] + EmbedOptions.rows + [ModelChoice.row("default: the one installed with bertqa")]
          + ModelChoice.runRows),
      OptionSection(
        CallLimits.title,
        [
          CallLimits.timeoutRow("all texts"), CallLimits.maxBytesRow("each 1024 texts"),
          CallLimits.maxDocumentTokensRow,
        ]),
    ],
    notes: [
      "All texts are read first. A text that cannot be read or is above a limit is reported and skipped, "
        + "but with --format npy and raw the command then ends: their rows have no names."
    ],
    exitCodes:
      "0 done; 2 wrong usage; 3 a text or the model cannot be read or is invalid, or a text is above a limit; "
      + "4 out of memory, the output cannot be written, or a defect in the program",
    examples: [
      .init("the vector of a sentence", "bertqa embed \"Where is the key?\""),
      .init(
        "a NumPy array with a row per line",
        "bertqa embed --lines --format npy -f lines.txt > lines.npy"),
    ])

  private let sources: [TextSource]
  private let model: ModelChoice
  private let hasLines: Bool
  private let isOfTokens: Bool
  private let limits: CallLimits
  private var format = VectorWriter.Format.json
  private var options = EmbedOptions()

  /// The number of texts whose vectors are in memory at the same time.
  private static let sliceTexts = 1024

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    try EmbedCommand(arguments).run(to: output)
  }

  private init(_ arguments: ParsedArguments) throws(ToolError) {
    model = try ModelChoice(arguments, task: .embed)
    limits = try CallLimits(arguments)
    hasLines = arguments.has(.lines)
    isOfTokens = arguments.has(.tokens)
    for given in arguments.options {
      try options.set(given)
      if given.option == .format { format = try given.choice(from: VectorWriter.formats) }
    }
    sources = try TextSource.all(arguments, areDocuments: !hasLines)
  }

  private func run(to output: Output) throws(ToolError) -> ExitCode {
    let context = try model.load()
    let length = context.info.embeddingLength
    let hasTokens = isOfTokens || length == 0
    if hasTokens, format != .json {
      throw .usage(
        "--format \(format) is for the vectors of texts; those of tokens are printed as json",
        command: Self.invocation)
    }
    // Reports invalid options before any file is read.
    if hasTokens {
      _ = try embedTokens([], context, CallOptions())
    } else {
      _ = try embed([], context, CallOptions())
    }
    var inputs: [InputText] = []
    var texts: [(source: TextSource, text: TextPair)] = []
    var code = try TextSource.forEach(sources) { source, input in
      inputs.append(input)
      if hasLines {
        texts += source.lines(of: input).map { ($0.source, TextPair(text: $0.text)) }
      } else {
        texts.append((source, TextPair(text: input.content)))
      }
    }
    defer { withExtendedLifetime(inputs) {} }
    // Without a text, the rows of the other formats would be those of other texts.
    let skipsTexts = format == .json
    if code != .done, !skipsTexts { return code }
    var writer = VectorWriter(format, length: length, output)
    writer.begin(count: texts.count)
    let call = limits.calls
    for first in stride(from: 0, to: texts.count, by: Self.sliceTexts) {
      let slice = Array(texts[first..<min(first + Self.sliceTexts, texts.count)])
      let tokens = hasTokens ? try embedTokens(slice, context, call) : []
      let (vectors, failures) = hasTokens ? ([], [:]) : try embed(slice, context, call)
      for (index, text) in slice.enumerated() {
        do throws(ToolError) {
          try ofCore(Self.invocation, subject: text.source.shown) { () throws(BertQAError) in
            if let failure = failures[index] { throw failure }
            if hasTokens {
              writer.write(try tokens[index].get(), of: text.source, context)
            } else {
              writer.write(vectors[index * length..<(index + 1) * length], of: text.source)
            }
          }
        } catch {
          guard skipsTexts, error.isOfOneText else { throw error }
          report(error.message)
          code = .input
        }
        try output.flushIfLarge()
      }
    }
    return code
  }

  /// Returns the vectors, [texts.count][length], and the failures by text.
  private func embed(
    _ texts: [(source: TextSource, text: TextPair)], _ context: Context, _ call: CallOptions
  ) throws(ToolError) -> (vectors: [Float], failures: [Int: BertQAError]) {
    try running(texts, call) { texts, options throws(BertQAError) in
      var vectors = [Float](repeating: 0, count: texts.count * context.info.embeddingLength)
      let failures = try vectors.withMutableElements { vectors throws(BertQAError) in
        try context.embedEach(texts, options: options, into: vectors)
      }
      return (vectors, failures)
    }
  }

  private func embedTokens(
    _ texts: [(source: TextSource, text: TextPair)], _ context: Context, _ call: CallOptions
  ) throws(ToolError) -> [Result<TokenVectors, BertQAError>] {
    try running(texts, call) { texts, options throws(BertQAError) in
      try context.embedTokensEach(of: texts, options: options)
    }
  }

  private func running<Vectors>(
    _ texts: [(source: TextSource, text: TextPair)], _ call: CallOptions,
    _ body: ([TextPair], EmbedOptions) throws(BertQAError) -> Vectors
  ) throws(ToolError) -> Vectors {
    var options = options
    options.call = call
    let progress = Progress(subject: Self.name)
    progress?.follow(&options.call)
    defer { progress?.clear() }
    do throws(BertQAError) {
      return try body(texts.map(\.text), options)
    } catch {
      let subject = (error.item ?? (texts.count == 1 ? 0 : nil)).map { texts[$0].source.shown }
      throw ToolError(error, command: Self.invocation, subject: subject)
    }
  }
}
