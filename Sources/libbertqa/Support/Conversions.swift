import BertQACore
import CBertQAHeader

func defaultAnswerOptions() -> bertqa_answer_options {
  let defaults = AnswerOptions()
  var options = bertqa_answer_options()
  options.struct_size = MemoryLayout<bertqa_answer_options>.size
  options.top_k = Int32(defaults.topK)
  options.max_seq_len = Int32(defaults.maxSequenceLength)
  options.doc_stride = Int32(defaults.documentStride)
  options.max_answer_len = Int32(defaults.maxAnswerLength)
  options.max_question_len = Int32(defaults.maxQuestionLength)
  options.n_best_size = Int32(defaults.nBestSize)
  options.handle_impossible_answer = defaults.handlesImpossibleAnswer ? 1 : 0
  options.align_to_words = defaults.alignsToWords ? 1 : 0
  options.max_windows = Int32(defaults.maxWindows)
  options.no_answer_threshold = .nan
  return options
}

func answerOptions(
  _ pointer: UnsafePointer<bertqa_answer_options>?
) throws(BertQAError) -> AnswerOptions {
  let raw = try readOptions(pointer, "bertqa_answer_options", defaults: defaultAnswerOptions())
  var options = AnswerOptions()
  options.topK = Int(raw.top_k)
  options.maxSequenceLength = Int(raw.max_seq_len)
  options.documentStride = Int(raw.doc_stride)
  options.maxAnswerLength = Int(raw.max_answer_len)
  options.maxQuestionLength = Int(raw.max_question_len)
  options.nBestSize = Int(raw.n_best_size)
  options.handlesImpossibleAnswer = raw.handle_impossible_answer != 0
  options.alignsToWords = raw.align_to_words != 0
  options.maxWindows = Int(raw.max_windows)
  options.noAnswerThreshold = raw.no_answer_threshold.isNaN ? nil : raw.no_answer_threshold
  options.cancellation = cancellation(raw.cancel, raw.cancel_user)
  return options
}

func cancellation(_ hook: bertqa_cancel_function?, _ user: UnsafeMutableRawPointer?) -> Cancellation? {
  guard let hook else { return nil }
  // The core polls this on the calling thread only, during this call.
  nonisolated(unsafe) let user = user
  return Cancellation { hook(user) != 0 }
}

extension bertqa_range {
  init(_ range: TextRange) {
    self.init(start: range.start, end: range.end)
  }
}

extension bertqa_answer_span {
  init(_ answer: Answer) {
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
  }
}

extension bertqa_answer_summary {
  init(_ result: AnswerResult) {
    self.init()
    struct_size = MemoryLayout<Self>.size
    is_impossible = result.isImpossible ? 1 : 0
    question_truncated = result.questionWasTruncated ? 1 : 0
    empty_question = result.emptyInput == .emptyQuestion ? 1 : 0
    empty_document = result.emptyInput == .emptyDocument ? 1 : 0
    null_score = result.nullScore
    best_gap = result.gap
    no_answer_probability = result.noAnswerProbability
    no_answer_threshold = result.noAnswerThreshold
    window_count = result.windowCount
    skipped_windows = result.skippedWindowCount
  }
}
