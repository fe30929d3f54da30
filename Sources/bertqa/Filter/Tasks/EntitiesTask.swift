import BertQACore

/// Finds the entities of a record's text, which is its first field, or redacts them.
struct EntitiesTask: FilterTask {
  /// nil if no model is used.
  let context: Context?
  let search: EntitySearch

  /// The values of --fields for each entity.
  let fields: [Field]?

  enum Field: String, ResultField {
    case label, text, start, end
    case byteStart = "byte_start"
    case byteEnd = "byte_end"
    case utf16Start = "utf16_start"
    case utf16End = "utf16_end"
    case score, rule, checksum, context

    static let usual: [Field] = [.label, .text, .start, .end, .score]
  }

  struct Finding {
    let list: EntityList
    /// The field of the text after redaction.
    let redacted: [UInt8]?
  }

  var columns: [String] { search.redacts ? ["redacted"] : ["entities"] }

  var names: Pseudonyms? { search.pseudonyms }

  func results(
    for inputs: [TaskInput], _ call: CallOptions
  ) throws(BertQAError) -> [Result<Finding, BertQAError>] {
    var search = search
    search.options.call = call
    var findings: [Result<Finding, BertQAError>] = []
    for (input, result) in zip(inputs, try search.results(of: inputs.map { $0.texts[0] }, context)) {
      switch result {
      case .success(let list):
        findings.append(
          .success(Finding(list: list, redacted: try input.spelled.redacted(list, by: search))))
      case .failure(let error): findings.append(.failure(error))
      }
    }
    return findings
  }

  func windowCount(of finding: Finding) -> Int { finding.list.windowCount }

  func entityCounts(of finding: Finding) -> EntityCounts { EntityCounts(finding.list) }

  /// Writes the redacted text itself, so that it can replace the text in the record.
  func write(_ finding: Finding, of input: TaskInput, to writer: inout JSONWriter) {
    if let redacted = finding.redacted {
      writer.literal(redacted)
    } else if let fields {
      write(finding.list.entities, fields, of: input, to: &writer)
    } else {
      writer.object { finding.list.writeMembers(text: input.texts[0], to: &$0) }
    }
  }

  /// Writes the entities as JSON.
  func write(_ finding: Finding, of input: TaskInput, to writer: inout CellWriter) {
    if let redacted = finding.redacted { return writer.spelled(redacted) }
    writer.json { write(finding.list.entities, fields ?? Field.usual, of: input, to: &$0) }
  }

  private func write(
    _ entities: [Entity], _ fields: [Field], of input: TaskInput, to writer: inout JSONWriter
  ) {
    writer.array { writer in
      for entity in entities {
        writer.object(fields) { field, writer in
          switch field {
          case .label: writer.string(entity.label)
          case .text: writer.string(input.texts[0][entity.bytes.start..<entity.bytes.end])
          case .start: writer.integer(entity.codePoints.start)
          case .end: writer.integer(entity.codePoints.end)
          case .byteStart: writer.integer(entity.bytes.start)
          case .byteEnd: writer.integer(entity.bytes.end)
          case .utf16Start: writer.integer(entity.utf16.start)
          case .utf16End: writer.integer(entity.utf16.end)
          case .score: writer.number(entity.score)
          case .rule: writer.optional(entity.reason?.rule.utf8)
          case .checksum: writer.optional(entity.reason?.checksum?.utf8)
          case .context: writer.optional(entity.reason?.context.map { input.texts[0][$0.start..<$0.end] })
          }
        }
      }
    }
  }
}
