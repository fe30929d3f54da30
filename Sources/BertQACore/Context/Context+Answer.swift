extension Context {
  /// Answers one question on one document of any length; the ranges of the answers are ranges of
  /// `document`. Time: linear in the document's length.
  public func answer(
    question: UnsafeBufferPointer<UInt8>, document: UnsafeBufferPointer<UInt8>,
    options: AnswerOptions = AnswerOptions()
  ) throws(BertQAError) -> AnswerResult {
    try answerer().answer(question: question, document: document, options: options)
  }

  public func answer(
    question: String, document: String, options: AnswerOptions = AnswerOptions()
  ) throws(BertQAError) -> AnswerResult {
    try withBytes(of: question) { question throws(BertQAError) in
      try withBytes(of: document) { document throws(BertQAError) in
        try answer(question: question, document: document, options: options)
      }
    }
  }

  /// Answers many pairs in one call: all their windows are one work list, spread over the threads.
  public func answerBatch(
    _ pairs: [(question: UnsafeBufferPointer<UInt8>, document: UnsafeBufferPointer<UInt8>)],
    options: AnswerOptions = AnswerOptions()
  ) throws(BertQAError) -> [AnswerResult] {
    try answerer().answerBatch(
      pairs.map { QuestionDocumentPair(question: $0.question, document: .text($0.document)) },
      options: options)
  }

  /// Tokenizes a document once, to be asked many times. Keeps a copy of the text.
  public func prepare(_ document: UnsafeBufferPointer<UInt8>) throws(BertQAError) -> PreparedDocument {
    try answerer().prepare(document)
  }

  public func prepare(_ document: String) throws(BertQAError) -> PreparedDocument {
    try withBytes(of: document) { bytes throws(BertQAError) in try prepare(bytes) }
  }

  public func answer(
    question: UnsafeBufferPointer<UInt8>, document: PreparedDocument,
    options: AnswerOptions = AnswerOptions()
  ) throws(BertQAError) -> AnswerResult {
    try answerer().answer(question: question, document: document, options: options)
  }

  public func answer(
    question: String, document: PreparedDocument, options: AnswerOptions = AnswerOptions()
  ) throws(BertQAError) -> AnswerResult {
    try withBytes(of: question) { question throws(BertQAError) in
      try answer(question: question, document: document, options: options)
    }
  }
}

extension Context {
  private func answerer() throws(BertQAError) -> QuestionAnswerer {
    guard case .questionAnswering(let answerer, _, _) = engine else {
      throw wrongModel(for: "answer questions", needed: .answer)
    }
    return answerer
  }
}

extension Answer {
  /// The answer's text, cut from the document that was asked.
  public func text(in document: String) -> String {
    let utf8 = document.utf8
    let start = utf8.index(utf8.startIndex, offsetBy: bytes.start)
    return String(decoding: utf8[start..<utf8.index(start, offsetBy: bytes.end - bytes.start)], as: UTF8.self)
  }
}
