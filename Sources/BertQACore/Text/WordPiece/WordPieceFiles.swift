/// What the files of a WordPiece tokenizer say.
struct WordPieceFiles: Sendable {
  let configuration: TokenizerConfiguration
  let vocabulary: Vocabulary
  /// The file the vocabulary came from.
  let vocabularyFile: ModelFile
  /// `tokenizer_config.json`, if there is one.
  let settingsFile: ModelFile?

  /// Reads a `vocab.txt`. A `tokenizer_config.json` in the directory says how text is normalised; without one
  /// `tokenizer.json` does, and without that the defaults of `BertTokenizerFast` hold.
  /// - Parameters:
  ///   - name: of the `vocab.txt`.
  ///   - json: the name of a `tokenizer.json`.
  init(_ directory: ModelDirectory, vocabulary name: String, tokenizerJSON json: String?) throws(BertQAError)
  {
    let file = try directory.file(name, limit: ModelFile.vocabularyLimit)
    try self.init(directory, file) { () throws(BertQAError) in
      try json.map { json throws(BertQAError) in
        try TokenizerJSON(directory.object(in: json, limit: ModelFile.jsonLimit)).configuration()
      } ?? TokenizerConfiguration()
    } vocabulary: { () throws(BertQAError) in
      try file.withBytes { bytes throws(BertQAError) in
        try Vocabulary(vocabularyFile: bytes, directory.monitor)
      }
    }
  }

  /// Reads a `tokenizer.json` without a `vocab.txt`.
  init(_ directory: ModelDirectory, tokenizerJSON root: ObjectReader, _ file: ModelFile) throws(BertQAError) {
    let json = try TokenizerJSON(root)
    let pieces = try json.pieces(directory.monitor)
    try self.init(directory, file) { () throws(BertQAError) in
      try json.configuration()
    } vocabulary: { () throws(BertQAError) in
      try Vocabulary(pieces: pieces, directory.monitor)
    }
  }

  /// - Parameters:
  ///   - file: what the vocabulary comes from.
  ///   - configuration: where there is no `tokenizer_config.json`.
  private init(
    _ directory: ModelDirectory, _ file: ModelFile,
    configuration: () throws(BertQAError) -> TokenizerConfiguration,
    vocabulary: () throws(BertQAError) -> Vocabulary
  ) throws(BertQAError) {
    let settings = "tokenizer_config.json"
    vocabularyFile = file
    settingsFile =
      directory.exists(settings) ? try directory.file(settings, limit: ModelFile.configurationLimit) : nil
    if let settingsFile {
      self.configuration = try TokenizerConfiguration(ObjectReader(settingsFile, directory.monitor))
    } else {
      self.configuration = try configuration()
    }
    self.vocabulary = try Self.named(file.path) { () throws(BertQAError) in
      let read = try vocabulary()
      guard read.count > 0 else { throw BertQAError(.invalidModel, "the vocabulary is empty") }
      return read
    }
  }

  /// Whether `tokenizer_config.json` names a class that splits text as BERT does, or there is none.
  static func isClaimed(by directory: ModelDirectory) throws(BertQAError) -> Bool {
    let settings = "tokenizer_config.json"
    guard directory.exists(settings) else { return true }
    let reader = try directory.object(in: settings)
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
