import Testing

@testable import BertQACore

extension QuestionAnswerer {
  init(_ tokenizer: FakeTokenizer, _ model: FakeModel, threshold: Float = 0, maxPositions: Int = 512) {
    self.init(
      tokenizer, model, AnswerDecision(threshold: threshold), maxPositions: maxPositions)
  }

  init(
    _ tokenizer: FakeTokenizer, _ model: FakeModel, _ decision: AnswerDecision, maxPositions: Int = 512
  ) {
    self.init(
      reader: WindowReader(tokenizer: tokenizer, model: model, maxPositions: maxPositions),
      decision: decision)
  }

  func ask(_ question: String, _ document: [UInt8], _ options: AnswerOptions) throws -> AnswerResult {
    try Array(question.utf8).withUnsafeBufferPointer { question in
      try document.withUnsafeBufferPointer { document in
        try answer([QuestionItem(question: question, document: .text(document))], options)[0]
      }
    }
  }

  func ask(_ question: String, _ document: String, _ options: AnswerOptions) throws -> AnswerResult {
    try ask(question, Array(document.utf8), options)
  }

  func answer(
    question: UnsafeBufferPointer<UInt8>, document: PreparedDocument, options: AnswerOptions
  ) throws(BertQAError) -> AnswerResult {
    try answer([QuestionItem(question: question, document: .prepared(document))], options)[0]
  }

  func prepare(_ document: String) throws -> PreparedDocument {
    try Array(document.utf8).withUnsafeBufferPointer { try prepare($0) }
  }
}

extension AnswerOptions {
  static func with(_ change: (inout AnswerOptions) -> Void) -> AnswerOptions {
    var options = AnswerOptions()
    change(&options)
    return options
  }
}

extension TextRange {
  func text(in document: [UInt8]) -> String { String(decoding: document[start..<end], as: UTF8.self) }
  func text(in document: String) -> String { text(in: Array(document.utf8)) }
}

/// Returns the pairs of two collections, which must have as many elements: `zip` ignores what one lacks.
func pairs<A: Collection, B: Collection>(
  _ first: A, _ second: B, sourceLocation: SourceLocation = #_sourceLocation
) -> Zip2Sequence<A, B> {
  #expect(first.count == second.count, sourceLocation: sourceLocation)
  return zip(first, second)
}

/// The error that `body` throws. One of another type is a fault of the test, and not the same as none.
func failure(
  sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) -> BertQAError? {
  do {
    try body()
    return nil
  } catch {
    if !(error is BertQAError) { Issue.record(error, sourceLocation: sourceLocation) }
    return error as? BertQAError
  }
}
