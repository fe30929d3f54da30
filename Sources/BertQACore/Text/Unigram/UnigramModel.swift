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
  /// By code point below U+10000 the node of the trie that its bytes lead to; 0 where there is none.
  let characterNodes: AlignedBuffer<UInt32>

  /// How far below the lowest score an unknown character is.
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
    trie = try PieceTrie.make(vocabulary, monitor)
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

  /// Keeps the pieces that spell special tokens out of texts in which no special tokens are looked for: they are
  /// pieces like others to tokenizers. To be called before the model is used.
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
  var wordMark: WordMark? { .beginning("\u{2581}") }

  var takesOver: TakenStep? { .marking }

  func makeWorker() throws(BertQAError) -> any TokenWorker { try UnigramWorker(self) }
}

/// A Unigram model with what a thread needs for one text at a time.
private final class UnigramWorker: TokenWorker {
  private let model: UnigramModel
  private var lattice = UnigramLattice()
  private let splits: WordSplits
  private var word = GrowableBuffer<UInt8>()

  init(_ model: UnigramModel) throws(BertQAError) {
    self.model = model
    splits = try WordSplits()
  }

  /// A copy of a word with the mark before it, valid until the next one.
  private func marked(
    _ text: UnsafePointer<UInt8>, _ count: Int, _ mark: WordPrefix
  ) throws(BertQAError) -> UnsafePointer<UInt8> {
    try word.reserve(count + 4)
    UnsafeMutableRawPointer(word.base).storeBytes(of: mark.utf8.littleEndian, as: UInt32.self)
    (word.base + mark.size).update(from: text, count: count)
    return UnsafePointer(word.base)
  }
  func tokenize(_ words: borrowing Words, into output: inout TokenOutput) throws(BertQAError) {
    let text = UnsafePointer(words.text.base)
    let ranges = UnsafePointer(words.ranges.base)
    // Out of the object while in use, so that no access to it has to be checked.
    var lattice = UnigramLattice()
    swap(&lattice, &self.lattice)
    defer { swap(&lattice, &self.lattice) }
    let splits = self.splits.lookup
    let parses = output.parsesSpecialTokens
    let markSize = words.mark?.size ?? 0
    let mode: UInt8 = (parses ? 1 : 0) | (markSize > 0 ? 2 : 0)
    for index in 0..<words.ranges.count {
      let (begin, end) = (Int(ranges[index].start), Int(ranges[index].end))
      // The mark takes the place of a space.
      let core = markSize > 0 && text[begin] == 0x20 ? begin &+ 1 : begin
      let count = end &- core
      let place = WordPlace(at: begin, core: core, markSize: markSize)
      let key = WordKey(text + core, count: count, mode: mode)
      if let key, try splits.append(key, at: place, to: &output) { continue }
      let longKey =
        key == nil && count &+ markSize <= LongWordSplits.limit
        ? LongWordKey(text + core, count: count, mode: mode) : nil
      if let longKey, try splits.long.append(longKey, at: place, to: &output) { continue }
      try split(text + core, count, words.mark, parses, &lattice, output.monitor)
      let pieces = UnsafePointer(lattice.pieces.base)
      for piece in UnsafeBufferPointer(start: pieces, count: lattice.pieces.count) {
        try output.append(piece.id, place.start(Int(piece.begin)), place.end(Int(piece.end)))
      }
      if let key {
        splits.remember(key, count: lattice.pieces.count) { pieces[$0].inWord }
      } else if let longKey {
        try splits.long.remember(longKey, count: lattice.pieces.count) { pieces[$0].inWord }
      }
    }
  }

  /// Finds the pieces of a word, behind the mark if there is one.
  private func split(
    _ word: UnsafePointer<UInt8>, _ count: Int, _ mark: WordPrefix?, _ parses: Bool,
    _ lattice: inout UnigramLattice, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    var word = word
    var count = count
    let heldBytes = mark == nil || count < CallPoll.textInterval ? 0 : count
    if heldBytes > 0 { try monitor?.hold(heldBytes) }
    defer { if heldBytes > 0 { monitor?.release(heldBytes) } }
    if let mark {
      word = try marked(word, count, mark)
      count &+= mark.size
    }
    if parses {
      try lattice.split(word, count: count, model, model.scores, monitor)
    } else {
      try lattice.split(word, count: count, model, model.textScores, monitor)
    }
  }
}
