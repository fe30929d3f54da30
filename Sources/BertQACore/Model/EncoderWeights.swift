/// y = x · weightᵀ + bias.
struct LinearWeights: Sendable {
  /// [out, in]
  var weight: TensorView
  /// [out]; nil: zeros.
  var bias: TensorView?
  /// nil in models without tasks.
  var adapters: AdapterWeights?

  /// Returns the layer with only some of the outputs.
  func rows(_ range: Range<Int>) -> LinearWeights {
    LinearWeights(weight: weight.rows(range), bias: bias?.rows(range), adapters: adapters?.rows(range))
  }
}

/// A LayerNorm's gamma and beta, [hidden].
struct NormWeights: Sendable {
  var weight: TensorView
  /// nil: zeros.
  var bias: TensorView?
  /// nil: it only scales and shifts.
  var eps: Float?
}

struct LayerWeights: Sendable {
  /// The checkpoint's modules of query, key and value: one each, or one for all.
  var projections: [LinearWeights]
  /// The biases of query and value that no module has.
  var headBiases: [TensorView] = []
  var query: LinearWeights
  var key: LinearWeights
  var value: LinearWeights
  /// nil in models without global tokens.
  var global: GlobalProjections<LinearWeights>?
  /// The projections of the distance vectors; nil if they are those of queries and keys.
  var distanceKey: LinearWeights?
  var distanceQuery: LinearWeights?
  var attentionOutput: LinearWeights
  /// nil in the first layer of pre-norm families.
  var attentionNorm: NormWeights?
  /// The checkpoint's modules of `intermediate` and `gate`: one each, or one for both.
  var feedForwardInputs: [LinearWeights]
  var intermediate: LinearWeights
  var gate: LinearWeights?
  var output: LinearWeights
  var outputNorm: NormWeights
  /// nil in families without bottlenecks.
  var narrow: NarrowLayer<LinearWeights, NormWeights>?
}

struct EncoderWeights: Sendable {
  /// [vocabSize, embeddingSize]
  var wordEmbeddings: TensorView
  /// [positionRows, positionSize]; nil in models without a position table.
  var positionEmbeddings: TensorView?
  /// [typeVocabSize, positionSize]; nil in models without token types.
  var tokenTypeEmbeddings: TensorView?
  /// nil in models without adapters.
  var wordAdapters: AdapterWeights?
  var tokenTypeAdapters: AdapterWeights?
  /// [taskCount, embeddingSize]; nil in models without tasks.
  var taskEmbeddings: TensorView?
  var embeddingNorm: NormWeights
  /// Distance biases [buckets, heads], or distance vectors [rows, hidden] and, in some models, their norm.
  var distances: TensorView?
  var distanceNorm: NormWeights?
  /// From embeddings, in some families of three tokens, to hidden vectors; nil if they are the same.
  var embeddingProjection: LinearWeights?
  /// Each layer once, even if the model uses it several times.
  var layers: [LayerWeights]
  /// Indices of `layers` in the order of computation.
  var layerOrder: [Int]
  /// Follows the last layer in pre-norm families.
  var finalNorm: NormWeights?
}

extension EncoderWeights {
  init(_ loader: inout WeightLoader, _ configuration: ModelConfiguration) throws(BertQAError) {
    let (names, width) = (configuration.family.tensors, configuration.positionSize)
    loader.adapters = configuration.adapters
    wordEmbeddings = try loader.embedding(
      names.wordEmbeddings, rows: configuration.vocabSize, width: configuration.embeddingSize)
    wordAdapters = try loader.adapters(
      names.wordEmbeddings, configuration.adapters, rows: configuration.vocabSize,
      width: configuration.embeddingSize, isEmbedding: true)
    if configuration.hasPositionTable, let name = names.positionEmbeddings {
      positionEmbeddings = try loader.embedding(name, rows: configuration.positionRows, width: width)
    }
    if let name = names.tokenTypeEmbeddings, configuration.typeVocabSize > 0 {
      tokenTypeEmbeddings = try loader.embedding(
        name, rows: configuration.typeVocabSize, width: width)
      tokenTypeAdapters = try loader.adapters(
        name, configuration.adapters, rows: configuration.typeVocabSize, width: width, isEmbedding: true)
    }
    if let name = names.taskEmbeddings, configuration.taskCount > 0 {
      taskEmbeddings = try loader.embedding(name, rows: configuration.taskCount, width: width)
    }
    let hasBias = configuration.biases.norm
    embeddingNorm = try loader.norm(
      names.embeddingNorm, count: width, hasBias: hasBias, eps: configuration.outputNormEps)
    if let size = configuration.projectedEmbeddingSize {
      switch configuration.family.embeddings {
      case .hidden: break
      case .projected(let name, _):
        embeddingProjection = try loader.linear(name, outs: configuration.hiddenSize, ins: size)
      case .trigrams(let name):
        embeddingProjection = try loader.linear(name, outs: configuration.hiddenSize, ins: 3 * size)
      }
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
          distanceNorm = try loader.norm(
            norm, count: configuration.hiddenSize, eps: configuration.normEps)
        }
      case .disentangled, .slopes, .none: break
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
      layers.append(try LayerWeights(&loader, base, configuration, isFirst: layers.isEmpty))
    }
    if let name = names.finalNorm {
      finalNorm = try loader.norm(
        name, count: configuration.hiddenSize, hasBias: hasBias, eps: configuration.normEps)
    }
    loader.adapters = nil
  }
}

extension LayerWeights {
  /// - Parameter base: the prefix of the names of the layer's modules.
  fileprivate init(
    _ loader: inout WeightLoader, _ base: String, _ configuration: ModelConfiguration, isFirst: Bool
  ) throws(BertQAError) {
    let (family, biases) = (configuration.family, configuration.biases)
    let names = family.tensors.layer
    let (hidden, inner) = (configuration.layerWidth, configuration.intermediateSize)
    func projection(
      _ name: String, parts: Int = 1, ins: Int? = nil, hasBias: Bool = true
    ) throws(BertQAError) -> LinearWeights {
      try loader.linear(
        base + name, outs: parts * hidden, ins: ins ?? hidden, hasBias: hasBias && biases.attention)
    }
    if let names = names.narrow { narrow = try NarrowLayer(&loader, base, names, configuration) }
    if let disentangled = configuration.disentangled, !disentangled.sharesProjections {
      if disentangled.hasQueryProducts, let name = names.distanceKey {
        distanceKey = try projection(name, hasBias: names.headBiases == nil)
      }
      if disentangled.hasKeyProducts, let name = names.distanceQuery {
        distanceQuery = try projection(name)
      }
    }
    if let keyName = names.key, let valueName = names.value {
      query = try projection(names.query)
      key = try projection(keyName)
      value = try projection(valueName, ins: narrow?.attention == nil ? nil : configuration.hiddenSize)
      projections = [query, key, value]
      if case .local(let suffix) = family.attention, configuration.hasGlobalTokens {
        let own = GlobalProjections(
          query: try projection(names.query + suffix), key: try projection(keyName + suffix),
          value: try projection(valueName + suffix))
        global = own
        projections += [own.query, own.key, own.value]
      }
    } else if let own = names.headBiases {
      let all = try projection(names.query, parts: 3, hasBias: false)
      let size = configuration.headSize
      func part(_ index: Int) throws(BertQAError) -> TensorView {
        try loader.rows(hidden, of: all.weight) { ($0 / size * 3 + index) * size + $0 % size }
      }
      query = LinearWeights(weight: try part(0), bias: try loader.vector(base + own.query, count: hidden))
      key = LinearWeights(weight: try part(1))
      value = LinearWeights(weight: try part(2), bias: try loader.vector(base + own.value, count: hidden))
      projections = [all]
      headBiases = [query, value].compactMap(\.bias)
    } else {
      let all = try projection(names.query, parts: 3)
      query = all.rows(0..<hidden)
      key = all.rows(hidden..<2 * hidden)
      value = all.rows(2 * hidden..<3 * hidden)
      projections = [all]
    }
    attentionOutput = try projection(names.attentionOutput)
    if family.norm != .layerNormBefore || !isFirst {
      attentionNorm = try loader.norm(
        base + names.attentionNorm, count: hidden, hasBias: biases.norm, eps: configuration.normEps)
    }
    func input(_ name: String, parts: Int = 1) throws(BertQAError) -> LinearWeights {
      try loader.linear(base + name, outs: parts * inner, ins: hidden, hasBias: biases.intermediate)
    }
    switch family.feedForward {
    case .dense:
      intermediate = try input(names.intermediate)
      feedForwardInputs = [intermediate]
    case .gated(.module(let name)):
      let own = try input(name)
      intermediate = try input(names.intermediate)
      gate = own
      feedForwardInputs = [intermediate, own]
    case .gated(.behind), .gated(.before):
      let both = try input(names.intermediate, parts: 2)
      let halves = (both.rows(0..<inner), both.rows(inner..<2 * inner))
      (intermediate, gate) = family.feedForward == .gated(.behind) ? halves : (halves.1, halves.0)
      feedForwardInputs = [both]
    }
    output = try loader.linear(base + names.output, outs: hidden, ins: inner, hasBias: biases.output)
    outputNorm = try loader.norm(
      base + names.outputNorm, count: hidden, hasBias: biases.norm, eps: configuration.outputNormEps)
  }
}
