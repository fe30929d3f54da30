extension WordPieceTokenizer: TextTokenizer {
  func piece(of id: Int32) -> [UInt8] {
    Array(vocabulary.piece(id))
  }

  func isContinuation(_ id: Int32) -> Bool {
    vocabulary.isContinuation(id)
  }
}
