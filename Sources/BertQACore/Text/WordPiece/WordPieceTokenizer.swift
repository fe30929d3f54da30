/// BERT's tokenizer: cleaning, splitting, normalisation and WordPiece, with the ids and offsets of
/// Hugging Face `tokenizers` for every input. Immutable; any number of threads may use it.
final class WordPieceTokenizer: @unchecked Sendable {
  // Unchecked: `separators` is written in init only.

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
  let separators: UnsafeMutablePointer<Int32>
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
    table = NormalizationTable(configuration: configuration)
    separators = SeparatorTable.make(table: table, pieces: vocabulary.index, unkID: unkID)
  }

  deinit { separators.deallocate() }

  /// Replaces `tokens` by those of a text of at most `Int32.max` bytes, without added ones.
  ///
  /// Invalid UTF-8 is treated as U+FFFD (which the reference drops), by maximal subparts. With
  /// `parseSpecialTokens` the strings of the special tokens stand for them; else they are text.
  /// Linear in the size of the text.
  func tokenize(
    _ text: UnsafeBufferPointer<UInt8>, parseSpecialTokens: Bool, into tokens: inout Tokens,
    _ monitor: CallMonitor?
  ) throws(BertQAError) {
    tokens.removeAll()
    guard let base = text.baseAddress, text.count > 0 else { return }
    withUnsafeTemporaryAllocation(byteCount: TokenScanner.scratchSize, alignment: 8) { scratch in
      guard let memory = scratch.baseAddress else { return }
      // Moved into the scanner and back, so that its arrays stay uniquely referenced.
      var scanner = TokenScanner(text: base, tokenizer: self, scratch: memory, tokens: tokens)
      tokens = Tokens()
      var position = 0
      if parseSpecialTokens {
        while let match = specialTokens.firstMatch(in: text, from: position) {
          scanner.scan(from: position, to: match.range.lowerBound)
          scanner.append(match.id, start: match.range.lowerBound, end: match.range.upperBound)
          position = match.range.upperBound
        }
      }
      scanner.scan(from: position, to: text.count)
      scanner.flush()
      tokens = scanner.tokens
    }
  }
}
