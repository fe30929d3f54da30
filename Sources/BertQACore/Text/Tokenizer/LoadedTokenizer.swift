import Glibc

/// A tokenizer and the files it was read from: those of a model, of a tokenizer alone, or a vocabulary file.
///
/// The factory of all kinds of tokenizer. WordPiece is the one there is: another one is told apart here, by the
/// files that exist and by what `tokenizer.json` says its model is.
struct LoadedTokenizer: Sendable {
  let tokenizer: any Tokenizer
  /// The file the vocabulary came from.
  let vocabularyFile: ModelFile
  /// `tokenizer_config.json`, if there is one.
  let settingsFile: ModelFile?

  /// Reads `vocab.txt` (preferred) or `tokenizer.json`. A `tokenizer_config.json` beside it says how text is
  /// normalised; without one `tokenizer.json` does, and without that the defaults of `BertTokenizerFast` hold.
  init(_ directory: ModelDirectory) throws(BertQAError) {
    let (vocabulary, json) = ("vocab.txt", "tokenizer.json")
    guard directory.exists(vocabulary) || directory.exists(json) else {
      throw BertQAError(.io, "\(directory.name): has neither vocab.txt nor tokenizer.json")
    }
    try self.init(
      directory, vocabulary: directory.exists(vocabulary) ? vocabulary : nil,
      tokenizerJSON: directory.exists(json) ? json : nil)
  }

  /// `path` is a directory, or a vocabulary file or, where it ends in `.json`, a `tokenizer.json`.
  init(path: String) throws(BertQAError) {
    var status = stat()
    guard !path.utf8.contains(0), stat(path, &status) == 0 else {
      throw .system("find the tokenizer", path)
    }
    if status.st_mode & S_IFMT == S_IFDIR {
      try self.init(ModelDirectory(path: path))
      return
    }
    let slash = path.lastIndex(of: "/")
    let directory = ModelDirectory(path: slash.map { String(path[..<$0]) } ?? ".")
    let file = slash.map { String(path[path.index(after: $0)...]) } ?? path
    let isJSON = file.hasSuffix(".json")
    try self.init(directory, vocabulary: isJSON ? nil : file, tokenizerJSON: isJSON ? file : nil)
  }

  private init(
    _ directory: ModelDirectory, vocabulary: String?, tokenizerJSON: String?
  ) throws(BertQAError) {
    let settings = "tokenizer_config.json"
    settingsFile = directory.exists(settings) ? try directory.file(settings) : nil
    var json: TokenizerJSON?
    if let tokenizerJSON, vocabulary == nil || settingsFile == nil {
      json = try TokenizerJSON(directory.file(tokenizerJSON))
    }
    vocabularyFile = try directory.file(vocabulary ?? tokenizerJSON ?? "vocab.txt")
    let configuration: TokenizerConfiguration
    if let settingsFile {
      configuration = try TokenizerConfiguration(settingsFile)
    } else {
      configuration = try json?.configuration() ?? TokenizerConfiguration()
    }
    let file = vocabularyFile
    tokenizer = try Self.named(file.path) { () throws(BertQAError) in
      let pieces =
        vocabulary == nil
        ? try Vocabulary(pieces: json?.pieces() ?? [])
        : try file.withBytes { bytes throws(BertQAError) in try Vocabulary(vocabularyFile: bytes) }
      guard pieces.count > 0 else { throw BertQAError(.invalidModel, "the vocabulary is empty") }
      return try WordPieceTokenizer(vocabulary: pieces, configuration: configuration)
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
