import BertQACore

/// The work of a filter on its records.
protocol FilterTask {
  /// The result for one record.
  associatedtype Finding

  /// The columns of a result in a table.
  var columns: [String] { get }

  /// The names that results add to; nil if there are none.
  var names: Pseudonyms? { get }

  /// Returns one result for each input, in order. Throws errors that concern the whole call, such as a
  /// cancellation.
  func results(
    for inputs: [TaskInput], _ call: CallOptions
  ) throws(BertQAError) -> [Result<Finding, BertQAError>]

  /// Returns the number of windows that the model read for this result.
  func windowCount(of finding: Finding) -> Int

  /// Returns the number of entities in a result.
  func entityCounts(of finding: Finding) -> EntityCounts

  func write(_ finding: Finding, of input: TaskInput, to writer: inout JSONWriter)

  /// Writes one cell for each column.
  func write(_ finding: Finding, of input: TaskInput, to writer: inout CellWriter)

  /// Returns one outcome for each input, in order. It is a requirement, so that it is specialised for each
  /// task's findings.
  func outcomes(
    for inputs: [TaskInput], _ call: CallOptions, in format: RecordFormat
  ) throws(BertQAError) -> [TaskOutcome]
}

/// The texts of one record. They live as long as the record's block.
struct TaskInput {
  /// In the order of the fields that the task requires.
  let texts: [UnsafeBufferPointer<UInt8>]
  /// The first text with its field.
  let spelled: SpelledText
}

/// The outcome of a task for one record.
enum TaskOutcome {
  /// The result as JSON or as the cells of a row.
  case done([UInt8], windowCount: Int, entities: EntityCounts)
  case failed(RecordProblem)
}

extension FilterTask {
  var names: Pseudonyms? { nil }

  func entityCounts(of finding: Finding) -> EntityCounts { EntityCounts() }

  /// Runs the task once, so that an unsuitable model or invalid options are found before the first record.
  func check(fieldCount: Int, _ call: CallOptions) throws(BertQAError) {
    let text: StaticString = "a b"
    let bytes = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    for result in try results(
      for: [
        TaskInput(
          texts: Array(repeating: bytes, count: fieldCount),
          spelled: SpelledText(text: bytes, field: bytes, format: .table(.tsv)))
      ], call)
    {
      _ = try result.get()
    }
  }

  /// Texts that the library rejects fail only their own record.
  func outcomes(
    for inputs: [TaskInput], _ call: CallOptions, in format: RecordFormat
  ) throws(BertQAError) -> [TaskOutcome] {
    let monitor = CallMonitor(call)
    return zip(try results(for: inputs, call), inputs).map { result, input in
      do throws(BertQAError) {
        return try outcome(result.get(), of: input, in: format, monitor)
      } catch {
        return .failed(RecordProblem(.refused, error.messageForTool))
      }
    }
  }

  private func outcome(
    _ finding: Finding, of input: TaskInput, in format: RecordFormat, _ monitor: CallMonitor
  ) throws(BertQAError) -> TaskOutcome {
    let bytes: [UInt8]
    let failure: BertQAError?
    if case .table(let dialect) = format {
      var writer = CellWriter(dialect: dialect, monitor)
      write(finding, of: input, to: &writer)
      (bytes, failure) = (writer.bytes, writer.failure)
    } else {
      var writer = JSONWriter(monitor)
      writer.keepsInvalid = true
      write(finding, of: input, to: &writer)
      failure = writer.failure
      bytes = writer.take()
    }
    if let failure { throw failure }
    // The output's buffer, which may have to move, takes a copy when the findings are gone.
    try monitor.hold(bytes.count)
    return .done(bytes, windowCount: windowCount(of: finding), entities: entityCounts(of: finding))
  }
}
