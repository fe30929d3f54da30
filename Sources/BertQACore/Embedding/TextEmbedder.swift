/// Vectors of texts by an encoder. Immutable.
struct TextEmbedder: Sendable {
  let reader: TextReader
  /// What the model's files say.
  let defaults: EmbeddingConfiguration

  /// Floats of one vector.
  let length: Int

  /// Below this a vector counts as having no direction; as in PyTorch's `normalize`.
  private static let leastNorm = 1e-12

  /// Calls `body` with the index, vector ([length]) and number of windows of each text, in order.
  /// - Parameters:
  ///   - name: what error messages call the array of the texts.
  ///   - failed: told of a text's failure; what it throws ends the call.
  func forEachVector(
    of texts: [TextPair], called name: String = "texts", _ options: EmbedOptions,
    failed: (Int, BertQAError) throws(BertQAError) -> Void = { _, error throws(BertQAError) in throw error },
    _ body: (Int, UnsafePointer<Float>, _ windowCount: Int) throws(BertQAError) -> Void
  ) throws(BertQAError) {
    let pooling: TokenPooling =
      switch options.pooling {
      case .model: defaults.pooling
      case .mean: .mean
      case .cls: .first
      }
    let layout = WindowLayout(
      maxSequenceLength: try WindowLayout.length(
        options.maxSequenceLength, default: defaults.maxSequenceLength, reader.reader.maxPositions),
      truncates: options.truncates, template: reader.reader.tokenizer.template)
    let normalizes = options.normalizes ?? defaults.normalizes
    var mean = WeightedMean(count: length)
    let buffer = try AlignedBuffer<Float>(uninitializedCount: length)
    let vector = UnsafeMutableBufferPointer(start: buffer.base, count: length)
    var windowCount = 0
    try reader.read(texts, called: name, giving: .window(pooling), layout, options.call) {
      index, error throws(BertQAError) in
      mean.removeAll()
      windowCount = 0
      try failed(index, error)
    } _: { output throws(BertQAError) in
      mean.add(output.values, weight: pooling == .mean ? output.tokenCount : 1)
      windowCount += 1
      guard output.isLastOfItem else { return }
      mean.take(into: vector)
      guard vector.allSatisfy(\.isFinite) else {
        throw .nonFiniteResult("a vector that is not of finite numbers")
      }
      if normalizes { Self.normalize(vector) }
      try body(output.item, UnsafePointer(buffer.base), windowCount)
      windowCount = 0
    }
  }

  /// Scales a vector to length 1.
  static func normalize(_ vector: UnsafeMutableBufferPointer<Float>) {
    var squares = 0.0
    for value in vector { squares += Double(value) * Double(value) }
    let scale = 1 / max(squares.squareRoot(), leastNorm)
    for index in vector.indices { vector[index] = Float(Double(vector[index]) * scale) }
  }
}

/// The mean of a text's windows' vectors, as they come.
private struct WeightedMean {
  private var sums: [Double]
  private var weight = 0

  init(count: Int) {
    sums = [Double](repeating: 0, count: count)
  }

  /// - Parameters:
  ///   - vector: as many numbers as there are sums.
  ///   - weight: 1 or more.
  mutating func add(_ vector: UnsafePointer<Float>, weight added: Int) {
    for index in sums.indices { sums[index] += Double(vector[index]) * Double(added) }
    weight += added
  }

  /// Writes the mean; what follows is another text's. That of one vector is the vector itself: its
  /// products and quotients are exact in double precision.
  mutating func take(into mean: UnsafeMutableBufferPointer<Float>) {
    for index in sums.indices {
      mean[index] = Float(sums[index] / Double(weight))
    }
    removeAll()
  }

  mutating func removeAll() {
    for index in sums.indices { sums[index] = 0 }
    weight = 0
  }
}
