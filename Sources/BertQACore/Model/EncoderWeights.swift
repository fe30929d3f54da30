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
  /// [vocabSize, hidden]
  var wordEmbeddings: TensorView
  /// [positionRows, hidden]
  var positionEmbeddings: TensorView
  /// [typeVocabSize, hidden]; nil for architectures without token types.
  var tokenTypeEmbeddings: TensorView?
  var embeddingNorm: NormWeights
  var layers: [LayerWeights]
}

extension EncoderWeights {
  init(_ loader: inout WeightLoader, _ configuration: ModelConfiguration) throws(BertQAError) {
    let (names, hidden) = (configuration.family.tensors, configuration.hiddenSize)
    wordEmbeddings = try loader.embedding(
      names.wordEmbeddings, rows: configuration.vocabSize, width: hidden)
    positionEmbeddings = try loader.embedding(
      names.positionEmbeddings, rows: configuration.positionRows, width: hidden)
    if let name = names.tokenTypeEmbeddings {
      tokenTypeEmbeddings = try loader.embedding(
        name, rows: configuration.typeVocabSize, width: hidden)
    }
    embeddingNorm = try loader.norm(names.embeddingNorm, count: hidden)
    layers = []
    for index in 0..<configuration.layerCount {
      layers.append(try LayerWeights(&loader, "\(names.layers)\(index).", configuration))
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
