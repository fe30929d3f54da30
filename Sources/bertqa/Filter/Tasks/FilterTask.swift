import BertQACore

/// The work of a filter on its records.
protocol FilterTask {
  /// The result for one record.
  associatedtype Finding

  /// The columns of a result in a table.
  var columns: [String] { get }

  /// Returns one result for each input, in order. Throws errors that concern the whole call, such as a
  /// cancellation.
  func results(
    for inputs: [TaskInput], _ call: CallOptions
  ) throws(BertQAError) -> [Result<Finding, BertQAError>]

  /// Returns the number of windows that the model read for this result.
  func windowCount(of finding: Finding) -> Int

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
  case done([UInt8], windowCount: Int)
  case failed(RecordProblem)
}

extension FilterTask {
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
    zip(try results(for: inputs, call), inputs).map { result, input in
      switch result {
      case .success(let finding): outcome(finding, of: input, in: format)
      case .failure(let error): .failed(RecordProblem(.refused, error.messageForTool))
      }
    }
  }

  private func outcome(_ finding: Finding, of input: TaskInput, in format: RecordFormat) -> TaskOutcome {
    let bytes: [UInt8]
    if case .table(let dialect) = format {
      var writer = CellWriter(dialect: dialect)
      write(finding, of: input, to: &writer)
      bytes = writer.bytes
    } else {
      var writer = JSONWriter()
      writer.keepsInvalid = true
      write(finding, of: input, to: &writer)
      bytes = writer.take()
    }
    return .done(bytes, windowCount: windowCount(of: finding))
  }
}
