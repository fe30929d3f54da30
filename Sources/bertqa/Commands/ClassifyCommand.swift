import BertQACore

/// Implements `bertqa classify`.
struct ClassifyCommand: Command {
  static let name = "classify"
  static let summary = "say which of a model's labels a text has"

  static let table = CommandTable(
    usages: ["[OPTION]... [TEXT]...", "[OPTION]... --file FILE..."],
    operands: .texts,
    description: [
      "Print the most probable label of a text and its probability, separated by a tab. Several TEXTs are joined "
        + "with spaces; without TEXT and --file, or for '-', the text is standard input. \(DocumentFile.help)"
    ],
    sections: [
      OptionSection(
        "",
        [
          TextSource.row, TextSource.encodingRow, TextSource.forceRow,
          OptionRow(
            .topK, letter: "k", value: "N", "print the N most probable labels, one per line; default 1"),
          OptionRow(.json, "print one JSON object per line for each text, with all labels"),
          ClassifyOptions.minProbabilityRow, ClassifyOptions.contributionRow,
          ModelChoice.row("default: the one installed with bertqa"),
        ] + ModelChoice.runRows),
      OptionSection("Labels of your choice", ClassifyOptions.labelRows),
      OptionSection("How encoders read a text; lengths are in tokens", ClassifyOptions.readingRows),
      OptionSection(CallLimits.title, CallLimits.rows("a text")),
    ],
    notes: [
      TextSource.columnNote + " Contributions are lines with weight, "
        + "word, and range of bytes of the text that was read. For a regression model the predicted value replaces the "
        + "probability. If no label reaches --min-probability, the line is 'none' and the "
        + "probability of the best label."
    ],
    exitCodes:
      "0 at least one text has a label; 1 no text has one; 2 wrong usage; 3 a file or the model "
      + "cannot be read or is invalid (other files are still read); 4 out of memory, the output cannot be "
      + "written, or a defect in the program",
    examples: [
      .init(
        "the topic of a sentence", "bertqa classify \"The striker scored twice in the final match.\""),
      .init(
        "three labels of each letter, and the words with most weight for the first",
        "bertqa classify -k 3 --contributions 5 -f letter1.txt -f letter2.txt"),
    ])

  private let sources: [TextSource]
  private let model: ModelChoice
  private var options = ClassifyOptions()
  private var topK: Int?
  private let limits: CallLimits
  private let printsJSON: Bool

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    try ClassifyCommand(arguments).run(to: output)
  }

  private init(_ arguments: ParsedArguments) throws(ToolError) {
    model = try ModelChoice(arguments, task: .classify)
    limits = try CallLimits(arguments)
    printsJSON = arguments.has(.json)
    for given in arguments.options {
      try options.set(given)
      if given.option == .topK { topK = try given.integer(in: 1...Int.max) }
    }
    try ClassifyOptions.checkTogether(arguments)
    sources = try TextSource.all(arguments, areDocuments: true)
  }

  private func run(to output: Output) throws(ToolError) -> ExitCode {
    let context = try model.load()
    var isClassified = false
    let code = try TextSource.forEach(sources) { source, text throws(ToolError) in
      var options = options
      let progress = Progress(subject: source.shown)
      progress?.follow(&options.call)
      limits.limit(&options.call)
      defer { progress?.clear() }
      let result = try ofCore(Self.invocation, subject: source.shown) { () throws(BertQAError) in
        try context.classify(TextPair(text: text.content), options: options)
      }
      progress?.clear()
      let record = ClassificationRecord(source: source, document: text.content, result: result)
      isClassified = isClassified || record.result.label != nil
      if printsJSON {
        output.write(record.json(topK: topK))
      } else {
        output.write(record.lines(topK: topK ?? 1))
        if let complaint = record.complaint { report(complaint) }
      }
      try output.flush()
    }
    return code == .done && !isClassified ? .noAnswer : code
  }
}
