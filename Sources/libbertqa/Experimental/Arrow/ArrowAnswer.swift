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
        .invalidArgument, argument: "top_k", "is \(options.topK), but a column has one answer per row")
    }
    let questions = try ArrowTexts(questions, "questions")
    let documents = try ArrowTexts(documents, "documents")
    guard questions.count == documents.count || questions.count == 1 else {
      throw BertQAError(
        .invalidArgument, argument: "questions",
        "has \(questions.count) rows, but must have 1 or as many as documents, \(documents.count)")
    }
    let monitor = CallMonitor(options.call)
    // One list of pairs for all rows without nulls.
    var pairs = try [(question: UnsafeBufferPointer<UInt8>, document: UnsafeBufferPointer<UInt8>)](
      checkedCapacity: documents.count)
    var indices = try [Int](checkedCapacity: documents.count)
    for row in 0..<documents.count {
      if row % ArrowTexts.pollInterval == 0 { try monitor.check() }
      if let question = try questions.text(questions.count == 1 ? 0 : row),
        let document = try documents.text(row)
      {
        pairs.append((question, document))
        indices.append(row)
      }
    }
    let results = try inRows(indices, "documents") { () throws(BertQAError) in
      try context.answerBatch(pairs, options: options)
    }
    var rows = AnswerRows()
    var next = 0
    for row in 0..<documents.count {
      if row % ArrowTexts.pollInterval == 0 {
        try monitor.check()
        try Memory.requireReserve()
      }
      let isValid = next < indices.count && indices[next] == row
      rows.append(isValid ? results[next] : nil, texts: isValid ? pairs[next].document : nil)
      if isValid { next += 1 }
    }
    try output.take(rows.column)
  }
}

/// The fields of the answers, a column each.
private struct AnswerRows {
  private var isValid: [Bool] = []
  private var answers: [String?] = []
  private var starts: [Int64?] = []
  private var ends: [Int64?] = []
  private var probabilities: [Float?] = []
  private var scores: [Float?] = []
  private var gaps: [Float?] = []
  private var sentences: [String?] = []
  private var impossible: [Bool?] = []

  /// nil for a row of nulls.
  mutating func append(_ result: AnswerResult?, texts document: UnsafeBufferPointer<UInt8>?) {
    isValid.append(result != nil)
    let best = result?.answers.first
    func text(_ range: TextRange?) -> String? {
      guard let range, let document else { return nil }
      return String(decoding: document[range.start..<range.end], as: UTF8.self)
    }
    answers.append(text(best?.bytes))
    starts.append(best.map { Int64($0.codePoints.start) })
    ends.append(best.map { Int64($0.codePoints.end) })
    probabilities.append(best?.probability)
    scores.append(best?.score)
    gaps.append(best?.gap)
    sentences.append(text(best?.sentence))
    impossible.append(result?.isImpossible)
  }

  var column: ArrowColumn {
    ArrowColumn(
      "answer", isValid: isValid,
      children: [
        ArrowColumn("answer", answers), ArrowColumn("start", starts), ArrowColumn("end", ends),
        ArrowColumn("probability", probabilities), ArrowColumn("score", scores), ArrowColumn("gap", gaps),
        ArrowColumn("sentence", sentences), ArrowColumn("is_impossible", impossible),
      ])
  }
}
