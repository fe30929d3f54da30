import BertQACore
import CBertQAHeader

@_cdecl("bertqa_entities_arrow")
public func bertqa_entities_arrow(
  _ context: OpaquePointer?, _ texts: bertqa_column,
  _ options: UnsafePointer<bertqa_entities_options>?,
  _ entities: UnsafeMutablePointer<ArrowArray>?, _ schema: UnsafeMutablePointer<ArrowSchema>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    let output = try ArrowOutput(entities, "entities", schema)
    let context = try ContextHandle.borrowed(context, "context").context
    let options = try entityOptions(options)
    let column = try ArrowTexts(texts, "texts")
    let monitor = CallMonitor(options.call)
    let (texts, indices) = try column.valid(monitor) { $0 }
    let results = try inRows(indices, "texts") { () throws(BertQAError) in
      try context.entities(of: texts, options: options)
    }
    var rows = EntityRows()
    var next = 0
    for row in 0..<column.count {
      if row % ArrowTexts.pollInterval == 0 {
        try monitor.check()
        try Memory.requireReserve()
      }
      let isValid = next < indices.count && indices[next] == row
      rows.append(isValid ? results[next] : nil, text: isValid ? texts[next] : nil)
      if isValid { next += 1 }
    }
    try output.take(rows.column)
  }
}

/// The fields of the entities of all rows, a column each.
private struct EntityRows {
  /// Entities of each row; nil for a null.
  private var counts: [Int?] = []
  private var labels: [String?] = []
  private var texts: [String?] = []
  private var starts: [Int64?] = []
  private var ends: [Int64?] = []
  private var scores: [Float?] = []

  mutating func append(_ list: EntityList?, text: UnsafeBufferPointer<UInt8>?) {
    counts.append(list?.entities.count)
    guard let list, let text else { return }
    for entity in list.entities {
      labels.append(entity.label)
      texts.append(String(decoding: text[entity.bytes.start..<entity.bytes.end], as: UTF8.self))
      starts.append(Int64(entity.codePoints.start))
      ends.append(Int64(entity.codePoints.end))
      scores.append(entity.score)
    }
  }

  var column: ArrowColumn {
    ArrowColumn(
      "entities", counts: counts,
      of: ArrowColumn(
        "item", isValid: labels.map { _ in true },
        children: [
          ArrowColumn("label", labels), ArrowColumn("text", texts), ArrowColumn("start", starts),
          ArrowColumn("end", ends), ArrowColumn("score", scores),
        ]))
  }
}
