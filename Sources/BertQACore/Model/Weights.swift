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

/// What stands on the encoder.
enum HeadWeights: Sendable {
  /// [2, hidden]: the start logit's weights, the end logit's weights.
  case questionAnswering(LinearWeights)
  case classification(ClassifierWeights)
  /// The encoder's vectors are the result.
  case none

  /// Every layer of the head.
  var linears: [LinearWeights] {
    switch self {
    case .questionAnswering(let outputs): [outputs]
    case .classification(let classifier): [classifier.pooler, classifier.outputs].compactMap(\.self)
    case .none: []
    }
  }
}

/// Layers from the vector of [CLS] to the logits.
struct ClassifierWeights: Sendable {
  /// [hidden, hidden]; nil: the outputs take the vector as it is.
  var pooler: LinearWeights?
  /// [labels, hidden]
  var outputs: LinearWeights
}
