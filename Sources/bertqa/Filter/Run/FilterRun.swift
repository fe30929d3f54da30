import BertQACore
import Glibc

/// Takes records from the reader, processes them in batches, and writes them in order.
final class FilterRun {
  let settings: FilterSettings
  let output: RecordOutput
  let report: FilterReport
  private(set) var counters: FilterCounters
  private let calls: RecordCalls
  private let queue: BlockQueue
  private let stop: StopSignals
  private let writer: any RecordWriter
  private let deadLetters: DeadLetters?
  private let mapping: MappingFile?
  private let progress: FilterProgress?
  private let watch: FileWatch?
  /// The losses of earlier runs.
  private let earlierLosses: Int
  /// A table's header line, for dead letters.
  private var header: [UInt8] = []
  /// The block from which the next records are taken, and the index of the first of them.
  private var block: Block?
  private var nextRecord = 0
  /// The number of finished bytes of the current block.
  private var passed = 0
  /// The position after the last finished record.
  private var position: FilterProgress.Position
  private var lastCheckpoint = Clock.seconds()
  /// True if the last record is being written in parts and is not yet complete.
  private var isInsideRecord = false
  /// True if a stop has left the rest to a rerun.
  private var isGivenUp = false

  /// The encoding of the first input; nil for UTF-8.
  private var encoding: TextEncoding?
  private var isEncodingKnown = false
  private var deadLetterEncoder: TextEncoder?
  private static let mark = Array("\u{FEFF}".utf8)

  /// The interval in seconds between housekeeping tasks.
  private static let tick = 0.5
  /// Bytes of records and texts that a batch takes on, at most one record more. What comes of them, which may be a
  /// hundred times as much, is in memory together.
  private let batchBytes: Int
  /// Records of any kind in a batch.
  private static let batchRecords = 1 << 14
  /// The maximum number of files that a batch's records belong to, as these stay open.
  private static let batchFiles = 32

  /// - Parameter header: a table's first line, if an earlier run has processed it.
  init(
    _ settings: FilterSettings, calls: RecordCalls, form: RecordForm, start: FilterProgress.Position,
    inputSize: Int, header: [UInt8], queue: BlockQueue, stop: StopSignals, output: RecordOutput,
    deadLetters: DeadLetters?, mapping: MappingFile?, progress: FilterProgress?, watch: FileWatch?,
    counters: FilterCounters
  ) {
    self.settings = settings
    self.calls = calls
    self.header = header
    self.queue = queue
    self.stop = stop
    self.output = output
    self.deadLetters = deadLetters
    self.mapping = mapping
    self.progress = progress
    self.watch = watch
    self.counters = counters
    earlierLosses = counters.losses
    position = start
    batchBytes = settings.limits.maxBytes > 0 ? min(1 << 20, settings.limits.maxBytes / 128) : 1 << 20
    writer = form.makeWriter()
    report = FilterReport(settings, inputSize: inputSize, before: counters)
  }

  /// Works until the end of the input.
  func run() throws(ToolError) {
    var hasBegun = false
    // A rerun then finds files that were rotated before the first record.
    if settings.follows, progress?.isNew == true { try saveCheckpoint() }
    while !isGivenUp, let batch = try nextBatch() {
      countLosses()
      // Outputs do not change before the first record, as missing columns are detected only then.
      if !hasBegun, !batch.isEmpty {
        hasBegun = true
        // The first file did not exist at the start.
        if !position.input.isRegularFile, let block = batch.first?.block { try enter(block) }
        try deadLetters?.begin()
        try saveCheckpoint()
      }
      try process(batch)
      try output.flushIfDue()
      report.update(counters, outputBytes: output.length)
      if isCheckpointDue { try saveCheckpoint() }
    }
    countLosses()
    try output.flush()
    if !hasBegun { try deadLetters?.begin() }
    if !isInsideRecord { try saveCheckpoint() }
    try checkLimit(isEnd: stop.signal == nil)
  }

  /// Cleans up after a failed run: removes new files without contents.
  func abandon() {
    output.abandon()
    // A rerun needs the checkpoint to replace what is in the output, such as a table's first line.
    progress?.abandon(isUnused: counters.records == 0 && output.currentSize == 0)
  }

  private func countLosses() { counters.losses = earlierLosses + (watch?.losses ?? 0) }

  private var isCheckpointDue: Bool {
    progress != nil && !isInsideRecord && Clock.seconds() - lastCheckpoint >= settings.checkpointInterval
  }

  /// A record and its block.
  private struct Entry {
    let block: Block
    let record: Record
    /// True for the block's last record.
    let isLast: Bool

    var hasTexts: Bool {
      if case .data = record.kind { return record.problem == nil && !record.hasNoText }
      return false
    }
  }

  /// Returns the available records: waits for the first one only, then takes those that have arrived, up to
  /// the limits. Returns an empty batch if none arrived for a while, and nil at the end of the input.
  private func nextBatch() throws(ToolError) -> [Entry]? {
    var batch: [Entry] = []
    var count = 0
    var bytes = 0
    var files = 0
    // After a signal, records are processed singly, so that finished ones are written in time.
    let limit = stop.signal == nil ? settings.batchSize : 1
    while count < limit, bytes <= batchBytes, batch.count < Self.batchRecords, files < Self.batchFiles {
      if let block, nextRecord < block.records.count {
        let record = block.records[nextRecord]
        nextRecord += 1
        let entry = Entry(block: block, record: record, isLast: nextRecord == block.records.count)
        batch.append(entry)
        if entry.hasTexts { count += 1 }
        bytes += entry.record.raw.count
        continue
      }
      block = nil
      switch queue.take(waiting: batch.isEmpty ? Self.tick : 0) {
      case .block(let taken):
        if taken.source !== batch.last?.block.source { files += 1 }
        block = taken
        nextRecord = 0
      case .nothing: return batch
      case .end(let error):
        if !batch.isEmpty { return batch }
        if let error {
          try output.flush()
          throw error
        }
        return nil
      }
    }
    return batch
  }

  private func process(_ batch: [Entry]) throws(ToolError) {
    guard !batch.isEmpty else { return }
    let inputs = batch.filter(\.hasTexts).map { entry in
      TaskInput(
        texts: entry.block.fields[entry.record.firstField...].prefix(settings.texts.count)
          .map(entry.block.text), spelled: entry.block.spelled(entry.record, settings.format))
    }
    guard var outcomes = try outcomes(for: inputs)?.makeIterator() else {
      isGivenUp = true
      return
    }
    try mapping?.save()
    counters.batches += 1
    for entry in batch {
      let (record, block) = (entry.record, entry.block)
      if position.input !== block.source { try enter(block) }
      try setEncoders(for: block.source)
      switch record.kind {
      case .header: writeHeader(record, in: block)
      case .repeatedHeader: break
      case .blank(let lineCount):
        writer.writeRaw(record, in: block, to: &output.buffer)
        counters.blankLines += lineCount
      case .part(let isFirst, let isLast):
        try takePart(record, in: block, isFirst: isFirst, isLast: isLast)
        isInsideRecord = !isLast
      case .data:
        if let outcome = entry.hasTexts ? outcomes.next() : nil {
          try write(outcome, of: record, in: block)
        } else if let problem = record.problem {
          try fail(record, problem, in: block)
        } else {
          try writeEmpty(record, in: block)
        }
      }
      // The records of a block are adjacent.
      let end = passed + record.endOffset - position.offset
      progress?.add(block.bytes(passed..<end))
      passed = entry.isLast ? 0 : end
      counters.inputBytes += record.endOffset - position.offset
      position.offset = record.endOffset
      position.seen = block.seen
      counters.lines = record.endNumber
      if output.buffer.count >= 1 << 20 { try output.flush() }
    }
  }

  /// Moves to the file that a block belongs to.
  private func enter(_ block: Block) throws(ToolError) {
    // A file of which no record was finished may be copied, too.
    if block.source.continues(position.input) {
      position.input = block.source
    } else {
      try progress?.finish(position, settings.inputs, next: block.source)
      position = FilterProgress.Position(input: block.source, linesBefore: counters.lines)
    }
  }

  /// Returns one outcome for each input; nil if a stop leaves them to a rerun.
  private func outcomes(for inputs: [TaskInput]) throws(ToolError) -> [TaskOutcome]? {
    let isStopped = settings.checkpoint != nil ? stop.signal != nil : stop.isOverdue
    if !isStopped {
      do throws(BertQAError) {
        return try calls.outcomes(for: inputs, in: settings.format)
      } catch {
        guard error.status == .cancelled else { throw ToolError(error, command: FilterCommand.invocation) }
      }
    }
    if settings.checkpoint != nil { return nil }
    let problem = RecordProblem(.stopped, "stopped before the record was done")
    return inputs.map { _ in .failed(problem) }
  }

  private func write(_ outcome: TaskOutcome, of record: Record, in block: Block) throws(ToolError) {
    do throws(RecordProblem) {
      switch outcome {
      case .done(let result, let windowCount, let entities):
        try writer.writeResult(result, of: record, in: block, to: &output.buffer)
        counters.windows += windowCount
        counters.entities.add(entities)
        counters.succeeded += 1
        counters.written += 1
      case .failed(let problem): throw problem
      }
    } catch {
      try fail(record, error, in: block)
    }
  }

  /// Writes a record without a text. Its correct result is empty.
  private func writeEmpty(_ record: Record, in block: Block) throws(ToolError) {
    do throws(RecordProblem) {
      try writer.writeEmpty(of: record, in: block, to: &output.buffer)
      counters.succeeded += 1
      counters.withoutText += 1
      counters.written += 1
    } catch {
      try fail(record, error, in: block)
    }
  }

  /// Handles a record without a result: reports it on standard error, counts it, and applies the error
  /// policy.
  private func fail(
    _ record: Record, _ problem: RecordProblem, in block: Block, isLast: Bool = true
  ) throws(ToolError) {
    let policy = settings.policy
    // A rerun begins with the record that ended this run.
    if policy.action == .fail { try saveCheckpoint() }
    counters.countFailure(problem.kind)
    if !settings.isQuiet || policy.action == .fail { report.report(describe(record, problem, in: block)) }
    try keep(record, in: block, isLast: isLast)
    if deadLetters != nil { counters.deadLetters += 1 }
    switch policy.action {
    case .null: writer.writeNull(of: record, problem, in: block, to: &output.buffer)
    case .pass: writer.writeRaw(record, in: block, to: &output.buffer)
    case .drop: return try checkLimit(isEnd: false)
    case .fail:
      try output.flush()
      throw ToolError(.input, "")
    }
    counters.written += 1
    try checkLimit(isEnd: false)
  }

  private func checkLimit(isEnd: Bool) throws(ToolError) {
    guard let limit = settings.policy.limit,
      limit.isExceeded(counters.failed, of: counters.records, isEnd: isEnd)
    else { return }
    try output.flush()
    throw ToolError(.input, "\(counters.failed) of \(counters.records) records failed: above --max-errors")
  }

  /// Takes a part of a record that is too large for memory.
  private func takePart(
    _ record: Record, in block: Block, isFirst: Bool, isLast: Bool
  ) throws(ToolError) {
    if isFirst, let problem = record.problem { return try fail(record, problem, in: block, isLast: isLast) }
    try keep(record, in: block, isLast: isLast)
    if settings.policy.action == .pass { writer.writeRaw(record, in: block, to: &output.buffer) }
  }

  /// Writes the column names of a table, also for dead letters.
  private func writeHeader(_ record: Record, in block: Block) {
    writer.writeHeader(record, in: block, to: &output.buffer)
    writer.writeRaw(record, in: block, to: &header)
  }

  /// Appends the record's bytes to the dead letters before it counts as finished.
  private func keep(_ record: Record, in block: Block, isLast: Bool) throws(ToolError) {
    guard let deadLetters else { return }
    var bytes: [UInt8] = []
    writer.writeRaw(record, in: block, to: &bytes)
    // The mark belongs at the beginning of the file.
    if bytes.starts(with: Self.mark) { bytes.removeFirst(Self.mark.count) }
    func encoded(_ bytes: [UInt8]) -> [UInt8] { encoding.map { TextEncoder($0).encode(bytes) } ?? bytes }
    try deadLetters.append(
      deadLetterEncoder?.encode(bytes) ?? bytes,
      header: encoded((encoding?.hasMark == true ? Self.mark : []) + header),
      lineEnds: settings.format.isText ? ["\n", "\r"].map { encoded(Array($0.utf8)) } : [], isLast: isLast)
  }

  /// Sets the encoders for the records of an input. Dead letters, and with --in-place the output, have the encoding of
  /// the first input. What is written in UTF-8 gets back the invalid bytes of an input that was converted.
  private func setEncoders(for source: Input) throws(ToolError) {
    if !isEncodingKnown {
      isEncodingKnown = true
      try findEncoding(source)
    }
    let hasEscapes = source.encoding != nil
    if !settings.isInPlace || encoding == nil, hasEscapes != (output.textEncoder != nil) {
      try output.flush()
      output.textEncoder = hasEscapes ? TextEncoder(nil) : nil
    }
    if encoding == nil, hasEscapes != (deadLetterEncoder != nil) {
      deadLetterEncoder = hasEscapes ? TextEncoder(nil) : nil
    }
  }

  /// - Parameter source: the input of the first record.
  private func findEncoding(_ source: Input) throws(ToolError) {
    // A FIFO that was empty cannot be opened again.
    let isKnown = source.index == 0 || FilePlace(settings.inputs[0]).kind != S_IFREG
    let first = isKnown ? source : try FilterInput.open(settings.inputs, 0, settings.reading)
    encoding = first === source ? first.encoding : try first.findEncoding()
    guard let encoding else { return }
    if settings.follows, progress != nil {
      throw ToolError(
        .input, "\(first.shown) is \(encoding.name), which --follow and --resume together cannot read")
    }
    deadLetterEncoder = TextEncoder(encoding)
    guard settings.isInPlace else { return }
    output.textEncoder = TextEncoder(encoding)
    if encoding.hasMark, output.length == 0, output.buffer.isEmpty { output.buffer += Self.mark }
  }

  private func describe(_ record: Record, _ problem: RecordProblem, in block: Block) -> String {
    let isOneOfSeveral = settings.inputs.count > 1
    let number = record.number - (isOneOfSeveral ? position.linesBefore : 0)
    var text = isOneOfSeveral ? "\(position.input.shown): " : ""
    text += "\(settings.format.isText ? "line" : "record") \(number)"
    if let id = record.id {
      text += " (\(String(decoding: block.bytes(id).prefix(200), as: UTF8.self)))"
    }
    return "\(text): \(problem.message)"
  }

  /// Saves a checkpoint after everything written so far is on disk.
  private func saveCheckpoint() throws(ToolError) {
    guard let progress else { return }
    try output.sync()
    try deadLetters?.sync()
    try mapping?.sync()
    try progress.save(upTo: position, output, deadLetters, mapping, counters, header: header)
    lastCheckpoint = Clock.seconds()
  }
}
