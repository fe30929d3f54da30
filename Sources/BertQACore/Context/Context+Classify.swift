extension Context {
  /// Classifies texts, or pairs of texts, in one call: one result per text, in order. What a result says does not
  /// depend on the others. Time: linear in the texts' lengths.
  public func classify(
    _ texts: [TextPair], options: ClassifyOptions = ClassifyOptions()
  ) throws(BertQAError) -> [Classification] {
    switch engine {
    case .wordCount(let classifier): return try classifier.classify(texts, options)
    case .classification(let classifier): return try classifier.classify(texts, options: options)
    case .tokenizer, .questionAnswering, .embedding, .sequence:
      throw wrongModel(for: "classify", needed: .classify)
    }
  }

  public func classify(
    _ text: TextPair, options: ClassifyOptions = ClassifyOptions()
  ) throws(BertQAError) -> Classification {
    try classify([text], options: options)[0]
  }

  public func classify(
    _ text: String, options: ClassifyOptions = ClassifyOptions()
  ) throws(BertQAError) -> Classification {
    try withBytes(of: text) { bytes throws(BertQAError) in
      try classify(TextPair(text: bytes), options: options)
    }
  }
}
