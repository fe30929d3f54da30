import Glibc

/// Which of a tokenizer's files there are.
struct TokenizerFiles {
  /// `vocab.txt`, or the file given.
  private(set) var vocabulary: String?
  private(set) var tokenizerJSON: String?
  private(set) var configuration: String?

  /// See `LoadedTokenizer.load(path:)`.
  init(path: String) throws(BertQAError) {
    var status = stat()
    guard !path.utf8.contains(0), stat(path, &status) == 0 else {
      throw .system("find the tokenizer", path)
    }
    var directory = path
    if status.st_mode & S_IFMT == S_IFDIR {
      vocabulary = Self.existing("\(path)/vocab.txt")
      tokenizerJSON = Self.existing("\(path)/tokenizer.json")
      guard vocabulary != nil || tokenizerJSON != nil else {
        throw BertQAError(.io, "\(path): has neither vocab.txt nor tokenizer.json")
      }
    } else {
      if path.hasSuffix(".json") { tokenizerJSON = path } else { vocabulary = path }
      directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }
    configuration = Self.existing("\(directory)/tokenizer_config.json")
  }

  private static func existing(_ path: String) -> String? { MappedFile.exists(path) ? path : nil }
}
