/// A tokenizer's files, read: from a model directory, a directory of the tokenizer's files alone, or
/// a vocabulary file.
struct LoadedTokenizer: Sendable {
  var configuration: TokenizerConfiguration
  let vocabulary: Vocabulary
  /// The file the vocabulary came from.
  let vocabularyPath: String

  /// `path` is a directory with `vocab.txt` (preferred) or `tokenizer.json`, or such a file itself,
  /// `.json` being the mark of the second kind. A `tokenizer_config.json` beside the vocabulary says
  /// how text is normalised; without one `tokenizer.json` does, and without that the defaults of
  /// `BertTokenizerFast` hold.
  static func load(path: String) throws(BertQAError) -> LoadedTokenizer {
    let files = try TokenizerFiles(path: path)
    var tokenizerJSON: TokenizerJSON?
    if let path = files.tokenizerJSON, files.vocabulary == nil || files.configuration == nil {
      tokenizerJSON = try TokenizerJSON(MappedFile(path: path))
    }
    let configuration: TokenizerConfiguration
    if let path = files.configuration {
      configuration = try TokenizerConfiguration(MappedFile(path: path))
    } else {
      configuration = try tokenizerJSON?.configuration() ?? TokenizerConfiguration()
    }
    let vocabulary: Vocabulary
    let source: String
    if let path = files.vocabulary {
      let file = try MappedFile(path: path)
      vocabulary = try named(path) { () throws(BertQAError) in
        try file.withBytes { bytes throws(BertQAError) in try Vocabulary(vocabularyFile: bytes) }
      }
      source = path
    } else {
      let pieces = try tokenizerJSON?.pieces() ?? []
      source = files.tokenizerJSON ?? path
      vocabulary = try named(source) { () throws(BertQAError) in try Vocabulary(pieces: pieces) }
    }
    guard vocabulary.count > 0 else {
      throw BertQAError(.invalidModel, "\(source): the vocabulary is empty")
    }
    return LoadedTokenizer(
      configuration: configuration, vocabulary: vocabulary, vocabularyPath: source)
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
