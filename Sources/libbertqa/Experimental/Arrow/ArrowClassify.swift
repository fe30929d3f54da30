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
    let column = try ArrowTexts(texts, "texts")
    let (texts, indices) = try column.valid(CallMonitor(options.call)) { TextPair(text: $0) }
    let results = try inRows(indices, "texts") { () throws(BertQAError) in
      try context.classify(texts, options: options)
    }
    var rows = [Classification?](repeating: nil, count: column.count)
    for (row, result) in zip(indices, results) { rows[row] = result }
    try output.take(classificationColumn(rows, labelCount: context.info.labels.count))
  }
}

/// - Parameter rows: nil for a row of nulls.
private func classificationColumn(_ rows: [Classification?], labelCount: Int) -> ArrowColumn {
  var probabilities: [[Float]?] = []
  probabilities.reserveCapacity(rows.count)
  for row in rows {
    guard let row, !row.scores.isEmpty else {
      probabilities.append(nil)
      continue
    }
    var list = [Float](repeating: 0, count: labelCount)
    for score in row.scores where list.indices.contains(score.id) {
      list[score.id] = row.problemType == .regression ? score.logit : score.probability
    }
    probabilities.append(list)
  }
  return ArrowColumn(
    "classification", isValid: rows.map { $0 != nil },
    children: [
      ArrowColumn("label", rows.map { $0?.label }),
      ArrowColumn(
        "probability",
        rows.map { row -> Float? in row?.problemType == .regression ? nil : row?.scores.first?.probability }),
      ArrowColumn("probabilities", lists: probabilities, size: labelCount),
    ])
}
