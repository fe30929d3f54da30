/// What the spelling of each piece says about words.
struct PieceFacts: Sendable {
  /// Of one end of a piece.
  private enum Edge: UInt8 {
    /// A space, or nothing.
    case none = 0
    /// A letter, digit or mark; a part of a character.
    case word = 1
    /// Anything else.
    case other = 2
  }

  /// For each id, what it begins with, what it ends with (shifted by 2), and flags.
  private let facts: SharedBuffer<UInt8>
  private static var continues: UInt8 { 16 }
  private static var isUninformative: UInt8 { 32 }
  private static var begins: UInt8 { 64 }

  init(_ pipeline: Pipeline, _ added: AddedVocabulary, _ monitor: CallMonitor?) throws(BertQAError) {
    let vocabulary = pipeline.model.vocabulary
    let mark = pipeline.wordMark
    let marksContinuations = if case .continuing = mark { true } else { false }
    facts = try SharedBuffer(count: max(vocabulary.count, Int(added.lastID) + 1))
    for id in 0..<Int32(clamping: facts.count) {
      if Int(id) % Pipeline.checkInterval == 0 { try monitor?.check() }
      let piece = vocabulary.piece(id)
      facts.base[Int(id)] =
        if id == pipeline.model.unknownID, !marksContinuations {
          // Mostly a letter that the vocabulary lacks, inside a word whose other letters it has.
          Self.isUninformative | Edge.word.rawValue | Edge.word.rawValue << 2
        } else if added[id]?.isSpecial == true || id == pipeline.model.unknownID || piece.isEmpty {
          Self.isUninformative | Self.begins
        } else {
          Self.facts(of: Array(piece), mark)
        }
    }
  }

  private static func facts(of piece: [UInt8], _ mark: WordMark?) -> UInt8 {
    var word = piece[...]
    var flags: UInt8 = 0
    switch mark {
    case .byteLevel:
      let bytes = ByteAlphabet.bytes(of: piece) ?? piece
      word = bytes.drop { $0 == 0x20 }
      if bytes.first == 0x20 { flags |= begins }
    case .beginning(let mark):
      if piece.starts(with: mark.utf8) {
        flags |= begins
        word = piece.dropFirst(mark.utf8.count)
      }
    case .continuing(let mark):
      if piece.starts(with: mark.utf8) {
        flags |= continues
        word = piece.dropFirst(mark.utf8.count)
      } else {
        flags |= begins
      }
    case .ending(let mark):
      if piece.reversed().starts(with: mark.utf8.reversed()) { word = piece.dropLast(mark.utf8.count) }
    case nil: break
    }
    let first = edge(word.withUnsafeBufferPointer { $0.isEmpty ? nil : UTF8Codec.decode($0, at: 0).scalar })
    let last = edge(
      word.withUnsafeBufferPointer { bytes in
        bytes.baseAddress.flatMap {
          bytes.isEmpty ? nil : UTF8Codec.decodeBackwards($0, before: bytes.count, begin: 0).scalar
        }
      })
    let isText = word.withUnsafeBufferPointer { bytes in
      var position = 0
      while position < bytes.count {
        let decoded = UTF8Codec.decode(bytes, at: position)
        if edge(decoded.scalar) == .word { return true }
        position += decoded.size
      }
      return false
    }
    return first.rawValue | last.rawValue << 2 | flags | (isText ? 0 : isUninformative)
  }

  private static func edge(_ scalar: UInt32?) -> Edge {
    guard let scalar else { return .none }
    if scalar == 0xFFFD { return .word }
    let isWord = !CharacterClass.of(scalar).isDisjoint(with: [.letter, .number, .mark])
    return isWord ? .word : CharacterClass.isWhiteSpace(scalar) ? .none : .other
  }

  private func facts(of id: Int32) -> UInt8 {
    id >= 0 && Int(id) < facts.count ? facts.base[Int(id)] : Self.begins | Self.isUninformative
  }

  /// Whether a piece goes on with the word of the piece before it: it has the mark of those that do, or no mark of
  /// those that begin one and letters, digits or parts of a character meet where the two do.
  func continuesWord(_ id: Int32, after previous: Int32) -> Bool {
    let facts = facts(of: id)
    if facts & (Self.begins | Self.continues) != 0 { return facts & Self.continues != 0 }
    return facts & 3 == Edge.word.rawValue && self.facts(of: previous) >> 2 & 3 == Edge.word.rawValue
  }

  /// Whether a piece is special, unknown, or has neither letter nor digit.
  func isUninformative(_ id: Int32) -> Bool { facts(of: id) & Self.isUninformative != 0 }
}
