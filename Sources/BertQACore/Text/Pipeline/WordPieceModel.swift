/// WordPiece as a pipeline's model: the longest piece first, from the beginning of each word; a word that cannot be
/// spelled so, or is too long, is unknown as a whole.
struct WordPieceModel: TokenModel {
  let vocabulary: Vocabulary
  let pieceCount: Int
  private let unknown: Int32

  var unknownID: Int32? { unknown }
  var wordMark: WordMark? { .continuing("##") }

  init(_ model: ObjectReader, _ monitor: CallMonitor?) throws(BertQAError) {
    try TokenizerJSON.requireWordPiece(model)
    let pieces = try Pipeline.pieces(try model.required("vocab", model.reader("vocab")), monitor)
    let vocabulary = try Pipeline.named(model.file) { () throws(BertQAError) in
      try Vocabulary(pieces: pieces, monitor)
    }
    let token = try model.string("unk_token") ?? "[UNK]"
    guard let id = vocabulary.id(of: token) else {
      throw BertQAError(
        .invalidModel, "\(model.file): \"unk_token\" \(quoted(token)) is not in the vocabulary")
    }
    unknown = id
    pieceCount = pieces.reduce(0) { $1.isEmpty ? $0 : $0 + 1 }
    self.vocabulary = vocabulary
  }

  func tokenize(_ words: borrowing Words, into output: inout TokenOutput) throws(BertQAError) {
    let text = UnsafePointer(words.text.base)
    let capacity = PieceIndex.maximumWordCharacters
    let memory = try AlignedBuffer<UInt32>(uninitializedCount: 2 * capacity)
    let ids = try AlignedBuffer<Int32>(uninitializedCount: capacity)
    var pieces = PendingTokens(ids: ids.base, starts: memory.base, ends: memory.base + capacity)
    for index in 0..<words.ranges.count {
      let (start, end) = (Int(words.ranges[index].start), Int(words.ranges[index].end))
      pieces.count = 0
      let isSplit =
        Self.isShort(text + start, count: end - start)
        && vocabulary.index.split(text + start, count: end - start, into: &pieces)
      if isSplit {
        for piece in 0..<pieces.count {
          try output.append(
            pieces.ids[piece], start + Int(pieces.starts[piece]), start + Int(pieces.ends[piece]))
        }
      } else {
        try output.append(unknown, start, end)
      }
    }
  }

  /// Whether a word has few enough characters to be split.
  private static func isShort(_ word: UnsafePointer<UInt8>, count: Int) -> Bool {
    guard count > PieceIndex.maximumWordCharacters else { return true }
    guard count <= PieceIndex.maximumWordBytes else { return false }
    var characters = 0
    for position in 0..<count where word[position] & 0xC0 != 0x80 { characters += 1 }
    return characters <= PieceIndex.maximumWordCharacters
  }
}
