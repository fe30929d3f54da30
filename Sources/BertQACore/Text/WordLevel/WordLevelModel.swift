/// A vocabulary of words: each pre-token is one token, unknown unless it is a piece.
struct WordLevelModel: TokenModel {
  let vocabulary: Vocabulary
  let pieceCount: Int
  private let unknown: Int32

  var unknownID: Int32? { unknown }

  init(_ model: ObjectReader, _ monitor: CallMonitor?) throws(BertQAError) {
    let pieces = try Pipeline.pieces(of: model, monitor)
    vocabulary = try BertQAError.naming(model.file) { () throws(BertQAError) in
      try Vocabulary(pieces: pieces, monitor)
    }
    pieceCount = pieces.reduce(0) { $1.isEmpty ? $0 : $0 + 1 }
    unknown = try vocabulary.unknownID(model.required("unk_token", model.string), file: model.file)
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
