/// A model's parameters as the kernels take them.
///
/// What the mapping has in the right form is used there, so that processes share it; all else is converted
/// once into memory owned here. The word embeddings are never converted as a whole: rows are, as tokens need
/// them.
final class Parameters: @unchecked Sendable {
  // Sendable: nothing changes after init; `owners` keeps the memory alive.

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
    /// Of families that attend by distance in this way.
    var distanceVectors: DistanceVectors?
  }

  let wordEmbeddings: TensorView
  /// [positionRows][embeddingSize]; nil for models without.
  let positionEmbeddings: UnsafePointer<Float>?
  /// [typeVocabSize][embeddingSize]; nil for models without token types.
  let tokenTypeEmbeddings: UnsafePointer<Float>?
  let embeddingNorm: Norm
  /// From embeddings to hidden vectors, f32 always: it is small, and all that follows depends on it.
  let embeddingProjection: LinearLayer?
  /// What attention knows of distances, in families where it does.
  let distanceBiases: DistanceBiases?
  let distances: Distances?
  /// In the order of computation; some may share their parameters.
  let layers: [Layer]
  let head: Head

  private let owners: [any AnyObject & Sendable]

  init(
    _ model: LoadedModel, _ arithmetic: Arithmetic, _ kernels: Kernels, _ monitor: CallMonitor
  ) throws(BertQAError) {
    let (weights, configuration) = (model.encoder, model.configuration)
    var converter = ParameterConverter(arithmetic)
    wordEmbeddings = weights.wordEmbeddings
    if let positions = weights.positionEmbeddings {
      positionEmbeddings = try converter.floats(positions)
    } else {
      positionEmbeddings = nil
    }
    if let types = weights.tokenTypeEmbeddings {
      tokenTypeEmbeddings = try converter.floats(types)
    } else {
      tokenTypeEmbeddings = nil
    }
    embeddingNorm = try converter.norm(weights.embeddingNorm)
    if let projection = weights.embeddingProjection {
      embeddingProjection = try converter.floatLinear(projection)
    } else {
      embeddingProjection = nil
    }
    (distanceBiases, distances) = try Self.distances(weights, configuration, &converter, kernels)
    var layers: [Layer] = []
    for layer in weights.layers {
      try monitor.checkNow()
      var distanceVectors: DistanceVectors?
      if let distances {
        distanceVectors = try DistanceVectors(
          layer, distances, isBF16: arithmetic.meetsDistancesInBF16(configuration, kernels), kernels)
      }
      layers.append(
        Layer(
          projections: try converter.projections(layer),
          attentionOutput: try converter.linear(layer.attentionOutput),
          attentionNorm: try converter.norm(layer.attentionNorm),
          intermediate: try converter.linear(layer.intermediate),
          output: try converter.linear(layer.output),
          outputNorm: try converter.norm(layer.outputNorm), distanceVectors: distanceVectors))
    }
    self.layers = weights.layerOrder.map { layers[$0] }
    head = try converter.head(model.head, hidden: configuration.hiddenSize)
    owners = converter.owners + [model]
  }

  private static func distances(
    _ weights: EncoderWeights, _ configuration: ModelConfiguration, _ converter: inout ParameterConverter,
    _ kernels: Kernels
  ) throws(BertQAError) -> (DistanceBiases?, Distances?) {
    guard let table = weights.distances else { return (nil, nil) }
    guard let attention = configuration.disentangled else {
      return (try DistanceBiases(table, configuration, scale: configuration.attentionScale), nil)
    }
    var norm: Norm?
    if let weights = weights.distanceNorm { norm = try converter.norm(weights) }
    return (nil, try Distances(table, norm, attention, configuration, kernels))
  }
}
