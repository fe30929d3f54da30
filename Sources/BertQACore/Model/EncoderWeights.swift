/// y = x · weightᵀ + bias.
struct LinearWeights: Sendable {
  /// [out, in]
  var weight: TensorView
  /// [out]; nil: zeros.
  var bias: TensorView?

  /// The layer that gives some of the outputs only.
  func rows(_ range: Range<Int>) -> LinearWeights {
    LinearWeights(weight: weight.rows(range), bias: bias?.rows(range))
  }
}

/// A LayerNorm's gamma and beta, [hidden].
struct NormWeights: Sendable {
  var weight: TensorView
  /// nil: zeros.
  var bias: TensorView?
}

struct LayerWeights: Sendable {
  /// The checkpoint's modules that have query, key and value: one each or one for all.
  var projections: [LinearWeights]
  var query: LinearWeights
  var key: LinearWeights
  var value: LinearWeights
  var attentionOutput: LinearWeights
  /// nil in the first layer of pre-norm families.
  var attentionNorm: NormWeights?
  /// The checkpoint's module that has `intermediate` and, in gated families, `gate`.
  var feedForwardInput: LinearWeights
  var intermediate: LinearWeights
  var gate: LinearWeights?
  var output: LinearWeights
  var outputNorm: NormWeights
}

struct EncoderWeights: Sendable {
  /// [vocabSize, hidden]
  var wordEmbeddings: TensorView
  /// [positionRows, hidden]; nil for families without a table of positions.
  var positionEmbeddings: TensorView?
  /// [typeVocabSize, hidden]; nil for architectures without token types.
  var tokenTypeEmbeddings: TensorView?
  var embeddingNorm: NormWeights
  var layers: [LayerWeights]
  /// After the last layer of pre-norm families.
  var finalNorm: NormWeights?
}

extension EncoderWeights {
  init(_ loader: inout WeightLoader, _ configuration: ModelConfiguration) throws(BertQAError) {
    let (names, hidden) = (configuration.family.tensors, configuration.hiddenSize)
    wordEmbeddings = try loader.embedding(
      names.wordEmbeddings, rows: configuration.vocabSize, width: hidden)
    if let name = names.positionEmbeddings {
      positionEmbeddings = try loader.embedding(name, rows: configuration.positionRows, width: hidden)
    }
    if let name = names.tokenTypeEmbeddings {
      tokenTypeEmbeddings = try loader.embedding(
        name, rows: configuration.typeVocabSize, width: hidden)
    }
    let hasBias = configuration.biases.norm
    embeddingNorm = try loader.norm(names.embeddingNorm, count: hidden, hasBias: hasBias)
    layers = []
    for index in 0..<configuration.layerCount {
      layers.append(try LayerWeights(&loader, "\(names.layers)\(index).", configuration, index: index))
    }
    if let name = names.finalNorm {
      finalNorm = try loader.norm(name, count: hidden, hasBias: hasBias)
    }
  }
}

extension LayerWeights {
  /// - Parameter base: what the names of the layer's modules begin with.
  fileprivate init(
    _ loader: inout WeightLoader, _ base: String, _ configuration: ModelConfiguration, index: Int
  ) throws(BertQAError) {
    let (family, biases) = (configuration.family, configuration.biases)
    let names = family.tensors.layer
    let (hidden, inner) = (configuration.hiddenSize, configuration.intermediateSize)
    func projection(_ name: String, parts: Int = 1) throws(BertQAError) -> LinearWeights {
      try loader.linear(base + name, outs: parts * hidden, ins: hidden, hasBias: biases.attention)
    }
    switch names.projections {
    case .separate(let first, let second, let third):
      query = try projection(first)
      key = try projection(second)
      value = try projection(third)
      projections = [query, key, value]
    case .together(let name):
      let all = try projection(name, parts: 3)
      query = all.rows(0..<hidden)
      key = all.rows(hidden..<2 * hidden)
      value = all.rows(2 * hidden..<3 * hidden)
      projections = [all]
    }
    attentionOutput = try projection(names.attentionOutput)
    if family.norm != .layerNormBefore || index > 0 {
      attentionNorm = try loader.norm(base + names.attentionNorm, count: hidden, hasBias: biases.norm)
    }
    switch family.feedForward {
    case .dense:
      intermediate = try loader.linear(
        base + names.intermediate, outs: inner, ins: hidden, hasBias: biases.feedForward)
      feedForwardInput = intermediate
    case .gated:
      feedForwardInput = try loader.linear(
        base + names.intermediate, outs: 2 * inner, ins: hidden, hasBias: biases.feedForward)
      intermediate = feedForwardInput.rows(0..<inner)
      gate = feedForwardInput.rows(inner..<2 * inner)
    }
    output = try loader.linear(base + names.output, outs: hidden, ins: inner, hasBias: biases.feedForward)
    outputNorm = try loader.norm(base + names.outputNorm, count: hidden, hasBias: biases.norm)
  }
}
