extension Context {
  /// Answers one question on one document of any length. The ranges of the answers are ranges of `document`.
  /// Takes time linear in the document's length.
  public func answer(
    question: UnsafeBufferPointer<UInt8>, document: UnsafeBufferPointer<UInt8>,
    options: AnswerOptions = AnswerOptions()
  ) throws(BertQAError) -> AnswerResult {
    try answerer().answer(
      [QuestionItem(question: question, document: .text(document))], options)[0]
  }

  /// Answers one question on one document. `Answer.range(in:)` and `Answer.text(in:)` return the answer's
  /// place in `document` and its text.
  public func answer(
    question: String, document: String, options: AnswerOptions = AnswerOptions()
  ) throws(BertQAError) -> AnswerResult {
    try withBytes(of: question) { question throws(BertQAError) in
      try withBytes(of: document) { document throws(BertQAError) in
        try answer(question: question, document: document, options: options)
      }
    }
  }

  /// Answers many questions in one call and spreads all their windows over the threads. The first failure ends
  /// the call; its `item` is the question's index.
  public func answerBatch(
    _ items: [QuestionItem], options: AnswerOptions = AnswerOptions()
  ) throws(BertQAError) -> [AnswerResult] {
    try answerer().answer(items, options)
  }

  /// As above, for strings.
  public func answerBatch(
    _ pairs: [(question: String, document: String)], options: AnswerOptions = AnswerOptions()
  ) throws(BertQAError) -> [AnswerResult] {
    try withBytes(of: pairs.flatMap { [$0.question, $0.document] }) { texts throws(BertQAError) in
      try answerBatch(
        pairs.indices.map {
          QuestionItem(question: texts[2 * $0], document: .text(texts[2 * $0 + 1]))
        }, options: options)
    }
  }

  /// As `answerBatch`, but a question's failure becomes its result. Throws failures of the whole call,
  /// such as an option out of range, cancellation or lack of memory.
  public func answerEach(
    _ items: [QuestionItem], options: AnswerOptions = AnswerOptions()
  ) throws(BertQAError) -> [Result<AnswerResult, BertQAError>] {
    try answerer().answerEach(items, options)
  }

  /// Answers one question on several documents, which are read as one collection: the sections of all are ranked
  /// together. `Answer.documentIndex` is the position of the answer's document.
  public func answer(
    question: UnsafeBufferPointer<UInt8>, documents: [QuestionItem.Document], ranks: [Double] = [],
    options: AnswerOptions = AnswerOptions()
  ) throws(BertQAError) -> AnswerResult {
    try answerer().answer([QuestionItem(question: question, documents: documents, ranks: ranks)], options)[0]
  }

  /// As above, for strings.
  public func answer(
    question: String, documents: [String], options: AnswerOptions = AnswerOptions()
  ) throws(BertQAError) -> AnswerResult {
    try withBytes(of: [question] + documents) { texts throws(BertQAError) in
      try answer(question: texts[0], documents: texts.dropFirst().map { .text($0) }, options: options)
    }
  }

  /// Throws the error that a call with these options would throw before it reads a text.
  public func validate(_ options: AnswerOptions) throws(BertQAError) {
    _ = try AnswerSettings(options, answerer())
  }

  // MARK: - Prepared documents

  /// Tokenizes a document once for many questions. Keeps a copy of the text.
  public func prepare(
    _ document: UnsafeBufferPointer<UInt8>, call: CallOptions = CallOptions()
  ) throws(BertQAError) -> PreparedDocument {
    try answerer().prepare(document, call)
  }

  /// Tokenizes a document once for many questions. Keeps a copy of the text.
  public func prepare(
    _ document: String, call: CallOptions = CallOptions()
  ) throws(BertQAError) -> PreparedDocument {
    try withBytes(of: document) { bytes throws(BertQAError) in try prepare(bytes, call: call) }
  }

  public func answer(
    question: UnsafeBufferPointer<UInt8>, document: PreparedDocument,
    options: AnswerOptions = AnswerOptions()
  ) throws(BertQAError) -> AnswerResult {
    try answerer().answer(
      [QuestionItem(question: question, document: .prepared(document))], options)[0]
  }

  /// Answers one question on a prepared document.
  public func answer(
    question: String, document: PreparedDocument, options: AnswerOptions = AnswerOptions()
  ) throws(BertQAError) -> AnswerResult {
    try withBytes(of: question) { question throws(BertQAError) in
      try answer(question: question, document: document, options: options)
    }
  }

  /// Answers many questions on one prepared document in one call.
  public func answerBatch(
    questions: [String], document: PreparedDocument, options: AnswerOptions = AnswerOptions()
  ) throws(BertQAError) -> [AnswerResult] {
    try withBytes(of: questions) { questions throws(BertQAError) in
      try answerBatch(
        questions.map { QuestionItem(question: $0, document: .prepared(document)) },
        options: options)
    }
  }

  // MARK: -

  private func answerer() throws(BertQAError) -> QuestionAnswerer {
    guard case .answering(let answerer, _) = try runningEngine() else {
      throw wrongModel(needed: .answer)
    }
    return answerer
  }
}

extension Answer {
  /// Returns the answer's text, cut from the document that was read.
  public func text(in document: String) -> String { bytes.text(in: document) }

  /// Returns the answer's place in the document that was read.
  public func range(in document: String) -> Range<String.Index> { bytes.range(in: document) }
}
