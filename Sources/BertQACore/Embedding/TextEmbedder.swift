/// Vectors of texts by a BERT encoder. Immutable.
struct TextEmbedder: Sendable {
  let reader: TextReader
  /// What the model's files say.
  let defaults: EmbeddingConfiguration

  /// Floats of one vector.
  var length: Int { reader.encoder.configuration.hiddenSize }

  /// Below this a vector counts as having no direction; as in PyTorch's `normalize`.
  private static let leastNorm = 1e-12

  /// Writes [texts.count][length].
  func embed(
    _ texts: [TextPair], options: EmbedOptions, into embeddings: UnsafeMutablePointer<Float>
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
    try reader.read(texts, kind, windows, cancellation: options.cancellation) {
      parts, vectors throws(BertQAError) in
      for (index, part) in parts.enumerated() {
        mean.add(vectors + index * length, weight: kind == .mean ? part.tokenCount : 1)
        guard part.isLastOfText else { continue }
        let embedding = UnsafeMutableBufferPointer(
          start: embeddings + part.text * length, count: length)
        mean.take(into: embedding)
        guard embedding.allSatisfy(\.isFinite) else {
          throw BertQAError(
            .invalidModel,
            "the model produced a vector that is not of finite numbers (texts[\(part.text)]): its weights "
              + "are damaged or overflow the chosen precision; check the model's files")
        }
        if normalizes { Self.normalize(embedding) }
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
