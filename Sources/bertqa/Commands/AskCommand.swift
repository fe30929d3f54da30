import BertQACore
import Glibc

/// Implements `bertqa ask`.
struct AskCommand: Command {
  static let name = "ask"
  static let summary = "ask about documents, one question after the other"

  static let table = CommandTable(
    usages: ["[OPTION]... FILE...", "[OPTION]... DB [QUESTION]...", "--browser [FILE]..."],
    operands: .filesAndStandardInput,
    description: [
      "Read questions, one per line, and answer each from the FILEs, best answer first. On a terminal the "
        + "lines can be edited as in a shell, the answer is highlighted in its context, and 'n' prints the next best answer. "
        + "FILEs are what 'bertqa answer' reads.",
      "DB is a collection that 'bertqa index' has made, or another SQLite database with a full-text index (FTS5). It may be "
        + "large: only the passages that match the question best are read. QUESTIONs, joined with spaces, are one question; "
        + "without them questions are read as above.",
    ],
    sections: [
      OptionSection(
        "",
        [
          OptionRow(
            .topK, letter: "k", value: "N", "print N answers; default 1, and 9 more that 'n' can reach",
            detail: "Answers do not overlap. N is 1 to 1000."),
          OptionRow(.json, "print a JSON object for each question, with all its answers and their places"),
          Terminal.colorRow("the answer"),
          OptionRow(
            .browser, "show the FILEs or the collection as a page in the browser; needs the Python package",
            detail:
              "'python3 -m bertqa.demo' serves the page, on this machine only. Of the other options, only "
              + "--model, --embed-model, --encoding and --force can be used."),
          TextSource.encodingRow, TextSource.forceRow,
        ] + AnswerOptions.choosingRows.filter { $0.option != .topK } + [ModelChoice.row()]
          + ModelChoice.runRows),
      OptionSection(
        "SQLite databases",
        [
          OptionRow(.passages, value: "N", "number of passages to read for a question; default 20")
        ] + DocumentFilter.rows + [
          OptionRow(
            .embedModel, value: "DIR", use: .model,
            "directory or name of the model of a collection's vectors; default: embed-minilm-l6"),
          OptionRow(
            .table, value: "NAME",
            "name of another database's full-text index; default: the only one, or 'documents'",
            detail:
              "All its columns are read except those that are UNINDEXED. An answer is from one column of one record."
          ),
        ]),
      OptionSection("How a text is read; lengths are in tokens", AnswerOptions.readingRows),
      OptionSection(
        "Limits; a question that exceeds one has no answer",
        CallLimits.rows("a question") + [AnswerOptions.partialRow]),
    ],
    notes: [
      "Questions may also come through a pipe. If the output is not a terminal, an answer is one line of columns separated "
        + "by tabs: the file if there are several, or the place in a database; the question; the probability; the answer. With '-' "
        + "as FILE, the document is standard input, and the questions are read from the terminal.",
      "Ctrl-D or 'q' quits. Lines are edited by libedit (on Debian the package libedit2), whose keys are readline's; "
        + "without it the terminal's own editing applies.",
    ],
    exitCodes:
      "0 done; 1 at least one question has no answer, or probably none; 2 wrong usage; 3 a file or the model cannot be read or is invalid, "
      + "or SQLite or Python is missing; 4 out of memory, the output cannot be written, or a defect in the program",
    examples: [
      .init("questions about two letters", "bertqa ask letter1.txt letter2.txt"),
      .init("a question about a collection", "bertqa ask notes.db \"Who signed the lease?\""),
    ])

  /// What can be asked.
  private enum Kind: String {
    case text = "a text"
    case collection = "a collection"
    case database = "another database"
  }

  /// The options that are not for everything that can be asked.
  private static let kinds: KeyValuePairs<Option, [Kind]> = [
    .encoding: [.text], .passages: [.collection, .database], .path: [.collection], .field: [.collection],
    .embedModel: [.collection], .table: [.database],
  ]

  private let arguments: ParsedArguments
  private let files: [ArgumentText]
  private let isDatabase: Bool
  private let model: ModelChoice
  private var options = AnswerOptions()
  private let limits: CallLimits
  private var color = Terminal.ColorChoice.auto
  private var passageCount = 20
  private var form = AskSession.Form()
  /// The DB's question; nil: questions are read.
  private let question: String?

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    if arguments.has(.browser) { throw try browse(arguments) }
    return try AskCommand(arguments).run(to: output)
  }

  /// Shows the files as a page. Returns only on failure. The page reads texts from descriptors, and opens databases.
  private static func browse(_ arguments: ParsedArguments) throws(ToolError) -> ToolError {
    try arguments.check(.browser, goesOnlyWith: [.model, .embedModel, .encoding, .force])
    var words: [ArgumentText] = [ArgumentText(literal: "--browser")]
    if let model = arguments.last(.model)?.text {
      words += [ArgumentText(literal: "--answer-model"), model]
    }
    if let model = arguments.last(.embedModel)?.text {
      words += [ArgumentText(literal: "--embed-model"), model]
    }
    var descriptors: [String] = []
    let reading = try InputText.Reading(arguments)
    MarkdownDocument.tellIfUnsupported(for: arguments.operands)
    for file in arguments.operands {
      if !arguments.has(.force), DatabaseCorpus.isDatabase(file) {
        descriptors.append("-")
        continue
      }
      let text = try DocumentFile(file).text(reading)
      let descriptor = try FileWriting.temporary { write throws(ToolError) in
        try write(UnsafeRawBufferPointer(text.bytes))
      }
      descriptors.append("\(descriptor)")
    }
    if !descriptors.isEmpty {
      words.append(ArgumentText(copying: "--texts=" + descriptors.joined(separator: ",")))
    }
    return PythonModule.run(
      "bertqa.demo", words + [ArgumentText(literal: "--")] + arguments.operands, for: .browser,
      advice: "; without --browser the terminal serves as well")
  }

  private init(_ arguments: ParsedArguments) throws(ToolError) {
    self.arguments = arguments
    let isDatabase =
      !arguments.has(.force) && arguments.operands.first.map(DatabaseCorpus.isDatabase) ?? false
    let question = arguments.operands.dropFirst().map(\.string).joined(separator: " ")
    if isDatabase, arguments.operands.count > 1, PlainText.isBlank(question.utf8) {
      throw arguments.usage("the question is empty")
    }
    self.question = isDatabase && !question.isEmpty ? question : nil
    files = isDatabase ? Array(arguments.operands.prefix(1)) : arguments.operands
    self.isDatabase = isDatabase
    model = try ModelChoice(arguments)
    limits = try CallLimits(arguments)
    options.topK = 10
    for given in arguments.options {
      try options.set(given)
      switch given.option {
      case .color: color = try Terminal.ColorChoice(given)
      case .json: form.isJSON = true
      case .topK: form.count = options.topK
      case .passages: passageCount = try given.integer(in: 1...10_000)
      default: break
      }
    }
    if files.isEmpty { throw arguments.usage("no FILE was given") }
  }

  private func run(to output: Output) throws(ToolError) -> ExitCode {
    // Errors of the files are reported before the model is loaded.
    let (corpus, isComplete) = try corpus()
    let context = try model.load()
    // Reports invalid options, or a model for another task, before the first question.
    try ofCore(Self.invocation) { () throws(BertQAError) in try context.validate(options) }
    let session = AskSession(
      context, corpus(context), options, limits, usesColor: Terminal.usesColor(color), form, to: output)
    var isInteractive = false
    if let question {
      try session.ask(question)
    } else {
      let lines = LineReader(input: try questions())
      try session.run(lines)
      isInteractive = lines.isInteractive
    }
    if !isComplete { return .input }
    return session.hasUnanswered && !isInteractive ? .noAnswer : .done
  }

  /// Opens the database or reads the files. Returns what makes a corpus of them, and false if a part of a file could
  /// not be read.
  private func corpus() throws(ToolError) -> ((Context) -> any Corpus, isComplete: Bool) {
    if isDatabase {
      // A file among the question's words was meant as a file.
      if arguments.operands.dropFirst().contains(where: { FilePlace($0).kind == S_IFREG }) {
        throw arguments.usage("ask about one database at a time, without other files")
      }
      return (try databaseCorpus(), true)
    }
    if files.contains(where: DatabaseCorpus.isDatabase), !arguments.has(.force) {
      throw arguments.usage("ask about one database at a time, without other files")
    }
    try checkOptions(for: .text)
    var texts: [AskedText] = []
    let reading = try InputText.Reading(arguments)
    MarkdownDocument.tellIfUnsupported(for: files)
    var isComplete = true
    for file in files {
      let text = try DocumentFile(file).text(reading)
      isComplete = isComplete && text.isComplete
      texts.append(AskedText(name: file.shownAsFile, text))
    }
    return ({ FileCorpus(texts, $0) }, isComplete)
  }

  private func databaseCorpus() throws(ToolError) -> (Context) -> any Corpus {
    let database = try SQLiteDatabase(
      files[0].path("FILE", arguments.command), .read, for: "asking a database")
    // What is looked up of the tables counts as a question.
    database.limit(deadline: limits.call.deadline)
    if let collection = try PassageCollection.of(database) {
      try checkOptions(for: .collection)
      let corpus = try CollectionCorpus(
        collection, passageCount: passageCount, try DocumentFilter(arguments),
        model: try ModelChoice(arguments, task: .embed, option: .embedModel))
      return { _ in corpus }
    }
    try checkOptions(for: .database)
    let corpus = try DatabaseCorpus(
      database, table: arguments.last(.table)?.string, passageCount: passageCount)
    return { _ in corpus }
  }

  private func checkOptions(for kind: Kind) throws(ToolError) {
    for (option, kinds) in Self.kinds where arguments.has(option) && !kinds.contains(kind) {
      let names = kinds.map(\.rawValue).joined(separator: " or ")
      throw arguments.usage(
        "\(option.spelling) is for \(names), but \(files[0].shownAsFile) is \(kind.rawValue)")
    }
  }

  /// Returns the source of the questions: standard input, unless that is a document.
  private func questions() throws(ToolError) -> Int32 {
    guard files.contains(where: \.isStandardInput) else { return STDIN_FILENO }
    let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
    guard terminal >= 0 else {
      throw arguments.usage("with '-' as FILE the questions come from a terminal, and there is none")
    }
    return terminal
  }
}
