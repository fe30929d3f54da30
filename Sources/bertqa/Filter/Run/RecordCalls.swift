import BertQACore

/// The library calls that process a filter's records: many records in one call, each within its own limits.
struct RecordCalls {
  let task: any FilterTask
  /// The limits of each record.
  let limits: CallLimits
  /// Ends the calls when the run stops.
  let call: CallOptions

  /// Returns one outcome for each input, in order.
  func outcomes(for inputs: [TaskInput], in format: RecordFormat) throws(BertQAError) -> [TaskOutcome] {
    if inputs.isEmpty { return [] }
    var call = call
    limits.limit(&call)
    let names = task.names
    let mark = names?.count ?? 0
    do throws(BertQAError) {
      var outcomes = try task.outcomes(for: inputs, call, in: format)
      // Names are numbered in the order of the records, also if these need calls of their own.
      if let names, limits.maxBytes > 0, inputs.count > 1, outcomes.contains(where: \.isFailed) {
        names.removeAll(from: mark)
        outcomes = []
        for input in inputs { outcomes += try self.outcomes(for: [input], in: format) }
        return outcomes
      }
      // Memory that other records use must not count against this one.
      if limits.maxBytes > 0, inputs.count > 1 {
        for index in inputs.indices where outcomes[index].isFailed {
          outcomes[index] = try self.outcomes(for: [inputs[index]], in: format)[0]
        }
      }
      return outcomes
    } catch {
      names?.removeAll(from: mark)
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
