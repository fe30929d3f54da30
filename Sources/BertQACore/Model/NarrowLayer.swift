/// The parts of a layer that only MobileBERT has (Sun et al. 2020, https://arxiv.org/abs/2004.02984): bottlenecks
/// around what the layer computes, and further feed-forward layers.
///
/// As a checkpoint has them, `NarrowLayer<LinearWeights, NormWeights>`, or as the kernels take them. Immutable. It
/// is a class because layers are copied, and those of most families have none.
final class NarrowLayer<Linear, Norm> {
  /// A linear layer and the norm of its outputs, for `output` after the residual addition.
  struct Step {
    var linear: Linear
    var norm: Norm
  }

  struct FeedForward {
    var intermediate: Linear
    var output: Step
  }

  /// From hidden vectors to the residual stream inside the layer. nil in models without bottlenecks, whose layers
  /// compute with hidden vectors.
  let input: Step?
  /// From hidden vectors to those of which queries and keys are made. Values are then made of hidden vectors. nil: all
  /// three are made of the stream inside the layer.
  let attention: Step?
  /// From the stream inside the layer back to hidden vectors.
  let output: Step?
  /// These come between attention and the feed-forward layer that every family has.
  let feedForwards: [FeedForward]

  init(input: Step?, attention: Step?, output: Step?, feedForwards: [FeedForward]) {
    self.input = input
    self.attention = attention
    self.output = output
    self.feedForwards = feedForwards
  }

  /// The parts in the order of computation.
  var steps: [Step] {
    [input, attention].compactMap(\.self) + feedForwards.map(\.output) + [output].compactMap(\.self)
  }
}

extension NarrowLayer: Sendable where Linear: Sendable, Norm: Sendable {}
extension NarrowLayer.Step: Sendable where Linear: Sendable, Norm: Sendable {}
extension NarrowLayer.FeedForward: Sendable where Linear: Sendable, Norm: Sendable {}

extension NarrowLayer<LinearWeights, NormWeights> {
  /// - Parameter base: the prefix of the names of the layer's modules.
  convenience init(
    _ loader: inout WeightLoader, _ base: String, _ names: EncoderFamily.NarrowNames,
    _ configuration: ModelConfiguration
  ) throws(BertQAError) {
    let (hidden, width) = (configuration.hiddenSize, configuration.layerWidth)
    let (inner, narrow) = (configuration.intermediateSize, configuration.narrow)
    func step(_ module: String, outs: Int, ins: Int) throws(BertQAError) -> Step {
      Step(
        linear: try loader.linear("\(base)\(module).dense", outs: outs, ins: ins),
        norm: try loader.norm("\(base)\(module).LayerNorm", count: outs, eps: configuration.normEps))
    }
    var feedForwards: [FeedForward] = []
    for index in 0..<narrow.feedForwardCount {
      let module = "\(names.feedForwards).\(index)"
      feedForwards.append(
        FeedForward(
          intermediate: try loader.linear("\(base)\(module).intermediate.dense", outs: inner, ins: width),
          output: try step("\(module).output", outs: width, ins: inner)))
    }
    guard narrow.width != nil else {
      self.init(input: nil, attention: nil, output: nil, feedForwards: feedForwards)
      return
    }
    self.init(
      input: try step(names.input, outs: width, ins: hidden),
      attention: narrow.hasAttentionInput ? try step(names.attention, outs: width, ins: hidden) : nil,
      output: try step(names.output, outs: hidden, ins: width), feedForwards: feedForwards)
  }
}

extension EncoderFamily {
  /// The modules of a `NarrowLayer`. Each has the modules "dense" and "LayerNorm".
  struct NarrowNames: Sendable {
    let input: String
    let attention: String
    let output: String
    /// Followed by a dot, an index and BERT's names.
    let feedForwards: String
  }
}

/// The settings of MobileBERT's layers in `config.json`.
struct NarrowSettings: Sendable, Equatable {
  /// The width between bottlenecks; nil: there are none.
  var width: Int?
  /// True if layers have `NarrowLayer.attention`.
  var hasAttentionInput = false
  /// The number of feed-forward layers that come before the last one.
  var feedForwardCount = 0
  /// False if norms only scale and shift.
  var hasNorms = true
}

extension NarrowSettings {
  init(_ reader: ObjectReader) throws(BertQAError) {
    feedForwardCount = try (reader.integer("num_feedforward_networks", in: 1...1024) ?? 4) - 1
    let type = try reader.string("normalization_type") ?? "no_norm"
    guard ["no_norm", "layer_norm"].contains(type) else {
      throw BertQAError(
        .unsupported,
        "\(reader.file): \"normalization_type\" is \(quoted(type)); supported: \"no_norm\", \"layer_norm\"")
    }
    hasNorms = type == "layer_norm"
    guard try reader.bool("use_bottleneck") ?? true else { return }
    width = try reader.integer("intra_bottleneck_size", in: 1...(1 << 16)) ?? 128
    guard try !(reader.bool("use_bottleneck_attention") ?? false) else { return }
    guard try reader.bool("key_query_shared_bottleneck") ?? true else {
      throw BertQAError(
        .unsupported,
        "\(reader.file): \"key_query_shared_bottleneck\" is false; only true is supported unless "
          + "\"use_bottleneck_attention\" is true")
    }
    hasAttentionInput = true
  }
}
