/// What sets one family of encoders apart from the others, as data: how its files name things, and which variants
/// of the arithmetic it uses.
///
/// A new family is a value here. A new variant is a case of one of the enums below, and code wherever the compiler
/// then finds a switch over it incomplete.
struct EncoderFamily: Sendable, Equatable {
  /// What the names of transformers' classes begin with: "Bert" of `BertForQuestionAnswering`. Several where
  /// classes differ by name only.
  let classPrefixes: [String]
  let configuration: ConfigurationKeys
  let tensors: TensorNames
  let positions: Positions
  var tokenTypes = TokenTypes.ofSegments
  var embeddings = Embeddings.hidden
  let norm: Norm
  let feedForward: FeedForward
  let attention: AttentionSpan
  var relativePositions = RelativePositions.none
  var layerSharing = LayerSharing.none
  let pooler: Pooler

  /// How a token learns its position.
  enum Positions: Sendable, Equatable {
    /// A row of a table is added to the embedding; token 0 has row 0.
    case table
    /// The same, but rows count the tokens that are not `pad_token_id` from the row after it on; those that are have
    /// that row itself.
    case tableAfterPadding
    /// As `table`, but only where `position_biased_input` says so.
    case tableIfBiased
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
  }

  /// The layer between two attentions.
  enum FeedForward: Sendable, Equatable {
    /// output(activation(intermediate(x)))
    case dense
  }

  /// Which tokens a token attends to.
  enum AttentionSpan: Sendable, Equatable {
    /// All of its window.
    case window
  }

  /// The layer between the vector of the first token and a classifier's outputs.
  struct Pooler: Sendable, Equatable {
    let module: String
    let activation: Activation
    /// Whether checkpoints without one exist: their outputs take the vector as it is.
    let isOptional: Bool
    /// The key of `config.json` that may name another activation.
    var activationKey: String?
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
    let positionEmbeddings: String
    let tokenTypeEmbeddings: String?
    let embeddingNorm: String
    /// Of what attention knows of distances.
    var distances: String?
    var distanceNorm: String?
    /// Begins a layer's names; its index and a dot follow.
    let layers: String
    let layer: LayerNames
    var questionAnswering = "qa_outputs"
    /// The last layer of a classifier.
    var classifier = "classifier"
    /// Of the labels of tokens.
    var tokenClassifier = "classifier"
  }

  /// Modules of one layer, to be put behind `TensorNames.layers` and the index.
  struct LayerNames: Sendable, Equatable {
    let query: String
    let key: String
    let value: String
    /// Of the vectors for distances that queries and keys meet.
    var distanceKey: String?
    var distanceQuery: String?
    let attentionOutput: String
    let attentionNorm: String
    let intermediate: String
    let output: String
    let outputNorm: String
  }
}

extension EncoderFamily {
  /// Those that load, in the order in which messages name them.
  static let all = [bert, distilBert, roberta, xlmRoberta, electra, albert, mpnet, debertaV2]

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
