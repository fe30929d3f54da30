import BertQACore
import CBertQAHeader

@_cdecl("bertqa_classify_arrow")
public func bertqa_classify_arrow(
  _ context: OpaquePointer?, _ texts: bertqa_column,
  _ options: UnsafePointer<bertqa_classify_options>?,
  _ classifications: UnsafeMutablePointer<ArrowArray>?, _ schema: UnsafeMutablePointer<ArrowSchema>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    let output = try ArrowOutput(classifications, "classifications", schema)
    let context = try ContextHandle.borrowed(context, "context").context
    let options = try classifyOptions(options)
    guard options.contributions == 0 else {
      throw BertQAError(.invalidArgument, argument: "contributions", "must be 0 for a column")
    }
    let input = try ArrowTexts(texts, "texts")
    let monitor = CallMonitor(options.call)
    let (texts, indices) = try input.valid(monitor) { TextPair(text: $0) }
    let results = try naming(indices, in: "texts") { () throws(BertQAError) in
      try context.classify(texts, options: options)
    }
    var rows = try [Classification?](results: nil, count: input.count, monitor)
    for (row, result) in zip(indices, results) { rows[row] = result }
    let labelCount = options.labels.isEmpty ? context.info.labels.count : options.labels.count
    let column = try classificationColumn(rows, labelCount: labelCount, ArrowColumns(monitor))
    try output.take(column, monitor)
  }
}

/// - Parameter rows: nil for a row of nulls.
private func classificationColumn(
  _ rows: [Classification?], labelCount: Int, _ columns: ArrowColumns
) throws(BertQAError) -> ArrowColumn {
  let probability = rows.lazy.map { row -> Float? in
    row?.problemType == .regression ? nil : row?.scores.first?.probability
  }
  let probabilities = rows.lazy.map { row -> [Float]? in
    guard let row, !row.scores.isEmpty else { return nil }
    var list = [Float](repeating: 0, count: labelCount)
    for score in row.scores where list.indices.contains(score.id) {
      list[score.id] = row.problemType == .regression ? score.logit : score.probability
    }
    return list
  }
  return try columns.column(
    "classification", isValid: rows.lazy.map { $0 != nil },
    children: [
      columns.column("label", rows.lazy.map { $0?.label }),
      columns.column("probability", probability),
      columns.column("probabilities", lists: probabilities, size: labelCount),
    ])
}
