/// The shape of a recurrent language model, as `config.json` describes it.
struct SequenceConfiguration: Sendable {
  enum Cell: Sendable {
    case lstm
    case gru

    /// The name of PyTorch's module, which is the prefix of the tensors' names.
    var module: String { self == .lstm ? "lstm" : "gru" }
    /// i, f, g, o, or r, z, n.
    var gateCount: Int { self == .lstm ? 4 : 3 }
    /// h and c, or h alone.
    var vectorsPerState: Int { self == .lstm ? 2 : 1 }
  }

  /// The units of a sequence.
  enum Units: String, Sendable {
    case words = "word"
    case characters = "char"
  }

  var architecture: Architecture
  var cell: Cell
  var vocabularySize: Int
  var embeddingSize: Int
  var hiddenSize: Int
  var layerCount: Int
  /// True if the decoder uses the embedding's weights.
  var tiesEmbeddings: Bool
  /// The token that `config.json` names; nil if it names none.
  var unknownToken: String?
  var endToken: String?
  var units: Units

  /// The number of floats in a state: h for each layer, then, for LSTM, c for each layer.
  var stateLength: Int { cell.vectorsPerState * layerCount * hiddenSize }

  /// The multiplications of a step up to the last layer's h.
  var recurrentCost: Int {
    let later = (layerCount - 1) * 2 * hiddenSize
    return cell.gateCount * hiddenSize * (embeddingSize + hiddenSize + later)
  }

  /// The multiplications from h to the logits.
  var decoderCost: Int { vocabularySize * hiddenSize }
}

extension SequenceConfiguration {
  /// The upper limits are far above any such model and keep every product of three sizes small.
  private enum Limit {
    static let vocabulary = 1...(1 << 22)
    static let width = 1...(1 << 15)
    static let layers = 1...64
  }

  /// - Parameter reader: `config.json`.
  init(_ reader: ObjectReader) throws(BertQAError) {
    architecture = try Architecture(reader)
    cell = architecture == .gruLanguageModel ? .gru : .lstm
    vocabularySize = try reader.requiredInteger("vocab_size", in: Limit.vocabulary)
    hiddenSize = try reader.requiredInteger("hidden_size", in: Limit.width)
    embeddingSize = try reader.integer("embedding_size", in: Limit.width) ?? hiddenSize
    layerCount = try reader.integer("num_hidden_layers", in: Limit.layers) ?? 1
    tiesEmbeddings = try reader.bool("tie_word_embeddings") ?? false
    unknownToken = try reader.string("unk_token")
    endToken = try reader.string("eos_token")
    let name = try reader.string("tokenization") ?? Units.words.rawValue
    guard let units = Units(rawValue: name) else {
      throw BertQAError(
        .unsupported,
        "\(reader.file): \"tokenization\" is \(quoted(name)); only \"word\" and \"char\" are supported")
    }
    self.units = units
    guard !tiesEmbeddings || embeddingSize == hiddenSize else {
      throw BertQAError(
        .invalidModel,
        "\(reader.file): \"tie_word_embeddings\" needs \"embedding_size\" (\(embeddingSize)) to be "
          + "\"hidden_size\" (\(hiddenSize))")
    }
    try Self.checkVariant(reader)
  }

  /// Rejects settings with which the same tensors mean another computation.
  private static func checkVariant(_ reader: ObjectReader) throws(BertQAError) {
    if try reader.bool("bidirectional") == true {
      throw BertQAError(
        .unsupported,
        "\(reader.file): \"bidirectional\" is true; a model that reads backwards too cannot predict what "
          + "comes next")
    }
    if let size = try reader.integer("proj_size", in: 0...Int(Int32.max)), size > 0 {
      throw BertQAError(
        .unsupported, "\(reader.file): \"proj_size\" is \(size); projected LSTM layers are not supported")
    }
  }
}
