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
  /// The longest input, tokens.
  var maxPositions: Int
  /// 0 for architectures without token types.
  var typeVocabSize: Int
  var layerNormEps: Float
  /// By how much the best span's logits must exceed the null span's to be an answer
  /// (`bertqa.no_answer_threshold`).
  var noAnswerThreshold: Float = 0
  /// A classifier's labels by id.
  var labels: [String] = []
  /// What a classifier's outputs mean.
  var problemType = ProblemType.singleLabel
  /// How labels of tokens become entities (`bertqa.aggregation`).
  var aggregation = TokenAggregation.simple

  /// Features of one attention head.
  var headSize: Int { hiddenSize / headCount }

  /// Rows of the table of positions.
  var positionRows: Int {
    switch family.positions {
    case .table(let offset): maxPositions + offset
    }
  }
}

// MARK: - Reading

extension ModelConfiguration {
  /// Settings that are absent have Hugging Face's defaults.
  /// - Parameter reader: `config.json`.
  init(_ reader: ObjectReader, _ architecture: Architecture) throws(BertQAError) {
    guard case .encoder(let family, let head) = architecture.kind else {
      throw BertQAError(.unsupported, "\(reader.file): \(architecture.name) is not an encoder")
    }
    let keys = family.configuration
    let defaults = keys.defaults
    self.architecture = architecture
    self.family = family
    self.head = head
    vocabSize = try reader.integer("vocab_size", in: Limit.vocabulary) ?? defaults.vocabSize
    hiddenSize = try reader.integer(keys.hiddenSize, in: Limit.width) ?? defaults.hiddenSize
    layerCount = try reader.integer(keys.layerCount, in: Limit.layers) ?? defaults.layerCount
    headCount = try reader.integer(keys.headCount, in: Limit.width) ?? defaults.headCount
    intermediateSize =
      try reader.integer(keys.intermediateSize, in: Limit.width) ?? defaults.intermediateSize
    maxPositions =
      try reader.integer("max_position_embeddings", in: Limit.positions) ?? defaults.maxPositions
    typeVocabSize = 0
    if let key = keys.tokenTypeCount {
      typeVocabSize = try reader.integer(key, in: Limit.types) ?? defaults.tokenTypeCount
    }
    layerNormEps = Float(defaults.layerNormEps)
    if let key = keys.layerNormEps, let eps = try reader.number(key) {
      guard eps > 0, eps < 1, Float(eps) > 0 else {
        throw BertQAError(
          .invalidModel, "\(reader.file): \(quoted(key)) is \(eps), expected within (0, 1)")
      }
      layerNormEps = Float(eps)
    }
    try Self.checkActivation(reader, keys)
    guard hiddenSize % headCount == 0 else {
      throw BertQAError(
        .invalidModel,
        "\(reader.file): hidden size \(hiddenSize) is not divisible by \(headCount) attention heads")
    }
    try Self.checkVariant(reader)
    switch head {
    case .labels: try readLabels(reader)
    case .tokenLabels:
      try readLabels(reader)
      try readAggregation(reader)
    case .spans, .vectors: break
    }
    if let own = try reader.reader("bertqa"), let value = try own.number("no_answer_threshold") {
      noAnswerThreshold = Float(value)
    }
    guard noAnswerThreshold.isFinite else {
      throw BertQAError(.invalidModel, "\(reader.file): \"no_answer_threshold\" is out of range")
    }
    switch family.positions {
    // The rows before the offset belong to no token.
    case .table(let offset): maxPositions -= offset
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
    _ reader: ObjectReader, _ keys: EncoderFamily.ConfigurationKeys
  ) throws(BertQAError) {
    guard ["gelu", "gelu_python"].contains(try reader.string(keys.activation) ?? keys.defaults.activation)
    else {
      throw unsupported(reader, keys.activation, expected: "\"gelu\"")
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

  /// Reads what a classifier's outputs are called and mean, as transformers decides it.
  private mutating func readLabels(_ reader: ObjectReader) throws(BertQAError) {
    let count = try reader.integer("num_labels", in: ObjectReader.labelLimit)
    labels = try reader.labels() ?? (0..<(count ?? 2)).map { "LABEL_\($0)" }
    if let count, count != labels.count {
      throw BertQAError(
        .invalidModel,
        "\(reader.file): \"num_labels\" is \(count), but \"id2label\" has \(labels.count) labels")
    }
    problemType = labels.count == 1 ? .regression : .singleLabel
    guard let name = try reader.string("problem_type") else { return }
    guard let type = ProblemType.allCases.first(where: { $0.description == name }) else {
      let known = ProblemType.allCases.map { quoted($0.description) }.joined(separator: " or ")
      throw BertQAError(
        .invalidModel, "\(reader.file): \"problem_type\" is \(quoted(name)), expected \(known)")
    }
    problemType = type
  }

  private mutating func readAggregation(_ reader: ObjectReader) throws(BertQAError) {
    guard let own = try reader.reader("bertqa"), let name = try own.string("aggregation") else { return }
    let known = TokenAggregation.allCases.filter { $0 != .model }
    guard let named = known.first(where: { $0.description == name }) else {
      throw BertQAError(
        .invalidModel,
        "\(reader.file): \"aggregation\" is \(quoted(name)), expected "
          + known.map { quoted($0.description) }.joined(separator: " or "))
    }
    aggregation = named
  }
}
