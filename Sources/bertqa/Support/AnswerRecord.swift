import BertQACore

/// What one document says to one question, to be printed.
struct AnswerRecord {
  let file: ArgumentText
  let question: ArgumentText
  let document: UnsafeBufferPointer<UInt8>
  let result: AnswerResult

  func text(_ range: TextRange) -> Slice<UnsafeBufferPointer<UInt8>> {
    document[range.start..<range.end]
  }
}
