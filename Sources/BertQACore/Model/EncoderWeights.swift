/// y = x · weightᵀ + bias.
struct LinearWeights: Sendable {
  /// [out, in]
  var weight: TensorView
  /// [out]
  var bias: TensorView
}

/// A LayerNorm's gamma and beta, [hidden].
struct NormWeights: Sendable {
  var weight: TensorView
  var bias: TensorView
}

struct LayerWeights: Sendable {
  var query: LinearWeights
  var key: LinearWeights
  var value: LinearWeights
  var attentionOutput: LinearWeights
  var attentionNorm: NormWeights
  var intermediate: LinearWeights
  var output: LinearWeights
  var outputNorm: NormWeights
}

struct EncoderWeights: Sendable {
  /// [vocabSize, embeddingSize]
  var wordEmbeddings: TensorView
  /// [positionRows, embeddingSize]
  var positionEmbeddings: TensorView
  /// [typeVocabSize, embeddingSize]; nil for architectures without token types.
  var tokenTypeEmbeddings: TensorView?
  var embeddingNorm: NormWeights
  /// From embeddings to hidden vectors; nil where they are the same.
  var embeddingProjection: LinearWeights?
  /// Each once, also where the model has it several times.
  var layers: [LayerWeights]
  /// Indices of `layers` in the order of computation.
  var layerOrder: [Int]
}

extension EncoderWeights {
  init(_ loader: inout WeightLoader, _ configuration: ModelConfiguration) throws(BertQAError) {
    let (names, width) = (configuration.family.tensors, configuration.embeddingSize)
    wordEmbeddings = try loader.embedding(
      names.wordEmbeddings, rows: configuration.vocabSize, width: width)
    positionEmbeddings = try loader.embedding(
      names.positionEmbeddings, rows: configuration.positionRows, width: width)
    if let name = names.tokenTypeEmbeddings {
      tokenTypeEmbeddings = try loader.embedding(
        name, rows: configuration.typeVocabSize, width: width)
    }
    embeddingNorm = try loader.norm(names.embeddingNorm, count: width)
    if case .projected(let name, _) = configuration.family.embeddings,
      configuration.projectedEmbeddingSize != nil
    {
      embeddingProjection = try loader.linear(name, outs: configuration.hiddenSize, ins: width)
    }
    layers = []
    layerOrder = []
    var indices: [String: Int] = [:]
    for base in configuration.layerBases {
      if let index = indices[base] {
        layerOrder.append(index)
        continue
      }
      indices[base] = layers.count
      layerOrder.append(layers.count)
      layers.append(try LayerWeights(&loader, base, configuration))
    }
  }
}

extension LayerWeights {
  /// - Parameter base: what the names of the layer's modules begin with.
  fileprivate init(
    _ loader: inout WeightLoader, _ base: String, _ configuration: ModelConfiguration
  ) throws(BertQAError) {
    let names = configuration.family.tensors.layer
    let (hidden, inner) = (configuration.hiddenSize, configuration.intermediateSize)
    query = try loader.linear(base + names.query, outs: hidden, ins: hidden)
    key = try loader.linear(base + names.key, outs: hidden, ins: hidden)
    value = try loader.linear(base + names.value, outs: hidden, ins: hidden)
    attentionOutput = try loader.linear(base + names.attentionOutput, outs: hidden, ins: hidden)
    attentionNorm = try loader.norm(base + names.attentionNorm, count: hidden)
    intermediate = try loader.linear(base + names.intermediate, outs: inner, ins: hidden)
    output = try loader.linear(base + names.output, outs: hidden, ins: inner)
    outputNorm = try loader.norm(base + names.outputNorm, count: hidden)
  }
}
