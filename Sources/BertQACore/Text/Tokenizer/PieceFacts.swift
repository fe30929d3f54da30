/// Derives facts about words from the spelling of a piece.
struct PieceFacts: Sendable {
  private let vocabulary: Vocabulary
  private let added: AddedVocabulary
  private let unknownID: Int32?
  private let mark: WordMark?

  init(_ pipeline: Pipeline, _ added: AddedVocabulary) {
    vocabulary = pipeline.model.vocabulary
    unknownID = pipeline.model.unknownID
    mark = pipeline.wordMark
    self.added = added
  }

  /// True if a piece has the mark of continuations.
  func continuesWord(_ id: Int32) -> Bool {
    guard case .continuing(let mark) = mark else { return false }
    return vocabulary.piece(id).starts(with: mark.utf8)
  }

  /// True if a piece is special, unknown, or has neither letter nor digit; among pieces that mark continuations, if it is
  /// special, unknown, or punctuation only.
  func isUninformative(_ id: Int32) -> Bool {
    let piece = vocabulary.piece(id)
    if id == unknownID || piece.isEmpty || added[id]?.isSpecial == true { return true }
    switch mark {
    case .byteLevel:
      let bytes = ByteAlphabet.bytes(of: piece) ?? Array(piece)
      return !bytes.withUnsafeBufferPointer { Self.contains($0, where: Self.isWord) }
    case .beginning(let mark):
      return !Self.contains(Self.rest(piece, behind: mark), where: Self.isWord)
    case .continuing(let mark):
      return !Self.contains(Self.rest(piece, behind: mark)) { !Self.isPunctuation($0) }
    case .ending(let mark):
      let isMarked = piece.reversed().starts(with: mark.utf8.reversed())
      let word = isMarked ? piece.dropLast(mark.utf8.count) : piece[...]
      return !Self.contains(UnsafeBufferPointer(rebasing: word), where: Self.isWord)
    case nil: return !Self.contains(piece, where: Self.isWord)
    }
  }

  private static func rest(
    _ piece: UnsafeBufferPointer<UInt8>, behind mark: String
  ) -> UnsafeBufferPointer<UInt8> {
    piece.starts(with: mark.utf8) ? UnsafeBufferPointer(rebasing: piece.dropFirst(mark.utf8.count)) : piece
  }

  private static func contains(_ text: UnsafeBufferPointer<UInt8>, where body: (UInt32) -> Bool) -> Bool {
    var position = 0
    while position < text.count {
      let decoded = UTF8Codec.decode(text, at: position)
      if body(decoded.scalar) { return true }
      position += decoded.size
    }
    return false
  }

  /// True for a letter, digit or mark, and for a part of a character.
  private static func isWord(_ scalar: UInt32) -> Bool {
    scalar == 0xFFFD || !CharacterClass.of(scalar).isDisjoint(with: [.letter, .number, .mark])
  }

  /// True for punctuation by BERT's definition, which includes every ASCII symbol.
  private static func isPunctuation(_ scalar: UInt32) -> Bool {
    guard let scalar = Unicode.Scalar(scalar) else { return false }
    switch scalar.properties.generalCategory {
    case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation,
      .initialPunctuation, .finalPunctuation, .otherPunctuation:
      return true
    default: return scalar.isASCII && !scalar.properties.isAlphabetic && !("0"..."9").contains(scalar)
    }
  }
}
