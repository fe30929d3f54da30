import BertQACore
import CBertQAHeader

@_cdecl("bertqa_answer_arrow")
public func bertqa_answer_arrow(
  _ context: OpaquePointer?, _ questions: bertqa_column, _ documents: bertqa_column,
  _ options: UnsafePointer<bertqa_answer_options>?, _ answers: UnsafeMutablePointer<ArrowArray>?,
  _ schema: UnsafeMutablePointer<ArrowSchema>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    let output = try ArrowOutput(answers, "answers", schema)
    let context = try ContextHandle.borrowed(context, "context").context
    let options = try answerOptions(options)
    guard options.topK == 1 else {
      throw BertQAError(
        .invalidArgument, argument: "top_k",
        "is \(options.topK), but a column has one answer per row; set it to 1")
    }
    let questions = try ArrowTexts(questions, "questions")
    let documents = try ArrowTexts(documents, "documents")
    guard questions.count == documents.count || questions.count == 1 else {
      throw BertQAError(
        .invalidArgument, argument: "questions",
        "has \(questions.count) rows, but must have 1 or as many as documents, \(documents.count)")
    }
    let monitor = CallMonitor(options.marshallingCall)
    // All rows without nulls are one batch.
    var pairs = try [QuestionItem](resultCapacity: documents.count, monitor)
    var indices = try [Int](resultCapacity: documents.count, monitor)
    for row in 0..<documents.count {
      if row % ArrowTexts.pollInterval == 0 { try monitor.check() }
      if let question = try questions.text(questions.count == 1 ? 0 : row),
        let document = try documents.text(row)
      {
        pairs.append(QuestionItem(question: question, document: .text(document)))
        indices.append(row)
      }
    }
    let results = try naming(indices, in: "documents") { () throws(BertQAError) in
      try context.answerBatch(pairs, options: options)
    }
    var rows = try [AnswerRow?](results: nil, count: documents.count, monitor)
    for (row, result) in zip(indices, results) {
      rows[row] = try documents.text(row).map { AnswerRow(result: result, document: $0) }
    }
    try output.take(answerColumn(rows, ArrowColumns(monitor)), monitor)
  }
}

private struct AnswerRow {
  let result: AnswerResult
  let document: UnsafeBufferPointer<UInt8>

  var best: Answer? { result.answers.first }

  func text(_ range: TextRange?) -> UnsafeBufferPointer<UInt8>? {
    range.map { UnsafeBufferPointer(rebasing: document[$0.start..<$0.end]) }
  }
}

/// - Parameter rows: nil for a row of nulls.
private func answerColumn(_ rows: [AnswerRow?], _ columns: ArrowColumns) throws(BertQAError) -> ArrowColumn {
  let best = rows.lazy.map { $0?.best }
  return try columns.column(
    "answer", isValid: rows.lazy.map { $0 != nil },
    children: [
      columns.column("answer", texts: rows.lazy.map { $0?.text($0?.best?.bytes) }),
      columns.column("start", best.map { $0.map { Int64($0.codePoints.start) } }),
      columns.column("end", best.map { $0.map { Int64($0.codePoints.end) } }),
      columns.column("probability", best.map { $0?.probability }),
      columns.column("score", best.map { $0?.score }),
      columns.column("gap", best.map { $0?.gap }),
      columns.column("sentence", texts: rows.lazy.map { $0?.text($0?.best?.sentence) }),
      columns.column("is_impossible", rows.lazy.map { $0?.result.isImpossible }),
    ])
}
