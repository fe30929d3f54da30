/// A model's parameters as the kernels take them.
///
/// What the mapping has in the right form is used there, so that processes share it; all else is converted
/// once into memory owned here. The word embeddings are never converted as a whole: rows are, as tokens need
/// them.
final class Parameters: @unchecked Sendable {
  // Sendable: nothing changes after init; `model` keeps the mapping alive.

  /// Query, key and value, each [hidden][hidden].
  enum Projections {
    /// f32 weights that lie one after the other, as their biases do: one layer of 3 · hidden outputs.
    case together(LinearLayer)
    case separate(query: LinearLayer, key: LinearLayer, value: LinearLayer)
  }

  struct Norm {
    var gamma: UnsafePointer<Float>
    var beta: UnsafePointer<Float>
  }

  struct Layer {
    var projections: Projections
    var attentionOutput: LinearLayer
    var attentionNorm: Norm
    var intermediate: LinearLayer
    var output: LinearLayer
    var outputNorm: Norm
  }

  /// What stands on the encoder, always in f32: tiny, and the score itself.
  enum Head {
    /// Two outputs: the start logit and the end logit.
    case questionAnswering(LinearLayer)
    /// pooler: nil: the outputs take the vector of [CLS] as it is.
    case classification(pooler: LinearLayer?, outputs: LinearLayer)
    case none
  }

  let wordEmbeddings: TensorView
  /// [maxPositions][hidden]
  let positionEmbeddings: UnsafePointer<Float>
  /// [typeVocabSize][hidden]; nil for architectures without token types.
  let tokenTypeEmbeddings: UnsafePointer<Float>?
  let embeddingNorm: Norm
  let layers: [Layer]
  let head: Head

  private let model: LoadedModel
  private let memory: ParameterMemory

  init(_ model: LoadedModel, _ arithmetic: Arithmetic) throws(BertQAError) {
    let weights = model.encoder
    let converter = ParameterConverter(arithmetic)
    wordEmbeddings = weights.wordEmbeddings
    positionEmbeddings = try converter.floats(weights.positionEmbeddings)
    if let types = weights.tokenTypeEmbeddings {
      tokenTypeEmbeddings = try converter.floats(types)
    } else {
      tokenTypeEmbeddings = nil
    }
    embeddingNorm = try converter.norm(weights.embeddingNorm)
    var layers: [Layer] = []
    for layer in weights.layers {
      layers.append(
        Layer(
          projections: try converter.projections(layer),
          attentionOutput: try converter.linear(layer.attentionOutput),
          attentionNorm: try converter.norm(layer.attentionNorm),
          intermediate: try converter.linear(layer.intermediate),
          output: try converter.linear(layer.output),
          outputNorm: try converter.norm(layer.outputNorm)))
    }
    self.layers = layers
    head = try converter.head(model.head)
    memory = converter.memory
    self.model = model
  }
}
