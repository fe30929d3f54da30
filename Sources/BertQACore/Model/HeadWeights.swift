/// The layers on top of an encoder, by what they give. `HeadKind.classSuffix` names transformers' classes with them.
enum HeadKind: Sendable, CaseIterable {
  /// Start and end logit of every token.
  case spans
  /// A logit per label of every window, from its first token.
  case labels
  /// A logit per label of every token.
  case tokenLabels
  /// The encoder's vectors are the result.
  case vectors
}

/// What a head reads, and so what it gives one row of numbers for.
enum HeadInput: Sendable, Equatable {
  /// Every token of the last layer.
  case tokens
  /// One vector per window.
  case window(TokenPooling)
}

/// How the last layer's vectors of a window's tokens become one. The names are sentence-transformers'.
enum TokenPooling: String, Sendable {
  /// That of the first token.
  case first = "cls"
  /// Their mean, summed in an order that depends on the number of tokens only.
  case mean
}

/// A head's layers as a checkpoint has them.
struct HeadWeights: Sendable {
  struct Layer: Sendable {
    var linear: LinearWeights
    var activation = Activation.identity
    /// After the activation.
    var norm: NormWeights?
  }

  var input: HeadInput
  /// Applied in order; the last one's outputs are the result. None: the vectors are.
  var layers: [Layer]
}

extension HeadWeights {
  init(_ loader: inout WeightLoader, _ configuration: ModelConfiguration) throws(BertQAError) {
    let (family, hidden) = (configuration.family, configuration.hiddenSize)
    func outputs(_ module: String, _ count: Int) throws(BertQAError) -> Layer {
      Layer(linear: try loader.linear(module, outs: count, ins: hidden))
    }
    switch configuration.head {
    case .spans:
      let before = family.pooler.isForTokens ? try Self.pooler(&loader, configuration) : []
      // [2, hidden]: the start logit's weights, the end logit's weights.
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
      self.init(input: .window(.mean), layers: [])
    }
  }

  private static func pooler(
    _ loader: inout WeightLoader, _ configuration: ModelConfiguration
  ) throws(BertQAError) -> [Layer] {
    let (pooler, hidden) = (configuration.family.pooler, configuration.hiddenSize)
    if pooler.isOptional, try !loader.hasLinear(pooler.module) { return [] }
    let linear = try loader.linear(
      pooler.module, outs: hidden, ins: hidden, hasBias: configuration.biases.pooler)
    var layer = Layer(linear: linear, activation: configuration.poolerActivation ?? pooler.activation)
    if let name = pooler.norm {
      layer.norm = try loader.norm(name, count: hidden, hasBias: configuration.biases.norm)
    }
    return [layer]
  }
}
