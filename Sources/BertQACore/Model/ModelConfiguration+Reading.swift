extension ModelConfiguration {
  /// Absent settings have Hugging Face's defaults.
  /// - Parameter reader: `config.json`.
  init(_ reader: ObjectReader, _ architecture: Architecture) throws(BertQAError) {
    guard let (family, head) = architecture.encoder else {
      throw BertQAError(.unsupported, "\(reader.file): \(architecture.name) is not an encoder")
    }
    let keys = family.configuration
    let defaults = keys.defaults
    self.architecture = architecture
    self.family = family
    self.head = head
    vocabSize = try reader.integer("vocab_size", in: Limit.vocabulary) ?? defaults.vocabSize
    // transformers takes BERT's keys for those of every family.
    let usual = EncoderFamily.ConfigurationKeys()
    func size(
      _ key: KeyPath<EncoderFamily.ConfigurationKeys, String>, in range: ClosedRange<Int>
    ) throws(BertQAError) -> Int? {
      if let own = try reader.integer(keys[keyPath: key], in: range) { return own }
      return try reader.integer(usual[keyPath: key], in: range)
    }
    hiddenSize = try size(\.hiddenSize, in: Limit.width) ?? defaults.hiddenSize
    layerCount = try size(\.layerCount, in: Limit.layers) ?? defaults.layerCount
    headCount = try size(\.headCount, in: Limit.width) ?? defaults.headCount
    intermediateSize = try size(\.intermediateSize, in: Limit.width) ?? defaults.intermediateSize
    maxPositions = try size(\.maxPositions, in: Limit.positions) ?? defaults.maxPositions
    typeVocabSize = 0
    if let key = keys.tokenTypeCount {
      typeVocabSize =
        try reader.integer(key, in: min(defaults.fewestTokenTypes, defaults.tokenTypeCount)...Limit.types)
        ?? defaults.tokenTypeCount
    }
    if family.tensors.taskEmbeddings != nil, try reader.bool("use_task_id") == true {
      taskCount = try reader.integer("task_type_vocab_size", in: 1...Limit.types) ?? 3
    }
    hasSegmentTypes = family.tokenTypes == .ofSegments
    layerNormEps = Float(defaults.layerNormEps)
    if let key = keys.layerNormEps {
      let key = reader.value(key) == nil ? "layer_norm_eps" : key
      let eps = try reader.number(key) ?? defaults.layerNormEps
      guard eps > 0, eps < 1, Float(eps) > 0 else {
        throw BertQAError(
          .invalidModel, "\(reader.file): \(quoted(key)) is \(eps), expected within (0, 1)")
      }
      layerNormEps = Float(eps)
    }
    if family.tensors.layer.narrow != nil { narrow = try NarrowSettings(reader) }
    guard layerWidth % headCount == 0 else {
      throw BertQAError(
        .invalidModel,
        "\(reader.file): \(narrow.width == nil ? "hidden size" : "\"intra_bottleneck_size\"") \(layerWidth) is not divisible by \(headCount) attention heads"
      )
    }
    if !keys.hasOwnCode { try reader.refuseCode() }
    try Self.checkVariant(reader, family)
    let key = reader.value(keys.activation) == nil ? usual.activation : keys.activation
    activation = try Self.activation(
      reader, key, otherwise: defaults.activation, isGated: family.feedForward != .dense)
    if let key = family.pooler.activationKey, reader.value(key) != nil {
      poolerActivation = try Self.activation(reader, key, otherwise: "gelu")
    }
    if let key = family.pooler.presenceKey { hasPooler = try reader.bool(key) ?? true }
    try readVariants(reader)
    switch head {
    case .labels: try readLabels(reader)
    case .tokenLabels:
      try readLabels(reader)
      try readEntities(reader)
    case .spans, .vectors: break
    }
    if let own = try reader.reader("bertqa") {
      if let value = try own.number("no_answer_threshold") { noAnswerThreshold = Float(value) }
      thresholdRise = try own.number("threshold_rise", in: AnswerCalibration.rises) ?? 0
      answerCalibration = try own.reader("calibration").map { reader throws(BertQAError) in
        try AnswerCalibration(reader)
      }
    }
    guard noAnswerThreshold.isFinite else {
      throw BertQAError(.invalidModel, "\(reader.file): \"no_answer_threshold\" is out of range")
    }
  }

  /// Reads the settings that only some families have.
  private mutating func readVariants(_ reader: ObjectReader) throws(BertQAError) {
    switch family.positions {
    case .table: break
    case .tableIfBiased: hasPositionTable = try reader.bool("position_biased_input") ?? true
    case .none:
      hasPositionTable = false
      // The numbers of all distances are stored. This bounds their size.
      maxPositions = min(maxPositions, Limit.computedPositions)
    case .tableAfterPadding:
      var padding = 1
      if let key = family.configuration.paddingID {
        padding = try reader.integer(key, in: Limit.padding) ?? padding
      }
      // The rows up to that of the padding belong to no other token.
      guard maxPositions - padding - 1 >= Limit.positions.lowerBound else {
        throw BertQAError(
          .invalidModel,
          "\(reader.file): \"max_position_embeddings\" is \(maxPositions), which leaves fewer than "
            + "\(Limit.positions.lowerBound) positions after \"pad_token_id\" \(padding)")
      }
      paddingID = padding
      maxPositions -= padding + 1
    case .rotary:
      guard headSize % 2 == 0 else {
        throw BertQAError(
          .unsupported,
          "\(reader.file): rotary positions need an even head size, but it is \(headSize)")
      }
      hasPositionTable = false
      // Sines and cosines are stored in tables. This bounds their size.
      maxPositions = min(maxPositions, Limit.computedPositions)
      if let key = family.configuration.rotaryTheta {
        rotary = try RotaryPositions(reader, key, otherwise: family.configuration.defaults.rotaryTheta)
      }
    }
    switch family.attention {
    case .window: break
    case .alternating: alternating = try AlternatingAttention(reader, layerCount: layerCount)
    case .local: local = try LocalAttention(reader, layerCount: layerCount, head)
    }
    if family.configuration.hasTaskAdapters { adapters = try TaskAdapters(reader) }
    try readModules(reader)
    switch family.embeddings {
    case .hidden: break
    case .projected(_, let always):
      let size =
        try reader.integer("embedding_size", in: Limit.width) ?? family.configuration.defaults.embeddingSize
      if always || size != hiddenSize { projectedEmbeddingSize = size }
    case .trigrams:
      projectedEmbeddingSize =
        try reader.integer("embedding_size", in: Limit.width) ?? family.configuration.defaults.embeddingSize
    }
    switch family.relativePositions {
    case .none, .slopes: break
    case .bias:
      try reader.require("relative_attention_num_buckets", .number(DistanceBuckets.biasCount))
    case .disentangled: try readDisentangled(reader)
    }
    switch family.layerSharing {
    case .none: break
    case .groups:
      layerGroups.count = try reader.integer("num_hidden_groups", in: Limit.layers) ?? 1
      layerGroups.size = try reader.integer("inner_group_num", in: Limit.layers) ?? 1
      guard layerCount * layerGroups.size <= Limit.layers.upperBound else {
        throw BertQAError(
          .invalidModel,
          "\(reader.file): \"num_hidden_layers\" \(layerCount) times \"inner_group_num\" \(layerGroups.size) is "
            + "more than \(Limit.layers.upperBound) layers")
      }
    }
  }

  /// Reads which modules have a bias, and the settings of the head.
  private mutating func readModules(_ reader: ObjectReader) throws(BertQAError) {
    let keys = family.configuration
    func has(_ bias: EncoderFamily.Bias) throws(BertQAError) -> Bool {
      switch bias {
      case .always: true
      case .never: false
      case .key(let key): try reader.bool(key) ?? false
      }
    }
    biases = Biases(
      attention: try has(keys.biases.attention), intermediate: try has(keys.biases.intermediate),
      output: try has(keys.biases.output), norm: try has(keys.biases.norm),
      pooler: try has(keys.biases.pooler))
    if let key = keys.classifierPooling, let name = try reader.string(key) {
      switch name {
      case "cls": classifierPooling = .first
      case "mean": classifierPooling = .mean
      default: throw reader.unsupported(key, expected: "\"cls\" or \"mean\"")
      }
    }
  }

  private mutating func readDisentangled(_ reader: ObjectReader) throws(BertQAError) {
    disentangled = try DisentangledAttention(reader, maxPositions: maxPositions)
    guard try reader.integer("conv_kernel_size", in: 0...(1 << 16)) ?? 0 == 0 else {
      throw reader.unsupported("conv_kernel_size", expected: "0 (no convolution layer)")
    }
    for (key, value) in [
      ("embedding_size", hiddenSize), ("pooler_hidden_size", hiddenSize), ("attention_head_size", headSize),
    ] {
      try reader.require(key, .number(value))
    }
  }

  /// Determines whether a pair's second text has its own token type: if the tokenizer gives it one, and the model
  /// gets token types by `model_input_names` of `tokenizer_config.json`, else by its class, else by the family.
  mutating func readTokenTypes(
    _ directory: ModelDirectory, _ tokenizer: TokenizerFiles
  ) throws(BertQAError) {
    var isGiven = try TokenizerClass(directory).givesTokenTypes ?? hasSegmentTypes
    let name = "tokenizer_config.json"
    if directory.exists(name),
      case .array(let names)? = try directory.object(in: name).value("model_input_names")
    {
      isGiven = names.contains(.string("token_type_ids"))
    }
    guard !isGiven || tokenizer.tokenTypes != .other || typeVocabSize < 2 else {
      throw BertQAError(
        .unsupported,
        "\(tokenizer.vocabularyFile.path): the template's \"type_id\" are supported as 0, and as 1 for a pair's "
          + "second text and what follows it")
    }
    hasSegmentTypes = isGiven && tokenizer.tokenTypes == .ofSegments
  }

  /// The upper limits are far above any published model and keep every product of two sizes small.
  private enum Limit {
    static let vocabulary = 1...(1 << 24)
    static let width = 1...(1 << 16)
    static let layers = 1...1024
    static let positions = 3...(1 << 20)
    static let computedPositions = 1 << 16
    static let types = 1 << 16
    static let padding = 0...(1 << 20)
  }

  /// - Parameters:
  ///   - name: the default if the file does not have the key.
  ///   - isGated: accepts the names of gated linear units as well.
  private static func activation(
    _ reader: ObjectReader, _ key: String, otherwise name: String, isGated: Bool = false
  ) throws(BertQAError) -> Activation {
    let name = try reader.string(key) ?? name
    let units = ["swiglu": Activation.silu, "geglu": .gelu]
    if let activation = Activation(named: name) ?? (isGated ? units[name] : nil) { return activation }
    throw BertQAError(
      .unsupported,
      "\(reader.file): \(quoted(key)) is \(quoted(name)); supported: \(Activation.supportedNames)")
  }

  /// Rejects settings with which the same tensors mean another computation.
  private static func checkVariant(
    _ reader: ObjectReader, _ family: EncoderFamily
  ) throws(BertQAError) {
    // Families without a table ignore its value ("sans_pos").
    if family.tensors.positionEmbeddings != nil {
      try reader.require("position_embedding_type", .string("absolute"))
    }
    for (key, value) in family.configuration.fixed { try reader.require(key, value) }
    for key in ["is_decoder", "add_cross_attention", "is_causal"] { try reader.require(key, .bool(false)) }
    if let pruned = try reader.reader("pruned_heads"), !pruned.object.members.isEmpty {
      throw reader.unsupported("pruned_heads", expected: "{}")
    }
    try reader.require("quantization_config", .null)
  }

  /// Reads the names and the meaning of a classifier's outputs, as transformers 5 does: ignores names if their number
  /// is not "num_labels", and an unknown "problem_type".
  private mutating func readLabels(_ reader: ObjectReader) throws(BertQAError) {
    let count = try reader.integer("num_labels", in: ObjectReader.labelLimit)
    let names = try reader.labels(isLoose: true)
    labels = (0..<(count ?? names?.count ?? 2)).map { "LABEL_\($0)" }
    if let names, names.count == labels.count { labels = names }
    let name = try reader.string("problem_type")
    let known = ProblemType.allCases.first { $0.description == name }
    problemType = known ?? (labels.count == 1 ? .regression : .singleLabel)
  }

  private mutating func readEntities(_ reader: ObjectReader) throws(BertQAError) {
    guard let own = try reader.reader("bertqa") else { return }
    // A number below 8 is reported when a caller asks for entities.
    entityWindow = try own.integer("max_seq_length", in: 0...Int(Int32.max))
    guard let name = try own.string("aggregation") else { return }
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
