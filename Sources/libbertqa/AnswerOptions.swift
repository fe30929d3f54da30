import BertQACore
import CBertQAHeader

extension bertqa_answer_options: COptions {
  static let name: StaticString = "bertqa_answer_options"
  static var narrowFieldCount: Int { 12 }
}

func answerOptions(
  _ pointer: UnsafePointer<bertqa_answer_options>?
) throws(BertQAError) -> AnswerOptions {
  let raw = try readOptions(pointer)
  var options = AnswerOptions()
  options.call = try callOptions(raw.call)
  options.topK = number(raw.top_k, default: options.topK)
  options.maxSequenceLength = number(raw.max_seq_len)
  options.documentStride = number(raw.doc_stride, none: -1)
  options.maxAnswerLength = number(raw.max_answer_len, default: options.maxAnswerLength)
  options.maxQuestionLength = number(raw.max_question_len)
  options.nBestSize = Int(raw.n_best_size)
  options.maxWindows = Int(raw.max_windows)
  options.handlesImpossibleAnswer =
    try switched(raw.handle_impossible_answer, "handle_impossible_answer")
    ?? options.handlesImpossibleAnswer
  options.alignsToWords = try switched(raw.align_to_words, "align_to_words") ?? options.alignsToWords
  options.allowsPartial = try switched(raw.partial, "partial") ?? options.allowsPartial
  options.noAnswerThreshold = try threshold(
    raw.no_answer_threshold, used: raw.use_no_answer_threshold)
  return options
}
