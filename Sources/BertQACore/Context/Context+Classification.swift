extension Context {
  /// Classifies texts, or pairs of texts, in one call. Returns one result per text, in order. A result does
  /// not depend on the other texts. The first failure ends the call; its `item` is the text's index. Takes
  /// time linear in the texts' lengths.
  public func classify(
    _ texts: [TextPair], options: ClassifyOptions = ClassifyOptions()
  ) throws(BertQAError) -> [Classification] {
    try all(options) { options throws(BertQAError) in try classifyEach(texts, options: options) }
  }

  /// As `classify`, but a text's failure becomes that text's result. Throws failures of the whole call, such
  /// as an option out of range, cancellation or lack of memory.
  public func classifyEach(
    _ texts: [TextPair], options: ClassifyOptions = ClassifyOptions()
  ) throws(BertQAError) -> [Result<Classification, BertQAError>] {
    switch try runningEngine() {
    case .wordCounts(let classifier): return try classifier.classifyEach(texts, options)
    case .classification(let classifier): return try classifier.classifyEach(texts, options)
    case .embeddingClassification(let classifier): return try classifier.classifyEach(texts, options)
    case .tokenizer, .answering, .embedding, .entities, .languageModel:
      throw wrongModel(needed: .classify)
    }
  }

  public func classify(
    _ text: TextPair, options: ClassifyOptions = ClassifyOptions()
  ) throws(BertQAError) -> Classification {
    try classify([text], options: options)[0]
  }

  /// Classifies one text.
  public func classify(
    _ text: String, options: ClassifyOptions = ClassifyOptions()
  ) throws(BertQAError) -> Classification {
    try withBytes(of: text) { bytes throws(BertQAError) in
      try classify(TextPair(text: bytes), options: options)
    }
  }

  /// Classifies many texts. Returns one result per text, in order.
  public func classify(
    _ texts: [String], options: ClassifyOptions = ClassifyOptions()
  ) throws(BertQAError) -> [Classification] {
    try withBytes(of: texts) { texts throws(BertQAError) in
      try classify(texts.map { TextPair(text: $0) }, options: options)
    }
  }
}
