/// Vectors of texts by a BERT encoder. Immutable.
struct TextEmbedder: Sendable {
  let reader: TextReader
  /// What the model's files say.
  let defaults: EmbeddingConfiguration

  /// Floats of one vector.
  var length: Int { reader.encoder.configuration.hiddenSize }

  /// Below this a vector counts as having no direction; as in PyTorch's `normalize`.
  private static let leastNorm = 1e-12

  /// Calls `body` with the index, vector ([length]) and number of windows of each text, in order.
  /// - Parameter name: what error messages call the array of the texts.
  func forEachVector(
    of texts: [TextPair], called name: String = "texts", options: EmbedOptions,
    _ body: (Int, UnsafePointer<Float>, _ windowCount: Int) -> Void
  ) throws(BertQAError) {
    let kind: WindowVector =
      switch options.pooling {
      case .model: defaults.pooling
      case .mean: .mean
      case .cls: .first
      }
    let windows = TextWindows(
      maxSequenceLength: try TextWindows.length(
        options.maxSequenceLength, default: defaults.maxSequenceLength,
        reader.encoder.configuration.maxPositions),
      truncates: options.truncates)
    let normalizes = options.normalizes ?? defaults.normalizes
    var mean = WeightedMean(count: length)
    let buffer = try AlignedBuffer<Float>(uninitializedCount: length)
    let vector = UnsafeMutableBufferPointer(start: buffer.base, count: length)
    var windowCount = 0
    try reader.read(texts, called: name, kind, windows, cancellation: options.cancellation) {
      parts, vectors throws(BertQAError) in
      for (index, part) in parts.enumerated() {
        mean.add(vectors + index * length, weight: kind == .mean ? part.tokenCount : 1)
        windowCount += 1
        guard part.isLastOfText else { continue }
        mean.take(into: vector)
        guard vector.allSatisfy(\.isFinite) else {
          throw BertQAError(
            .invalidModel,
            "the model produced a vector that is not of finite numbers (\(name)[\(part.text)]): its "
              + "weights are damaged or overflow the chosen precision; check the model's files")
        }
        if normalizes { Self.normalize(vector) }
        body(part.text, UnsafePointer(buffer.base), windowCount)
        windowCount = 0
      }
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
