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
  /// [maxPositions, hidden]
  var positionEmbeddings: TensorView
  /// [typeVocabSize, hidden]; nil for architectures without token types.
  var tokenTypeEmbeddings: TensorView?
  var embeddingNorm: NormWeights
  var layers: [LayerWeights]
}
