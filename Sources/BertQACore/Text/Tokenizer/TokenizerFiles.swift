import Glibc

/// A tokenizer's files, read: those of a model, of a tokenizer alone, or a vocabulary file.
///
/// The factory of all kinds of tokenizer. WordPiece is the one there is: another one is told apart here, by the
/// files that exist and by what `tokenizer.json` says its model is.
struct TokenizerFiles: Sendable {
  let wordPiece: WordPieceFiles

  /// Reads `vocab.txt` (preferred) or `tokenizer.json`.
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
    wordPiece = try WordPieceFiles(directory, vocabulary: vocabulary, tokenizerJSON: tokenizerJSON)
  }

  /// Ids, duplicates included.
  var vocabularySize: Int { wordPiece.vocabulary.count }
  var lowercases: Bool { wordPiece.configuration.lowercase }
  /// The file the vocabulary came from.
  var vocabularyFile: ModelFile { wordPiece.vocabularyFile }

  /// Builds the tokenizer, tables included.
  func makeTokenizer() throws(BertQAError) -> any Tokenizer { try wordPiece.makeTokenizer() }
}
