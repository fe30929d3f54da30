import BertQACore

/// Implements `bertqa predict`.
struct PredictCommand: Command {
  static let name = "predict"
  static let summary = "say which words may come next, or how likely a text is"

  static let table = CommandTable(
    usages: [
      "[OPTION]... [TEXT]...", "[OPTION]... --file FILE...", "--score [OPTION]... [TEXT]...",
      "--rank [OPTION]... TEXT... [--file FILE]...",
    ],
    operands: .texts,
    description: [
      "Print the words that may come next in a text, most probable first: probability and word, computed by a "
        + "recurrent language model. Several TEXTs are joined with spaces; without TEXT and --file, or for '-', "
        + "the text is standard input. 'bertqa generate' continues a text."
    ],
    sections: [
      OptionSection(
        "",
        [
          TextSource.row, TextSource.encodingRow, TextSource.forceRow,
          OptionRow(
            .topK, letter: "k", value: "N", "number of words to print; default 10"),
          OptionRow(
            .score,
            "print the likelihood of the text, or of each line of a file, instead: perplexity, logarithm of the "
              + "probability, number of predicted words, number of unknown words, and the text",
            detail: "The first word is not predicted; the perplexity of a text with a single word is nan."
          ),
          OptionRow(
            .rank,
            "rank the lines of each file, or of standard input, as continuations of TEXT, likeliest per word "
              + "first, and print the logarithm of the probability, the number of words and the line"),
          OptionRow(
            .includeEnd, "with --score or --rank: also predict the end of the texts, which are complete"),
          OptionRow(.json, "print one JSON object per line"),
          ModelChoice.row("default: the one installed with bertqa, Romeo and Juliet"),
        ] + ModelChoice.runRows),
      OptionSection(
        CallLimits.title, CallLimits.rows("a text; with --score a line; with --rank all lines")),
    ],
    notes: [
      "Columns are separated by tabs. \(TextSource.columnNote) White space and control characters inside a column are printed as one space; "
        + "--json keeps them."
    ],
    exitCodes:
      "0 done; 2 wrong usage; 3 a file or the model cannot be read or is invalid, or a text has no word to continue "
      + "from; 4 out of memory, the output cannot be written, or a defect in the program",
    examples: [
      .init("the three words that may come next", "bertqa predict -k 3 O Romeo"),
      .init(
        "the likelier reading",
        "printf 'good night\\ngood light\\n' | bertqa predict --rank \"Good night,\""),
    ])

  private let arguments: ParsedArguments
  private let printsJSON: Bool
  private let includesEnd: Bool
  private let limits: CallLimits

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    if arguments.has(.score), arguments.has(.rank) {
      throw arguments.usage("use either --score or --rank")
    }
    try arguments.check(.includeEnd, goWith: [.score, .rank])
    if arguments.has(.topK), let option = [Option.score, .rank].first(where: arguments.has) {
      throw arguments.usage("--top-k cannot be used with \(option.spelling)")
    }
    let wordCount = try arguments.last(.topK)?.integer(in: 1...Int.max) ?? 10
    let model = try ModelChoice(arguments, task: .predict)
    let command = try PredictCommand(arguments)
    if arguments.has(.score) { return try command.score(try model.load(), to: output) }
    if arguments.has(.rank) { return try command.rank(model, to: output) }
    return try command.predict(wordCount, model, to: output)
  }

  private init(_ arguments: ParsedArguments) throws(ToolError) {
    self.arguments = arguments
    printsJSON = arguments.has(.json)
    includesEnd = arguments.has(.includeEnd)
    limits = try CallLimits(arguments)
  }

  /// Returns options for a call that begins now.
  private func options(topK: Int = 1) -> SequenceOptions {
    var options = SequenceOptions(topK: topK, includesEnd: includesEnd)
    limits.limit(&options.call)
    return options
  }

  /// Prints the most probable next words, the most probable first.
  private func predict(_ wordCount: Int, _ model: ModelChoice, to output: Output) throws(ToolError)
    -> ExitCode
  {
    let sources = try TextSource.all(arguments)
    let context = try model.load()
    return try TextSource.forEach(sources) { source, prompt throws(ToolError) in
      let prediction = try ofCore(Self.invocation, subject: source.shown) { () throws(BertQAError) in
        try context.predict(after: prompt.content, options: options(topK: wordCount)).prediction
      }
      if printsJSON {
        output.write(PredictionRecord.json(prediction, source, prompt: prompt.content))
      } else {
        for word in prediction.words {
          output.write(source.column + "\(decimal(Double(word.probability), digits: 4))\t".utf8)
          output.write(PlainText.word(word.bytes))
          output.write("\n")
          try output.flushIfLarge()
        }
      }
      try output.flush()
    }
  }

  /// Prints the likelihood of each text.
  private func score(_ context: Context, to output: Output) throws(ToolError) -> ExitCode {
    var lineCode = ExitCode.done
    let code = try TextSource.forEach(try TextSource.all(arguments)) { source, text throws(ToolError) in
      for (place, text) in source.file == nil ? [(source, text.bytes)] : source.lines(of: text) {
        try TextSource.reporting(&lineCode) { () throws(ToolError) in
          let score = try ofCore(Self.invocation, subject: place.shown) { () throws(BertQAError) in
            try context.likelihood(of: text, options: options())
          }
          let record = LineScore(text: text, source: place, score: score)
          output.write(printsJSON ? record.json() : record.columns())
        }
        try output.flushIfLarge()
      }
      try output.flush()
    }
    return code == .done ? lineCode : code
  }

  /// Prints the continuations of a text, the likeliest first.
  private func rank(_ model: ModelChoice, to output: Output) throws(ToolError) -> ExitCode {
    if arguments.operands.isEmpty { throw arguments.usage("--rank needs the TEXT that is to be continued") }
    let context = try model.load()
    let prefix = try InputText(joining: arguments.operands)
    let reading = try InputText.Reading(arguments)
    var files = TextSource.files(arguments, reading)
    if files.isEmpty { files = [TextSource(file: .standardInput, reading)] }
    var inputs = [prefix]
    var lines: [(source: TextSource, text: UnsafeBufferPointer<UInt8>)] = []
    for file in files {
      let input = try file.read()
      inputs.append(input)
      lines += file.lines(of: input)
    }
    defer { withExtendedLifetime(inputs) {} }
    let ranking: (order: [Int], scores: [SequenceScore])
    do throws(BertQAError) {
      ranking = try context.rank(lines.map(\.text), after: prefix.bytes, options: options())
    } catch {
      throw ToolError(
        error, command: Self.invocation, subject: error.item.map { lines[$0].source.shown })
    }
    for index in ranking.order {
      let record = LineScore(
        text: lines[index].text, source: lines[index].source, score: ranking.scores[index])
      output.write(printsJSON ? record.json() : record.rankColumns())
      try output.flushIfLarge()
    }
    return .done
  }
}
