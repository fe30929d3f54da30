import BertQACore

/// `bertqa classify`, its arguments read.
struct ClassifyCommand: Command {
  static let name = "classify"
  static let summary = "say which of a model's labels a text has"
  static let options: [Option] =
    ModelChoice.runOptions + [
      .json, .topK, .explain, .maxSequenceLength, .documentStride, .windowPooling,
    ]

  static var choices: [Option: [String]] { [.windowPooling: windowPoolings.map(\.key)] }

  static let help = """
    Usage: bertqa classify [OPTION]... [FILE|-]...

    Print the most probable label of each FILE, or of standard input, and its
    probability, separated by a tab. Each file is one text, UTF-8 of any length.

      -k, --top-k N             print the N most probable labels, one a line;
                                default 1
          --json                print one JSON object a line for each file, with
                                all labels
          --explain N           also print up to N words of the text that weighed
                                most for the best label, or against it (negative):
                                weight, word, and its range of bytes; for
                                word-count models
    \(ModelChoice.help)
    \(ModelChoice.runHelp)

    How BERT models read a text; lengths are in tokens:
          --max-seq-len N       length of a window; default 0: as many as the model
                                takes
          --doc-stride N        overlap of neighbouring windows; default 128
          --window-pooling P    mean or max of the windows' logits; default mean

      -h, --help                print this help
      -V, --version             print the version

    With several files, the file stands before each line, separated by a tab. For a
    regression model the predicted value stands in the place of the probability.

    Exit codes: 0 at least one text is classified; 1 none has enough text; 2 wrong
    usage; 3 a file or the model cannot be read or is invalid (the other files are
    classified); 4 out of memory, the output cannot be written, or a defect in the
    program.

    """

  private let files: [ArgumentText]
  private let model: ModelChoice
  private var classifyOptions = ClassifyOptions()
  private var topK: Int?
  private let printsJSON: Bool

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    try ClassifyCommand(arguments).run(to: output)
  }

  private init(_ arguments: ParsedArguments) throws(ToolError) {
    files = arguments.operands.isEmpty ? [.standardInput] : arguments.operands
    model = try ModelChoice(arguments, command: Self.invocation, task: .classify)
    printsJSON = arguments.has(.json)
    for (option, value) in arguments.options {
      try classifyOptions.set(option, value, command: Self.invocation)
      if option == .topK { topK = try ClassifyOptions.labelLimit(value, command: Self.invocation) }
    }
  }

  private func run(to output: Output) throws(ToolError) -> ExitCode {
    let context = try model.load(command: Self.invocation)
    var isClassified = false
    let code = try InputText.forEach(files) { file, text throws(ToolError) in
      let record = ClassificationRecord(
        file: file, document: text.bytes, result: try classify(text.bytes, context))
      isClassified = isClassified || !record.result.notEnoughText
      if printsJSON {
        output.write(record.json(topK: topK))
      } else {
        output.write(record.lines(topK: topK ?? 1, showsFile: files.count > 1))
        if let complaint = record.complaint { report(complaint) }
      }
      try output.flush()
    }
    return code == .done && !isClassified ? .noAnswer : code
  }

  private func classify(
    _ text: UnsafeBufferPointer<UInt8>, _ context: Context
  ) throws(ToolError) -> Classification {
    do throws(BertQAError) {
      return try context.classify(TextPair(text: text), options: classifyOptions)
    } catch {
      throw ToolError(error, command: Self.invocation)
    }
  }
}
