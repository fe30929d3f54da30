import BertQACore

/// Finds the entities of a record's text, which is its first field, or gives the text without them.
struct EntitiesTask: FilterTask {
  /// nil where no model is used.
  let context: Context?
  let search: EntitySearch

  struct Finding {
    let list: EntityList
    let redacted: [UInt8]?
  }

  var columns: [String] { search.redaction == .none ? ["entities"] : ["redacted"] }

  func results(for inputs: [TaskInput]) throws(BertQAError) -> [Result<Finding, BertQAError>] {
    var findings: [Result<Finding, BertQAError>] = []
    for (input, result) in zip(inputs, try search.results(of: inputs.map { $0.texts[0] }, context)) {
      switch result {
      case .success(let list):
        findings.append(
          .success(Finding(list: list, redacted: try search.redacted(input.texts[0], list))))
      case .failure(let error): findings.append(.failure(error))
      }
    }
    return findings
  }

  func windowCount(of finding: Finding) -> Int { finding.list.windowCount }

  /// The redacted text itself, so that it can take the place of the record's own.
  func write(_ finding: Finding, of input: TaskInput, to writer: inout JSONWriter) {
    if let redacted = finding.redacted {
      writer.string(redacted)
    } else {
      writer.object { finding.list.writeMembers(text: input.texts[0], to: &$0) }
    }
  }

  /// The entities as JSON.
  func write(_ finding: Finding, of input: TaskInput, to writer: inout CellWriter) {
    if let redacted = finding.redacted { return writer.text(redacted) }
    var json = JSONWriter()
    json.array { json in
      for entity in finding.list.entities {
        json.object { json in
          json.key("label")
          json.string(entity.label)
          json.key("text")
          json.string(input.texts[0][entity.bytes.start..<entity.bytes.end])
          json.key("start")
          json.integer(entity.codePoints.start)
          json.key("end")
          json.integer(entity.codePoints.end)
          json.key("score")
          json.number(entity.score)
        }
      }
    }
    writer.text(json.take())
  }
}
