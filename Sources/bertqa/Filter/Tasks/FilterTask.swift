import BertQACore

/// What a filter does with its records.
protocol FilterTask {
  associatedtype Result

  /// The columns that a result has in a table.
  var columns: [String] { get }

  /// One result for each input, in order. An error is about the inputs as a whole; the filter then tries them
  /// one by one.
  func results(for inputs: [TaskInput]) throws(BertQAError) -> [Result]

  /// Windows that the model has read for this result.
  func windowCount(of result: Result) -> Int

  func write(_ result: Result, of input: TaskInput, to writer: inout JSONWriter)

  /// Writes one cell for each column.
  func write(_ result: Result, of input: TaskInput, to writer: inout CellWriter)
}

/// The texts of one record. They live as long as the record's block.
struct TaskInput {
  /// In the order of the fields that the task asked for.
  let texts: [UnsafeBufferPointer<UInt8>]
}

/// What a task says of one record.
enum TaskOutcome {
  /// The result as JSON, or as the cells of a row.
  case done([UInt8], windowCount: Int)
  case failed(RecordProblem)
}

extension FilterTask {
  /// Does the task once, so that a model or options that it cannot be done with are found out before any
  /// record.
  func check(fieldCount: Int) throws(BertQAError) {
    let text: StaticString = "a b"
    let bytes = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    _ = try results(for: [TaskInput(texts: Array(repeating: bytes, count: fieldCount))])
  }

  /// One outcome for each input, in order. Texts that the library refuses are the problem of their record
  /// alone.
  func outcomes(for inputs: [TaskInput], in format: RecordFormat) throws(BertQAError) -> [TaskOutcome] {
    if inputs.isEmpty { return [] }
    do throws(BertQAError) {
      return zip(try results(for: inputs), inputs).map { outcome($0, of: $1, in: format) }
    } catch {
      guard error.isAboutInput else { throw error }
      if inputs.count == 1 { return [.failed(RecordProblem(.refused, error.messageForTool))] }
    }
    var outcomes: [TaskOutcome] = []
    for input in inputs { outcomes += try self.outcomes(for: [input], in: format) }
    return outcomes
  }

  private func outcome(_ result: Result, of input: TaskInput, in format: RecordFormat) -> TaskOutcome {
    let bytes: [UInt8]
    if case .table(let dialect) = format {
      var writer = CellWriter(dialect: dialect)
      write(result, of: input, to: &writer)
      bytes = writer.bytes
    } else {
      var writer = JSONWriter()
      write(result, of: input, to: &writer)
      bytes = writer.take()
    }
    return .done(bytes, windowCount: windowCount(of: result))
  }
}

extension BertQAError {
  /// Whether other inputs may fare better.
  fileprivate var isAboutInput: Bool {
    status == .invalidArgument || status == .tooLarge || status == .outOfMemory
  }
}
