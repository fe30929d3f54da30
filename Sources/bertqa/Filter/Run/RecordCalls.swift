import BertQACore

/// The calls of the library in which a filter works on its records: many records in one, but each within the limits
/// as if it were alone.
struct RecordCalls {
  let task: any FilterTask
  /// Of each record.
  let limits: CallLimits
  /// What ends the calls.
  let call: CallOptions

  /// One for each input, in order.
  func outcomes(for inputs: [TaskInput], in format: RecordFormat) throws(BertQAError) -> [TaskOutcome] {
    if inputs.isEmpty { return [] }
    var call = call
    limits.limit(&call)
    do throws(BertQAError) {
      var outcomes = try task.outcomes(for: inputs, call, in: format)
      // Memory that others hold is not the record's.
      if limits.maxBytes > 0, inputs.count > 1 {
        for index in inputs.indices where outcomes[index].isFailed {
          outcomes[index] = try self.outcomes(for: [inputs[index]], in: format)[0]
        }
      }
      return outcomes
    } catch {
      guard error.isAboveLimit else { throw error }
      if inputs.count > 1 {
        let middle = inputs.count / 2
        return try outcomes(for: Array(inputs[..<middle]), in: format)
          + outcomes(for: Array(inputs[middle...]), in: format)
      }
      let kind = error.status == .deadlineExceeded ? RecordProblem.Kind.deadlineExceeded : .refused
      return [.failed(RecordProblem(kind, error.messageForTool))]
    }
  }
}

extension TaskOutcome {
  fileprivate var isFailed: Bool {
    if case .failed = self { return true }
    return false
  }
}
