/// BERT's tokenizer: cleaning, splitting, normalisation and WordPiece, with the ids and offsets of
/// Hugging Face `tokenizers` for every input. Immutable; any number of threads may use it.
final class WordPieceTokenizer: @unchecked Sendable {
  // Unchecked: the tables are written in init only.

  let vocabulary: Vocabulary
  let configuration: TokenizerConfiguration
  let unkID: Int32
  let sepID: Int32
  let clsID: Int32
  /// Nil where the vocabulary has no such piece.
  let padID: Int32?
  let maskID: Int32?

  let table: NormalizationTable
  /// For each byte the id of the ASCII character that is a word by itself, or one of `SeparatorTable`.
  let separators: AlignedBuffer<Int32>
  let specialTokens: SpecialTokens

  init(vocabulary: Vocabulary, configuration: TokenizerConfiguration) throws(BertQAError) {
    func required(_ piece: String, _ name: String) throws(BertQAError) -> Int32 {
      if let id = vocabulary.id(of: piece) { return id }
      throw BertQAError(
        .invalidModel,
        "vocabulary: \(name) \"\(piece)\" is not among its \(vocabulary.count) pieces; "
          + "set \(name) in tokenizer_config.json to the piece that serves as it")
    }
    self.vocabulary = vocabulary
    self.configuration = configuration
    unkID = try required(configuration.unkToken, "unk_token")
    sepID = try required(configuration.sepToken, "sep_token")
    clsID = try required(configuration.clsToken, "cls_token")
    padID = vocabulary.id(of: configuration.padToken)
    maskID = vocabulary.id(of: configuration.maskToken)
    specialTokens = SpecialTokens(configuration: configuration, vocabulary: vocabulary)
    table = try NormalizationTable(configuration: configuration)
    separators = try SeparatorTable.make(table: table, pieces: vocabulary.index, unkID: unkID)
  }

  /// Replaces `tokens` by those of a text of at most `Int32.max` bytes, without added ones.
  ///
  /// Invalid UTF-8 is treated as U+FFFD (which the reference drops), by maximal subparts. With
  /// `parseSpecialTokens` the strings of the special tokens become those tokens; else they are text.
  /// Linear in the size of the text. After an error `tokens` is empty.
  /// - Parameter monitor: asked at least every 64 KiB of text; told of the memory of the tokens.
  func tokenize(
    _ text: UnsafeBufferPointer<UInt8>, parseSpecialTokens: Bool, into tokens: inout Tokens,
    _ monitor: CallMonitor?
  ) throws(BertQAError) {
    tokens.removeAll()
    guard let base = text.baseAddress, text.count > 0 else { return }
    // Result, because withUnsafeTemporaryAllocation does not pass typed errors on.
    let result = withUnsafeTemporaryAllocation(
      byteCount: TokenScanner.scratchSize, alignment: 8
    ) { scratch -> Result<Void, BertQAError> in
      guard let memory = scratch.baseAddress else { return .success(()) }
      // Moved into the scanner and back, so that its arrays stay uniquely referenced.
      var scanner = TokenScanner(
        text: base, tokenizer: self, scratch: memory, tokens: tokens, monitor: monitor)
      tokens = Tokens()
      do throws(BertQAError) {
        var position = 0
        if parseSpecialTokens {
          while let match = try firstSpecialToken(in: text, from: position, monitor) {
            try scanner.scan(from: position, to: match.range.lowerBound)
            try scanner.append(match.id, start: match.range.lowerBound, end: match.range.upperBound)
            position = match.range.upperBound
          }
        }
        try scanner.scan(from: position, to: text.count)
        try scanner.flush()
      } catch {
        return .failure(error)
      }
      tokens = scanner.tokens
      return .success(())
    }
    try result.get()
  }

  /// The first special token at or after `position`; the monitor is asked now and then.
  private func firstSpecialToken(
    in text: UnsafeBufferPointer<UInt8>, from position: Int, _ monitor: CallMonitor?
  ) throws(BertQAError) -> (range: Range<Int>, id: Int32)? {
    var position = position
    while position < text.count {
      let limit = min(text.count, position + CallPoll.textInterval)
      if let match = specialTokens.firstMatch(in: text, from: position, before: limit) { return match }
      position = limit
      try monitor?.check()
    }
    return nil
  }
}
