/// The shape of an encoder and its head: what `config.json` says of them.
struct ModelConfiguration: Sendable, Equatable {
  var architecture = Architecture.encoder(.bert, .spans)
  var family: EncoderFamily = .bert
  var head: HeadKind = .spans
  /// Rows of the word embeddings; the vocabulary may be smaller.
  var vocabSize: Int
  var hiddenSize: Int
  var layerCount: Int
  /// Divides `hiddenSize`.
  var headCount: Int
  var intermediateSize: Int
  /// Of the feed-forward layers.
  var activation = Activation.gelu
  /// Of the layer before a classifier's outputs, where it is not the family's.
  var poolerActivation: Activation?
  /// Width of embeddings that a linear layer makes hidden vectors of; nil: they are hidden vectors.
  var projectedEmbeddingSize: Int?
  /// Of families whose layers share weights.
  var layerGroups = LayerGroups()
  /// The longest input, tokens.
  var maxPositions: Int
  /// Of families that count positions after it.
  var paddingID: Int?
  /// Whether a row of the table of positions is added to embeddings.
  var hasPositionTable = true
  /// Of families that attend by distance in this way.
  var disentangled: DisentangledAttention?
  /// 0 for architectures without token types.
  var typeVocabSize: Int
  /// Whether the second text of a pair has token type 1; else all tokens have 0.
  var hasSegmentTypes = true
  var layerNormEps: Float
  /// Of families with alternating attention.
  var alternating: AlternatingAttention?
  var biases = Biases()
  /// What a classifier of windows reads.
  var classifierPooling = TokenPooling.first
  /// By how much the best span's logits must exceed the null span's to be an answer
  /// (`bertqa.no_answer_threshold`).
  var noAnswerThreshold: Float = 0
  /// By how much it rises when the number of windows read grows by the factor e: the best of many scores is higher by
  /// chance (`bertqa.threshold_rise`).
  var thresholdRise: Double = 0
  /// nil: probabilities are a softmax over all spans and "no answer".
  var answerCalibration: AnswerCalibration?
  /// A classifier's labels by id.
  var labels: [String] = []
  /// What a classifier's outputs mean.
  var problemType = ProblemType.singleLabel
  /// How labels of tokens become entities (`bertqa.aggregation`).
  var aggregation = TokenAggregation.simple

  /// Which modules have a bias.
  struct Biases: Sendable, Equatable {
    var attention = true
    var feedForward = true
    var norm = true
    var pooler = true
  }

  /// Features of one attention head.
  var headSize: Int { hiddenSize / headCount }

  /// What scores are multiplied with before the softmax.
  var attentionScale: Float {
    1 / Float(headSize * (disentangled?.productCount ?? 1)).squareRoot()
  }

  var embeddingSize: Int { projectedEmbeddingSize ?? hiddenSize }

  /// The first token's row of the table of positions.
  var firstPositionRow: Int { paddingID.map { $0 + 1 } ?? 0 }

  /// Rows of the table of positions.
  var positionRows: Int { maxPositions + firstPositionRow }

  struct LayerGroups: Sendable, Equatable {
    var count = 1
    /// Layers of one group.
    var size = 1
  }

  /// What the names of each layer's modules begin with, in the order of computation. Layers that share weights have
  /// the same.
  var layerBases: [String] {
    let base = family.tensors.layers
    switch family.layerSharing {
    case .none:
      return (0..<layerCount).map { "\(base)\($0)." }
    case .groups(let infix):
      return (0..<layerCount).flatMap { layer in
        // As transformers computes it, in floating point.
        let group = Int(Double(layer) / (Double(layerCount) / Double(layerGroups.count)))
        return (0..<layerGroups.size).map { "\(base)\(group).\(infix)\($0)." }
      }
    }
  }
}
