/// What the spelling of each piece says about words.
struct PieceFacts: Sendable {
  /// For each id, flags.
  private let facts: SharedBuffer<UInt8>
  private static var continues: UInt8 { 1 }
  private static var isUninformative: UInt8 { 2 }

  init(_ pipeline: Pipeline, _ added: AddedVocabulary, _ monitor: CallMonitor?) throws(BertQAError) {
    let vocabulary = pipeline.model.vocabulary
    let mark = pipeline.wordMark
    facts = try SharedBuffer(count: max(vocabulary.count, Int(added.lastID) + 1))
    for id in 0..<Int32(clamping: facts.count) {
      if Int(id) % Pipeline.checkInterval == 0 { try monitor?.check() }
      let piece = vocabulary.piece(id)
      facts.base[Int(id)] =
        if added[id]?.isSpecial == true || id == pipeline.model.unknownID || piece.isEmpty {
          Self.isUninformative
        } else {
          Self.facts(of: Array(piece), mark)
        }
    }
  }

  private static func facts(of piece: [UInt8], _ mark: WordMark?) -> UInt8 {
    var word = piece[...]
    var flags: UInt8 = 0
    switch mark {
    case .byteLevel: word = (ByteAlphabet.bytes(of: piece) ?? piece)[...]
    case .beginning(let mark):
      if piece.starts(with: mark.utf8) { word = piece.dropFirst(mark.utf8.count) }
    case .continuing(let mark):
      if piece.starts(with: mark.utf8) {
        flags |= continues
        word = piece.dropFirst(mark.utf8.count)
      }
    case .ending(let mark):
      if piece.reversed().starts(with: mark.utf8.reversed()) { word = piece.dropLast(mark.utf8.count) }
    case nil: break
    }
    let isText = word.withUnsafeBufferPointer { bytes in
      var position = 0
      while position < bytes.count {
        let decoded = UTF8Codec.decode(bytes, at: position)
        if isWord(decoded.scalar) { return true }
        position += decoded.size
      }
      return false
    }
    return isText ? flags : flags | isUninformative
  }

  /// A letter, digit or mark; a part of a character.
  private static func isWord(_ scalar: UInt32) -> Bool {
    scalar == 0xFFFD || !CharacterClass.of(scalar).isDisjoint(with: [.letter, .number, .mark])
  }

  private func facts(of id: Int32) -> UInt8 {
    id >= 0 && Int(id) < facts.count ? facts.base[Int(id)] : Self.isUninformative
  }

  /// Whether a piece has the mark of those that go on with the word of the piece before.
  func continuesWord(_ id: Int32) -> Bool { facts(of: id) & Self.continues != 0 }

  /// Whether a piece is special, unknown, or has neither letter nor digit.
  func isUninformative(_ id: Int32) -> Bool { facts(of: id) & Self.isUninformative != 0 }
}
