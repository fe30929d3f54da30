extension Context {
  /// Computes vectors of texts, or of pairs of texts, for search, clustering and comparison. A vector does
  /// not depend on the other texts. The first failure ends the call; its `item` is the text's index. Takes
  /// time linear in the texts' lengths.
  /// - Parameter embeddings: [texts.count][info.embeddingLength]; unspecified after an error.
  public func embed(
    _ texts: [TextPair], options: EmbedOptions = EmbedOptions(),
    into embeddings: UnsafeMutableBufferPointer<Float>
  ) throws(BertQAError) {
    var options = options
    options.call.stopsAtFailure = true
    _ = try embedEach(texts, options: options, into: embeddings)
  }

  /// As `embed`, but a text's failure affects only that text: its vector is zeros, and the result has its
  /// error at the text's index. Throws failures of the whole call, such as an option out of range,
  /// cancellation or lack of memory.
  public func embedEach(
    _ texts: [TextPair], options: EmbedOptions = EmbedOptions(),
    into embeddings: UnsafeMutableBufferPointer<Float>
  ) throws(BertQAError) -> [Int: BertQAError] {
    embeddings.update(repeating: 0)
    return try embed(texts, options, into: embeddings) { _, _ in
    }
  }

  /// As `embedEach`; also returns the number of windows that the model read for each text.
  package func embedEachCountingWindows(
    _ texts: [TextPair], options: EmbedOptions
  ) throws(BertQAError) -> (vectors: [Float], windowCounts: [Int], failures: [Int: BertQAError]) {
    var vectors = [Float](repeating: 0, count: texts.count * info.embeddingLength)
    var windowCounts = [Int](repeating: 0, count: texts.count)
    let failures = try vectors.withMutableElements { buffer throws(BertQAError) in
      try embed(texts, options, into: buffer) { windowCounts[$0] = $1 }
    }
    return (vectors, windowCounts, failures)
  }

  private func embed(
    _ texts: [TextPair], _ options: EmbedOptions, into embeddings: UnsafeMutableBufferPointer<Float>,
    counted: (_ text: Int, _ windowCount: Int) -> Void
  ) throws(BertQAError) -> [Int: BertQAError] {
    let embedder = try embedder()
    guard embeddings.count == texts.count * embedder.length else {
      throw BertQAError(
        .invalidArgument, argument: "embeddings",
        "has room for \(embeddings.count) numbers, but \(texts.count) texts have "
          + "\(texts.count * embedder.length)")
    }
    var failures: [Int: BertQAError] = [:]
    try embedder.forEachVector(of: texts, called: "texts", options) { index, error throws(BertQAError) in
      try failures.insert(error, for: index)
    } _: { index, vector, windowCount in
      // nil without texts, whose options are still checked.
      guard let base = embeddings.baseAddress else { return }
      (base + index * embedder.length).update(from: vector, count: embedder.length)
      counted(index, windowCount)
    }
    return failures
  }

  /// - Returns: [texts.count][info.embeddingLength]
  public func embed(
    _ texts: [TextPair], options: EmbedOptions = EmbedOptions()
  ) throws(BertQAError) -> [Float] {
    var embeddings = [Float](repeating: 0, count: texts.count * info.embeddingLength)
    try embeddings.withMutableElements { buffer throws(BertQAError) in
      try embed(texts, options: options, into: buffer)
    }
    return embeddings
  }

  /// Returns the vector of one text.
  public func embed(
    _ text: String, options: EmbedOptions = EmbedOptions()
  ) throws(BertQAError) -> [Float] {
    try embed([text], options: options)
  }

  /// Returns the vectors of many texts, [texts.count][info.embeddingLength].
  public func embed(
    _ texts: [String], options: EmbedOptions = EmbedOptions()
  ) throws(BertQAError) -> [Float] {
    try withBytes(of: texts) { texts throws(BertQAError) in
      try embed(texts.map { TextPair(text: $0) }, options: options)
    }
  }

  /// Computes a vector for each token of texts, special tokens included: that of the last layer or, in a model of
  /// late interaction (ColBERT), that for queries (`promptName` "query") or documents. A sparse model (SPLADE) gives
  /// the weights of vocabulary pieces instead. The windows of a long text follow one another. The first failure ends
  /// the call; its `item` is the text's index.
  public func embedTokens(
    _ texts: [TextPair], options: EmbedOptions = EmbedOptions()
  ) throws(BertQAError) -> [TokenVectors] {
    var options = options
    options.call.stopsAtFailure = true
    var vectors: [TokenVectors] = []
    for result in try embedTokensEach(of: texts, options: options) { vectors.append(try result.get()) }
    return vectors
  }

  /// As `embedTokens`, but a text's failure affects only that text. Throws failures of the whole call, such as an
  /// option out of range, cancellation or lack of memory.
  public func embedTokensEach(
    of texts: [TextPair], options: EmbedOptions = EmbedOptions()
  ) throws(BertQAError) -> [Result<TokenVectors, BertQAError>] {
    guard let embedder = try embedder().tokens else {
      throw BertQAError(.unsupported, "a static model has no vectors of tokens in their context")
    }
    var options = options
    options.call = options.call.withOneLedger
    var results = try [Result<TokenVectors, BertQAError>](
      results: .missing, count: texts.count, CallMonitor(options.call))
    try embedder.forEachVectors(of: texts, called: "texts", options) { index, error in
      results[index] = .failure(error)
    } _: { index, vectors throws(BertQAError) in
      try Memory.requireReserve(atItem: index)
      results[index] = .success(vectors)
    }
    return results
  }

  /// Returns the vectors of the tokens of many texts.
  public func embedTokens(
    _ texts: [String], options: EmbedOptions = EmbedOptions()
  ) throws(BertQAError) -> [TokenVectors] {
    try withBytes(of: texts) { texts throws(BertQAError) in
      try embedTokens(texts.map { TextPair(text: $0) }, options: options)
    }
  }

  func embedder() throws(BertQAError) -> any Embedder {
    guard case .embedding(let embedder) = try runningEngine() else {
      throw wrongModel(needed: .embed)
    }
    return embedder
  }
}

extension Labeler {
  /// Keeps what it needs of `context`, which must have an embedding model.
  public convenience init(
    _ context: Context, examples: [LabelExample], options: LabelerOptions = LabelerOptions()
  ) throws(BertQAError) {
    try self.init(context.embedder(), examples, options)
  }
}
