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
    let results = try naming(indices, in: "texts") { () throws(BertQAError) in
      try context.entities(of: texts, options: options)
    }
    // The number of entities in each row, nil for a null row; and the entities of all rows.
    var counts = try [Int?](results: nil, count: column.count, monitor)
    var found: [FoundEntity] = []
    for (index, row) in indices.enumerated() {
      if index % ArrowTexts.pollInterval == 0 { try monitor.check() }
      let list = results[index].entities
      counts[row] = list.count
      try found.makeRoom(for: list.count, monitor)
      for entity in list { found.append(FoundEntity(entity: entity, text: texts[index])) }
    }
    let columns = ArrowColumns(monitor)
    try output.take(
      columns.column("entities", counts: counts, of: entityColumn(found, columns)), monitor)
  }
}

private struct FoundEntity {
  let entity: Entity
  /// The text of the row.
  let text: UnsafeBufferPointer<UInt8>
}

private func entityColumn(
  _ found: [FoundEntity], _ columns: ArrowColumns
) throws(BertQAError) -> ArrowColumn {
  let texts = found.lazy.map { one -> UnsafeBufferPointer<UInt8>? in
    UnsafeBufferPointer(rebasing: one.text[one.entity.bytes.start..<one.entity.bytes.end])
  }
  return try columns.column(
    "item", isValid: found.lazy.map { _ in true },
    children: [
      columns.column("label", found.lazy.map { $0.entity.label as String? }),
      columns.column("text", texts: texts),
      columns.column("start", found.lazy.map { Int64($0.entity.codePoints.start) as Int64? }),
      columns.column("end", found.lazy.map { Int64($0.entity.codePoints.end) as Int64? }),
      columns.column("score", found.lazy.map { $0.entity.score as Float? }),
    ])
}
