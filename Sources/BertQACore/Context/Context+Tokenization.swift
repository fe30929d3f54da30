extension Context {
  /// Returns the tokens of `text` without special tokens around it, as Hugging Face's tokenizers do.
  /// Complexity: O(bytes).
  /// - Parameter parseSpecialTokens: true if special tokens such as "[SEP]" in the text become those tokens.
  public func tokenize(
    _ text: UnsafeBufferPointer<UInt8>, parseSpecialTokens: Bool = false, call: CallOptions = CallOptions()
  ) throws(BertQAError) -> Tokens {
    try TextLimit.check(text, "text")
    guard let tokenizer = engine.tokenizer else {
      throw Architecture.readsWords(info.architecture, in: info.directory)
    }
    let monitor = CallMonitor(call)
    try monitor.check()
    return try tokenizer.tokens(of: text, parseSpecialTokens: parseSpecialTokens, monitor)
  }

  /// Returns the tokens of one text.
  public func tokenize(
    _ text: String, parseSpecialTokens: Bool = false, call: CallOptions = CallOptions()
  ) throws(BertQAError) -> Tokens {
    try withBytes(of: text) { bytes throws(BertQAError) in
      try tokenize(bytes, parseSpecialTokens: parseSpecialTokens, call: call)
    }
  }

  /// Returns the piece or word with this id as the vocabulary spells it, followed by a NUL; nil outside the
  /// vocabulary. Valid while the context lives.
  public func vocabularyPiece(id: Int32) -> UnsafeBufferPointer<UInt8>? {
    let piece: UnsafeBufferPointer<UInt8>?
    switch engine {
    case .wordCounts(let classifier):
      let model = classifier.model
      return (0..<model.featureCount).contains(Int(id)) ? model.table.term(Int(id)) : nil
    case .languageModel(let model): piece = model.words.vocabulary.piece(id)
    case .tokenizer, .answering, .classification, .embedding, .embeddingClassification, .entities:
      piece = engine.tokenizer?.piece(id)
    }
    guard let piece, piece.baseAddress != nil else { return nil }
    return piece
  }

  public func vocabularyID(of piece: UnsafeBufferPointer<UInt8>) -> Int32? {
    switch engine {
    case .wordCounts(let classifier):
      let id = classifier.model.table.id(of: piece)
      return id >= 0 ? Int32(id) : nil
    case .languageModel(let model): return model.words.vocabulary.id(of: piece)
    case .tokenizer, .answering, .classification, .embedding, .embeddingClassification, .entities:
      return engine.tokenizer?.id(of: piece)
    }
  }
}
