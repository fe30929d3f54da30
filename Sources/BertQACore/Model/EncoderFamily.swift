/// The properties of a family of encoders, as data: the names in its files, and the variants of arithmetic
/// that it uses.
///
/// A new family is a value of this class. A new variant is a case of one of the enums below, plus code in
/// each switch that the compiler then reports as incomplete. It is a class because a struct would have a
/// kilobyte, which loading copies around, and hosts call from small stacks.
final class EncoderFamily: Sendable {
  /// The prefix of the names of transformers' classes: "Bert" in `BertForQuestionAnswering`. Several if
  /// classes differ only by name.
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

  /// How a token gets its position.
  enum Positions: Sendable {
    /// A row of a table is added to the embedding; token 0 uses row 0.
    case table
    /// As `table`, but rows count only the tokens that are not `pad_token_id`, starting after the row of that
    /// id. Padding uses that row itself.
    case tableAfterPadding
    /// As `table`, but only if `position_biased_input` is set.
    case tableIfBiased
    /// Attention rotates queries and keys by their tokens' positions.
    case rotary
    /// Only by `RelativePositions`.
    case none
  }

  /// How attention uses the distance between two tokens.
  enum RelativePositions: Sendable {
    case none
    /// A number per head and distance bucket is added to scores, the same in all layers.
    case bias
    /// A slope per head times the distance is subtracted from scores: ALiBi (Press et al. 2021,
    /// https://arxiv.org/abs/2108.12409) in both directions.
    case slopes
    /// Queries and keys are multiplied by projections of a vector per distance bucket.
    case disentangled
  }

  /// The row of the token type table that is added to a token's embedding, if the model has this table.
  enum TokenTypes: Sendable {
    /// 0 for the first text of a pair, 1 for the second.
    case ofSegments
    /// Always 0: the family's tokenizers return no token types.
    case zero
  }

  /// The width of embeddings, and how they become hidden vectors.
  enum Embeddings: Sendable {
    /// `hidden_size`: embeddings are hidden vectors.
    case hidden
    /// `embedding_size`. A linear layer of this name follows the embeddings' norm. If both sizes are equal,
    /// checkpoints have this layer only if `always` is set.
    case projected(by: String, always: Bool)
    /// `embedding_size`. A linear layer of this name takes the word embeddings of the next token, the token itself and
    /// the one before, one after another. Positions and token types have `hidden_size` and are added to its outputs.
    case trigrams(by: String)
  }

  /// The sharing of weights among layers.
  enum LayerSharing: Sendable {
    case none
    /// `num_hidden_groups` groups of `inner_group_num` layers each. A layer of the model is a whole group,
    /// and neighbouring layers share it. Names have the group's index, this infix, and the index of the layer
    /// within the group.
    case groups(infix: String)
  }

  /// The place and kind of the normalisation of the residual stream.
  enum Norm: Sendable {
    /// LayerNorm after each residual addition and after the embeddings (post-norm).
    case layerNormAfter
    /// LayerNorm of the inputs of attention and the feed-forward layer (pre-norm), after the embeddings and
    /// after the last layer. The first layer's attention reads the output of the embeddings' norm.
    case layerNormBefore
  }

  /// The layer between two attentions.
  enum FeedForward: Sendable, Equatable {
    /// output(activation(intermediate(x)))
    case dense
    /// output(activation(intermediate(x)) · gate(x)): a gated linear unit (Shazeer 2020,
    /// https://arxiv.org/abs/2002.05202).
    case gated(Gate)
  }

  /// The place of a gated linear unit's `gate` in checkpoints.
  enum Gate: Sendable, Equatable {
    /// The module of `intermediate` has the rows of `gate` after its own.
    case behind
    /// The module of `intermediate` has the rows of `gate` before its own.
    case before
    /// A module of a layer.
    case module(String)
  }

  /// The tokens that a token attends to.
  enum AttentionSpan: Sendable {
    /// The whole window.
    case window
    /// The whole window in some layers, a token's neighbours in the others: `AlternatingAttention`.
    case alternating
    /// A token's neighbours and the window's global tokens: `LocalAttention`. The names of the projections of global
    /// tokens are those of the others with this suffix.
    case local(globalSuffix: String)
  }

  /// The layer between the vector of the first token and a classifier's outputs.
  struct Pooler: Sendable {
    let module: String
    let activation: Activation
    /// True if there are checkpoints without this layer, whose classifiers read the first token's vector
    /// itself.
    let isOptional: Bool
    /// The key of `config.json` that can name another activation.
    var activationKey: String?
    /// The key of `config.json` that tells whether this layer exists.
    var presenceKey: String?
    /// A LayerNorm after the activation; nil: none.
    var norm: String?
    /// True if the layer is also between the tokens' vectors and their outputs.
    var isForTokens = false
  }

  /// Whether a kind of modules has a bias.
  enum Bias: Sendable, Equatable {
    case always
    case never
    /// The key of `config.json` that determines it. If the key is absent, there is none.
    case key(String)
  }

  /// The modules that have a bias.
  struct Biases: Sendable {
    var attention = Bias.always
    /// The modules of `intermediate` and `gate`.
    var intermediate = Bias.always
    var output = Bias.always
    var norm = Bias.always
    var pooler = Bias.always
  }

  /// The keys of `config.json`. The defaults are BERT's.
  struct ConfigurationKeys: Sendable {
    var hiddenSize = "hidden_size"
    var layerCount = "num_hidden_layers"
    var headCount = "num_attention_heads"
    var intermediateSize = "intermediate_size"
    var maxPositions = "max_position_embeddings"
    var activation = "hidden_act"
    /// nil: the family has no token types.
    var tokenTypeCount: String? = "type_vocab_size"
    /// nil: the default is a constant of the family.
    var layerNormEps: String? = "layer_norm_eps"
    /// The constant of the norms of embeddings and of layers' outputs, if it is not that of the others.
    var outputNormEps: Float?
    /// For families that count positions after it; nil: the constant 1.
    var paddingID: String? = "pad_token_id"
    var biases = Biases()
    /// Settings of `config.json` of which only one value is supported. An absent key has that value.
    var fixed: [(key: String, value: JSON)] = []
    /// The base of rotary positions, for families with one base for all layers.
    var rotaryTheta: String?
    /// True if `auto_map` names the code that this family stands for.
    var hasOwnCode = false
    /// True if checkpoints may have `TaskAdapters`.
    var hasTaskAdapters = false
    /// nil: a head of windows reads the first token's vector.
    var classifierPooling: String?
    var defaults = Defaults()
  }

  /// The values for keys that `config.json` omits: the defaults of transformers' configuration class.
  /// The defaults here are BERT's.
  struct Defaults: Sendable {
    var vocabSize = 30522
    var hiddenSize = 768
    /// Read if embeddings are projected.
    var embeddingSize = 128
    var layerCount = 12
    var headCount = 12
    var intermediateSize = 3072
    var maxPositions = 512
    var tokenTypeCount = 2
    /// The minimum of `tokenTypeCount`: 0 if checkpoints may have no table.
    var fewestTokenTypes = 1
    var rotaryTheta = 10_000.0
    var layerNormEps = 1e-12
    var activation = "gelu"
  }

  /// The names of modules in checkpoints. A module's tensors have its name with ".weight" and ".bias".
  struct TensorNames: Sendable {
    /// The prefix of the encoder's names, which checkpoints of a bare encoder lack.
    let prefix: String
    let wordEmbeddings: String
    /// nil for families without a position table.
    let positionEmbeddings: String?
    let tokenTypeEmbeddings: String?
    /// Its row 0 is added to all embeddings if `use_task_id` is set.
    var taskEmbeddings: String?
    let embeddingNorm: String
    /// The module of distance biases or distance vectors.
    var distances: String?
    var distanceNorm: String?
    /// The prefix of a layer's names. Its index and a dot follow.
    let layers: String
    let layer: LayerNames
    /// nil for families without a norm after the last layer.
    var finalNorm: String?
    var questionAnswering = "qa_outputs"
    /// The last layer of a classifier.
    var classifier = "classifier"
    /// The last layer of a classifier of tokens.
    var tokenClassifier = "classifier"
    /// nil for families whose heads for masked words are not read.
    var maskedWords: MaskedWordNames?
  }

  /// The modules of a head that predicts masked words. Its last layer has the weights of the word embeddings.
  struct MaskedWordNames: Sendable {
    let dense: String
    let norm: String
    /// The bias of the last layer.
    let bias: String
    /// The activation after `dense`; nil: that of the feed-forward layers.
    var activation: Activation?
  }

  struct HeadBiases: Sendable {
    let query: String
    let value: String
  }

  /// The modules of one layer, to be appended to `TensorNames.layers` and the index.
  struct LayerNames: Sendable {
    /// The module of the query. If `key` and `value` are nil, it has the rows of query, key and value in this
    /// order.
    let query: String
    var key: String?
    var value: String?
    /// Not nil: `query` has no bias, and the rows of each head's query, key and value follow one another. These tensors
    /// are the biases of query and value.
    var headBiases: HeadBiases?
    /// The projections of distance vectors.
    var distanceKey: String?
    var distanceQuery: String?
    let attentionOutput: String
    /// The norm before or after attention.
    let attentionNorm: String
    let intermediate: String
    let output: String
    /// The norm before or after the feed-forward layer.
    let outputNorm: String
    /// nil for families without bottlenecks.
    var narrow: NarrowNames?
  }
}

/// Families are compared by identity: there is one object of each.
extension EncoderFamily: Equatable {
  static func == (a: EncoderFamily, b: EncoderFamily) -> Bool { a === b }
}
