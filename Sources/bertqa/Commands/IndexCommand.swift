import BertQACore
import Glibc

/// Implements `bertqa index`.
struct IndexCommand: Command {
  static let name = "index"
  static let summary = "make a collection of files that can be searched and asked"

  static let table = CommandTable(
    usages: ["[OPTION]... DB [FILE|DIR]..."],
    operands: .collectionAndFiles,
    description: [
      "Bring the collection DB, an SQLite database, up to date with FILEs and all files in DIRs; create it if there is none. "
        + "Only files that changed are read again, and files that no longer exist leave the collection. '-' is standard "
        + "input. Without FILE and DIR, only files that no longer exist are removed.",
      "Texts, Markdown, HTML, mail (.eml, .mbox, .mht, Maildir) and records of JSON lines and tables (.jsonl, .csv, .tsv) are read, "
        + "also compressed with gzip or zstd. HTML needs the library libxml2, and mail GMime; Markdown is read without its "
        + "marks by MD4C. Hidden files in directories are skipped.",
    ],
    sections: [
      OptionSection(
        "",
        [
          OptionRow(
            .wordsOnly, "index words without vectors",
            detail:
              "A search then finds only passages with the words of the question. It is faster, and the collection is "
              + "smaller."),
          OptionRow(
            .include, value: "PATTERN",
            "read only files in directories that match; may be given several times",
            detail: "A shell pattern such as '*.md', for the name, or with a slash for the whole path."),
          OptionRow(
            .exclude, value: "PATTERN",
            "leave out files and directories that match; may be given several times"),
        ] + RecordFormat.rows(RecordFormat.textNames) + SourceReading.rows
          + [ModelChoice.row("default: embed-minilm-l6, the one installed with bertqa")] + ModelChoice.runRows
      )
    ],
    notes: [
      "A run that is killed loses at most the file that it was reading and a batch of 1,024 passages (8,192 without "
        + "vectors), which may hold many small files; the next run continues. One process at a time may write a collection; "
        + "others may search and ask it meanwhile.",
      "Standard output has one line: the numbers of files and passages. Standard error lists what could not be read.",
    ],
    exitCodes:
      "0 done; 2 wrong usage; 3 something could not be read, and the rest is done, or the model or the database is invalid, "
      + "or the database is in use or cannot be written; 4 out of memory, standard output cannot be written, or a defect in "
      + "the program",
    examples: [
      .init("a collection of notes and mail", "bertqa index notes.db ~/notes report.txt mail.jsonl"),
      .init("PDF documents, too", "bertqa index --convert '.pdf=pdftotext {} -' papers.db ~/papers"),
    ])

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    let hasVectors = !arguments.has(.wordsOnly)
    let model = try ModelChoice(arguments, task: .embed, tokenizerOnly: !hasVectors)
    let reading = try SourceReading(arguments)
    guard let database = arguments.operands.first else { throw arguments.usage("no DB was given") }
    func patterns(_ option: Option) -> [String] {
      arguments.options.filter { $0.option == option }.map(\.string)
    }
    // Before the collection is opened, which creates the file: a missing model must leave none.
    let context = try model.load()
    let collection = try PassageCollection(writing: database.string)
    let writer = try CollectionWriter(collection, context, hasVectors: hasVectors, command: invocation)
    // SQLite's other files are beside the file that a link leads to.
    let file = FileWriting.target(of: database.string)
    let own = ["", "-wal", "-shm", "-journal"].compactMap { FileIdentity(path: file + $0) }
    var sources = SourceFiles(
      included: patterns(.include), excluded: patterns(.exclude), omitted: Set(own))
    let operands = arguments.operands.dropFirst()
    for operand in operands where !operand.isStandardInput { sources.add(operand) }
    let run = IndexRun(collection, writer, reading)
    try run.run(sources, readsStandardInput: operands.contains(where: \.isStandardInput))
    let total = try collection.database.integer("SELECT count(*) FROM passages") ?? 0
    collection.finish()
    let summary = run.summary
    output.write(
      "\(summary.added) new, \(summary.changed) changed, \(summary.unchanged) unchanged, \(summary.removed) gone; "
        + "passages: \(writer.passageCount) read, \(total) in all\n")
    if run.hasMarkdownWithMarks { report(MarkdownDocument.unsupportedNote) }
    for problem in run.problems { report(problem) }
    let more = run.problemCount - run.problems.count
    if more > 0 { report("and \(more) more") }
    return run.problemCount == 0 ? .done : .input
  }
}
