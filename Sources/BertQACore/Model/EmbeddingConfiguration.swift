/// The settings of an embedding model's files for turning texts into vectors.
struct EmbeddingConfiguration: Sendable, Equatable {
  var pooling = TokenPooling.mean
  /// True if vectors are scaled to length 1.
  var normalizes = false
  /// The number of tokens in a window, including special tokens.
  var maxSequenceLength: Int

  /// Reads the "bertqa" object of `config.json` if this library wrote it, else the files of
  /// sentence-transformers beside it. Missing settings have sentence-transformers' defaults.
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

  /// Writes these settings as members of "bertqa".
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

  /// `length` is nil if there is no limit. Numbers above the model's maximum mean the same; tokenizers use
  /// 1e30.
  mutating func lowerLength(to length: Double?) {
    guard let length, length < Double(maxSequenceLength) else { return }
    // A number below 8, even a negative one, is reported when a caller asks for vectors.
    maxSequenceLength = Int(max(0, length))
  }
}
