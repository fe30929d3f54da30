/// A Unigram language model of pieces (Kudo, "Subword Regularization", 2018): splits the text into the pieces with
/// the largest sum of scores, which are logarithms of probabilities. Immutable.
final class UnigramModel: @unchecked Sendable {
  // Unchecked: the tables are written in init only.

  let vocabulary: Vocabulary
  /// By id.
  let scores: AlignedBuffer<Double>
  /// The scores if special tokens are text: theirs are below any other.
  let textScores: AlignedBuffer<Double>
  let trie: PieceTrie
  /// The piece of characters that no piece contains.
  let unkID: Int32
  /// The score of a character that no piece contains.
  let unkScore: Double
  /// The id of each byte's piece, such as `<0x0A>`, or -1.
  let byteIDs: AlignedBuffer<Int32>
  /// The trie node of each code point below U+10000; 0 if there is none.
  let characterNodes: AlignedBuffer<UInt32>

  /// The distance of an unknown character's score below the lowest.
  private static let unkPenalty = 10.0

  /// - Parameters:
  ///   - scores: one for each piece.
  ///   - file: named in errors.
  ///   - unkID: inside the vocabulary.
  init(
    _ vocabulary: Vocabulary, scores: [Double], unkID: Int, byteFallback: Bool, file: String,
    _ monitor: CallMonitor? = nil
  ) throws(BertQAError) {
    let count = vocabulary.count
    guard count > 0, scores.count == count else {
      throw BertQAError(.invalidModel, "\(file): \(count) pieces with \(scores.count) scores")
    }
    guard unkID >= 0, unkID < count else {
      throw BertQAError(
        .invalidModel, "\(file): unk_id \(unkID) is outside the \(count) pieces of the vocabulary")
    }
    trie = try vocabulary.index.trie(monitor)
    self.scores = try AlignedBuffer(copying: scores)
    textScores = try AlignedBuffer(copying: scores)
    self.unkID = Int32(unkID)
    unkScore = (scores.min() ?? 0) - Self.unkPenalty
    byteIDs = try Self.byteIDs(trie, byteFallback)
    characterNodes = try Self.characterNodes(trie)
    self.vocabulary = vocabulary
  }

  private static func byteIDs(
    _ trie: borrowing PieceTrie, _ isUsed: Bool
  ) throws(BertQAError) -> AlignedBuffer<Int32> {
    let ids = try AlignedBuffer<Int32>(repeating: -1, count: 256)
    if !isUsed { return ids }
    let digits = Array("0123456789ABCDEF".utf8)
    for byte in 0..<256 {
      let name = Array("<0x".utf8) + [digits[byte >> 4], digits[byte & 15]] + Array(">".utf8)
      ids[byte] = name.withUnsafeBufferPointer { trie.value(of: $0) } ?? -1
    }
    return ids
  }

  /// Prevents pieces that spell special tokens in texts whose special tokens are text: to tokenizers they are pieces
  /// like others. Call it before the model is used.
  func keepAsText(_ tokens: [AddedToken]) {
    for token in tokens where token.isSpecial {
      guard let id = vocabulary.id(of: token.content) else { continue }
      textScores[Int(id)] = -.infinity
    }
  }

  private static func characterNodes(
    _ trie: borrowing PieceTrie
  ) throws(BertQAError) -> AlignedBuffer<UInt32> {
    let result = try AlignedBuffer<UInt32>(repeating: 0, count: 0x10000)
    for scalar in 0..<UInt32(0x10000) where scalar & 0xF800 != 0xD800 {
      let (bytes, count) = UTF8Codec.encode(scalar)
      var place = 0
      for index in 0..<count {
        let byte = UInt8(truncatingIfNeeded: bytes >> UInt32(8 * index))
        place = trie.root[place].offset ^ Int(byte)
        if trie.root[place].label != PieceTrie.Node.label(byte) {
          place = 0
          break
        }
      }
      result[Int(scalar)] = UInt32(place)
    }
    return result
  }
}

extension UnigramModel: TokenModel {
  var pieceCount: Int { vocabulary.count }
  var unknownID: Int32? { unkID }

  var takesOver: TakenStep? { .marking }

  func makeWorker() throws(BertQAError) -> any TokenWorker { try UnigramWorker(self) }
}

/// A Unigram model with the memory that a thread needs for one text at a time.
private final class UnigramWorker: CachingWorker {
  private let model: UnigramModel
  private var lattice = UnigramLattice()
  let cache: PreTokenCache
  @inline(__always) var wholePreTokens: ShortPieceTable? { nil }
  /// A pre-token with the mark before it.
  private var marked = GrowableBuffer<UInt8>()

  init(_ model: UnigramModel) throws(BertQAError) {
    self.model = model
    cache = try PreTokenCache()
  }

  func tokenize(_ preTokens: borrowing PreTokens, into output: inout TokenOutput) throws(BertQAError) {
    try tokenizePreTokens(preTokens, into: &output)
  }

  func split(
    _ preToken: UnsafePointer<UInt8>, count: Int, _ mark: PreTokenPrefix?, parsesSpecialTokens: Bool,
    _ monitor: CallMonitor?
  ) throws(BertQAError) -> PreTokenSplit {
    var preToken = preToken
    var count = count
    let heldBytes = mark == nil || count < CallPoll.textInterval ? 0 : count
    if heldBytes > 0 { try monitor?.hold(heldBytes) }
    defer { if heldBytes > 0 { monitor?.release(heldBytes) } }
    if let mark {
      try marked.reserve(count + 4)
      UnsafeMutableRawPointer(marked.base).storeBytes(of: mark.utf8.littleEndian, as: UInt32.self)
      (marked.base + mark.size).update(from: preToken, count: count)
      preToken = UnsafePointer(marked.base)
      count &+= mark.size
    }
    if parsesSpecialTokens {
      try lattice.split(preToken, count: count, model, model.scores, monitor)
    } else {
      try lattice.split(preToken, count: count, model, model.textScores, monitor)
    }
    return PreTokenSplit(lattice.pieces.base, count: lattice.pieces.count)
  }
}
