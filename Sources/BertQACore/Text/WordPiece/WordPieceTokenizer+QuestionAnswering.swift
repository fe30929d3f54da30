extension WordPieceTokenizer: TextTokenizer {
  func piece(of id: Int32) -> [UInt8] {
    Array(vocabulary.piece(id))
  }

  func isContinuation(_ id: Int32) -> Bool {
    vocabulary.isContinuation(id)
  }

  /// O(vocabulary) for another tokenizer than this one.
  func agrees(with other: any TextTokenizer) -> Bool {
    if self === other { return true }
    guard let other = other as? WordPieceTokenizer else { return false }
    return configuration == other.configuration && vocabulary.count == other.vocabulary.count
      && (0..<Int32(clamping: vocabulary.count)).allSatisfy {
        vocabulary.piece($0).elementsEqual(other.vocabulary.piece($0))
      }
  }
}
