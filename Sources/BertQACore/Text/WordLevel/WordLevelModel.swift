/// A vocabulary of words: each pre-token is one token, unknown unless it is a piece.
struct WordLevelModel: TokenModel {
  let vocabulary: Vocabulary
  private let unknown: Int32

  var pieceCount: Int { vocabulary.filledCount }
  var unknownID: Int32? { unknown }

  init(_ model: ObjectReader, _ monitor: CallMonitor?) throws(BertQAError) {
    let pieces = try Pipeline.pieces(of: model, monitor)
    let token = try model.required("unk_token", model.string)
    (vocabulary, unknown) = try BertQAError.naming(model.file) { () throws(BertQAError) in
      let vocabulary = try Vocabulary(pieces: pieces, monitor)
      return (vocabulary, try vocabulary.unknownID(token))
    }
  }

  func makeWorker() -> any TokenWorker { WordLevelWorker(vocabulary, unknown: unknown) }
}

private final class WordLevelWorker: TokenWorker {
  private let vocabulary: Vocabulary
  private let unknown: Int32

  init(_ vocabulary: Vocabulary, unknown: Int32) {
    self.vocabulary = vocabulary
    self.unknown = unknown
  }

  func tokenize(_ preTokens: borrowing PreTokens, into output: inout TokenOutput) throws(BertQAError) {
    for index in 0..<preTokens.ranges.count {
      let (start, end) = (Int(preTokens.ranges[index].start), Int(preTokens.ranges[index].end))
      let word = UnsafeBufferPointer(start: UnsafePointer(preTokens.text.base + start), count: end - start)
      try output.append(vocabulary.id(of: word) ?? unknown, start, end)
    }
  }
}
