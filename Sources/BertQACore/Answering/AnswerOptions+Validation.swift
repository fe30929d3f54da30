extension AnswerOptions {
  /// [CLS], and one [SEP] behind each of question and document.
  static let specialTokenCount = 3

  /// Lowers the lengths that exceed what the model can take.
  package mutating func fit(maxPositions: Int) {
    guard maxSequenceLength > maxPositions else { return }
    maxSequenceLength = maxPositions
    documentStride = min(documentStride, maxPositions / 3)
  }

  /// Throws `.invalidArgument` for the first option that is out of its range.
  package func validate(maxPositions: Int) throws(BertQAError) {
    try Self.check("top_k", topK, 1, 1000)
    try Self.check("max_seq_len", maxSequenceLength, 8, maxPositions, "the model's number of positions")
    let room = maxSequenceLength - Self.specialTokenCount - 1
    try Self.check(
      "doc_stride", documentStride, 0, room - 1,
      "max_seq_len \(maxSequenceLength) less \(Self.specialTokenCount) special tokens, one token of the "
        + "question and one new token of the document")
    try Self.check("max_answer_len", maxAnswerLength, 1, 10_000)
    try Self.check("max_question_len", maxQuestionLength, 1, 10_000)
    try Self.check("n_best_size", nBestSize, 0, 1000)
    try Self.check("max_windows", maxWindows, 0, Int.max)
    if let noAnswerThreshold, noAnswerThreshold.isNaN {
      throw BertQAError(.invalidArgument, "no_answer_threshold is not a number (NaN)")
    }
  }

  private static func check(
    _ name: String, _ value: Int, _ low: Int, _ high: Int, _ why: String? = nil
  ) throws(BertQAError) {
    if value >= low && value <= high { return }
    let bound = high == Int.max ? "at least \(low)" : "\(low) to \(high)"
    throw BertQAError(
      .invalidArgument,
      "\(name) is \(value), but must be \(bound)" + (why.map { " (\($0))" } ?? ""))
  }

  /// Document tokens that fit into a window beside a question of `questionTokens`.
  func documentRoom(questionTokens: Int) throws(BertQAError) -> Int {
    let room = maxSequenceLength - Self.specialTokenCount - questionTokens
    if room > documentStride { return room }
    throw BertQAError(
      .invalidArgument,
      "the question's \(questionTokens) tokens and \(Self.specialTokenCount) special tokens leave "
        + "\(max(0, room)) of max_seq_len \(maxSequenceLength) to the document, but doc_stride "
        + "\(documentStride) needs at least \(documentStride + 1): lower doc_stride or max_question_len "
        + "(\(maxQuestionLength)), or raise max_seq_len")
  }
}
