/// Byte-pair encoding (Sennrich et al. 2016): merges a pre-token's symbols, bytes or characters, pair by pair, the
/// pair of the lowest rank first and of equal ones the leftmost.
struct BytePairModel: Sendable {
  let vocabulary: Vocabulary
  let unknownID: Int32?
  let settings: BytePairSettings
  let merges: MergeTable
  let symbols: SymbolTable
  let wholePreTokens: WholePreTokens
  /// Bytes of the longest piece.
  private let longestPiece: Int
  /// The pieces "<0x00>" to "<0xFF>", or -1.
  let byteFallback: [Int32]

  /// - Parameters:
  ///   - pieces: by id; ids without a piece are empty.
  ///   - merges: the two pieces of each, by rank.
  ///   - readsBytes: true if pre-tokens are bytes that the pieces spell in `ByteAlphabet`.
  init(
    pieces: [[UInt8]], merges pairs: [(left: [UInt8], right: [UInt8])], _ settings: BytePairSettings,
    readsBytes: Bool, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    vocabulary = try Vocabulary(pieces: pieces, monitor)
    self.settings = settings
    longestPiece = pieces.reduce(0) { max($0, $1.count) }
    guard pieces.count <= MergeTable.limit, pairs.count <= MergeTable.limit else {
      throw BertQAError(
        .tooLarge,
        "the vocabulary has \(pieces.count) ids and \(pairs.count) merges; at most \(MergeTable.limit) of each "
          + "are supported")
    }
    unknownID = try settings.unknownToken.map(vocabulary.unknownID)
    let vocabulary = self.vocabulary
    byteFallback = (0..<256).map { byte in
      let digits = String(byte, radix: 16, uppercase: true)
      return vocabulary.id(of: byte < 16 ? "<0x0\(digits)>" : "<0x\(digits)>") ?? -1
    }
    let resolved = try Self.resolved(pairs, vocabulary, settings, monitor)
    merges = try MergeTable(resolved, monitor)
    symbols = try SymbolTable(
      vocabulary, settings, merges, readsBytes: readsBytes,
      bytes: readsBytes ? Self.bytes(of: pieces, monitor) : [],
      pairs: readsBytes ? resolved.map { ($0.left, $0.right) } : [])
    wholePreTokens = try WholePreTokens(slotsFor: pieces.count)
    try fillWholePreTokens(pieces, monitor)
  }

  /// Finds the pieces whose spelling is encoded as the piece itself, by encoding each.
  private func fillWholePreTokens(_ pieces: [[UInt8]], _ monitor: CallMonitor?) throws(BertQAError) {
    let worker = try BytePairWorker(self)
    for (id, piece) in pieces.enumerated() where !piece.isEmpty {
      if id % Pipeline.checkInterval == 0 { try monitor?.check() }
      var preToken = piece
      if symbols.unit == .bytes {
        guard let bytes = ByteAlphabet.bytes(of: piece) else { continue }
        preToken = bytes
      }
      // With `ignore_merges` a pre-token is looked up as it is.
      let isWhole = settings.ignoresMerges
      if !isWhole, !settings.endOfWordSuffix.isEmpty {
        guard preToken.reversed().starts(with: settings.endOfWordSuffix.reversed()) else { continue }
        preToken.removeLast(settings.endOfWordSuffix.count)
      }
      guard !preToken.isEmpty, preToken.count <= PieceKey.maximumCount else { continue }
      let count = preToken.count
      try (preToken + [UInt8](repeating: 0, count: NormalizedText.padding)).withElements {
        bytes throws(BertQAError) in
        guard let base = bytes.baseAddress else { return }
        if !isWhole {
          let pieces = try worker.split(base, count: count, nil, parsesSpecialTokens: false, nil)
          guard pieces.count == 1, pieces.id(0) == Int32(id), pieces.end(0) == count else { return }
        }
        try wholePreTokens.insert(base, count: count, id: Int32(id))
      }
    }
  }

  /// Returns the bytes that each piece spells in `ByteAlphabet`; nil for pieces with other characters.
  private static func bytes(
    of pieces: [[UInt8]], _ monitor: CallMonitor?
  ) throws(BertQAError) -> [[UInt8]?] {
    var read = 0
    return try pieces.checkedMap { piece throws(BertQAError) in
      if read % Pipeline.checkInterval == 0 { try monitor?.check() }
      read += 1
      return ByteAlphabet.bytes(of: piece)
    }
  }

  private static func resolved(
    _ pairs: [(left: [UInt8], right: [UInt8])], _ vocabulary: Vocabulary, _ settings: BytePairSettings,
    _ monitor: CallMonitor?
  ) throws(BertQAError) -> [(left: Int32, right: Int32, result: Int32)] {
    func id(_ piece: [UInt8]) throws(BertQAError) -> Int32 {
      if let id = piece.withUnsafeBufferPointer({ piece.isEmpty ? nil : vocabulary.id(of: $0) }) { return id }
      throw BertQAError(
        .invalidModel,
        "\"merges\" needs the piece \(quoted(String(decoding: piece, as: UTF8.self))), which is not in \"vocab\""
      )
    }
    let prefixCount = settings.continuingPrefix.count
    var resolved = try [(left: Int32, right: Int32, result: Int32)](checkedCapacity: pairs.count)
    for (rank, pair) in pairs.enumerated() {
      if rank % Pipeline.checkInterval == 0 { try monitor?.check() }
      resolved.append(
        (try id(pair.left), try id(pair.right), try id(pair.left + pair.right.dropFirst(prefixCount))))
    }
    return resolved
  }

  /// Returns the piece that spells a pre-token; nil if there is none.
  func piece(_ preToken: UnsafeBufferPointer<UInt8>) -> Int32? {
    if preToken.count > longestPiece { return nil }
    guard symbols.unit == .bytes else { return vocabulary.id(of: preToken) }
    return ByteAlphabet.spelling(of: preToken).withUnsafeBufferPointer { vocabulary.id(of: $0) }
  }
}

/// The settings of byte-pair encoding in a `tokenizer.json`, without pieces and merges.
struct BytePairSettings: Sendable {
  /// Replaces symbols that are not pieces; nil drops them.
  var unknownToken: String?
  /// Precedes each symbol of a pre-token except the first.
  var continuingPrefix: [UInt8] = []
  /// Follows the last symbol of a pre-token.
  var endOfWordSuffix: [UInt8] = []
  /// True if adjacent unknown symbols become one token.
  var fusesUnknown = false
  /// True if the bytes of unknown symbols are looked up as "<0x0A>".
  var fallsBackToBytes = false
  /// True if a pre-token that is a piece stays whole regardless of the merges.
  var ignoresMerges = false
}

extension BytePairModel: TokenModel {
  var pieceCount: Int { vocabulary.filledCount }

  var continuingPrefix: [UInt8] { settings.continuingPrefix }

  var takesOver: TakenStep? { symbols.unit == .bytes ? .spelling : nil }

  func makeWorker() throws(BertQAError) -> any TokenWorker { try BytePairWorker(self) }
}

/// Pre-tokens of at most 15 bytes that are one piece, by their bytes: most of a text. All threads share it, while a
/// `PreTokenCache` belongs to one thread.
final class WholePreTokens: @unchecked Sendable {
  // Unchecked: written only while the model is made.

  private let memory: ShortPieceTable.Memory
  let table: ShortPieceTable

  init(slotsFor count: Int) throws(BertQAError) {
    var slotCount = 1024
    while slotCount < count * 2 { slotCount *= 2 }
    memory = try ShortPieceTable.Memory(slotCount: slotCount)
    var table = ShortPieceTable(memory, slotCount: slotCount)
    table.removeAll(
      multiplier: PieceKey(
        low: SplitMix64.mixed(2 &* SplitMix64.increment) | 1,
        high: SplitMix64.mixed(3 &* SplitMix64.increment) | 1))
    self.table = table
  }

  /// - Parameter preToken: neither empty nor longer than 15 bytes, with 16 readable bytes after it.
  func insert(_ preToken: UnsafePointer<UInt8>, count: Int, id: Int32) throws(BertQAError) {
    if table.insert(PieceKey(loading: preToken).prefix(count, continuation: 0), id: id) { return }
    throw BertQAError(
      .invalidModel, "vocabulary: the pieces collide on purpose; check where the file came from")
  }
}
