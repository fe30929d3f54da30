/// One question for one document. The texts must stay as they are during the call they are passed to.
struct QuestionDocumentPair {
  enum Document {
    case text(UnsafeBufferPointer<UInt8>)
    case prepared(PreparedDocument)
  }

  var question: UnsafeBufferPointer<UInt8>
  var document: Document
}
