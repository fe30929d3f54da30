extension Context {
  /// Vectors of texts, or of pairs of texts, for search, clustering and comparison. What a vector is does
  /// not depend on the other texts. Time: linear in the texts' lengths.
  /// - Parameter embeddings: [texts.count][info.embeddingLength]; unspecified after an error.
  public func embed(
    _ texts: [TextPair], options: EmbedOptions = EmbedOptions(),
    into embeddings: UnsafeMutableBufferPointer<Float>
  ) throws(BertQAError) {
    try embed(texts, options: options, into: embeddings) { _, _ in }
  }

  /// Also gives the windows that the model read of each text.
  package func embedCountingWindows(
    _ texts: [TextPair], options: EmbedOptions
  ) throws(BertQAError) -> (vectors: [Float], windowCounts: [Int]) {
    var vectors = [Float](repeating: 0, count: texts.count * info.embeddingLength)
    var windowCounts = [Int](repeating: 0, count: texts.count)
    try vectors.withUnsafeMutableBufferPointer { buffer throws(BertQAError) in
      try embed(texts, options: options, into: buffer) { windowCounts[$0] = $1 }
    }
    return (vectors, windowCounts)
  }

  private func embed(
    _ texts: [TextPair], options: EmbedOptions, into embeddings: UnsafeMutableBufferPointer<Float>,
    _ countWindows: (_ text: Int, _ windowCount: Int) -> Void
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
    try embedder.forEachVector(of: texts, options: options) { index, vector, windowCount in
      (base + index * embedder.length).update(from: vector, count: embedder.length)
      countWindows(index, windowCount)
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
