import BertQACore

/// `bertqa answer`.
struct AnswerCommand: Command {
  static let name = "answer"
  static let summary = "answer questions from documents"

  static let table = CommandTable(
    usages: ["--question QUESTION [OPTION]... [FILE|-]..."],
    description: [
      "Find the answer to QUESTION in each FILE, or in standard input, and print it: a passage of the "
        + "document. Documents are UTF-8 text of any length."
    ],
    sections: [
      OptionSection(
        "",
        [
          OptionRow(
            .question, letter: "q", value: "QUESTION", "what to ask; may be given several times"),
          OptionRow(
            .sentence,
            "also print the sentence around the answer; on a terminal, the answer is highlighted in it"
          ),
          OptionRow(.json, "print one JSON object a line for each file and question"),
          OptionRow(
            .color, value: "WHEN", isOptional: true, choices: Terminal.colorChoices.map(\.key),
            "highlight the answer in its sentence: {}; auto is on a terminal",
            detail: "Without a value: always."),
          TextSource.forceRow,
        ] + AnswerOptions.choosingRows + [ModelChoice.row()] + ModelChoice.runRows),
      OptionSection("How the document is read; lengths are in tokens", AnswerOptions.readingRows),
    ],
    notes: [
      "An answer is one line. With several files its file comes before it, with several questions its question, "
        + "with --top-k above 1 or --sentence its probability; --sentence puts the sentence behind it. These "
        + "columns are separated by tabs. White space and control characters inside a column are shown as one "
        + "space; --json keeps them."
    ],
    exitCodes:
      "0 every question is answered; 1 at least one question has an answer in none of the files; 2 wrong "
      + "usage; 3 a file or the model cannot be read or is invalid (the other files are answered); 4 out of "
      + "memory, the output cannot be written, or a defect in the program",
    examples: [
      .init(
        "the answer, and the sentence around it",
        "bertqa answer --sentence -q \"When was Skylab launched?\" apollo.txt"),
      .init(
        "which letters say when the meeting is",
        "bertqa answer --handle-impossible-answer -q \"When is the meeting?\" *.txt"),
    ])

  private let questions: [ArgumentText]
  private let files: [ArgumentText]
  private let model: ModelChoice
  private var options = AnswerOptions()
  private let showsSentence: Bool
  private var color = Terminal.ColorChoice.auto
  private let printsJSON: Bool
  private let isForced: Bool

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    try AnswerCommand(arguments).run(to: output)
  }

  private init(_ arguments: ParsedArguments) throws(ToolError) {
    questions = arguments.options.filter { $0.option == .question }.compactMap(\.text)
    files = arguments.operands.isEmpty ? [.standardInput] : arguments.operands
    model = try ModelChoice(arguments)
    printsJSON = arguments.has(.json)
    showsSentence = arguments.has(.sentence)
    isForced = arguments.has(.force)
    for given in arguments.options {
      try options.set(given)
      guard given.option == .color else { continue }
      color = given.text == nil ? .always : try given.choice(from: Terminal.colorChoices)
    }
    if questions.isEmpty { throw arguments.usage("no --question was given") }
  }

  /// Asks every question about every file, in the order given.
  private func run(to output: Output) throws(ToolError) -> ExitCode {
    let context = try model.load()
    // Before any file is read: a mistake in the options, or another kind of model, is reported at once.
    try ofCore(Self.invocation) { () throws(BertQAError) in try context.validate(options) }
    let format = AnswerRecord.LineFormat(
      showsFile: files.count > 1, showsQuestion: questions.count > 1,
      showsProbability: showsSentence || options.topK > 1, showsSentence: showsSentence,
      highlights: showsSentence && Terminal.usesColor(color))
    var isAnswered = Array(repeating: false, count: questions.count)
    var hasText = false
    let code = try InputText.forEach(files, isForced: isForced) { file, text throws(ToolError) in
      let document = try Document(file: file, bytes: text.bytes, timesAsked: questions.count, context)
      for (index, question) in questions.enumerated() {
        let record = try document.ask(question, options)
        isAnswered[index] = isAnswered[index] || !record.result.answers.isEmpty
        hasText = hasText || record.result.emptyInput != .emptyDocument
        output.write(printsJSON ? record.json() : record.lines(format))
        try output.flush()
      }
    }
    guard code == .done, isAnswered.contains(false) else { return code }
    if !printsJSON {
      for (question, isAnswered) in zip(questions, isAnswered) where !isAnswered {
        report("no answer to '\(question.string)'\(hasText ? "" : ": there is no text")")
      }
    }
    return .noAnswer
  }

  /// One document, to be asked.
  private struct Document {
    let file: ArgumentText
    let bytes: UnsafeBufferPointer<UInt8>
    let context: Context
    /// nil where it would be asked only once, which works without a copy of the text.
    let prepared: PreparedDocument?

    init(
      file: ArgumentText, bytes: UnsafeBufferPointer<UInt8>, timesAsked: Int, _ context: Context
    ) throws(ToolError) {
      self.file = file
      self.bytes = bytes
      self.context = context
      prepared = try ofCore(invocation) { () throws(BertQAError) in
        timesAsked > 1 ? try context.prepare(bytes) : nil
      }
    }

    func ask(_ question: ArgumentText, _ options: AnswerOptions) throws(ToolError) -> AnswerRecord {
      var options = options
      let progress = Progress(subject: file.string)
      if let progress {
        options.call.cancellation = Cancellation {
          progress.tick()
          return false
        }
        options.call.progress = { done, total in progress.update(done: done, total: total) }
      }
      defer { progress?.clear() }
      let result = try ofCore(invocation) { () throws(BertQAError) in
        if let prepared {
          return try context.answer(question: question.bytes, document: prepared, options: options)
        }
        return try context.answer(question: question.bytes, document: bytes, options: options)
      }
      return AnswerRecord(file: file, question: question, document: bytes, result: result)
    }
  }
}
