/// The settings of an embedding model's files for turning texts into vectors.
struct EmbeddingConfiguration: Sendable, Equatable {
  var pooling = TokenPooling.mean
  /// Linear layers that follow the pooling.
  var dense: [Dense] = []
  /// True if vectors are scaled to length 1.
  var normalizes = false
  /// The number of tokens in a window, including special tokens.
  var maxSequenceLength: Int
  /// True if a text that is truncated keeps its end.
  var truncatesStart = false
  var prompts = EmbeddingPrompts()
  /// True if texts are lower-cased before the tokenizer, which keeps case, gets them.
  var lowercases = false
  /// nil: the tokens' vectors become one.
  var lateInteraction: LateInteraction?
  /// nil: vectors are those of the encoder. Else they are weights of vocabulary pieces.
  var sparse: SparsePooling?

  /// A module Dense of sentence-transformers.
  struct Dense: Sendable, Equatable {
    /// The module's folder; "" for a layer of the model's own, `linear`.
    var name: String
    var outs: Int
    var hasBias = true
    var activation = Activation.tanh
    /// True if the layer's input or, where the sizes differ, its product with "residual.weight" is added to its output.
    var addsInput = false
    /// The module's own directory of weights; nil: the model's weights have its tensors, under its name.
    var weights: ModelDirectory?

    static func == (a: Dense, b: Dense) -> Bool {
      (a.name, a.outs, a.hasBias, a.activation, a.addsInput)
        == (b.name, b.outs, b.hasBias, b.activation, b.addsInput)
    }
  }

  /// False for models that have a vector per token or a weight per vocabulary piece in place of a text's vector.
  var hasTextVectors: Bool { lateInteraction == nil && sparse == nil }

  /// The length of a text's vector; 0 if it has none.
  func length(hiddenSize: Int) -> Int {
    hasTextVectors ? dense.last?.outs ?? pooling.modes.count * hiddenSize : 0
  }

  /// The length of a token's vector.
  func tokenLength(hiddenSize: Int) -> Int {
    lateInteraction == nil ? hiddenSize : dense.last?.outs ?? hiddenSize
  }

  /// Reads the "bertqa" object of `config.json` if this library wrote it, else the files of
  /// sentence-transformers next to it. Missing settings have sentence-transformers' defaults.
  /// - Parameter source: `config.json`.
  init(
    _ directory: ModelDirectory, _ source: ObjectReader, _ model: ModelConfiguration,
    _ tokenizer: TokenizerFiles
  ) throws(BertQAError) {
    maxSequenceLength = model.maxPositions
    if let own = try source.reader("bertqa"), own.value(Key.pooling) != nil {
      pooling = try Self.pooling(own, Key.pooling)
      for layer in try own.readers(Key.dense) { dense.append(try Dense(own: layer)) }
      normalizes = try own.bool(Key.normalize) ?? false
      try lowerLength(to: own.number(Key.maxSequenceLength))
      truncatesStart = try Self.truncatesStart(own)
      prompts = try EmbeddingPrompts(own)
      lowercases = try own.bool(Key.lowercase) ?? false
      lateInteraction = try LateInteraction.own(own)
      sparse = try SparsePooling.own(own)
    } else {
      try readSentenceTransformers(directory, model, tokenizer)
      if let adapters = model.adapters { try prompts.add(adapters.tasks, source) }
    }
  }

  private enum Key {
    static let pooling = "pooling"
    static let dense = "dense"
    static let normalize = "normalize"
    static let maxSequenceLength = "max_seq_length"
    static let truncationSide = "truncation_side"
    static let lowercase = "do_lower_case"
  }

  /// Reads "truncation_side".
  static func truncatesStart(_ reader: ObjectReader) throws(BertQAError) -> Bool {
    try reader.string(Key.truncationSide) == "left"
  }

  /// Writes these settings as members of "bertqa".
  func write(to own: inout JSON.Object) {
    let names = pooling.modes.map { JSON.string($0.rawValue) }
    own[Key.pooling] = names.count == 1 ? names[0] : .array(names)
    if !dense.isEmpty { own[Key.dense] = .array(dense.map { .object($0.json) }) }
    own[Key.normalize] = .bool(normalizes)
    own[Key.maxSequenceLength] = .number(maxSequenceLength)
    if truncatesStart { own[Key.truncationSide] = .string("left") }
    prompts.write(to: &own)
    if lowercases { own[Key.lowercase] = .bool(true) }
    lateInteraction?.write(to: &own)
    sparse?.write(to: &own)
  }

  /// Reads the name of a pooling mode, or several.
  static func pooling(_ reader: ObjectReader, _ key: String) throws(BertQAError) -> TokenPooling {
    guard case .array(let elements)? = reader.value(key) else {
      return try pooling([reader.string(key) ?? ""], in: reader)
    }
    var names: [String] = []
    for case .string(let name) in elements { names.append(name) }
    return try pooling(names, in: reader)
  }

  static func pooling(_ names: [String], in reader: ObjectReader) throws(BertQAError) -> TokenPooling {
    let modes = names.compactMap(TokenPooling.Mode.init)
    let known = TokenPooling.Mode.allCases
    guard (1...known.count).contains(modes.count), modes.count == names.count else {
      throw BertQAError(
        .unsupported,
        "\(reader.file): pooling mode \(quoted(names.prefix(8).joined(separator: " + "))); supported: "
          + known.map { quoted($0.rawValue) }.joined(separator: ", "))
    }
    return TokenPooling(modes: modes)
  }

  /// `length` is nil if there is no limit. Numbers above the model's maximum mean the same; tokenizers use
  /// 1e30.
  mutating func lowerLength(to length: Double?) {
    guard let length, length < Double(maxSequenceLength) else { return }
    // A number below 8, even a negative one, is reported when a caller asks for vectors.
    maxSequenceLength = Int(max(0, length))
  }
}

extension EmbeddingConfiguration.Dense {
  /// By the names of PyTorch's classes.
  private static let activations: [(name: String, function: Activation)] = [
    ("Tanh", .tanh), ("Identity", .identity), ("ReLU", .relu), ("GELU", .gelu), ("SiLU", .silu),
  ]

  private enum Key {
    static let name = "name"
    static let outs = "out_features"
    static let bias = "bias"
    static let activation = "activation_function"
    static let addsInput = "use_residual"
  }

  /// Reads the form that `json` writes.
  init(own reader: ObjectReader) throws(BertQAError) {
    try self.init(reader.required(Key.name, reader.string), reader)
  }

  /// Reads a module's `config.json`.
  init(_ name: String, _ reader: ObjectReader) throws(BertQAError) {
    self.name = name
    outs = try reader.requiredInteger(Key.outs, in: 1...(1 << 16))
    hasBias = try reader.bool(Key.bias) ?? true
    addsInput = try reader.bool(Key.addsInput) ?? false
    if let path = try reader.string(Key.activation) {
      // "torch.nn.modules.activation.Tanh"
      let parts = path.split(separator: ".")
      guard parts.count == 1 || parts.first == "torch",
        let known = Self.activations.first(where: { $0.name == parts.last ?? "" })
      else {
        throw BertQAError(
          .unsupported,
          "\(reader.file): \(quoted(Key.activation)) is \(quoted(path)); supported: torch's "
            + Self.activations.map(\.name).joined(separator: ", "))
      }
      activation = known.function
    }
  }

  var json: JSON.Object {
    var object = JSON.Object()
    object[Key.name] = .string(name)
    object[Key.outs] = .number(outs)
    object[Key.bias] = .bool(hasBias)
    let name = Self.activations.first { $0.function == activation }?.name
    object[Key.activation] = name.map { .string($0) }
    if addsInput { object[Key.addsInput] = .bool(true) }
    return object
  }
}
