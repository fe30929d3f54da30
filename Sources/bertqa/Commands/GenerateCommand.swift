import BertQACore

/// Implements `bertqa generate`.
struct GenerateCommand: Command {
  static let name = "generate"
  static let summary = "continue a text"

  static let table = CommandTable(
    usages: ["[OPTION]... [TEXT]...", "[OPTION]... --file FILE..."],
    operands: .texts,
    description: [
      "Continue a text with a recurrent language model. Each word of the continuation is printed as soon as it is "
        + "generated, until the model predicts the end. Several TEXTs are joined with spaces; without TEXT "
        + "and --file, or for '-', the text is standard input."
    ],
    sections: [
      OptionSection(
        "",
        [
          TextSource.row, TextSource.encodingRow, TextSource.forceRow,
          OptionRow(
            .maxWords, value: "N", "maximum number of words; default 100", detail: "1 to 1000000."),
          OptionRow(
            .temperature, value: "X",
            "0: always the most probable word; higher: more random words; default 0",
            detail: "The logits are divided by X before words are drawn from their softmax."),
          OptionRow(
            .topK, letter: "k", value: "N", "draw only from the N most probable words; default 0: all"),
          OptionRow(
            .topP, value: "X", "draw only from the fewest words whose probabilities sum to X; default 1: all"),
          OptionRow(.seed, value: "N", "seed of the random numbers; default 0"),
          OptionRow(.json, "print one JSON object"),
          ModelChoice.row("default: the one installed with bertqa, Romeo and Juliet"),
        ] + ModelChoice.runRows),
      OptionSection(CallLimits.title, CallLimits.rows("a text and its continuation")),
    ],
    notes: [TextSource.columnNote],
    exitCodes:
      "0 done; 2 wrong usage; 3 a file or the model cannot be read or is invalid, or a text has no word to continue "
      + "from; 4 out of memory, the output cannot be written, or a defect in the program",
    examples: [
      .init("the most probable continuation", "bertqa generate But soft"),
      .init(
        "a random continuation, which depends on the seed",
        "bertqa generate --temperature 0.8 --seed 7 O Romeo"),
    ])

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    var options = GenerateOptions()
    for given in arguments.options {
      switch given.option {
      case .maxWords: options.maxWords = try given.integer()
      case .temperature: options.temperature = try given.number()
      case .topP: options.topP = try given.number()
      case .topK: options.topK = try given.integer()
      case .seed: options.seed = try given.unsigned()
      default: break
      }
    }
    // Reports invalid options before anything is read.
    try ofCore(invocation) { () throws(BertQAError) in try options.validate() }
    let model = try ModelChoice(arguments, task: .predict)
    let limits = try CallLimits(arguments)
    let sources = try TextSource.all(arguments)
    let context = try model.load()
    let printsJSON = arguments.has(.json)
    return try TextSource.forEach(sources) { source, prompt throws(ToolError) in
      limits.limit(&options.call)
      let result = try generate(
        context, source, prompt.content, options, printsWords: !printsJSON, to: output)
      output.write(
        printsJSON ? PredictionRecord.json(result, source, prompt: prompt.content) : Array("\n".utf8))
      try output.flush()
    }
  }

  private static func generate(
    _ context: Context, _ source: TextSource, _ prompt: UnsafeBufferPointer<UInt8>,
    _ options: GenerateOptions,
    printsWords: Bool, to output: Output
  ) throws(ToolError) -> Generation {
    var options = options
    var failure: ToolError?
    var isFirst = true
    if printsWords {
      options.onWord = { word in
        output.write(isFirst ? source.column : Array((context.sequenceInfo?.separator ?? "").utf8))
        isFirst = false
        output.write(PlainText.word(word.bytes))
        do throws(ToolError) {
          try output.flush()
          return true
        } catch {
          failure = error
          return false
        }
      }
    }
    do throws(ToolError) {
      let result = try ofCore(invocation, subject: source.shown) { () throws(BertQAError) in
        try context.generate(prompt: prompt, options: options)
      }
      if let failure { throw failure }
      if printsWords, isFirst { output.write(source.column) }
      return result
    } catch {
      // The words printed so far stay, on a line of their own.
      if !isFirst, error.isOfOneText {
        output.write("\n")
        try output.flush()
      }
      throw error
    }
  }
}
