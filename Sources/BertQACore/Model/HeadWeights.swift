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
  }

  var input: HeadInput
  /// Applied in order; the last one's outputs are the result. None: the vectors are.
  var layers: [Layer]
}

extension HeadWeights {
  init(_ loader: inout WeightLoader, _ configuration: ModelConfiguration) throws(BertQAError) {
    let (family, hidden) = (configuration.family, configuration.hiddenSize)
    switch configuration.head {
    case .spans:
      // [2, hidden]: the start logit's weights, the end logit's weights.
      let outputs = try loader.linear(family.tensors.questionAnswering, outs: 2, ins: hidden)
      self.init(input: .tokens, layers: [Layer(linear: outputs)])
    case .labels:
      var layers: [Layer] = []
      let hasPooler = try loader.hasLinear(family.pooler.module)
      if hasPooler || !family.pooler.isOptional {
        layers.append(
          Layer(
            linear: try loader.linear(family.pooler.module, outs: hidden, ins: hidden),
            activation: configuration.poolerActivation ?? family.pooler.activation))
      }
      let outputs = try loader.linear(
        family.tensors.classifier, outs: configuration.labels.count, ins: hidden)
      self.init(input: .window(.first), layers: layers + [Layer(linear: outputs)])
    case .tokenLabels:
      let outputs = try loader.linear(
        family.tensors.tokenClassifier, outs: configuration.labels.count, ins: hidden)
      self.init(input: .tokens, layers: [Layer(linear: outputs)])
    case .vectors:
      self.init(input: .window(.mean), layers: [])
    }
  }
}
