extension ModelConfiguration {
  /// Reads `config.json`. Settings that are absent have Hugging Face's defaults.
  init(_ file: MappedFile) throws(BertQAError) {
    let reader = try ObjectReader(file)
    let architecture = try Architecture(reader)
    switch architecture.family {
    case .bert: try self.init(bert: reader, architecture)
    case .distilBert: try self.init(distilBert: reader, architecture)
    case nil:
      throw BertQAError(.unsupported, "\(file.path): \(architecture.rawValue) is not an encoder")
    }
    guard hiddenSize % headCount == 0 else {
      throw BertQAError(
        .invalidModel,
        "\(file.path): hidden size \(hiddenSize) is not divisible by \(headCount) attention heads")
    }
    try Self.checkVariant(reader)
    if architecture.task == .classify { try readLabels(reader) }
    if let own = try reader.reader("bertqa"), let value = try own.number("no_answer_threshold") {
      noAnswerThreshold = Float(value)
    }
    guard noAnswerThreshold.isFinite else {
      throw BertQAError(.invalidModel, "\(file.path): \"no_answer_threshold\" is out of range")
    }
  }

  /// Upper limits are far above any published model; they keep every product of two sizes small.
  private enum Limit {
    static let vocabulary = 1...(1 << 24)
    static let width = 1...(1 << 16)
    static let layers = 1...1024
    static let positions = 3...(1 << 20)
    static let types = 1...(1 << 16)
  }

  private init(bert reader: ObjectReader, _ architecture: Architecture) throws(BertQAError) {
    self.architecture = architecture
    family = .bert
    vocabSize = try reader.integer("vocab_size", in: Limit.vocabulary) ?? 30522
    hiddenSize = try reader.integer("hidden_size", in: Limit.width) ?? 768
    layerCount = try reader.integer("num_hidden_layers", in: Limit.layers) ?? 12
    headCount = try reader.integer("num_attention_heads", in: Limit.width) ?? 12
    intermediateSize = try reader.integer("intermediate_size", in: Limit.width) ?? 3072
    maxPositions = try reader.integer("max_position_embeddings", in: Limit.positions) ?? 512
    typeVocabSize = try reader.integer("type_vocab_size", in: Limit.types) ?? 2
    let eps = try reader.number("layer_norm_eps") ?? 1e-12
    guard eps > 0, eps < 1, Float(eps) > 0 else {
      throw BertQAError(
        .invalidModel, "\(reader.file): \"layer_norm_eps\" is \(eps), expected within (0, 1)")
    }
    layerNormEps = Float(eps)
    try Self.checkActivation(reader, "hidden_act")
  }

  private init(distilBert reader: ObjectReader, _ architecture: Architecture) throws(BertQAError) {
    self.architecture = architecture
    family = .distilBert
    vocabSize = try reader.integer("vocab_size", in: Limit.vocabulary) ?? 30522
    hiddenSize = try reader.integer("dim", in: Limit.width) ?? 768
    layerCount = try reader.integer("n_layers", in: Limit.layers) ?? 6
    headCount = try reader.integer("n_heads", in: Limit.width) ?? 12
    intermediateSize = try reader.integer("hidden_dim", in: Limit.width) ?? 3072
    maxPositions = try reader.integer("max_position_embeddings", in: Limit.positions) ?? 512
    typeVocabSize = 0
    // A constant of the architecture. Sinusoidal position embeddings are stored like learnt ones.
    layerNormEps = 1e-12
    try Self.checkActivation(reader, "activation")
  }

  private static func unsupported(
    _ reader: ObjectReader, _ key: String, expected: String
  ) -> BertQAError {
    BertQAError(
      .unsupported,
      "\(reader.file): \(quoted(key)) is \(reader.value(key)?.summary ?? "null"); "
        + "only \(expected) is supported")
  }

  /// Both names are the exact GELU, by the error function.
  private static func checkActivation(
    _ reader: ObjectReader, _ key: String
  ) throws(BertQAError) {
    guard ["gelu", "gelu_python"].contains(try reader.string(key) ?? "gelu") else {
      throw unsupported(reader, key, expected: "\"gelu\"")
    }
  }

  /// Refuses settings under which the same tensors mean another computation.
  private static func checkVariant(_ reader: ObjectReader) throws(BertQAError) {
    guard try reader.string("position_embedding_type") ?? "absolute" == "absolute" else {
      throw unsupported(reader, "position_embedding_type", expected: "\"absolute\"")
    }
    for key in ["is_decoder", "add_cross_attention"] {
      if try reader.bool(key) == true { throw unsupported(reader, key, expected: "false") }
    }
    if let pruned = try reader.reader("pruned_heads"), !pruned.object.members.isEmpty {
      throw unsupported(reader, "pruned_heads", expected: "{}")
    }
    if reader.value("quantization_config") != nil {
      throw unsupported(reader, "quantization_config", expected: "null")
    }
  }
}
