import BertQACore
import CBertQAHeader

/// An answer result and stable pointers to its C form.
final class AnswersHandle: Handle {
  let spans: CArray<bertqa_answer_span>
  let summary: CArray<bertqa_answer_summary>

  init(_ result: AnswerResult, _ monitor: CallMonitor) throws(BertQAError) {
    spans = try CArray(count: result.answers.count, monitor) { bertqa_answer_span(result.answers[$0]) }
    summary = try CArray([bertqa_answer_summary(result)])
  }
}

extension bertqa_range {
  init(_ range: TextRange) {
    self.init(start: range.start, end: range.end)
  }
}

extension bertqa_answer_span {
  fileprivate init(_ answer: Answer) {
    self.init()
    struct_size = MemoryLayout<Self>.size
    bytes = bertqa_range(answer.bytes)
    code_points = bertqa_range(answer.codePoints)
    utf16 = bertqa_range(answer.utf16)
    sentence = bertqa_range(answer.sentence)
    score = answer.score
    start_logit = answer.startLogit
    end_logit = answer.endLogit
    probability = answer.probability
    gap = answer.gap
    document_index = Int32(answer.documentIndex)
  }
}

extension bertqa_answer_summary {
  fileprivate init(_ result: AnswerResult) {
    self.init()
    struct_size = MemoryLayout<Self>.size
    is_impossible = result.isImpossible ? 1 : 0
    is_question_truncated = result.questionWasTruncated ? 1 : 0
    is_question_empty = result.emptyInput == .emptyQuestion ? 1 : 0
    is_document_empty = result.emptyInput == .emptyDocument ? 1 : 0
    null_score = result.nullScore
    gap = result.gap
    no_answer_probability = result.noAnswerProbability
    no_answer_threshold = result.noAnswerThreshold
    window_count = result.windowCount
    skipped_window_count = result.skippedWindowCount
    stop = result.stop.rawValue
  }
}

@_cdecl("bertqa_answers_free")
public func bertqa_answers_free(_ answers: OpaquePointer?) {
  AnswersHandle.release(answers)
}

@_cdecl("bertqa_answers_count")
public func bertqa_answers_count(_ answers: OpaquePointer?) -> Int {
  insideGate { AnswersHandle.borrowed(answers)?.spans.count ?? 0 }
}

@_cdecl("bertqa_answers_get")
public func bertqa_answers_get(
  _ answers: OpaquePointer?, _ index: Int
) -> UnsafePointer<bertqa_answer_span>? {
  insideGate { AnswersHandle.borrowed(answers)?.spans.pointer(at: index) }
}

@_cdecl("bertqa_answers_summary")
public func bertqa_answers_summary(
  _ answers: OpaquePointer?
) -> UnsafePointer<bertqa_answer_summary>? {
  insideGate { AnswersHandle.borrowed(answers)?.summary.base }
}
