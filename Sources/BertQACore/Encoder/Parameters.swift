/// A model's parameters as the kernels take them.
///
/// Parameters that are in the right form in the mapping are used there, so that processes share them. All
/// others are converted once into memory owned here. The word embeddings are never converted as a whole:
/// their rows are converted as tokens need them.
final class Parameters: @unchecked Sendable {
  // Sendable: nothing changes after init; `owners` keeps the memory alive.

  /// Query, key and value, each [hidden][hidden].
  enum Projections {
    /// f32 weights that are adjacent, like their biases: one layer of 3 · hidden outputs.
    case together(LinearLayer)
    case separate(query: LinearLayer, key: LinearLayer, value: LinearLayer)
  }

  struct Norm {
    var gamma: UnsafePointer<Float>
    var beta: UnsafePointer<Float>
    /// nil: it only scales and shifts.
    var eps: Float?
  }

  struct Layer {
    var projections: Projections
    var attentionOutput: LinearLayer
    /// nil in the first layer of pre-norm families.
    var attentionNorm: Norm?
    var intermediate: LinearLayer
    /// In gated families, its outputs multiply the activated outputs of `intermediate`.
    var gate: LinearLayer?
    var output: LinearLayer
    var outputNorm: Norm
    /// nil in families without bottlenecks.
    var narrow: NarrowLayer<LinearLayer, Norm>?
    /// The number of tokens on either side that a token attends to; nil: the whole window.
    var reach: Int?
    /// nil in families without rotary positions.
    var rotary: RotaryTable?
    /// nil in models without global tokens.
    var global: GlobalProjections<LinearLayer>?
    /// nil in families without distance vectors.
    var distanceVectors: DistanceVectors?
  }

  let wordEmbeddings: TensorView
  /// What a task adds to word embeddings: [vocabSize][rank] and [rank][embeddingSize]; nil: nothing.
  let wordAdapter: (left: SharedBuffer<Float>, right: SharedBuffer<Float>)?
  /// [positionRows][positionSize]; nil in models without a position table.
  let positionEmbeddings: UnsafePointer<Float>?
  /// [typeVocabSize][positionSize]; nil in models without token types.
  let tokenTypeEmbeddings: UnsafePointer<Float>?
  /// [embeddingSize], of task 0; nil in models without tasks.
  let taskEmbedding: UnsafePointer<Float>?
  let embeddingNorm: Norm
  /// From embeddings to hidden vectors. Always f32: it is small, and everything later depends on it.
  let embeddingProjection: LinearLayer?
  /// nil in families without distance biases.
  let distanceBiases: DistanceBiases?
  let distances: Distances?
  /// In the order of computation. Some may share their parameters.
  let layers: [Layer]
  /// Follows the last layer in pre-norm families.
  let finalNorm: Norm?
  let head: Head
  /// A last layer with the weights of the word embeddings, in sparse models.
  let vocabulary: LinearLayer?

  private let owners: [any AnyObject & Sendable]

  /// - Parameter task: the index of the task whose adapters are added; nil: none.
  init(
    _ model: LoadedModel, _ arithmetic: Arithmetic, _ kernels: Kernels, task: Int?, threads: Int,
    _ monitor: CallMonitor
  ) throws(BertQAError) {
    let (weights, configuration) = (model.encoder, model.configuration)
    var converter = ParameterConverter(arithmetic, kernels, task: task, threads: threads)
    wordEmbeddings = weights.wordEmbeddings
    if let task, let adapters = weights.wordAdapters {
      wordAdapter = try adapters.matrices(ofTask: task)
    } else {
      wordAdapter = nil
    }
    if let positions = weights.positionEmbeddings {
      positionEmbeddings = try converter.floats(positions)
    } else {
      positionEmbeddings = nil
    }
    if let types = weights.tokenTypeEmbeddings {
      tokenTypeEmbeddings = try converter.floats(types, weights.tokenTypeAdapters)
    } else {
      tokenTypeEmbeddings = nil
    }
    if let tasks = weights.taskEmbeddings {
      taskEmbedding = try converter.floats(tasks)
    } else {
      taskEmbedding = nil
    }
    embeddingNorm = try converter.norm(weights.embeddingNorm)
    if let projection = weights.embeddingProjection {
      embeddingProjection = try converter.floatLinear(projection)
    } else {
      embeddingProjection = nil
    }
    (distanceBiases, distances) = try Self.distances(weights, configuration, &converter, kernels)
    let kinds = try Self.attentionKinds(configuration)
    var layers: [Layer] = []
    for (index, layer) in weights.layers.enumerated() {
      try monitor.checkNow()
      let kind = kinds(index)
      var distanceVectors: DistanceVectors?
      if let distances {
        distanceVectors = try DistanceVectors(
          layer, distances, isBF16: arithmetic.meetsDistancesInBF16(configuration, kernels), kernels)
      }
      layers.append(
        Layer(
          projections: try converter.projections(layer),
          attentionOutput: try converter.linear(layer.attentionOutput),
          attentionNorm: try layer.attentionNorm.map { norm throws(BertQAError) in
            try converter.norm(norm)
          },
          intermediate: try converter.linear(layer.intermediate),
          gate: try layer.gate.map { gate throws(BertQAError) in try converter.linear(gate) },
          output: try converter.linear(layer.output),
          outputNorm: try converter.norm(layer.outputNorm),
          narrow: try layer.narrow.map { narrow throws(BertQAError) in try converter.narrow(narrow) },
          reach: kind.reach, rotary: kind.rotary,
          global: try layer.global.map { own throws(BertQAError) in try converter.global(own) },
          distanceVectors: distanceVectors))
    }
    self.layers = weights.layerOrder.map { layers[$0] }
    finalNorm = try weights.finalNorm.map { norm throws(BertQAError) in try converter.norm(norm) }
    head = try converter.head(model.head, configuration)
    if let bias = model.head.vocabularyBias {
      vocabulary = try converter.linear(LinearWeights(weight: weights.wordEmbeddings, bias: bias))
    } else {
      vocabulary = nil
    }
    owners = converter.owners + [model]
  }

  /// Returns, for each layer, the properties in which its attention differs from that of other layers.
  private static func attentionKinds(
    _ configuration: ModelConfiguration
  ) throws(BertQAError) -> (Int) -> (reach: Int?, rotary: RotaryTable?) {
    func table(_ rotary: RotaryPositions) throws(BertQAError) -> RotaryTable {
      try RotaryTable(rotary, headSize: configuration.headSize, positions: configuration.maxPositions)
    }
    if let local = configuration.local { return { (local.reaches[$0], nil) } }
    guard let alternating = configuration.alternating else {
      let all = try configuration.rotary.map { rotary throws(BertQAError) in try table(rotary) }
      return { _ in (nil, all) }
    }
    let global = try table(RotaryPositions(theta: alternating.globalTheta))
    let local = try table(RotaryPositions(theta: alternating.localTheta))
    return { alternating.isLocal[$0] ? (alternating.reach, local) : (nil, global) }
  }

  private static func distances(
    _ weights: EncoderWeights, _ configuration: ModelConfiguration, _ converter: inout ParameterConverter,
    _ kernels: Kernels
  ) throws(BertQAError) -> (DistanceBiases?, Distances?) {
    if configuration.family.relativePositions == .slopes {
      return (try DistanceBiases(slopesOf: configuration), nil)
    }
    guard let table = weights.distances else { return (nil, nil) }
    guard let attention = configuration.disentangled else {
      return (try DistanceBiases(table, configuration), nil)
    }
    var norm: Norm?
    if let weights = weights.distanceNorm { norm = try converter.norm(weights) }
    return (nil, try Distances(table, norm, attention, configuration, kernels))
  }
}
