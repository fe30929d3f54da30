/// The shape of a recurrent language model: what `config.json` says of it.
struct SequenceConfiguration: Sendable, Equatable {
  enum Cell: Sendable {
    case lstm
    case gru

    /// PyTorch's module, which begins the tensors' names.
    var module: String { self == .lstm ? "lstm" : "gru" }
    /// i, f, g, o, or r, z, n.
    var gateCount: Int { self == .lstm ? 4 : 3 }
    /// h and c, or h alone.
    var vectorsPerState: Int { self == .lstm ? 2 : 1 }
  }

  /// What a sequence is made of.
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
  /// The decoder's weights are the embedding's.
  var tiesEmbeddings: Bool
  /// As `config.json` names them; nil: it does not.
  var unknownToken: String?
  var endToken: String?
  var units: Units

  /// Floats of a state: for each layer h, and with LSTM then for each layer c.
  var stateLength: Int { cell.vectorsPerState * layerCount * hiddenSize }

  /// Multiplications of a step up to the last layer's h.
  var recurrentCost: Int {
    let later = (layerCount - 1) * 2 * hiddenSize
    return cell.gateCount * hiddenSize * (embeddingSize + hiddenSize + later)
  }

  /// Multiplications from h to the logits.
  var decoderCost: Int { vocabularySize * hiddenSize }
}

extension SequenceConfiguration {
  /// Upper limits are far above any such model; they keep every product of three sizes small.
  private enum Limit {
    static let vocabulary = 1...(1 << 22)
    static let width = 1...(1 << 15)
    static let layers = 1...64
  }

  /// - Parameter reader: `config.json`.
  init(_ reader: ObjectReader) throws(BertQAError) {
    architecture = try Architecture(reader)
    cell = architecture == .gruLanguageModel ? .gru : .lstm
    vocabularySize = try Self.required(reader, "vocab_size", in: Limit.vocabulary)
    hiddenSize = try Self.required(reader, "hidden_size", in: Limit.width)
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

  private static func required(
    _ reader: ObjectReader, _ key: String, in range: ClosedRange<Int>
  ) throws(BertQAError) -> Int {
    guard let value = try reader.integer(key, in: range) else {
      throw BertQAError(.invalidModel, "\(reader.file): \(quoted(key)) is missing")
    }
    return value
  }

  /// Refuses settings under which the same tensors mean another computation.
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
