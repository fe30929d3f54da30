/// What the files of a WordPiece tokenizer say.
struct WordPieceFiles: Sendable {
  let configuration: TokenizerConfiguration
  let vocabulary: Vocabulary
  /// The file the vocabulary came from.
  let vocabularyFile: ModelFile
  /// `tokenizer_config.json`, if there is one.
  let settingsFile: ModelFile?

  /// A `tokenizer_config.json` in the directory says how text is normalised; without one `tokenizer.json` does, and
  /// without that the defaults of `BertTokenizerFast` hold.
  /// - Parameters:
  ///   - vocabulary: the name of a `vocab.txt`, which is preferred.
  ///   - tokenizerJSON: the name of a `tokenizer.json`. One of the two must be given.
  init(
    _ directory: ModelDirectory, vocabulary: String?, tokenizerJSON: String?
  ) throws(BertQAError) {
    let settings = "tokenizer_config.json"
    settingsFile =
      directory.exists(settings) ? try directory.file(settings, limit: ModelFile.configurationLimit) : nil
    var json: TokenizerJSON?
    if let tokenizerJSON, vocabulary == nil || settingsFile == nil {
      json = try TokenizerJSON(directory.file(tokenizerJSON, limit: ModelFile.jsonLimit))
    }
    let file = try directory.file(
      vocabulary ?? tokenizerJSON ?? "vocab.txt",
      limit: vocabulary == nil ? ModelFile.jsonLimit : ModelFile.vocabularyLimit)
    vocabularyFile = file
    if let settingsFile {
      configuration = try TokenizerConfiguration(settingsFile)
    } else {
      configuration = try json?.configuration() ?? TokenizerConfiguration()
    }
    let pieces =
      if vocabulary == nil { try json?.pieces() ?? [] } else { [[UInt8]]() }
    self.vocabulary = try Self.named(file.path) { () throws(BertQAError) in
      let read =
        vocabulary == nil
        ? try Vocabulary(pieces: pieces)
        : try file.withBytes { bytes throws(BertQAError) in try Vocabulary(vocabularyFile: bytes) }
      guard read.count > 0 else { throw BertQAError(.invalidModel, "the vocabulary is empty") }
      return read
    }
  }

  /// Whether `tokenizer_config.json` names a class that splits text as BERT does, or there is none.
  static func isClaimed(by directory: ModelDirectory) throws(BertQAError) -> Bool {
    let settings = "tokenizer_config.json"
    guard directory.exists(settings) else { return true }
    let reader = try ObjectReader(try directory.file(settings, limit: ModelFile.configurationLimit))
    return try TokenizerConfiguration.isBert(reader.string("tokenizer_class"))
  }

  func makeTokenizer() throws(BertQAError) -> WordPieceTokenizer {
    try Self.named(vocabularyFile.path) { () throws(BertQAError) in
      try WordPieceTokenizer(vocabulary: vocabulary, configuration: configuration)
    }
  }

  /// Adds the file's name to errors.
  private static func named<Result>(
    _ path: String, _ body: () throws(BertQAError) -> Result
  ) throws(BertQAError) -> Result {
    do {
      return try body()
    } catch {
      throw BertQAError(error.status, "\(path): \(error.message)")
    }
  }
}
