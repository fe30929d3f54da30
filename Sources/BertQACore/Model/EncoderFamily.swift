/// What sets one family of encoders apart from the others, as data: how its files name things, and which variants
/// of the arithmetic it uses.
///
/// A new family is a value here. A new variant is a case of one of the enums below, and code wherever the compiler
/// then finds a switch over it incomplete. A class, because as a struct it would be a kilobyte that loading copies about,
/// and hosts call from small stacks.
final class EncoderFamily: Sendable {
  /// What the names of transformers' classes begin with: "Bert" of `BertForQuestionAnswering`. Several where
  /// classes differ by name only.
  let classPrefixes: [String]
  let configuration: ConfigurationKeys
  let tensors: TensorNames
  let positions: Positions
  let tokenTypes: TokenTypes
  let embeddings: Embeddings
  let norm: Norm
  let feedForward: FeedForward
  let attention: AttentionSpan
  let relativePositions: RelativePositions
  let layerSharing: LayerSharing
  let pooler: Pooler

  init(
    classPrefixes: [String], configuration: ConfigurationKeys, tensors: TensorNames, positions: Positions,
    tokenTypes: TokenTypes = .ofSegments, embeddings: Embeddings = .hidden, norm: Norm,
    feedForward: FeedForward,
    attention: AttentionSpan, relativePositions: RelativePositions = .none,
    layerSharing: LayerSharing = .none,
    pooler: Pooler
  ) {
    self.classPrefixes = classPrefixes
    self.configuration = configuration
    self.tensors = tensors
    self.positions = positions
    self.tokenTypes = tokenTypes
    self.embeddings = embeddings
    self.norm = norm
    self.feedForward = feedForward
    self.attention = attention
    self.relativePositions = relativePositions
    self.layerSharing = layerSharing
    self.pooler = pooler
  }

  /// How a token learns its position.
  enum Positions: Sendable, Equatable {
    /// A row of a table is added to the embedding; token 0 has row 0.
    case table
    /// The same, but rows count the tokens that are not `pad_token_id` from the row after it on; those that are have
    /// that row itself.
    case tableAfterPadding
    /// As `table`, but only where `position_biased_input` says so.
    case tableIfBiased
    /// Attention turns queries and keys by their tokens' positions.
    case rotary
  }

  /// What attention knows of the distance between two tokens.
  enum RelativePositions: Sendable, Equatable {
    case none
    /// A number per head and bucket of distances is added to scores, the same in all layers.
    case bias
    /// Queries and keys are multiplied by projections of a vector per bucket of distances.
    case disentangled
  }

  /// Which row of the table of token types is added to a token's embedding, where there is such a table.
  enum TokenTypes: Sendable, Equatable {
    /// 0 for the first text of a pair, 1 for the second.
    case ofSegments
    /// 0 always: the family's tokenizers give no token types.
    case zero
  }

  /// How wide embeddings are, and what makes hidden vectors of them.
  enum Embeddings: Sendable, Equatable {
    /// `hidden_size`: they are hidden vectors.
    case hidden
    /// `embedding_size`; a linear layer of this name follows their norm. Where the two sizes are equal, checkpoints
    /// have none unless `always`.
    case projected(by: String, always: Bool)
  }

  /// Whether layers have weights of their own.
  enum LayerSharing: Sendable, Equatable {
    case none
    /// `num_hidden_groups` groups of `inner_group_num` layers each. A layer of the model is a whole group, and
    /// neighbouring ones share it. The group's index and this infix are followed by that of the layer in the group.
    case groups(infix: String)
  }

  /// Where the residual stream is normalised, and how.
  enum Norm: Sendable, Equatable {
    /// LayerNorm after each residual addition and after the embeddings (post-norm).
    case layerNormAfter
    /// LayerNorm of what attention and the feed-forward layer read (pre-norm), after the embeddings and after the
    /// last layer. The first layer's attention reads what the embeddings' norm gave.
    case layerNormBefore
  }

  /// The layer between two attentions.
  enum FeedForward: Sendable, Equatable {
    /// output(activation(intermediate(x)))
    case dense
    /// output(activation(intermediate(x)) · gate(x)): a gated linear unit (Shazeer 2020,
    /// https://arxiv.org/abs/2002.05202). One module has the rows of `intermediate` and then those of `gate`.
    case gated
  }

  /// Which tokens a token attends to.
  enum AttentionSpan: Sendable, Equatable {
    /// All of its window.
    case window
    /// In some layers all of its window, in the others its neighbours: `AlternatingAttention`.
    case alternating
  }

  /// The layer between the vector of the first token and a classifier's outputs.
  struct Pooler: Sendable, Equatable {
    let module: String
    let activation: Activation
    /// Whether checkpoints without one exist: their outputs take the vector as it is.
    let isOptional: Bool
    /// The key of `config.json` that may name another activation.
    var activationKey: String?
    /// A LayerNorm after the activation; nil: none.
    var norm: String?
    /// Whether it is also between the tokens' vectors and their outputs.
    var isForTokens = false
  }

  /// The keys of `config.json` that say which modules have a bias.
  struct BiasKeys: Sendable, Equatable {
    let attention: String
    let feedForward: String
    let norm: String
    let pooler: String
  }

  /// The keys of `config.json`: BERT's, where a family does not say otherwise.
  struct ConfigurationKeys: Sendable, Equatable {
    var hiddenSize = "hidden_size"
    var layerCount = "num_hidden_layers"
    var headCount = "num_attention_heads"
    var intermediateSize = "intermediate_size"
    var activation = "hidden_act"
    /// nil: no token types.
    var tokenTypeCount: String? = "type_vocab_size"
    /// nil: a constant of the family, the default.
    var layerNormEps: String? = "layer_norm_eps"
    /// Of families that count positions after it; nil: a constant of the family, 1.
    var paddingID: String? = "pad_token_id"
    /// nil: all modules have one. A key that is absent: they have none.
    var biases: BiasKeys?
    /// nil: a head of windows reads the first token's vector.
    var classifierPooling: String?
    var defaults = Defaults()
  }

  /// What holds where `config.json` does not have the key: the defaults of transformers' configuration class, which
  /// its files may leave out. BERT's, where a family does not say otherwise.
  struct Defaults: Sendable, Equatable {
    var vocabSize = 30522
    var hiddenSize = 768
    /// Read where embeddings are projected.
    var embeddingSize = 128
    var layerCount = 12
    var headCount = 12
    var intermediateSize = 3072
    var maxPositions = 512
    var tokenTypeCount = 2
    var layerNormEps = 1e-12
    var activation = "gelu"
  }

  /// What checkpoints call their modules; a module's tensors are its name with ".weight" and ".bias".
  struct TensorNames: Sendable, Equatable {
    /// Begins the encoder's names, except in checkpoints of a bare encoder.
    let prefix: String
    let wordEmbeddings: String
    /// nil for families without a table of positions.
    let positionEmbeddings: String?
    let tokenTypeEmbeddings: String?
    let embeddingNorm: String
    /// Of what attention knows of distances.
    var distances: String?
    var distanceNorm: String?
    /// Begins a layer's names; its index and a dot follow.
    let layers: String
    let layer: LayerNames
    /// nil for families without a norm after the last layer.
    var finalNorm: String?
    var questionAnswering = "qa_outputs"
    /// The last layer of a classifier.
    var classifier = "classifier"
    /// Of the labels of tokens.
    var tokenClassifier = "classifier"
  }

  /// Modules of one layer, to be put behind `TensorNames.layers` and the index.
  struct LayerNames: Sendable, Equatable {
    /// Has the rows of query, key and value, one after the other, where `key` and `value` are nil.
    let query: String
    var key: String?
    var value: String?
    /// Of the vectors for distances that queries and keys meet.
    var distanceKey: String?
    var distanceQuery: String?
    let attentionOutput: String
    /// The norm before or after attention.
    let attentionNorm: String
    let intermediate: String
    let output: String
    /// The norm before or after the feed-forward layer.
    let outputNorm: String
  }
}

extension EncoderFamily {
  /// Those that load, in the order in which messages name them.
  static let all = [
    bert, distilBert, roberta, xlmRoberta, electra, albert, mpnet, debertaV2, modernBert,
  ]

  /// Devlin et al. 2018, https://arxiv.org/abs/1810.04805; transformers' `modeling_bert.py`.
  static let bert = EncoderFamily(
    classPrefixes: ["Bert"],
    configuration: ConfigurationKeys(),
    tensors: TensorNames(
      prefix: "bert.", wordEmbeddings: "bert.embeddings.word_embeddings",
      positionEmbeddings: "bert.embeddings.position_embeddings",
      tokenTypeEmbeddings: "bert.embeddings.token_type_embeddings",
      embeddingNorm: "bert.embeddings.LayerNorm", layers: "bert.encoder.layer.",
      layer: .bert),
    positions: .table, norm: .layerNormAfter, feedForward: .dense, attention: .window,
    pooler: Pooler(module: "bert.pooler.dense", activation: .tanh, isOptional: true))

  /// Sanh et al. 2019, https://arxiv.org/abs/1910.01108; transformers' `modeling_distilbert.py`. Sinusoidal
  /// position embeddings are stored like learnt ones.
  static let distilBert = EncoderFamily(
    classPrefixes: ["DistilBert"],
    configuration: ConfigurationKeys(
      hiddenSize: "dim", layerCount: "n_layers", headCount: "n_heads", intermediateSize: "hidden_dim",
      activation: "activation", tokenTypeCount: nil, layerNormEps: nil,
      defaults: Defaults(layerCount: 6)),
    tensors: TensorNames(
      prefix: "distilbert.", wordEmbeddings: "distilbert.embeddings.word_embeddings",
      positionEmbeddings: "distilbert.embeddings.position_embeddings", tokenTypeEmbeddings: nil,
      embeddingNorm: "distilbert.embeddings.LayerNorm", layers: "distilbert.transformer.layer.",
      layer: LayerNames(
        query: "attention.q_lin", key: "attention.k_lin", value: "attention.v_lin",
        attentionOutput: "attention.out_lin", attentionNorm: "sa_layer_norm", intermediate: "ffn.lin1",
        output: "ffn.lin2", outputNorm: "output_layer_norm")),
    positions: .table, norm: .layerNormAfter, feedForward: .dense, attention: .window,
    pooler: Pooler(module: "pre_classifier", activation: .relu, isOptional: false))
}

extension EncoderFamily.LayerNames {
  /// transformers has them in the families that descend from BERT.
  static let bert = EncoderFamily.LayerNames(
    query: "attention.self.query", key: "attention.self.key", value: "attention.self.value",
    attentionOutput: "attention.output.dense", attentionNorm: "attention.output.LayerNorm",
    intermediate: "intermediate.dense", output: "output.dense", outputNorm: "output.LayerNorm")
}

/// A family is what its definition says: there is one object of each.
extension EncoderFamily: Equatable {
  static func == (a: EncoderFamily, b: EncoderFamily) -> Bool { a === b }
}
