/// fastBPE's form of byte-pair encoding, which BERTweet and PhoBERT use: `vocab.txt` has pieces and their counts, with
/// "@@" after those that do not end a word, and `bpe.codes` the merges, whose results need not be pieces.
struct FastBPE: TokenModel {
  let vocabulary: Vocabulary
  let pieceCount: Int
  /// Merges symbols that end words with "</w>". Ids from `pieceCount` on are symbols that are no pieces.
  private let merging: BytePairModel

  private static let (mark, end) = (Array("@@".utf8), Array("</w>".utf8))
  /// The first pieces, which the file does not list, by the names of special tokens.
  fileprivate static let firstKeys = ["bos_token", "pad_token", "eos_token", "unk_token"]
  fileprivate static let unknown: Int32 = 3
  fileprivate static let special: KeyValuePairs = [
    "bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>", "sep_token": "</s>",
    "cls_token": "<s>", "mask_token": "<mask>",
  ]

  var unknownID: Int32? { Self.unknown }

  func makeWorker() throws(BertQAError) -> any TokenWorker {
    try FastBPEWorker(merging, pieceCount: pieceCount)
  }

  /// - Parameters:
  ///   - listed: the pieces of `vocab.txt`, by id from 4 on.
  ///   - merges: by rank.
  init(
    first names: [[UInt8]], listed: [[UInt8]], merges: [(left: [UInt8], right: [UInt8])],
    _ monitor: CallMonitor?
  ) throws(BertQAError) {
    let pieces = names + listed
    vocabulary = try Vocabulary(pieces: pieces, monitor)
    pieceCount = pieces.count
    // An array for each piece and for the symbols of each merge.
    try Memory.require(128 * (pieces.count + 3 * merges.count))
    var symbols: [[UInt8]] = names.map { _ in [] }
    let unknown = Array("<unk>".utf8)
    symbols[Int(Self.unknown)] = unknown
    var known: Set<[UInt8]> = [unknown]
    func add(_ symbol: [UInt8]) {
      if known.insert(symbol).inserted { symbols.append(symbol) }
    }
    for (index, piece) in listed.enumerated() {
      if index % Pipeline.checkInterval == 0 { try monitor?.check() }
      let continues = piece.count > Self.mark.count && piece.reversed().starts(with: Self.mark.reversed())
      let symbol = continues ? Array(piece.dropLast(Self.mark.count)) : piece + Self.end
      symbols.append(known.insert(symbol).inserted ? symbol : [])
    }
    for (index, merge) in merges.enumerated() {
      if index % Pipeline.checkInterval == 0 { try monitor?.check() }
      for symbol in [merge.left, merge.right, merge.left + merge.right] { add(symbol) }
    }
    merging = try BytePairModel(
      pieces: symbols, merges: merges, BytePairSettings(unknownToken: "<unk>", endOfWordSuffix: Self.end),
      readsBytes: false, monitor)
  }
}

/// Splits as the model of symbols does, and makes symbols that are no pieces unknown.
private final class FastBPEWorker: CachingWorker {
  private let merging: BytePairWorker
  private let pieceCount: Int
  private var ids = GrowableBuffer<Int32>()
  private var starts = GrowableBuffer<Int32>()
  let cache: PreTokenCache

  init(_ model: BytePairModel, pieceCount: Int) throws(BertQAError) {
    merging = try BytePairWorker(model)
    self.pieceCount = pieceCount
    cache = try PreTokenCache()
  }

  var wholePreTokens: ShortPieceTable? { nil }

  func tokenize(_ preTokens: borrowing PreTokens, into output: inout TokenOutput) throws(BertQAError) {
    try tokenizePreTokens(preTokens, into: &output)
  }

  func split(
    _ preToken: UnsafePointer<UInt8>, count: Int, _ mark: PreTokenPrefix?, parsesSpecialTokens: Bool,
    _ monitor: CallMonitor?
  ) throws(BertQAError) -> PreTokenSplit {
    let split = try merging.split(
      preToken, count: count, mark, parsesSpecialTokens: parsesSpecialTokens, monitor)
    try ids.reserve(split.count)
    try starts.reserve(split.count + 1)
    for index in 0..<split.count {
      ids.base[index] = split.id(index) < pieceCount ? split.id(index) : FastBPE.unknown
      starts.base[index] = Int32(truncatingIfNeeded: split.begin(index))
      starts.base[index + 1] = Int32(truncatingIfNeeded: split.end(index))
    }
    return PreTokenSplit(ids.base, starts: starts.base, count: split.count)
  }
}

/// Splits at white space, except that a word includes one line feed directly after it: `\S+\n?`.
private struct WordsWithLineFeeds: PreTokenizer {
  func cut(_ preTokens: inout PreTokens, _ monitor: CallMonitor?) throws(BertQAError) {
    let text = UnsafePointer(preTokens.text.base)
    var poll = TextPoll(monitor)
    for index in 0..<preTokens.ranges.count {
      var position = Int(preTokens.ranges[index].start)
      let end = Int(preTokens.ranges[index].end)
      while position < end {
        let space = try SpacePattern().match(in: text, from: position, to: end, &poll)
        let wordEnd = space?.start ?? end
        if wordEnd > position {
          let hasLineFeed = wordEnd < end && text[wordEnd] == 0x0A
          try preTokens.newRanges.append(ByteRange(position, hasLineFeed ? wordEnd + 1 : wordEnd))
        }
        position = space?.end ?? end
      }
    }
    preTokens.takeNewRanges()
  }
}

extension Pipeline {
  /// Makes the tokenizer of BERTweet or PhoBERT, as transformers does.
  /// - Parameter settings: `tokenizer_config.json`, or nothing.
  init(
    fastBPE vocabulary: ModelFile, merges: ModelFile, _ settings: ObjectReader, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    if try settings.bool("normalization") == true {
      throw BertQAError(
        .unsupported,
        "\(settings.file): \"normalization\" is true; only false is supported: normalise tweets before the call"
      )
    }
    var names: [String: String] = [:]
    for (key, spelling) in FastBPE.special {
      names[key] = try Self.token(settings, key)?.content ?? spelling
    }
    let first = FastBPE.firstKeys.map { Array((names[$0] ?? "").utf8) }
    var listed = try vocabulary.withBytes { bytes throws(BertQAError) in
      try Self.lines(bytes, in: vocabulary, monitor) { line in
        // The piece and its count.
        line.lastIndex(of: 0x20).map { Array(line[..<$0]) }
      }
    }
    // A repeated piece takes no id.
    var known = Set(first)
    listed.removeAll { !known.insert($0).inserted }
    let pairs = try merges.withBytes { bytes throws(BertQAError) in
      try Self.lines(bytes, in: merges, monitor) { line -> (left: [UInt8], right: [UInt8])? in
        let parts = line.split(separator: 0x20)
        return parts.count == 3 ? (Array(parts[0]), Array(parts[1])) : nil
      }
    }
    let model = try BertQAError.naming(vocabulary.path) { () throws(BertQAError) in
      try FastBPE(first: first, listed: listed, merges: pairs, monitor)
    }
    self.init(model: model)
    preTokenizers = [WordsWithLineFeeds()]
    for (key, _) in FastBPE.special { addedTokens.append(AddedToken(names[key] ?? "", isSpecial: true)) }
    guard let cls = model.vocabulary.id(of: names["cls_token"] ?? ""),
      let sep = model.vocabulary.id(of: names["sep_token"] ?? "")
    else {
      throw BertQAError(
        .invalidModel, "\(vocabulary.path): has no piece for cls_token or sep_token of \(settings.file)")
    }
    postProcessor = PostProcessor(
      Template(prefix: [cls], separator: [sep, sep], suffix: [sep]), trimming: [])
  }

  /// Returns what `read` makes of each line that is not empty; nil means that it is not of the right form.
  private static func lines<Value>(
    _ bytes: UnsafeBufferPointer<UInt8>, in file: ModelFile, _ monitor: CallMonitor?,
    _ read: (Slice<UnsafeBufferPointer<UInt8>>) -> Value?
  ) throws(BertQAError) -> [Value] {
    // Two arrays for each line of at least four bytes.
    try Memory.require(40 * bytes.count)
    var values: [Value] = []
    for (number, var line) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
      if number % checkInterval == 0 { try monitor?.check() }
      if line.last == 0x0D { line.removeLast() }
      if line.isEmpty { continue }
      guard let value = read(line) else {
        throw BertQAError(
          .invalidModel, "\(file.path): line \(number + 1) is not a piece, or two, and a count")
      }
      values.append(value)
    }
    return values
  }
}
