/// A tokenizer's files, read: those of a model, of a tokenizer alone, or a vocabulary file.
///
/// The factory of all kinds of tokenizer, which are told apart by the files that exist, by `tokenizer_class` and by
/// what `tokenizer.json` says. BERT's has code of its own; every other one is a `Pipeline`.
struct TokenizerFiles: Sendable {
  private enum Kind: Sendable {
    case wordPiece(WordPieceFiles)
    case pipeline(PipelineFiles)
  }

  private let kind: Kind

  /// Reads `vocab.txt` if it is BERT's, else `tokenizer.json`, else what a vocabulary without one comes as.
  init(_ directory: ModelDirectory) throws(BertQAError) {
    let (vocabulary, json) = ("vocab.txt", "tokenizer.json")
    var isBert = directory.exists(vocabulary)
    if isBert, directory.exists(json) { isBert = try WordPieceFiles.isClaimed(by: directory) }
    if isBert {
      kind = .wordPiece(
        try WordPieceFiles(
          directory, vocabulary: vocabulary, tokenizerJSON: directory.exists(json) ? json : nil))
    } else if directory.exists(json) {
      kind = try Self.read(directory, tokenizerJSON: json)
    } else if let name = PipelineFiles.sentencePieceFile(directory) {
      kind = .pipeline(try PipelineFiles(sentencePiece: name, directory))
    } else if PipelineFiles.hasMerges(directory) {
      kind = .pipeline(try PipelineFiles(merges: directory))
    } else {
      throw BertQAError(
        .io,
        "\(directory.name): has neither vocab.txt, tokenizer.json, a SentencePiece model, nor vocab.json and "
          + "merges.txt")
    }
  }

  /// `path` is a directory, or a vocabulary file or, where it ends in `.json`, a `tokenizer.json`.
  /// - Parameter opened: what is at `path`, if that is a directory.
  init(path: String, _ opened: ModelDirectory? = nil) throws(BertQAError) {
    let directory = opened ?? ModelDirectory(path: path)
    guard directory.isUnopened else {
      try self.init(directory)
      return
    }
    guard !path.utf8.contains(0), ModelFile.exists(path) else {
      let error = BertQAError.system("find the tokenizer", path)
      throw MistakenDirectory.error(for: path) ?? error
    }
    let slash = path.lastIndex(of: "/")
    let parent = directory.replaced(
      by: slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? ".")
    let file = slash.map { String(path[path.index(after: $0)...]) } ?? path
    if file.hasSuffix(".json") {
      self.init(kind: try Self.read(parent, tokenizerJSON: file))
    } else if file.hasSuffix(".model") {
      self.init(kind: .pipeline(try PipelineFiles(sentencePiece: file, parent)))
    } else {
      self.init(
        kind: .wordPiece(try WordPieceFiles(parent, vocabulary: file, tokenizerJSON: nil)))
    }
  }

  private init(kind: Kind) { self.kind = kind }

  private static func read(
    _ directory: ModelDirectory, tokenizerJSON name: String
  ) throws(BertQAError) -> Kind {
    let file = try directory.file(name, limit: ModelFile.jsonLimit)
    let root = try ObjectReader(file, directory.monitor)
    if try TokenizerJSON.isBert(root), try WordPieceFiles.isClaimed(by: directory) {
      return .wordPiece(try WordPieceFiles(directory, tokenizerJSON: root, file))
    }
    return .pipeline(try PipelineFiles(tokenizerJSON: root, file, directory.monitor))
  }

  /// Ids, duplicates included.
  var vocabularySize: Int {
    switch kind {
    case .wordPiece(let files): files.vocabulary.count
    case .pipeline(let files): files.vocabularySize
    }
  }

  var lowercases: Bool {
    switch kind {
    case .wordPiece(let files): files.configuration.lowercase
    case .pipeline(let files): files.pipeline.lowercases
    }
  }

  /// Whether a special token comes before each text. Models read its vector, and windows are never empty.
  var beginsTexts: Bool {
    switch kind {
    case .wordPiece: true
    case .pipeline(let files): !files.pipeline.postProcessor.template.prefix.isEmpty
    }
  }

  /// The file the vocabulary came from.
  var vocabularyFile: ModelFile {
    switch kind {
    case .wordPiece(let files): files.vocabularyFile
    case .pipeline(let files): files.files[0].file
    }
  }

  /// BERT's; nil for another kind.
  var wordPiece: WordPieceFiles? {
    if case .wordPiece(let files) = kind { files } else { nil }
  }

  /// What a copy of the model needs to be read the same, by name; of BERT's see `wordPiece`.
  var pipelineFiles: [(name: String, file: ModelFile)] {
    if case .pipeline(let files) = kind { files.files } else { [] }
  }

  /// Builds the tokenizer, tables included.
  func makeTokenizer(_ monitor: CallMonitor? = nil) throws(BertQAError) -> any Tokenizer {
    switch kind {
    case .wordPiece(let files): try files.makeTokenizer()
    case .pipeline(let files): try files.makeTokenizer(monitor)
    }
  }
}
