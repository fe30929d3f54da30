import BertQACore
import Glibc

/// Implements `bertqa filter`.
enum FilterCommand: Command {
  static let name = "filter"
  static let summary = "add answers, labels, entities or vectors to the records of a pipeline"

  static let table = CommandTable(
    usages: ["[OPTION]... [FILE|-]..."],
    operands: .files,
    description: [
      "Read records from each FILE, or from standard input, and write each with its result: one record out for "
        + "each record in, in order, at once where the output is a pipe or terminal. All other bytes of a record "
        + "stay as they are. Files may be compressed with gzip or zstd."
    ],
    sections: [
      OptionSection("", recordRows + ErrorPolicy.rows + limitRows),
      OptionSection("Files, and runs that last", fileRows),
      OptionSection("The model", [ModelChoice.row()] + ModelChoice.runRows),
      OptionSection("With --task answer", AnswerOptions.choosingRows + AnswerOptions.readingRows),
      OptionSection(
        "With --task classify",
        [
          OptionRow(.topK, letter: "k", value: "N", "give the N most probable labels only"), secondFieldRow,
          ClassifyOptions.minProbabilityRow,
          ClassifyOptions.contributionRow,
        ] + ClassifyOptions.readingRows),
      OptionSection(
        "With --task entities",
        EntitySearch.findingRows + [
          OptionRow(
            .inPlace, "with --redact: put the redacted text in the place of the record's own",
            detail:
              "In a table it is the only way not to have the original in the output; a row that fails then "
              + "has an empty text.")
        ] + EntitySearch.readingRows),
      OptionSection("With --task embed", [secondFieldRow] + EmbedOptions.rows),
      OptionSection("With --task tokenize", TokenizeCommand.rows),
    ],
    notes: [
      "--fields takes, "
        + FilterSettings.TaskName.allCases
        .map { "with --task \($0.rawValue): \($0.fieldNames.joined(separator: ", "))" }
        .joined(separator: "; ") + ". start and end count code points.",
      "FIELD is a name, a path such as a.b.0, or a JSON Pointer such as /a/b/0; in a table it is a column's name. N "
        + "bytes may be given as 64K, 64M or 1G.",
      "SIGINT and SIGTERM end the run when the records already read are done, or after --stop-timeout. One that "
        + "follows within a second is the same request, as timeout sends two; a later one ends the run at once.",
    ],
    exitCodes:
      "0 every record has its result; 1 at least one record has none; 2 wrong usage; 3 the input or model "
      + "cannot be read or is invalid, --on-error fail or --max-errors; 4 out of memory, the output cannot be "
      + "written, or a defect in the program",
    examples: [
      .init(
        "the answer to a question for each line of a log",
        "bertqa filter -q \"Which host failed?\" --text-field message app.jsonl"),
      .init(
        "a column with the label of each row, going on where a killed run was",
        "bertqa filter --task classify in.csv -o out.csv --resume cp"),
    ])

  private static let recordRows: [OptionRow] =
    [
      OptionRow(
        .task, value: "TASK", choices: FilterSettings.TaskName.allCases.map(\.rawValue),
        "what to do with each record: {}; default answer")
    ] + RecordFormat.rows(RecordFormat.names) + [
      OptionRow(.textField, value: "FIELD", "the text to work on; default 'text'"),
      OptionRow(.coerce, "take numbers, true and false as texts, as they are spelled; default: they fail"),
      OptionRow(
        .nullText, value: "WHAT", choices: NullText.allCases.map(\.rawValue),
        "what null is for a text: {}; default fail",
        detail:
          "skip: the record has no text, and gets null as its result without being a failure; in a table so "
          + "does a row whose text is empty. empty: a text without a character. A missing field fails anyway."
      ),
      OptionRow(
        .question, letter: "q", value: "QUESTION", "what to ask every record; may be given several times"),
      OptionRow(
        .questionField, value: "FIELD",
        "where a record has its question; default 'question' if there is no --question",
        detail: "With several questions the result is an array, in the order of the options."),
      OptionRow(
        .outputField, value: "FIELD",
        "where the result goes; default 'bertqa'; a table gets columns whose names begin so",
        detail:
          "A value that is there is replaced; else a member is added before the closing brace of the object, "
          + "and objects that are missing on the way are made."),
      OptionRow(
        .fields, value: "LIST", "give only these of the result, separated by commas; see below",
        detail:
          "As a flat object, or as columns: of the best answer or label; with --top-k above 1 an array of such "
          + "objects, for entities always."),
      OptionRow(.idField, value: "FIELD", "what names a record in messages"),
    ]

  private static let limitRows = [
    OptionRow(
      .maxRecordBytes, value: "N", "largest record; default 64M",
      detail: "A larger one is not held in memory."),
    OptionRow(.maxDocumentBytes, value: "N", "largest text; default 16M"),
    CallLimits.maxDocumentTokensRow,
    OptionRow(
      .timeout, value: "SECONDS", "most time for a record; default: any",
      detail:
        "A record that takes longer fails, whatever is worked on with it: where records that are worked on at once "
        + "take longer, they are begun again in halves."),
    CallLimits.maxBytesRow("a record"),
    OptionRow(
      .batchSize, value: "N", "take on up to N records that are waiting at once; default 64",
      detail: "Results do not depend on it."),
  ]

  private static let fileRows = [
    OptionRow(
      .output, letter: "o", value: "FILE", use: .output,
      "write to FILE instead of standard output; compressed where its name ends in .gz or .zst"),
    OptionRow(
      .resume, value: "CHECKPOINT", use: .state,
      "keep in CHECKPOINT what is done, and go on from there when run again; needs input files and --output",
      detail:
        "One run at a time. A rerun needs arguments of the same meaning, the same model, and an input and an "
        + "output whose parts that are done were not changed. An unfinished record at the end of the input waits "
        + "for the next run. At a signal the run ends at once: a rerun does the rest."),
    OptionRow(.checkpointInterval, value: "SECONDS", "how often; default 1"),
    OptionRow(
      .follow, "read on when the input grows, and when another file takes its name",
      detail:
        "Like tail -F, until a signal. Rotated files are read in order, with --resume also those of rotations between "
        + "two runs; what can no longer be read is reported."),
    OptionRow(
      .stopTimeout, value: "SECONDS", "how long records that were read may take after a signal; default 10",
      detail:
        "Those that are not done then fail as 'stopped'. The process ends two seconds later, whatever it "
        + "waits for."),
    OptionRow(.stats, value: "FILE", use: .replace, "write a summary as JSON at the end"),
    OptionRow(
      .metrics, value: "FILE", use: .replace, "keep numbers in FILE, in Prometheus' text format",
      detail: "It is replaced every 5 seconds. Where it cannot be, that is said once, and the run goes on."),
    OptionRow(
      .metricsLabel, value: "NAME=VALUE",
      "a label of every metric; may be given several times, the last one of a NAME counts",
      detail:
        "Without a label 'run' there is one with the name of the metrics file, so that files collected from "
        + "one directory differ."),
    OptionRow(
      .quiet, "do not report failed records on standard error",
      detail: "They are still counted. For hosts that take a line there for an answer."),
    OptionRow(.progress, "show progress also without a terminal", detail: "Every 5 seconds."),
  ]

  private static let secondFieldRow = OptionRow(.secondField, value: "FIELD", "the second text of a pair")

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    let settings = try FilterSettings(arguments)
    // Block the signals before loading the model, which starts threads.
    let stop = try StopSignals(timeout: settings.stopTimeout)
    let ignoresPipe = StopSignals.isIgnored(SIGPIPE)
    signal(SIGPIPE, SIG_IGN)
    let model = try ModelChoice(
      arguments, task: settings.task.modelTask, tokenizerOnly: settings.task == .tokenize)
    let context = settings.needsNoModel ? nil : try model.load()
    let calls = try FilterSetup.makeCalls(settings, context, stop)
    let run = try FilterSetup.prepare(settings, calls, context, stop)
    var ending: String?
    var failure: ToolError?
    do throws(ToolError) {
      try run.run()
      try run.output.finish()
      ending = stop.signal.map { $0 == SIGINT ? "SIGINT" : "SIGTERM" }
    } catch {
      ending = run.output.isClosed ? "SIGPIPE" : "error"
      failure = error
      run.abandon()
    }
    run.report.finish(run.counters, outputBytes: run.output.length, ending: ending)
    if run.output.isClosed, !ignoresPipe { StopSignals.die(of: SIGPIPE) }
    if let failure { throw failure }
    if let signal = stop.signal { StopSignals.die(of: signal) }
    return run.counters.failed == 0 || settings.policy.exitsZero ? .done : .noAnswer
  }
}
