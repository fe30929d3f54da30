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
  /// Projections of the vectors for distances, where they are not those of queries and keys.
  var distanceKey: LinearWeights?
  var distanceQuery: LinearWeights?
  var attentionOutput: LinearWeights
  var attentionNorm: NormWeights
  var intermediate: LinearWeights
  var output: LinearWeights
  var outputNorm: NormWeights
}

struct EncoderWeights: Sendable {
  /// [vocabSize, embeddingSize]
  var wordEmbeddings: TensorView
  /// [positionRows, embeddingSize]; nil for models without.
  var positionEmbeddings: TensorView?
  /// [typeVocabSize, embeddingSize]; nil for models without token types.
  var tokenTypeEmbeddings: TensorView?
  var embeddingNorm: NormWeights
  /// What attention knows of distances: [buckets, heads], or [rows, hidden] and perhaps their norm.
  var distances: TensorView?
  var distanceNorm: NormWeights?
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
    if configuration.hasPositionTable {
      positionEmbeddings = try loader.embedding(
        names.positionEmbeddings, rows: configuration.positionRows, width: width)
    }
    if let name = names.tokenTypeEmbeddings, configuration.typeVocabSize > 0 {
      tokenTypeEmbeddings = try loader.embedding(
        name, rows: configuration.typeVocabSize, width: width)
    }
    embeddingNorm = try loader.norm(names.embeddingNorm, count: width)
    if case .projected(let name, _) = configuration.family.embeddings,
      configuration.projectedEmbeddingSize != nil
    {
      embeddingProjection = try loader.linear(name, outs: configuration.hiddenSize, ins: width)
    }
    if let name = names.distances {
      let disentangled = configuration.disentangled
      switch configuration.family.relativePositions {
      case .bias:
        distances = try loader.embedding(
          name, rows: DistanceBuckets.biasCount, width: configuration.headCount)
      case .disentangled where disentangled?.hasTable == true:
        distances = try loader.embedding(
          name, rows: disentangled?.rowCount ?? 0, width: configuration.hiddenSize)
        if disentangled?.isNormalized == true, let norm = names.distanceNorm {
          distanceNorm = try loader.norm(norm, count: configuration.hiddenSize)
        }
      case .disentangled, .none: break
      }
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
    if let disentangled = configuration.disentangled, !disentangled.sharesProjections {
      if disentangled.hasQueryProducts, let name = names.distanceKey {
        distanceKey = try loader.linear(base + name, outs: hidden, ins: hidden)
      }
      if disentangled.hasKeyProducts, let name = names.distanceQuery {
        distanceQuery = try loader.linear(base + name, outs: hidden, ins: hidden)
      }
    }
    attentionOutput = try loader.linear(base + names.attentionOutput, outs: hidden, ins: hidden)
    attentionNorm = try loader.norm(base + names.attentionNorm, count: hidden)
    intermediate = try loader.linear(base + names.intermediate, outs: inner, ins: hidden)
    output = try loader.linear(base + names.output, outs: hidden, ins: inner)
    outputNorm = try loader.norm(base + names.outputNorm, count: hidden)
  }
}
