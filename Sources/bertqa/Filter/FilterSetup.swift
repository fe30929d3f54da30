import BertQACore
import Glibc

/// Creates a run from its settings. All checks precede the first change to a file.
enum FilterSetup {
  static func makeCalls(
    _ settings: FilterSettings, _ context: Context?, _ stop: StopSignals
  ) throws(ToolError) -> RecordCalls {
    // A resumable run loses nothing when it stops at once.
    let isResumable = settings.checkpoint != nil
    var call = CallOptions()
    call.cancellation = Cancellation { isResumable ? stop.signal != nil : stop.isOverdue }
    let task = try makeTask(settings, context)
    try ofCore(FilterCommand.invocation) { () throws(BertQAError) in
      do throws(BertQAError) {
        try task.check(fieldCount: settings.texts.count, call)
      } catch {
        // A signal can already arrive here.
        if error.status != .cancelled { throw error }
      }
    }
    settings.entitySearch.pseudonyms?.removeAll(from: 0)
    return RecordCalls(task: task, limits: settings.limits, call: call)
  }

  /// - Parameter context: nil if the task needs no model.
  private static func makeTask(
    _ settings: FilterSettings, _ context: Context?
  ) throws(ToolError) -> any FilterTask {
    guard let context else {
      guard settings.needsNoModel else { throw ToolError(.resources, "a task without its model") }
      return EntitiesTask(context: nil, search: settings.entitySearch, fields: settings.fields())
    }
    return switch settings.task {
    case .answer:
      AnswerTask(
        context: context, questions: settings.questions, options: settings.answerOptions,
        fields: settings.fields())
    case .classify:
      ClassifyTask(
        context: context, options: settings.classifyOptions, labelLimit: settings.labelLimit,
        fields: settings.fields())
    case .embed: EmbedTask(context: context, options: settings.embedOptions, fields: settings.fields())
    case .entities:
      EntitiesTask(context: context, search: settings.entitySearch, fields: settings.fields())
    case .tokenize:
      TokenizeTask(
        context: context, idsOnly: settings.idsOnly, parseSpecialTokens: settings.parseSpecialTokens,
        fields: settings.fields())
    }
  }

  /// Opens inputs and outputs and starts the reader.
  static func prepare(
    _ settings: FilterSettings, _ calls: RecordCalls, _ context: Context?, _ stop: StopSignals
  ) throws(ToolError) -> FilterRun {
    let inputSize = try checkInputs(settings)
    var progress: FilterProgress?
    if let checkpoint = settings.checkpoint, let output = settings.output {
      progress = try FilterProgress(checkpoint, settings: settings, output: output, context)
    }
    var output = RecordOutput()
    do throws(ToolError) {
      if let path = settings.output {
        output = try RecordOutput(path: path, isHashed: progress != nil, stop: stop)
      }
      let deadLetters = try settings.policy.deadLetters.map { path throws(ToolError) in
        try DeadLetters(path: path, isResumable: progress != nil)
      }
      var mapping: MappingFile?
      if let path = settings.mapping, let names = settings.entitySearch.pseudonyms {
        mapping = try MappingFile(path, names)
      }
      let watch = settings.follows ? try FileWatch(settings.inputs[0], settings.reading, stop: stop) : nil
      let start: FilterProgress.Position
      var counters = FilterCounters()
      var header: [UInt8] = []
      if let done = try progress?.resume(settings, output, deadLetters, mapping, watch) {
        (start, counters, header) = done
      } else if let watch {
        let followed = try FollowedFile(.present, watch, settings.reading)
        start = FilterProgress.Position(
          input: followed.input, seen: followed.input.seen, followed: followed)
      } else {
        start = FilterProgress.Position(input: try FilterInput.open(settings.inputs, 0, settings.reading))
      }
      let form = RecordForm(
        format: settings.format,
        fields: RecordFields(
          texts: settings.texts, stringCount: settings.coerces ? 0 : settings.texts.count, id: settings.id,
          output: settings.outputField, maximumTextBytes: settings.maximumDocumentBytes,
          nullText: settings.nullText, isTextReplaced: settings.replacesText,
          isTextRedacted: settings.entitySearch.redacts),
        newNames: ((settings.isInPlace ? [] : calls.task.columns) + ["error"]).map {
          Array("\(settings.outputField.name)_\($0)".utf8)
        }, isChecked: settings.encoding != nil)
      let queue = BlockQueue()
      let source = FilterInput(
        settings.inputs, start.followed.map { .followed($0) } ?? .named(start.input),
        reading: settings.reading, stop: stop,
        patience: settings.checkpoint == nil ? min(2, settings.stopTimeout) : 0)
      let reader = try RecordReader(
        source, form,
        RecordReader.Limits(
          recordBytes: settings.maximumRecordBytes, keepsLargeRecords: settings.policy.keepsBytes,
          leavesUnfinished: settings.checkpoint != nil), resumed: (start.offset, counters.lines, header))
      header = reader.headerLine
      try Thread.start { queue.fill(from: reader) }
      return FilterRun(
        settings, calls: calls, form: form, start: start, inputSize: inputSize, header: header,
        queue: queue, stop: stop, output: output, deadLetters: deadLetters, mapping: mapping,
        progress: progress, watch: watch, counters: counters)
    } catch {
      output.abandon()
      progress?.abandon(isUnused: false)
      throw error
    }
  }

  /// Checks that all inputs can be read before the first is processed, which may take hours. Returns the
  /// total size of the inputs in bytes; 0 if unknown.
  private static func checkInputs(_ settings: FilterSettings) throws(ToolError) -> Int {
    if settings.follows { try checkFollowed(settings) }
    var size = 0
    var isKnown = true
    for index in settings.inputs.indices {
      if settings.follows, FileIdentity(path: settings.inputs[index].string) == nil, errno == ENOENT {
        isKnown = false
        continue
      }
      // A pipe that is opened twice may have ended by the second time.
      guard let input = try regularInput(settings.inputs, index, settings.reading) else {
        if settings.checkpoint != nil { throw usage("--resume needs regular files as input") }
        if settings.follows { throw usage("--follow needs a regular file as input") }
        isKnown = false
        continue
      }
      if settings.follows, let compression = input.compression { throw compressed(input.shown, compression) }
      size += input.size ?? 0
      if !input.isVerbatim { isKnown = false }
    }
    return isKnown ? size : 0
  }

  /// Rejects paths of which no file can be followed, and outputs that would be read as rotated files.
  private static func checkFollowed(_ settings: FilterSettings) throws(ToolError) {
    let name = settings.inputs[0].string
    if FileWriting.links(from: settings.inputs[0].pointer) == nil {
      throw usage("--follow cannot read \(name): its path is not valid UTF-8")
    }
    if let compression = Compression(fileName: name) { throw compressed(name, compression) }
    for output in settings.outputs where RotatedFiles.haveName(of: output.string, followed: name) {
      throw usage(
        "--follow would read \(output.string) as a rotated file of \(name): choose another name"
      )
    }
  }

  private static func usage(_ message: String) -> ToolError {
    .usage(message, command: FilterCommand.invocation)
  }

  private static func compressed(_ shown: String, _ compression: Compression) -> ToolError {
    usage("--follow cannot read \(shown), which is compressed with \(compression)")
  }

  /// Returns nil unless the input is a regular file.
  private static func regularInput(
    _ names: [ArgumentText], _ index: Int, _ reading: Input.Reading
  ) throws(ToolError) -> Input? {
    var reading = reading
    reading.grows = false
    let name = names[index]
    let place = FilePlace(name)
    if name.isStandardInput { return place.kind == S_IFREG ? try Input(name) : nil }
    if place.identity != nil, ![S_IFREG, S_IFDIR].contains(place.kind) { return nil }
    return try FilterInput.open(names, index, reading)
  }
}
