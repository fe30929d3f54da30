import BertQACore
import Glibc

enum FilterCommand: Command {
  static let name = "filter"
  static let summary = "add answers, labels or vectors to the records of a pipeline"
  static let options: [Option] =
    ModelChoice.runOptions + [
      .task, .format, .delimiter, .textField, .questionField, .question, .outputField, .idField, .onError,
      .maxRecordBytes, .maxDocumentBytes, .batchSize, .output, .resume, .checkpointInterval, .stats, .metrics,
      .progress, .quiet, .ids, .parseSpecialTokens, .secondField, .explain, .windowPooling, .pooling,
      .normalize, .noNormalize, .truncate,
    ] + AnswerOptions.commandLineOptions

  static var choices: [Option: [String]] {
    [
      .task: FilterSettings.TaskName.allCases.map(\.rawValue), .format: FilterSettings.formats.map(\.key),
      .windowPooling: windowPoolings.map(\.key), .pooling: poolings.map(\.key),
    ]
  }

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    let settings = try FilterSettings(arguments)
    // Before the model is loaded, as that starts threads.
    let stop = try StopSignals()
    let ignoresPipe = StopSignals.isIgnored(SIGPIPE)
    signal(SIGPIPE, SIG_IGN)
    let context = try ModelChoice(
      arguments, command: invocation, task: settings.task.modelTask,
      tokenizerOnly: settings.task == .tokenize
    ).load(command: invocation)
    let task = try makeTask(settings, context)
    let run = try prepare(settings, task, stop, identity: identity(arguments, context))
    var ending: String?
    var failure: ToolError?
    do throws(ToolError) {
      try run.run()
      try run.output.finish()
      ending = stop.signal.map { $0 == SIGINT ? "SIGINT" : "SIGTERM" }
    } catch {
      ending = run.output.isClosed ? "SIGPIPE" : "error"
      failure = error
    }
    do throws(ToolError) {
      try run.report.finish(run.counters, outputBytes: run.output.length, ending: ending)
    } catch {
      failure = failure ?? error
    }
    if run.output.isClosed, !ignoresPipe { StopSignals.die(of: SIGPIPE) }
    if let failure { throw failure }
    if let signal = stop.signal { StopSignals.die(of: signal) }
    return run.counters.failed == 0 ? .done : .noAnswer
  }

  private static func makeTask(
    _ settings: FilterSettings, _ context: Context
  ) throws(ToolError) -> any FilterTask {
    let task: any FilterTask =
      switch settings.task {
      case .answer:
        AnswerTask(context: context, questions: settings.questions, options: settings.answerOptions)
      case .classify:
        ClassifyTask(context: context, options: settings.classifyOptions, labelLimit: settings.labelLimit)
      case .embed:
        EmbedTask(context: context, options: settings.embedOptions)
      case .tokenize:
        TokenizeTask(
          context: context, idsOnly: settings.idsOnly, parseSpecialTokens: settings.parseSpecialTokens)
      }
    do throws(BertQAError) {
      try task.check(fieldCount: settings.texts.count)
    } catch {
      throw ToolError(error, command: invocation)
    }
    return task
  }

  /// Opens what is read and written, and starts the reader.
  private static func prepare(
    _ settings: FilterSettings, _ task: any FilterTask, _ stop: StopSignals, identity: UInt64
  ) throws(ToolError) -> FilterRun {
    let source = try InputSource(settings.input, stop: stop)
    try checkDistinct(settings, source)
    let checkpoint = try checkpoint(settings, source, identity)
    var output = OutputStream()
    if let path = settings.output {
      output = try OutputStream(
        path: path, checkpoint.map { .resume($0.outputLength) } ?? .overwrite)
    }
    var deadLetters: OutputStream?
    if let path = settings.policy.deadLetters {
      deadLetters = try OutputStream(
        path: path, checkpoint.map { .resume($0.deadLetterLength) } ?? .append)
    }
    if settings.checkpoint != nil, !output.isRegularFile {
      throw .usage("--resume needs --output to be a regular file", command: invocation)
    }
    let form = RecordForm(
      format: settings.format,
      fields: RecordFields(
        texts: settings.texts, id: settings.id, output: settings.outputField,
        maximumTextBytes: settings.maximumDocumentBytes),
      newNames: task.columns.map { Array("\(settings.outputField.name)_\($0)".utf8) })
    let counters = checkpoint?.counters ?? FilterCounters()
    let queue = BlockQueue()
    let reader = try InputReader(
      source, settings, form, to: queue, resumed: (counters.inputBytes, counters.lines))
    try Thread.start { reader.run() }
    return FilterRun(
      settings, task: task, form: form, source: source, queue: queue, output: output,
      deadLetters: deadLetters, identity: identity, counters: counters)
  }

  private static func checkpoint(
    _ settings: FilterSettings, _ source: InputSource, _ identity: UInt64
  ) throws(ToolError) -> FilterCheckpoint? {
    guard let path = settings.checkpoint else { return nil }
    guard source.isRegularFile else {
      throw .usage("--resume needs a regular file as input", command: invocation)
    }
    guard let checkpoint = try FilterCheckpoint(contentsOf: path) else { return nil }
    let offset = checkpoint.counters.inputBytes
    func mismatch(_ what: String) -> ToolError {
      ToolError(.input, "\(path.string) is the checkpoint of \(what): remove it to begin afresh")
    }
    guard checkpoint.run == identity else { throw mismatch("a run with other arguments or another model") }
    guard offset <= source.size,
      checkpoint.input == FilterCheckpoint.identity(of: source.descriptor, upTo: offset)
    else { throw mismatch("another input") }
    return checkpoint
  }

  /// A file that is read and written at once would be destroyed.
  private static func checkDistinct(_ settings: FilterSettings, _ source: InputSource) throws(ToolError) {
    let written = [
      settings.output, settings.policy.deadLetters, settings.checkpoint, settings.stats, settings.metrics,
    ].compactMap { $0 }
    for (index, path) in written.enumerated() where !path.string.hasPrefix("/dev/") {
      if written[..<index].contains(where: { strcmp($0.pointer, path.pointer) == 0 }) {
        throw .usage("\(path.string) cannot be written for two purposes", command: invocation)
      }
    }
    var input = stat()
    guard source.isRegularFile, fstat(source.descriptor, &input) == 0 else { return }
    for path in written {
      var status = stat()
      guard stat(path.pointer, &status) == 0 else { continue }
      if status.st_dev == input.st_dev, status.st_ino == input.st_ino {
        throw .usage("\(source.shown) cannot be both read and written", command: invocation)
      }
    }
  }

  /// A hash of all that the output depends on besides the input.
  private static func identity(_ arguments: ParsedArguments, _ context: Context) -> UInt64 {
    let others: [Option] = [
      .threads, .batchSize, .resume, .checkpointInterval, .output, .stats, .metrics, .progress, .quiet,
      .model,
    ]
    var hash = FilterCheckpoint.hash("\(libraryVersion)".utf8)
    for (option, value) in arguments.options where !others.contains(option) {
      hash = FilterCheckpoint.hash("\n\(option.rawValue)=".utf8, from: hash)
      if let value { hash = FilterCheckpoint.hash(value.bytes, from: hash) }
    }
    let info = context.info
    let model = [
      info.directory, info.architecture, spelling(of: info.precision, in: precisions),
      spelling(of: info.instructionSet, in: instructionSets),
    ]
    return FilterCheckpoint.hash(model.joined(separator: "\n").utf8, from: hash)
  }
}
