import BertQACore
import Glibc

/// Makes a run from its settings: everything is checked before a file is changed.
enum FilterSetup {
  static func makeTask(
    _ settings: FilterSettings, _ context: Context?, _ stop: StopSignals
  ) throws(ToolError) -> any FilterTask {
    // A run that can be resumed loses nothing when it stops at once.
    let isResumable = settings.checkpoint != nil
    var call = CallOptions()
    call.cancellation = Cancellation { isResumable ? stop.signal != nil : stop.isOverdue }
    call.maxDocumentTokens = settings.maximumDocumentTokens
    let task = try makeTask(settings, context, call)
    try ofCore(FilterCommand.invocation) { () throws(BertQAError) in
      do throws(BertQAError) {
        try task.check(fieldCount: settings.texts.count)
      } catch {
        // A signal may come as early as that.
        if error.status != .cancelled { throw error }
      }
    }
    return task
  }

  /// - Parameter context: nil for what needs no model.
  private static func makeTask(
    _ settings: FilterSettings, _ context: Context?, _ call: CallOptions
  ) throws(ToolError) -> any FilterTask {
    guard let context else {
      guard settings.needsNoModel else { throw ToolError(.resources, "a task without its model") }
      return EntitiesTask(context: nil, search: settings.entitySearch.limited(by: call))
    }
    switch settings.task {
    case .answer:
      var options = settings.answerOptions
      options.call = call
      return AnswerTask(context: context, questions: settings.questions, options: options)
    case .classify:
      var options = settings.classifyOptions
      options.call = call
      return ClassifyTask(context: context, options: options, labelLimit: settings.labelLimit)
    case .embed:
      var options = settings.embedOptions
      options.call = call
      return EmbedTask(context: context, options: options)
    case .entities:
      return EntitiesTask(context: context, search: settings.entitySearch.limited(by: call))
    case .tokenize:
      return TokenizeTask(
        context: context, idsOnly: settings.idsOnly, parseSpecialTokens: settings.parseSpecialTokens,
        call: call)
    }
  }

  /// Opens what is read and written, and starts the reader.
  static func prepare(
    _ settings: FilterSettings, _ task: any FilterTask, _ context: Context?, _ stop: StopSignals
  ) throws(ToolError) -> FilterRun {
    var input = try Input(settings.input)
    try checkFiles(settings, input)
    var progress: FilterProgress?
    if let checkpoint = settings.checkpoint, let output = settings.output {
      progress = try FilterProgress(checkpoint, settings: settings, output: output, context)
    }
    var output = RecordOutput()
    if let path = settings.output { output = try RecordOutput(path: path, isHashed: progress != nil) }
    do throws(ToolError) {
      let deadLetters = try settings.policy.deadLetters.map { path throws(ToolError) in
        try DeadLetters(path: path, isResumable: progress != nil)
      }
      var offset = 0
      var counters = FilterCounters()
      if let done = try progress?.resume(settings.input, follows: settings.follows, output, deadLetters) {
        (input, offset) = (done.input.input, done.input.offset)
        counters = done.counters
      }
      let form = RecordForm(
        format: settings.format,
        fields: RecordFields(
          texts: settings.texts, stringCount: settings.texts.count, id: settings.id,
          output: settings.outputField, maximumTextBytes: settings.maximumDocumentBytes),
        newNames: (task.columns + ["error"]).map { Array("\(settings.outputField.name)_\($0)".utf8) })
      let queue = BlockQueue()
      let source = FilterInput(
        settings.input, first: input, stop: stop, follows: settings.follows,
        patience: settings.checkpoint == nil ? min(2, settings.stopTimeout) : 0)
      let reader = try RecordReader(
        source, form,
        RecordReader.Limits(
          recordBytes: settings.maximumRecordBytes, keepsLargeRecords: settings.policy.keepsBytes,
          leavesUnfinished: settings.checkpoint != nil), resumed: (offset, counters.lines))
      let header = reader.headerLine
      try Thread.start { queue.fill(from: reader) }
      return FilterRun(
        settings, task: task, form: form, input: input, resumed: offset, header: header, queue: queue,
        stop: stop, output: output, deadLetters: deadLetters, progress: progress, counters: counters)
    } catch {
      output.abandon()
      progress?.abandon()
      throw error
    }
  }

  /// A file that is read and written at once would be destroyed, or grow without end.
  private static func checkFiles(_ settings: FilterSettings, _ input: Input) throws(ToolError) {
    func usage(_ message: String) -> ToolError { .usage(message, command: FilterCommand.invocation) }
    if settings.checkpoint != nil, !input.isRegularFile {
      throw usage("--resume needs a regular file as input")
    }
    if settings.follows, !input.isRegularFile { throw usage("--follow needs a regular file as input") }
    let written = [
      settings.output, settings.policy.deadLetters, settings.checkpoint, settings.stats, settings.metrics,
    ].compactMap { $0 }
    var identities: [FileIdentity] = []
    for (index, path) in written.enumerated() where !path.string.hasPrefix("/dev/") {
      let identity = FileIdentity(path: path.string)
      if written[..<index].contains(where: { strcmp($0.pointer, path.pointer) == 0 })
        || identity.map(identities.contains) == true
      {
        throw usage("\(path.string) cannot be written for two purposes")
      }
      if let identity { identities.append(identity) }
    }
    if settings.output == nil, isRegularFile(STDOUT_FILENO),
      let identity = FileIdentity(descriptor: STDOUT_FILENO)
    {
      identities.append(identity)
    }
    if input.isRegularFile, let identity = input.identity, identities.contains(identity) {
      throw usage("\(input.shown) cannot be both read and written")
    }
    for path in [settings.stats, settings.metrics].compactMap({ $0?.string }) {
      FileWriting.removeLeftovers(of: path)
      try FileWriting.check(canReplace: path)
    }
  }

  private static func isRegularFile(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }
}
