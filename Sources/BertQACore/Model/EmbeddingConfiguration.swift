/// What an embedding model's files say of how texts become vectors.
struct EmbeddingConfiguration: Sendable, Equatable {
  var pooling = TokenPooling.mean
  /// Whether vectors are scaled to length 1.
  var normalizes = false
  /// Tokens of a window, special ones included.
  var maxSequenceLength: Int

  /// From `config.json`'s "bertqa" object, where this library wrote it; else from the files of
  /// sentence-transformers beside it; what neither says has sentence-transformers' defaults.
  /// - Parameter source: `config.json`.
  init(
    _ directory: ModelDirectory, _ source: ObjectReader, _ model: ModelConfiguration,
    _ tokenizer: TokenizerFiles
  ) throws(BertQAError) {
    maxSequenceLength = model.maxPositions
    if let own = try source.reader("bertqa"), let name = try own.string(Key.pooling) {
      pooling = try Self.pooling(named: name, in: own)
      normalizes = try own.bool(Key.normalize) ?? false
      try lowerLength(to: own.number(Key.maxSequenceLength))
    } else {
      try readSentenceTransformers(directory, model, tokenizer)
    }
  }

  private enum Key {
    static let pooling = "pooling"
    static let normalize = "normalize"
    static let maxSequenceLength = "max_seq_length"
  }

  /// The members of "bertqa" that say all this.
  func write(to own: inout JSON.Object) {
    own[Key.pooling] = .string(pooling.rawValue)
    own[Key.normalize] = .bool(normalizes)
    own[Key.maxSequenceLength] = .number(
      JSON.Number(double: Double(maxSequenceLength), integer: Int64(maxSequenceLength)))
  }

  static func pooling(named name: String, in reader: ObjectReader) throws(BertQAError) -> TokenPooling {
    if let pooling = TokenPooling(rawValue: name) { return pooling }
    throw BertQAError(
      .unsupported, "\(reader.file): pooling mode \(quoted(name)); supported: \"mean\", \"cls\"")
  }

  /// `length` is nil for no limit, like numbers beyond the model's: tokenizers use 1e30 for it.
  mutating func lowerLength(to length: Double?) {
    guard let length, length < Double(maxSequenceLength) else { return }
    // A number below 8, negative ones included, is told to whoever asks for vectors.
    maxSequenceLength = Int(max(0, length))
  }
}
