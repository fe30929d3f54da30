extension Context {
  /// WordPiece tokens of `text` without [CLS] and [SEP], as Hugging Face's BertTokenizerFast gives them.
  /// Complexity: O(bytes).
  /// - Parameter parseSpecialTokens: whether "[SEP]" and its like in the text become those tokens.
  public func tokenize(
    _ text: UnsafeBufferPointer<UInt8>, parseSpecialTokens: Bool = false
  ) throws(BertQAError) -> Tokens {
    guard text.count <= Int(Int32.max) else {
      throw BertQAError(.tooLarge, "the text has \(text.count) bytes, above the limit of \(Int32.max)")
    }
    guard let tokenizer = engine.tokenizer else {
      throw BertQAError(
        .wrongModel, "\(info.directory) is a \(info.architecture), which has no WordPiece tokens")
    }
    var tokens = Tokens()
    try tokenizer.tokenize(text, parseSpecialTokens: parseSpecialTokens, into: &tokens, nil)
    return tokens
  }

  public func tokenize(_ text: String, parseSpecialTokens: Bool = false) throws(BertQAError) -> Tokens {
    try withBytes(of: text) { bytes throws(BertQAError) in
      try tokenize(bytes, parseSpecialTokens: parseSpecialTokens)
    }
  }

  /// The piece or word with this id, as the vocabulary spells it, with a NUL behind it; nil outside the vocabulary.
  /// Lives as long as the context.
  public func vocabularyPiece(id: Int32) -> UnsafeBufferPointer<UInt8>? {
    if case .wordCount(let classifier) = engine {
      let model = classifier.model
      return (0..<model.featureCount).contains(Int(id)) ? model.table.word(Int(id)) : nil
    }
    guard let piece = vocabulary?.piece(id), piece.baseAddress != nil else { return nil }
    return piece
  }

  public func vocabularyID(of piece: UnsafeBufferPointer<UInt8>) -> Int32? {
    if case .wordCount(let classifier) = engine {
      let id = classifier.model.table.id(of: piece)
      return id >= 0 ? Int32(id) : nil
    }
    return vocabulary?.id(of: piece)
  }

  private var vocabulary: Vocabulary? {
    if case .sequence(let model) = engine { return model.words.vocabulary }
    return engine.tokenizer?.vocabulary
  }
}

/// The UTF-8 bytes of a string, contiguous.
func withBytes<Result>(
  of text: String, _ body: (UnsafeBufferPointer<UInt8>) throws(BertQAError) -> Result
) throws(BertQAError) -> Result {
  var text = text
  let result = text.withUTF8 { bytes in
    // Swift.Result, because withUTF8 does not pass typed errors on.
    do throws(BertQAError) {
      return Swift.Result<Result, BertQAError>.success(try body(bytes))
    } catch {
      return .failure(error)
    }
  }
  return try result.get()
}
