/// The kinds of layers on top of an encoder, by their results. `HeadKind.classSuffix` names transformers'
/// classes with them.
enum HeadKind: Sendable, CaseIterable {
  /// A start and an end logit for every token.
  case spans
  /// A logit per label for every window, from its first token.
  case labels
  /// A logit per label for every token.
  case tokenLabels
  /// The encoder's vectors are the result.
  case vectors
}

/// The input of a head. The head returns one row of numbers for each.
enum HeadInput: Sendable, Equatable {
  /// Every token of the last layer.
  case tokens
  /// One vector per window.
  case window(TokenPooling)

  /// The number of the encoder's vectors in a row of the input.
  var vectorCount: Int { if case .window(let pooling) = self { pooling.modes.count } else { 1 } }
}

/// How the last layer's vectors of a window's tokens become one vector.
struct TokenPooling: Sendable, Equatable {
  /// At least one; the vectors of several follow one another.
  let modes: [Mode]

  static let first = TokenPooling(modes: [.first])
  static let mean = TokenPooling(modes: [.mean])

  /// The names are those of sentence-transformers.
  enum Mode: String, Sendable, CaseIterable {
    /// The vector of the first token.
    case first = "cls"
    case max
    /// The mean, summed in an order that depends only on the number of tokens.
    case mean
    /// The sum divided by the square root of the number of tokens.
    case meanOfRoot = "mean_sqrt_len_tokens"
    /// The mean with the weights 1, 2, 3 …
    case weighted = "weightedmean"
    /// The vector of the last token.
    case last = "lasttoken"
  }
}

/// A head's layers in a checkpoint.
struct HeadWeights: Sendable {
  struct Layer: Sendable {
    var linear: LinearWeights
    var activation = Activation.identity
    /// Follows the activation.
    var norm: NormWeights?
    /// True if the input, or the outputs of `residual` for it, are added to the activation's values.
    var addsInput = false
    var residual: LinearWeights?
  }

  var input: HeadInput
  /// Applied in order; the last one's outputs are the result. Without layers the vectors are the result.
  var layers: [Layer]
  /// The bias of a last layer that has the weights of the word embeddings; nil: there is no such layer.
  var vocabularyBias: TensorView?
}

extension HeadWeights {
  /// - Parameter embedding: for a head of vectors.
  init(
    _ loader: inout WeightLoader, _ configuration: ModelConfiguration,
    _ embedding: EmbeddingConfiguration? = nil
  ) throws(BertQAError) {
    let (family, hidden) = (configuration.family, configuration.hiddenSize)
    func outputs(_ module: String, _ count: Int) throws(BertQAError) -> Layer {
      Layer(linear: try loader.linear(module, outs: count, ins: hidden))
    }
    switch configuration.head {
    case .spans:
      let before = family.pooler.isForTokens ? try Self.pooler(&loader, configuration) : []
      // [2, hidden]: the weights of the start logit, then those of the end logit.
      self.init(input: .tokens, layers: before + [try outputs(family.tensors.questionAnswering, 2)])
    case .labels:
      self.init(
        input: .window(configuration.classifierPooling),
        layers: try Self.pooler(&loader, configuration)
          + [try outputs(family.tensors.classifier, configuration.labels.count)])
    case .tokenLabels:
      let before = family.pooler.isForTokens ? try Self.pooler(&loader, configuration) : []
      self.init(
        input: .tokens,
        layers: before + [try outputs(family.tensors.tokenClassifier, configuration.labels.count)])
    case .vectors:
      if embedding?.sparse != nil {
        try self.init(ofMaskedWords: &loader, configuration)
        return
      }
      let input =
        embedding?.lateInteraction == nil ? HeadInput.window(embedding?.pooling ?? .mean) : .tokens
      self.init(input: input, layers: [])
      var width = input.vectorCount * hidden
      for dense in embedding?.dense ?? [] {
        layers.append(try loader.dense(dense, ins: width))
        width = dense.outs
      }
    }
  }

  private init(
    ofMaskedWords loader: inout WeightLoader, _ configuration: ModelConfiguration
  ) throws(BertQAError) {
    let hidden = configuration.hiddenSize
    guard let names = configuration.family.tensors.maskedWords, configuration.embeddingSize == hidden else {
      throw BertQAError(
        .unsupported, "a sparse model of the family \(configuration.family.classPrefixes[0]) is not supported"
      )
    }
    let layer = Layer(
      linear: try loader.linear(names.dense, outs: hidden, ins: hidden, hasBias: configuration.biases.pooler),
      activation: names.activation ?? configuration.activation,
      norm: try loader.norm(
        names.norm, count: hidden, hasBias: configuration.biases.norm, eps: configuration.layerNormEps))
    self.init(
      input: .tokens, layers: [layer],
      vocabularyBias: try loader.vector(names.bias, count: configuration.vocabSize))
  }

  private static func pooler(
    _ loader: inout WeightLoader, _ configuration: ModelConfiguration
  ) throws(BertQAError) -> [Layer] {
    let (pooler, hidden) = (configuration.family.pooler, configuration.hiddenSize)
    guard configuration.hasPooler else { return [] }
    if pooler.isOptional, try !loader.hasLinear(pooler.module) { return [] }
    let linear = try loader.linear(
      pooler.module, outs: hidden, ins: hidden, hasBias: configuration.biases.pooler)
    var layer = Layer(linear: linear, activation: configuration.poolerActivation ?? pooler.activation)
    if let name = pooler.norm {
      layer.norm = try loader.norm(
        name, count: hidden, hasBias: configuration.biases.norm, eps: configuration.layerNormEps)
    }
    return [layer]
  }
}
