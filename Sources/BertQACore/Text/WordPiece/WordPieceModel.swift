/// WordPiece: takes the longest piece again and again, from the beginning of each pre-token. A pre-token that pieces
/// cannot spell, or that is too long, is unknown as a whole.
struct WordPieceModel: TokenModel {
  let vocabulary: Vocabulary
  let pieceCount: Int
  private let unknown: Int32
  private let matcher: PieceMatcher

  var unknownID: Int32? { unknown }
  var continuingPrefix: [UInt8] { Array("##".utf8) }

  init(
    _ vocabulary: Vocabulary, pieceCount: Int, unknown: Int32, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    self.vocabulary = vocabulary
    self.pieceCount = pieceCount
    self.unknown = unknown
    matcher = try PieceMatcher(vocabulary, monitor)
  }

  init(_ model: ObjectReader, _ monitor: CallMonitor?) throws(BertQAError) {
    try Self.check(model)
    let pieces = try Pipeline.pieces(of: model, monitor)
    let token = try model.string("unk_token") ?? "[UNK]"
    self = try BertQAError.naming(model.file) { () throws(BertQAError) in
      let vocabulary = try Vocabulary(pieces: pieces, monitor)
      return try WordPieceModel(
        vocabulary, pieceCount: vocabulary.filledCount, unknown: vocabulary.unknownID(token), monitor)
    }
  }

  /// Throws for other models than WordPiece with BERT's settings.
  static func check(_ model: ObjectReader) throws(BertQAError) {
    // Old files lack the type.
    try model.require("type", .string("WordPiece"))
    try model.require("continuing_subword_prefix", .string("##"))
    try model.require("max_input_chars_per_word", .number(100))
  }

  func makeScanner(
    _ table: NormalizationTable, lowercases: Bool
  ) throws(BertQAError) -> WordPieceScanner? {
    try WordPieceScanner(table, lowercases: lowercases, matcher, unknown: unknown)
  }

  func makeWorker() throws(BertQAError) -> any TokenWorker {
    try WordPieceWorker(matcher, unknown: unknown)
  }
}

private final class WordPieceWorker: TokenWorker {
  private let matcher: PieceMatcher
  private let unknown: Int32
  /// The pieces of one pre-token.
  private let ids: AlignedBuffer<Int32>
  private let places: AlignedBuffer<UInt32>

  init(_ matcher: PieceMatcher, unknown: Int32) throws(BertQAError) {
    self.matcher = matcher
    self.unknown = unknown
    ids = try AlignedBuffer(uninitializedCount: PieceMatcher.maximumWordCharacters)
    places = try AlignedBuffer(uninitializedCount: 2 * PieceMatcher.maximumWordCharacters)
  }

  func tokenize(_ preTokens: borrowing PreTokens, into output: inout TokenOutput) throws(BertQAError) {
    let text = UnsafePointer(preTokens.text.base)
    var pieces = PendingTokens(
      ids: ids.base, starts: places.base, ends: places.base + PieceMatcher.maximumWordCharacters)
    for index in 0..<preTokens.ranges.count {
      let (start, end) = (Int(preTokens.ranges[index].start), Int(preTokens.ranges[index].end))
      pieces.count = 0
      let isSplit =
        Self.isShort(text + start, count: end - start)
        && matcher.split(text + start, count: end - start, into: &pieces)
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

  /// True if a pre-token has few enough characters to be split.
  private static func isShort(_ preToken: UnsafePointer<UInt8>, count: Int) -> Bool {
    guard count > PieceMatcher.maximumWordCharacters else { return true }
    guard count <= PieceMatcher.maximumWordBytes else { return false }
    var characters = 0
    for position in 0..<count where preToken[position] & 0xC0 != 0x80 { characters += 1 }
    return characters <= PieceMatcher.maximumWordCharacters
  }
}
