/// The shape of an encoder and its head, as `config.json` describes them.
struct ModelConfiguration: Sendable, Equatable {
  var architecture = Architecture.encoder(.bert, .spans)
  var family: EncoderFamily = .bert
  var head: HeadKind = .spans
  /// The number of rows of the word embeddings; the vocabulary may be smaller.
  var vocabSize: Int
  var hiddenSize: Int
  var layerCount: Int
  /// Divides `layerWidth`.
  var headCount: Int
  var intermediateSize: Int
  /// The activation of the feed-forward layers.
  var activation = Activation.gelu
  /// True if a classifier may have a layer before its outputs.
  var hasPooler = true
  /// The activation of that layer; nil: the family's.
  var poolerActivation: Activation?
  /// The width of embeddings that a linear layer converts to hidden vectors; nil: they are hidden vectors.
  var projectedEmbeddingSize: Int?
  /// For families with bottlenecks.
  var narrow = NarrowSettings()
  /// For families whose layers share weights.
  var layerGroups = LayerGroups()
  /// The maximum number of tokens in an input.
  var maxPositions: Int
  /// For families that count positions after it.
  var paddingID: Int?
  /// True if a row of the position table is added to embeddings.
  var hasPositionTable = true
  /// nil for families without disentangled attention.
  var disentangled: DisentangledAttention?
  /// 0 for models without token types.
  var typeVocabSize: Int
  /// The number of rows of the task table; 0 for models without one.
  var taskCount = 0
  /// True if the second text of a pair has token type 1, false if all tokens have type 0.
  var hasSegmentTypes = true
  var layerNormEps: Float
  /// nil for families without alternating attention.
  var alternating: AlternatingAttention?
  /// nil for families without local attention.
  var local: LocalAttention?
  /// nil for models without adapters of tasks.
  var adapters: TaskAdapters?
  /// nil for families without rotary positions, and for those with alternating attention.
  var rotary: RotaryPositions?
  var biases = Biases()
  /// The input of a classifier of windows.
  var classifierPooling = TokenPooling.first
  /// The minimum of the best span's score minus the null score for an answer (`bertqa.no_answer_threshold`).
  var noAnswerThreshold: Float = 0
  /// The increase of the threshold when the number of windows grows by the factor e, because the best of many
  /// scores is higher by chance (`bertqa.threshold_rise`).
  var thresholdRise: Double = 0
  /// nil: probabilities are a softmax over all spans and "no answer".
  var answerCalibration: AnswerCalibration?
  /// A classifier's labels by id.
  var labels: [String] = []
  /// The meaning of a classifier's outputs.
  var problemType = ProblemType.singleLabel
  /// How token labels become entities (`bertqa.aggregation`).
  var aggregation = TokenAggregation.simple
  /// The tokens of a window in which entities are found (`bertqa.max_seq_length`). nil: as many as the model takes.
  var entityWindow: Int?

  /// The modules that have a bias.
  struct Biases: Sendable, Equatable {
    var attention = true
    /// The modules of `intermediate` and `gate`.
    var intermediate = true
    var output = true
    var norm = true
    var pooler = true
  }

  /// The number of features inside a layer: `hiddenSize`, or the width between its bottlenecks.
  var layerWidth: Int { narrow.width ?? hiddenSize }

  /// The number of features of one attention head.
  var headSize: Int { layerWidth / headCount }

  /// The constant in norms; nil: they only scale and shift.
  var normEps: Float? { narrow.hasNorms ? layerNormEps : nil }

  /// `normEps` of the norms of embeddings and of layers' outputs.
  var outputNormEps: Float? { narrow.hasNorms ? family.configuration.outputNormEps ?? layerNormEps : nil }

  /// The factor of scores before the softmax.
  var attentionScale: Float {
    1 / Float(headSize * (disentangled?.productCount ?? 1)).squareRoot()
  }

  var embeddingSize: Int { projectedEmbeddingSize ?? hiddenSize }

  /// True if the word embeddings of three tokens are projected together.
  var hasTrigrams: Bool { if case .trigrams = family.embeddings { true } else { false } }

  /// The width of positions, token types and the embeddings' norm.
  var positionSize: Int { hasTrigrams ? hiddenSize : embeddingSize }

  /// True if windows have global tokens.
  var hasGlobalTokens: Bool { local.map { $0.globalTokens != .none } ?? false }

  /// The row of the position table for the first token.
  var firstPositionRow: Int { paddingID.map { $0 + 1 } ?? 0 }

  /// The number of rows of the position table.
  var positionRows: Int { maxPositions + firstPositionRow }

  struct LayerGroups: Sendable, Equatable {
    var count = 1
    /// The number of layers in a group.
    var size = 1
  }

  /// The prefix of the names of each layer's modules, in the order of computation. Layers that share weights
  /// have the same prefix.
  var layerBases: [String] {
    let base = family.tensors.layers
    switch family.layerSharing {
    case .none:
      return (0..<layerCount).map { "\(base)\($0)." }
    case .groups(let infix):
      return (0..<layerCount).flatMap { layer in
        // In floating point, as transformers computes it.
        let group = Int(Double(layer) / (Double(layerCount) / Double(layerGroups.count)))
        return (0..<layerGroups.size).map { "\(base)\(group).\(infix)\($0)." }
      }
    }
  }
}
