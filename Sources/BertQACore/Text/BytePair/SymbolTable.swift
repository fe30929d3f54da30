/// The symbols of a pre-token before merging.
struct SymbolTable: Sendable {
  /// The unit of symbols.
  enum Unit: Sendable {
    /// Bytes, each with a piece.
    case bytes
    /// Characters, spelled by pieces as they are.
    case characters
    /// Characters with a prefix or suffix, or with bytes instead: looked up one by one.
    case affixed
  }

  let unit: Unit
  /// The piece of each byte, if `unit` is bytes.
  let ids: SharedBuffer<Int32>
  /// The merge of two bytes, the first one in the high byte of the index.
  let merges: SharedBuffer<Merge>
  /// Characters to be read whole, if `unit` is bytes.
  let wholeCharacters: CharacterPieces?
  /// The piece of each code point, or -1, if `unit` is characters.
  let characters: TwoStageTable<Int32>

  /// - Parameters:
  ///   - bytes: of each piece, or nil; empty unless `readsBytes`.
  ///   - pairs: the pieces of each merge, by rank.
  init(
    _ vocabulary: Vocabulary, _ settings: BytePairSettings, _ merges: MergeTable, readsBytes: Bool,
    bytes: [[UInt8]?], pairs: [(left: Int32, right: Int32)]
  ) throws(BertQAError) {
    ids = try SharedBuffer(count: readsBytes ? 256 : 0)
    self.merges = try SharedBuffer(count: readsBytes ? 1 << 16 : 0)
    var characters = TwoStageTable<Int32>(defaultValue: -1)
    var wholeCharacters: CharacterPieces?
    if readsBytes {
      unit = .bytes
      for byte in 0..<256 { ids.base[byte] = Self.id(ByteAlphabet.scalars[byte], vocabulary) ?? -1 }
      for pair in 0..<1 << 16 {
        let (left, right) = (ids.base[pair >> 8], ids.base[pair & 0xFF])
        self.merges.base[pair] = left >= 0 && right >= 0 ? merges.lookup.merge(left, right) : .none
      }
      wholeCharacters = try CharacterPieces(bytes, pairs, merges, symbols: ids.base)
    } else if settings.continuingPrefix.isEmpty, settings.endOfWordSuffix.isEmpty {
      unit = .characters
      for id in 0..<Int32(clamping: vocabulary.count) {
        let piece = vocabulary.piece(id)
        guard piece.count > 0, piece.count <= 4 else { continue }
        let decoded = UTF8Codec.decode(piece, at: 0)
        if decoded.size == piece.count, vocabulary.id(of: piece) == id {
          characters.assign(id, from: decoded.scalar, count: 1)
        }
      }
    } else {
      unit = .affixed
    }
    self.characters = characters
    self.wholeCharacters = wholeCharacters
  }

  private static func id(_ scalar: UInt32, _ vocabulary: Vocabulary) -> Int32? {
    vocabulary.id(of: String(Unicode.Scalar(scalar) ?? "\u{FFFD}"))
  }

  /// True if each byte that occurs in UTF-8 is a piece of the vocabulary, spelled in `ByteAlphabet`.
  static func hasAllBytes(_ pieces: some Sequence<[UInt8]>) -> Bool {
    var wanted = Set<UInt32>()
    for byte in 0..<0xF5 where byte != 0xC0 && byte != 0xC1 { wanted.insert(ByteAlphabet.scalars[byte]) }
    for piece in pieces where piece.count <= 2 && !piece.isEmpty {
      let decoded = piece.withUnsafeBufferPointer { UTF8Codec.decode($0, at: 0) }
      if decoded.size == piece.count { wanted.remove(decoded.scalar) }
    }
    return wanted.isEmpty
  }
}
