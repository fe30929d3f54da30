import BertQACore
import Glibc

/// Implements `bertqa answer`.
struct AnswerCommand: Command {
  static let name = "answer"
  static let summary = "answer questions from documents"

  static let table = CommandTable(
    usages: ["--question QUESTION [OPTION]... [FILE|-]..."],
    operands: .files,
    description: [
      "Find the answer to QUESTION in each FILE or in standard input and print it. An answer is a passage of the "
        + "document. \(DocumentFile.help) The file with the best answer comes first."
    ],
    sections: [
      OptionSection(
        "",
        [
          OptionRow(
            .question, letter: "q", value: "QUESTION", "the question; may be given several times"),
          OptionRow(.sentence, "also print the sentence around the answer, as on a terminal"),
          OptionRow(
            .json, "print one JSON object per line for each file and question",
            detail: "Ranges in HTML, mail and Markdown are those of the text that was read."),
          HTMLText.row("also write an HTML page with the documents and their answers highlighted"),
          Terminal.colorRow("the answer in its sentence"),
          TextSource.encodingRow, TextSource.forceRow,
        ] + AnswerOptions.choosingRows + [ModelChoice.row()] + ModelChoice.runRows),
      OptionSection("How the document is read; lengths are in tokens", AnswerOptions.readingRows),
      OptionSection(
        CallLimits.title, CallLimits.rows("a question about a file") + [AnswerOptions.partialRow]),
    ],
    notes: [
      "An answer is one line. On a terminal it has the probability and the sentence with the answer highlighted. "
        + "Elsewhere it is the answer; with --top-k above 1 or --sentence the probability comes first, and --sentence adds "
        + "the sentence at the end. With several questions each line begins with the question, with several files with the file. "
        + "Columns are separated by tabs. White space and control characters inside a column are printed as one "
        + "space; --json keeps them.",
      "The best passage is printed even if it is probably no answer, unless --handle-impossible-answer is given. Either "
        + "way the exit code is 1, and standard error has a message, or with --json the record has is_impossible.",
    ],
    exitCodes:
      "0 every question is answered; 1 for at least one question no file has a passage that is probably its "
      + "answer; 2 wrong usage; 3 a file or the model cannot be read or is invalid (other files are still read); 4 out of "
      + "memory, the output cannot be written, or a defect in the program",
    examples: [
      .init(
        "the answer, and the sentence around it",
        "bertqa answer --sentence -q \"When was Skylab launched?\" apollo.txt"),
      .init(
        "the letters that say when the meeting is, also as a page",
        "bertqa answer --html meeting.html -q \"When is the meeting?\" *.txt"),
    ])

  private let questions: [ArgumentText]
  private let files: [ArgumentText]
  private let model: ModelChoice
  private var options = AnswerOptions()
  private let limits: CallLimits
  private let showsSentence: Bool
  private var color = Terminal.ColorChoice.auto
  private let printsJSON: Bool
  private let reading: InputText.Reading
  /// The path of the HTML page; nil for none.
  private let page: String?

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    try AnswerCommand(arguments).run(to: output)
  }

  private init(_ arguments: ParsedArguments) throws(ToolError) {
    questions = arguments.options.filter { $0.option == .question }.compactMap(\.text)
    files = arguments.operands.isEmpty ? [.standardInput] : arguments.operands
    model = try ModelChoice(arguments)
    limits = try CallLimits(arguments)
    printsJSON = arguments.has(.json)
    showsSentence = arguments.has(.sentence)
    reading = try InputText.Reading(arguments)
    page = arguments.last(.html)?.string
    for given in arguments.options {
      try options.set(given)
      guard given.option == .color else { continue }
      color = try Terminal.ColorChoice(given)
    }
    if questions.isEmpty { throw arguments.usage("no --question was given") }
  }

  /// Asks every question about every file.
  private func run(to output: Output) throws(ToolError) -> ExitCode {
    let context = try model.load()
    // Reports invalid options, or a model for another task, before any file is read.
    try ofCore(Self.invocation) { () throws(BertQAError) in try context.validate(options) }
    let format = AnswerRecord.LineFormat(
      showsFile: files.count > 1, showsQuestion: questions.count > 1,
      showsProbability: showsSentence || options.topK > 1, showsSentence: showsSentence,
      highlights: Terminal.usesColor(color), isForTerminal: Terminal.isThere(STDOUT_FILENO))
    var ranking = AnswerRanking(questionCount: questions.count)
    var html = page == nil ? nil : AnswerPage(questions: questions)
    var hasText = false
    let code: ExitCode
    do throws(ToolError) {
      MarkdownDocument.tellIfUnsupported(for: files)
      let documents = files.map { TextSource(file: $0, reading, isDocument: true) }
      code = try TextSource.forEach(documents) { source, text throws(ToolError) in
        let file = source.file ?? .standardInput
        let document = try Document(
          file: file, bytes: text.bytes, timesAsked: questions.count, context, limits)
        var records: [AnswerRecord] = []
        for (index, question) in questions.enumerated() {
          let record = try document.ask(question, options)
          records.append(record)
          hasText = hasText || record.result.emptyInput != .emptyDocument
          ranking.add(
            record, ofQuestion: index,
            printsJSON ? [(record.result.gap, record.json())] : record.lines(format))
          // There is nothing to rank against.
          if files.count == 1 { try ranking.write(to: output) }
        }
        html?.add(records)
      }
    } catch {
      try ranking.write(to: output)
      throw error
    }
    try ranking.write(to: output)
    if let page, let html { try FileWriting.replace(page, with: html.text) }
    if !printsJSON, code == .done { tell(of: ranking, hasText: hasText) }
    let isAnswered = ranking.best.allSatisfy { $0?.isImpossible == false }
    return code == .done && !isAnswered ? .noAnswer : code
  }

  /// Reports the questions that have no answer or probably none.
  private func tell(of ranking: AnswerRanking, hasText: Bool) {
    for (question, best) in zip(questions, ranking.best) {
      if best == nil {
        report("no answer to '\(question.string)'\(hasText ? "" : ": there is no text")")
      } else if best?.isImpossible == true {
        report(
          "the text does not seem to answer '\(question.string)': the best passage is probably no answer")
      }
    }
  }

  /// A document, prepared for questions.
  private struct Document {
    let file: ArgumentText
    let bytes: UnsafeBufferPointer<UInt8>
    let context: Context
    let limits: CallLimits
    /// nil if the document is asked only once, which needs no copy of the text.
    let prepared: PreparedDocument?

    init(
      file: ArgumentText, bytes: UnsafeBufferPointer<UInt8>, timesAsked: Int, _ context: Context,
      _ limits: CallLimits
    ) throws(ToolError) {
      self.file = file
      self.bytes = bytes
      self.context = context
      self.limits = limits
      prepared = try ofCore(invocation, subject: file.shownAsFile) { () throws(BertQAError) in
        timesAsked > 1 ? try context.prepare(bytes, call: limits.call) : nil
      }
    }

    func ask(_ question: ArgumentText, _ options: AnswerOptions) throws(ToolError) -> AnswerRecord {
      var options = options
      let progress = Progress(subject: file.string)
      progress?.follow(&options.call)
      limits.limit(&options.call)
      defer { progress?.clear() }
      let result = try ofCore(invocation, subject: file.shownAsFile) { () throws(BertQAError) in
        if let prepared {
          return try context.answer(question: question.bytes, document: prepared, options: options)
        }
        return try context.answer(question: question.bytes, document: bytes, options: options)
      }
      return AnswerRecord(file: file, question: question, document: bytes, result: result)
    }
  }
}
