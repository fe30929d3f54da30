import BertQACore
import Glibc

/// Takes records from the reader, has them answered in batches, and writes them, in order.
final class FilterRun {
  let settings: FilterSettings
  let task: any FilterTask
  let source: InputSource
  let queue: BlockQueue
  let writer: any RecordWriter
  let output: OutputStream
  let deadLetters: OutputStream?
  let report: FilterReport
  /// Of the arguments and the model.
  let identity: UInt64
  private(set) var counters: FilterCounters
  /// The block whose records are taken next, and the first of them.
  private var block: Block?
  private var nextRecord = 0
  private var lastCheckpoint = Clock.seconds()
  /// Whether the last record is written in parts and not yet complete.
  private var isInParts = false

  /// How often what there is to do besides records is looked after, in seconds.
  private static let tick = 0.5
  /// Bytes of records and texts that a batch takes on, at most one record more.
  private static let batchBytes = 1 << 20

  init(
    _ settings: FilterSettings, task: any FilterTask, form: RecordForm, source: InputSource,
    queue: BlockQueue, output: OutputStream, deadLetters: OutputStream?, identity: UInt64,
    counters: FilterCounters
  ) {
    self.settings = settings
    self.task = task
    self.source = source
    self.queue = queue
    self.output = output
    self.deadLetters = deadLetters
    self.identity = identity
    self.counters = counters
    writer = form.makeWriter()
    report = FilterReport(settings, inputSize: source.size, before: counters)
  }

  /// Works until the input's end.
  func run() throws(ToolError) {
    try saveCheckpoint()
    while let batch = try nextBatch() {
      try process(batch)
      try output.flushIfDue()
      try report.update(counters, outputBytes: output.length)
      if isCheckpointDue { try saveCheckpoint() }
    }
    try output.flush()
    if !isInParts { try saveCheckpoint() }
  }

  private var isCheckpointDue: Bool {
    settings.checkpoint != nil && !isInParts
      && Clock.seconds() - lastCheckpoint >= Double(settings.checkpointInterval)
  }

  /// A record and the block that it stands in.
  private struct Entry {
    let block: Block
    let record: FilterRecord

    var hasTexts: Bool {
      if case .data = record.kind { return record.problem == nil }
      return false
    }
  }

  /// What is there to be done: waits for the first record only, and then takes what has come, up to the
  /// limits. Empty if nothing came for a while; nil at the end of the input.
  private func nextBatch() throws(ToolError) -> [Entry]? {
    var batch: [Entry] = []
    var count = 0
    var bytes = 0
    while count < settings.batchSize, bytes < Self.batchBytes {
      if let block, nextRecord < block.records.count {
        let entry = Entry(block: block, record: block.records[nextRecord])
        nextRecord += 1
        batch.append(entry)
        if entry.hasTexts { count += 1 }
        bytes += entry.record.raw.count
        continue
      }
      block = nil
      switch queue.take(waiting: batch.isEmpty ? Self.tick : 0) {
      case .block(let taken):
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
    counters.batches += 1
    let inputs = batch.filter(\.hasTexts).map { entry in
      TaskInput(
        texts: entry.block.fields[entry.record.firstField...].prefix(settings.texts.count)
          .map(entry.block.text))
    }
    var outcomes: IndexingIterator<[TaskOutcome]>
    do throws(BertQAError) {
      outcomes = try task.outcomes(for: inputs, in: settings.format).makeIterator()
    } catch {
      throw ToolError(error, command: FilterCommand.invocation)
    }
    for entry in batch {
      let (record, block) = (entry.record, entry.block)
      switch record.kind {
      case .header: try writeHeader(record, in: block)
      case .blank:
        writer.writeRaw(record, in: block, to: &output.buffer)
        counters.blankLines += 1
      case .part(let isFirst, let isLast):
        try takePart(record, in: block, isFirst: isFirst)
        isInParts = !isLast
      case .data:
        if let outcome = entry.hasTexts ? outcomes.next() : nil {
          try write(outcome, of: record, in: block)
        } else if let problem = record.problem {
          try fail(record, problem, in: block)
        }
      }
      counters.inputBytes = record.endOffset
      counters.lines = record.endNumber
      if output.buffer.count >= 1 << 20 { try output.flush() }
    }
  }

  private func write(
    _ outcome: TaskOutcome, of record: FilterRecord, in block: Block
  ) throws(ToolError) {
    do throws(RecordProblem) {
      switch outcome {
      case .done(let result, let windowCount):
        try writer.writeResult(result, of: record, in: block, to: &output.buffer)
        counters.windows += windowCount
        counters.succeeded += 1
        counters.written += 1
      case .failed(let problem): throw problem
      }
    } catch {
      try fail(record, error, in: block)
    }
  }

  func count(_ change: (inout FilterCounters) -> Void) { change(&counters) }

  /// Everything written so far is on the disk before the checkpoint says so.
  func saveCheckpoint() throws(ToolError) {
    guard let path = settings.checkpoint else { return }
    try output.flush()
    try output.sync()
    try deadLetters?.sync()
    try FilterCheckpoint(
      run: identity,
      input: FilterCheckpoint.identity(of: source.descriptor, upTo: counters.inputBytes),
      outputLength: output.length, deadLetterLength: deadLetters?.length ?? 0, counters: counters
    ).save(path.string)
    lastCheckpoint = Clock.seconds()
  }
}
