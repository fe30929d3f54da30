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
}

/// How the last layer's vectors of a window's tokens become one vector. The names are those of
/// sentence-transformers.
enum TokenPooling: String, Sendable {
  /// The vector of the first token.
  case first = "cls"
  /// The mean, summed in an order that depends only on the number of tokens.
  case mean
}

/// A head's layers in a checkpoint.
struct HeadWeights: Sendable {
  struct Layer: Sendable {
    var linear: LinearWeights
    var activation = Activation.identity
    /// Follows the activation.
    var norm: NormWeights?
  }

  var input: HeadInput
  /// Applied in order; the last one's outputs are the result. Without layers the vectors are the result.
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
