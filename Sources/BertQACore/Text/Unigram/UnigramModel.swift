/// A Unigram language model of pieces (Kudo, "Subword Regularization", 2018): the text is split into the pieces
/// whose scores, logarithms of probabilities, have the largest sum. Immutable.
final class UnigramModel: @unchecked Sendable {
  // Unchecked: the tables are written in init only.

  let vocabulary: Vocabulary
  /// By id.
  let scores: AlignedBuffer<Double>
  /// The scores where special tokens are text: theirs are below any other.
  let textScores: AlignedBuffer<Double>
  let trie: PieceTrie
  /// The piece of characters that are in no piece.
  let unkID: Int32
  /// The score of a character that is in no piece.
  let unkScore: Double
  /// By byte the id of its piece, such as `<0x0A>`, or -1.
  let byteIDs: AlignedBuffer<Int32>
  /// By id whether the piece, as a text of its own, is that one piece.
  let isWhole: AlignedBuffer<Bool>

  /// How far below the lowest score an unknown character is.
  private static let unkPenalty = 10.0

  /// - Parameters:
  ///   - scores: one for each piece.
  ///   - file: named in errors.
  ///   - unkID: inside the vocabulary.
  init(
    _ vocabulary: Vocabulary, scores: [Double], unkID: Int, byteFallback: Bool, file: String
  ) throws(BertQAError) {
    let count = vocabulary.count
    guard count > 0, scores.count == count else {
      throw BertQAError(.invalidModel, "\(file): \(count) pieces with \(scores.count) scores")
    }
    guard unkID >= 0, unkID < count else {
      throw BertQAError(
        .invalidModel, "\(file): unk_id \(unkID) is outside the \(count) pieces of the vocabulary")
    }
    trie = try PieceTrie.make(vocabulary)
    self.scores = try AlignedBuffer(copying: scores)
    textScores = try AlignedBuffer(copying: scores)
    self.unkID = Int32(unkID)
    unkScore = (scores.min() ?? 0) - Self.unkPenalty
    byteIDs = try Self.byteIDs(trie, byteFallback)
    isWhole = try AlignedBuffer(repeating: false, count: count)
    self.vocabulary = vocabulary
    try findWholePieces()
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

  /// Keeps the pieces that spell special tokens out of texts in which no special tokens are looked for: they are
  /// pieces like others to tokenizers. To be called before the model is used.
  func keepAsText(_ tokens: [AddedToken]) {
    for token in tokens where token.isSpecial {
      guard let id = vocabulary.id(of: token.content) else { continue }
      textScores[Int(id)] = -.infinity
      isWhole[Int(id)] = false
    }
  }

  /// Splits every piece as a text: where it stays whole, which most words of a text do, the search is over after one
  /// walk through the trie.
  private func findWholePieces() throws(BertQAError) {
    var lattice = UnigramLattice()
    for id in 0..<Int32(clamping: vocabulary.count) where id != unkID {
      let piece = vocabulary.piece(id)
      guard let base = piece.baseAddress, piece.count > 0 else { continue }
      try lattice.split(base, from: 0, to: piece.count, self, scores, nil)
      isWhole[Int(id)] = lattice.pieces.count == 1 && lattice.pieces[0].id == id
    }
  }

  /// The id of the piece that is all of bytes[begin ..< end] and its best split; -1 where that is not known.
  @inline(__always)
  func wholePiece(_ bytes: UnsafePointer<UInt8>, from begin: Int, to end: Int) -> Int32 {
    let nodes = trie.root
    var node = nodes[0]
    var position = begin
    while position < end {
      let byte = bytes[position]
      node = nodes[node.offset ^ Int(byte)]
      if node.label != PieceTrie.Node.label(byte) { return -1 }
      position &+= 1
    }
    let id = node.value
    return id >= 0 && isWhole[Int(id)] ? id : -1
  }
}

extension UnigramModel: TokenModel {
  var pieceCount: Int { vocabulary.count }
  var unknownID: Int32? { unkID }
  var wordMark: WordMark? { .beginning("\u{2581}") }

  func tokenize(_ words: borrowing Words, into output: inout TokenOutput) throws(BertQAError) {
    let bytes = UnsafePointer(words.text.base)
    let memory = output.modelMemory as? UnigramMemory ?? UnigramMemory()
    output.modelMemory = memory
    let parses = output.parsesSpecialTokens
    for index in 0..<words.ranges.count {
      let (begin, end) = (Int(words.ranges[index].start), Int(words.ranges[index].end))
      let id = wholePiece(bytes, from: begin, to: end)
      if id >= 0 {
        try output.append(id, begin, end)
        continue
      }
      if parses {
        try memory.lattice.split(bytes, from: begin, to: end, self, scores, output.monitor)
      } else {
        try memory.lattice.split(bytes, from: begin, to: end, self, textScores, output.monitor)
      }
      for index in 0..<memory.lattice.pieces.count {
        let piece = memory.lattice.pieces[index]
        try output.append(piece.id, Int(piece.begin), Int(piece.end))
      }
    }
  }
}

/// What a thread needs for one text at a time.
private final class UnigramMemory {
  var lattice = UnigramLattice()
}
