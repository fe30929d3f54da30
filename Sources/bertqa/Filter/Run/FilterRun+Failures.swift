extension FilterRun {
  /// A record without a result: told on standard error, counted, and put where the policy wants it.
  func fail(_ record: FilterRecord, _ problem: RecordProblem, in block: Block) throws(ToolError) {
    let policy = settings.policy
    // A rerun begins with the record that ended this run.
    if policy.action == .fail { try saveCheckpoint() }
    count { $0.countFailure(problem.kind) }
    if !settings.isQuiet || policy.action == .fail { report.report(describe(record, problem, in: block)) }
    try keep(record, in: block)
    if deadLetters != nil { count { $0.deadLetters += 1 } }
    switch policy.action {
    case .null: writer.writeNull(of: record, problem, in: block, to: &output.buffer)
    case .pass: writer.writeRaw(record, in: block, to: &output.buffer)
    case .drop: return
    case .fail:
      try output.flush()
      throw ToolError(.input, "")
    }
    count { $0.written += 1 }
  }

  /// A part of a record that is too large to be kept in memory.
  func takePart(_ record: FilterRecord, in block: Block, isFirst: Bool) throws(ToolError) {
    if isFirst, let problem = record.problem { return try fail(record, problem, in: block) }
    try keep(record, in: block)
    if settings.policy.action == .pass { writer.writeRaw(record, in: block, to: &output.buffer) }
  }

  /// The names of a table's columns, also for dead letters, unless these have them already.
  func writeHeader(_ record: FilterRecord, in block: Block) throws(ToolError) {
    writer.writeHeader(record, in: block, to: &output.buffer)
    if deadLetters?.length == 0 { try keep(record, in: block) }
  }

  /// Appends the record's bytes to the dead letters before it counts as done.
  private func keep(_ record: FilterRecord, in block: Block) throws(ToolError) {
    guard let deadLetters else { return }
    writer.writeRaw(record, in: block, to: &deadLetters.buffer)
    try deadLetters.flush()
  }

  private func describe(_ record: FilterRecord, _ problem: RecordProblem, in block: Block) -> String {
    var text = "\(settings.format.isText ? "line" : "record") \(record.number)"
    if let id = record.id {
      text += " (\(String(decoding: block.bytes(id).prefix(200), as: UTF8.self)))"
    }
    return "\(text): \(problem.message)"
  }
}
