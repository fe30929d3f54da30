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
      "Read records from each FILE or from standard input and write each with its result: one output record for "
        + "each input record, in order, and without delay if the output is a pipe or terminal. All other bytes of a record "
        + "do not change. Files may be compressed with gzip or zstd."
    ],
    sections: [
      OptionSection("", recordRows + ErrorPolicy.rows + limitRows),
      OptionSection("Files and long runs", fileRows),
      OptionSection(
        "The model",
        [ModelChoice.row("default: the one installed with bertqa; for answers $BERTQA_MODEL, if set")]
          + ModelChoice.runRows),
      OptionSection("With --task answer", AnswerOptions.choosingRows + AnswerOptions.readingRows),
      OptionSection(
        "With --task classify",
        [
          OptionRow(.topK, letter: "k", value: "N", "write only the N most probable labels"), secondFieldRow,
          ClassifyOptions.minProbabilityRow,
          ClassifyOptions.contributionRow,
        ] + ClassifyOptions.labelRows + ClassifyOptions.readingRows),
      OptionSection(
        "With --task entities",
        EntitySearch.findingRows + [
          OptionRow(
            .inPlace, "when redacting or masking: replace the record's text itself",
            detail:
              "In a table this is the only way to keep the original text out of the output; a row that fails then "
              + "has an empty text.")
        ] + EntitySearch.readingRows),
      OptionSection("With --task embed", [secondFieldRow] + EmbedOptions.rows),
      OptionSection("With --task tokenize", TokenizeCommand.rows),
    ],
    notes: [
      "--fields accepts, "
        + FilterSettings.TaskName.allCases
        .map { "with --task \($0.rawValue): \($0.fieldNames.joined(separator: ", "))" }
        .joined(separator: "; ") + ". start and end count code points.",
      "FIELD is a name, a path such as a.b.0, or a JSON Pointer such as /a/b/0; in a table, a column's name. N "
        + "bytes may be written as 64K, 64M or 1G.",
      "SIGINT, SIGTERM and SIGHUP end the run when the records already read are done, or after --stop-timeout; with --resume at "
        + "once. Repeats within a second are ignored, as timeout(1) sends two; a later signal ends the run at once.",
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
        "a column with the label of each row; a rerun resumes a killed run",
        "bertqa filter --task classify in.csv -o out.csv --resume cp"),
    ])

  private static let recordRows: [OptionRow] =
    [
      OptionRow(
        .task, value: "TASK", choices: FilterSettings.TaskName.allCases.map(\.rawValue),
        "the task: {}; default answer")
    ] + RecordFormat.rows(RecordFormat.names) + [
      OptionRow(.textField, value: "FIELD", "field of the text; default 'text'"),
      OptionRow(.coerce, "accept numbers, true and false as texts, as they are spelled; default: they fail"),
      OptionRow(
        .nullText, value: "WHAT", choices: NullText.allCases.map(\.rawValue),
        "how to treat null as a text: {}; default fail",
        detail:
          "skip: the record has no text, and its result is null, which is not a failure; in a table this "
          + "also applies to rows with an empty text. empty: the text is empty. A missing field always fails."
      ),
      OptionRow(
        .question, letter: "q", value: "QUESTION", "question to ask every record; may be given several times"),
      OptionRow(
        .questionField, value: "FIELD",
        "field of the record's question; default 'question' if there is no --question",
        detail: "With several questions the result is an array, in the order of the options."),
      OptionRow(
        .outputField, value: "FIELD",
        "field of the result; default 'bertqa'; in a table, the beginning of the new columns' names",
        detail:
          "An existing value is replaced. Otherwise a member is added before the closing brace of the object, "
          + "and missing objects on its path are added."),
      OptionRow(
        .fields, value: "LIST", "write only these fields of the result, separated by commas; see below",
        detail:
          "The result is then a flat object, or columns, of the best answer or label; with --top-k above 1, an array of such "
          + "objects. For entities it is always an array."),
      OptionRow(.idField, value: "FIELD", "field that identifies a record in messages"),
    ]

  private static let limitRows = [
    OptionRow(
      .maxRecordBytes, value: "N", "maximum size of a record; default 64M",
      detail: "Larger records are not kept in memory."),
    OptionRow(.maxDocumentBytes, value: "N", "maximum size of a text; default 16M"),
    CallLimits.maxDocumentTokensRow,
    OptionRow(
      .timeout, value: "SECONDS", "maximum time for a record; default: none",
      detail:
        "A record that takes longer fails, independent of the other records of its batch: if a batch "
        + "takes longer, it is repeated in halves."),
    CallLimits.maxBytesRow("a record"),
    OptionRow(
      .batchSize, value: "N", "process up to N waiting records at once; default 64",
      detail: "Results do not depend on N."),
  ]

  private static let fileRows = [
    OptionRow(
      .output, letter: "o", value: "FILE", use: .output,
      "write to FILE instead of standard output; compressed if its name ends in .gz or .zst"),
    OptionRow(
      .resume, value: "CHECKPOINT", use: .state,
      "save the progress in CHECKPOINT and continue from it in the next run; needs input files and --output",
      detail:
        "Only one run at a time can use it. A rerun needs equivalent arguments, the same model, and an input and "
        + "output whose finished parts have not changed. An unfinished record at the end of the input waits "
        + "for the next run. A signal ends the run at once; a rerun does the rest."),
    OptionRow(.checkpointInterval, value: "SECONDS", "interval between checkpoints; default 1"),
    OptionRow(
      .follow, "continue to read when the input grows and when another file takes its name",
      detail:
        "Like tail -F, until a signal. Rotated files are read in order; with --resume also files that were rotated between "
        + "two runs. Records that can no longer be read are reported."),
    OptionRow(
      .stopTimeout, value: "SECONDS", "maximum time for the records already read after a signal; default 10",
      detail:
        "Records that are not done by then fail as 'stopped'. The process ends at most two seconds later, even if it "
        + "still waits."),
    OptionRow(.stats, value: "FILE", use: .replace, "write a summary as JSON at the end"),
    OptionRow(
      .metrics, value: "FILE", use: .replace, "keep metrics in FILE, in Prometheus' text format",
      detail:
        "FILE is replaced every 5 seconds, between batches. If it cannot be, one message says so, and the run continues."
    ),
    OptionRow(
      .metricsLabel, value: "NAME=VALUE",
      "label of every metric; may be given several times; the last VALUE of a NAME counts",
      detail:
        "If there is no label 'run', it is added with the name of the metrics file, so that files collected from "
        + "one directory differ."),
    OptionRow(
      .quiet, "do not report failed records on standard error",
      detail: "They are still counted. For programs that take every line there for a result."),
    OptionRow(.progress, "show progress every 5 seconds even without a terminal"),
  ]

  private static let secondFieldRow = OptionRow(
    .secondField, value: "FIELD", "field of the second text of a pair")

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
      ending = stop.signal.flatMap { StopSignals.names[$0] }
    } catch {
      ending = run.output.isClosed ? "SIGPIPE" : "error"
      failure = error
      run.abandon()
    }
    do throws(ToolError) {
      try run.report.finish(run.counters, outputBytes: run.output.length, ending: ending)
    } catch {
      if failure == nil { failure = error } else { report(error.message) }
    }
    if run.output.isClosed, !ignoresPipe { StopSignals.die(of: SIGPIPE) }
    if let failure { throw failure }
    if let signal = stop.signal { StopSignals.die(of: signal) }
    return run.counters.failed == 0 || settings.policy.exitsZero ? .done : .noAnswer
  }
}
