extension Context {
  /// Vectors of texts, or of pairs of texts, for search, clustering and comparison. What a vector is does
  /// not depend on the other texts. Time: linear in the texts' lengths.
  /// - Parameter embeddings: [texts.count][info.embeddingLength]; unspecified after an error.
  public func embed(
    _ texts: [TextPair], options: EmbedOptions = EmbedOptions(),
    into embeddings: UnsafeMutableBufferPointer<Float>
  ) throws(BertQAError) {
    guard case .embedding(let embedder) = engine else {
      throw wrongModel(for: "embed texts", needed: .embed)
    }
    guard embeddings.count == texts.count * embedder.length else {
      throw BertQAError(
        .invalidArgument,
        "embeddings has room for \(embeddings.count) numbers, but \(texts.count) texts have "
          + "\(texts.count * embedder.length)")
    }
    guard let base = embeddings.baseAddress else { return }
    try embedder.forEachVector(of: texts, options: options) { index, vector, _ in
      (base + index * embedder.length).update(from: vector, count: embedder.length)
    }
  }

  /// - Returns: [texts.count][info.embeddingLength]
  public func embed(
    _ texts: [TextPair], options: EmbedOptions = EmbedOptions()
  ) throws(BertQAError) -> [Float] {
    var embeddings = [Float](repeating: 0, count: texts.count * info.embeddingLength)
    try embeddings.withUnsafeMutableBufferPointer { buffer throws(BertQAError) in
      try embed(texts, options: options, into: buffer)
    }
    return embeddings
  }

  public func embed(
    _ text: String, options: EmbedOptions = EmbedOptions()
  ) throws(BertQAError) -> [Float] {
    try withBytes(of: text) { bytes throws(BertQAError) in
      try embed([TextPair(text: bytes)], options: options)
    }
  }
}
