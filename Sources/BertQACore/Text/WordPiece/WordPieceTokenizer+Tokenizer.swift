extension WordPieceTokenizer: Tokenizer {
  var template: Template { Template(prefix: [clsID], separator: [sepID], suffix: [sepID]) }

  var vocabularySize: Int { vocabulary.count }

  var lowercases: Bool { configuration.lowercase }

  func piece(_ id: Int32) -> UnsafeBufferPointer<UInt8> { vocabulary.piece(id) }

  func id(of piece: UnsafeBufferPointer<UInt8>) -> Int32? { vocabulary.id(of: piece) }

  /// Pieces that begin with "##" do.
  func continuesWord(_ id: Int32) -> Bool { vocabulary.isContinuation(id) }

  /// Punctuation is always a piece of one character.
  func isUninformative(_ id: Int32) -> Bool {
    if id == unkID || id == clsID || id == sepID { return true }
    let scalars = String(decoding: piece(id), as: UTF8.self).unicodeScalars
    guard let scalar = scalars.first, scalars.count == 1 else { return false }
    switch scalar.properties.generalCategory {
    case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation,
      .initialPunctuation, .finalPunctuation, .otherPunctuation:
      return true
    default:
      // BERT counts every ASCII symbol as punctuation.
      return scalar.isASCII && !scalar.properties.isAlphabetic && !("0"..."9").contains(scalar)
    }
  }

  /// O(vocabulary) for another tokenizer than this one.
  func agrees(with other: any Tokenizer) -> Bool {
    if self === other { return true }
    guard let other = other as? WordPieceTokenizer else { return false }
    return configuration == other.configuration && vocabulary.count == other.vocabulary.count
      && (0..<Int32(clamping: vocabulary.count)).allSatisfy {
        vocabulary.piece($0).elementsEqual(other.vocabulary.piece($0))
      }
  }
}
