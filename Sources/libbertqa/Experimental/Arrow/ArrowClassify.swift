import BertQACore
import CBertQAHeader

@c @implementation
public func bertqa_classify_arrow(
  _ context: OpaquePointer?, _ texts: bertqa_column,
  _ options: UnsafePointer<bertqa_classify_options>?,
  _ classifications: UnsafeMutablePointer<ArrowArray>?, _ schema: UnsafeMutablePointer<ArrowSchema>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    let array = try required(classifications, "classifications")
    let schema = try required(schema, "schema")
    (array.pointee, schema.pointee) = (ArrowArray(), ArrowSchema())
    let context = try ContextHandle.borrowed(context, "context").context
    let options = try classifyOptions(options)
    guard options.contributions == 0 else {
      throw BertQAError(.invalidArgument, "contributions must be 0 for a column")
    }
    let column = try ArrowTexts(texts, "texts")
    var pairs: [TextPair] = []
    var isValid: [Bool] = []
    for row in 0..<column.count {
      let text = try column.text(row)
      isValid.append(text != nil)
      if let text { pairs.append(TextPair(text: text)) }
    }
    var results = try context.classify(pairs, options: options).makeIterator()
    let rows = isValid.map { $0 ? results.next() : nil }
    try classificationColumn(rows, labelCount: context.info.labels.count).export(array, schema)
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
