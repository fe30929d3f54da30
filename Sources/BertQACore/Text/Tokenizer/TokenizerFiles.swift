import CBertQA

/// The files of a tokenizer: of a model, of a tokenizer alone, or a vocabulary file.
///
/// Their names, `tokenizer_class` and the contents of `tokenizer.json` determine how they become a `Pipeline`.
struct TokenizerFiles: Sendable {
  let pipeline: Pipeline
  /// The files by the names under which they are found; the first has the vocabulary.
  let files: [(name: String, file: ModelFile)]
  /// BERT's settings, if there is no `tokenizer_config.json`.
  private(set) var settings: TokenizerConfiguration?
  private let added: AddedVocabulary

  private static let settingsName = "tokenizer_config.json"

  /// Reads `vocab.txt` if it is BERT's, else `tokenizer.json`, else a vocabulary of another form.
  init(_ directory: ModelDirectory) throws(BertQAError) {
    let (vocabulary, json) = ("vocab.txt", "tokenizer.json")
    let hasJSON = directory.exists(json)
    var isBert = directory.exists(vocabulary)
    if isBert, hasJSON { isBert = try Self.isClaimedByBert(directory) }
    if isBert {
      try self.init(bert: directory.file(vocabulary, limit: ModelFile.vocabularyLimit), directory) {
        () throws(BertQAError) in
        hasJSON
          ? try TokenizerConfiguration(
            tokenizerJSON: directory.object(in: json, limit: ModelFile.jsonLimit)) : TokenizerConfiguration()
      }
    } else if hasJSON {
      try self.init(tokenizerJSON: json, directory)
    } else if let family = SentencePieceFamily.allCases.first(where: { directory.exists($0.fileName) }) {
      try self.init(sentencePiece: family.fileName, directory)
    } else if directory.exists("vocab.json"), directory.exists("merges.txt") {
      try self.init(merges: directory)
    } else {
      throw BertQAError(
        .io,
        "\(directory.name): has neither vocab.txt, tokenizer.json, a SentencePiece model, nor vocab.json and "
          + "merges.txt")
    }
  }

  /// Reads a directory, a vocabulary file or, if `path` ends in `.json`, a `tokenizer.json`.
  /// - Parameter opened: the directory at `path`, if it is one.
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
      try self.init(tokenizerJSON: file, parent)
    } else if file.hasSuffix(".model") {
      try self.init(sentencePiece: file, parent)
    } else {
      try self.init(bert: parent.file(file, limit: ModelFile.vocabularyLimit), parent) {
        TokenizerConfiguration()
      }
    }
  }

  private init(
    _ pipeline: Pipeline, _ files: [(name: String, file: ModelFile)], _ monitor: CallMonitor?
  ) throws(BertQAError) {
    self.pipeline = pipeline
    self.files = files
    added = try BertQAError.naming(files[0].file.path) { () throws(BertQAError) in
      try AddedVocabulary(pipeline, monitor)
    }
    let template = pipeline.postProcessor.template
    for id in template.prefix + template.separator + template.suffix where Int(id) >= vocabularySize {
      throw BertQAError(
        .invalidModel,
        "\(files[0].file.path): the post-processor adds the token \(id), but the vocabulary has "
          + "\(vocabularySize) ids")
    }
  }

  /// The number of ids, including added tokens and duplicates.
  var vocabularySize: Int { added.size }

  var lowercases: Bool { pipeline.lowercases }

  /// True if a special token precedes each text. Models read its vector, and windows are never empty.
  var beginsTexts: Bool { !pipeline.postProcessor.template.prefix.isEmpty }

  /// The file that contains the vocabulary.
  var vocabularyFile: ModelFile { files[0].file }

  /// Builds the tokenizer, tables included.
  func makeTokenizer(_ monitor: CallMonitor? = nil) throws(BertQAError) -> any Tokenizer {
    try BertQAError.naming(vocabularyFile.path) { () throws(BertQAError) in
      try PipelineTokenizer(pipeline, added, monitor)
    }
  }
}

// MARK: - Each kind of files

extension TokenizerFiles {
  /// True if `tokenizer_config.json` is absent or names a class that splits text as BERT does.
  private static func isClaimedByBert(_ directory: ModelDirectory) throws(BertQAError) -> Bool {
    guard directory.exists(settingsName) else { return true }
    return try TokenizerConfiguration.isBert(
      directory.object(in: settingsName).string("tokenizer_class"))
  }

  /// Reads BERT's vocabulary: a `tokenizer.json`, passed as `pieces`, or a `vocab.txt`.
  /// - Parameter configuration: the settings without `tokenizer_config.json`.
  private init(
    bert file: ModelFile, _ directory: ModelDirectory, pieces: [[UInt8]]? = nil,
    configuration: () throws(BertQAError) -> TokenizerConfiguration
  ) throws(BertQAError) {
    var files = [(pieces == nil ? "vocab.txt" : "tokenizer.json", file)]
    var settings: TokenizerConfiguration
    let hasSettings = directory.exists(Self.settingsName)
    if hasSettings {
      let file = try directory.file(Self.settingsName, limit: ModelFile.configurationLimit)
      files.append((Self.settingsName, file))
      settings = try TokenizerConfiguration(ObjectReader(file, directory.monitor))
    } else {
      settings = try configuration()
    }
    let pipeline = try BertQAError.naming(file.path) { () throws(BertQAError) in
      let vocabulary =
        if let pieces {
          try Vocabulary(pieces: pieces, directory.monitor)
        } else {
          try file.withBytes { bytes throws(BertQAError) in
            try Vocabulary(vocabularyFile: bytes, directory.monitor)
          }
        }
      return try Pipeline(bert: settings, vocabulary, directory.monitor)
    }
    try self.init(pipeline, files, directory.monitor)
    if !hasSettings { self.settings = settings }
  }

  /// Reads a `tokenizer.json`, by whatever name.
  private init(tokenizerJSON name: String, _ directory: ModelDirectory) throws(BertQAError) {
    let file = try directory.file(name, limit: ModelFile.jsonLimit)
    let root = try ObjectReader(file, directory.monitor)
    if try Pipeline.isBert(root), try Self.isClaimedByBert(directory) {
      let model = try root.required("model", root.reader("model"))
      try WordPieceModel.check(model)
      let pieces = try Pipeline.pieces(of: model, directory.monitor)
      try self.init(bert: file, directory, pieces: pieces) { () throws(BertQAError) in
        try TokenizerConfiguration(tokenizerJSON: root)
      }
      return
    }
    var pipeline = try Pipeline(root, directory.monitor)
    pipeline.fingerprint = Self.fingerprint([file])
    try self.init(pipeline, [("tokenizer.json", file)], directory.monitor)
  }

  /// Reads `vocab.json` and `merges.txt` as a RoBERTa's, with the settings of `tokenizer_config.json`.
  private init(merges directory: ModelDirectory) throws(BertQAError) {
    let vocabulary = try directory.file("vocab.json", limit: ModelFile.jsonLimit)
    let merges = try directory.file("merges.txt", limit: ModelFile.jsonLimit)
    var files = [("vocab.json", vocabulary), ("merges.txt", merges)]
    let settings = try Self.settings(directory, &files)
    var pipeline = try Pipeline(
      robertaVocabulary: ObjectReader(vocabulary, directory.monitor), merges: merges,
      settings ?? ObjectReader(file: directory.name, object: JSON.Object()), directory.monitor)
    pipeline.fingerprint = Self.fingerprint(files.map(\.1))
    try self.init(pipeline, files, directory.monitor)
  }

  /// Reads a SentencePiece model, with the settings of `tokenizer_config.json`.
  /// - Parameter name: the name of the file.
  private init(sentencePiece name: String, _ directory: ModelDirectory) throws(BertQAError) {
    let file = try directory.file(name, limit: ModelFile.vocabularyLimit)
    var files = [(name, file)]
    let settings = try Self.settings(directory, &files)
    let configuration = directory.exists("config.json") ? try directory.object(in: "config.json") : nil
    let family = try SentencePieceFamily.of(settings, configuration) { name == $0 }
    guard let family else {
      throw BertQAError(
        .unsupported,
        "\(file.path): which model it belongs to is not known; set \"tokenizer_class\" in tokenizer_config.json"
      )
    }
    var pipeline = try Pipeline(
      SentencePieceModel(file, directory.monitor), family,
      settings ?? ObjectReader(file: directory.name, object: JSON.Object()), file: file.path,
      directory.monitor)
    pipeline.fingerprint = Self.fingerprint(files.map(\.1))
    try self.init(pipeline, files, directory.monitor)
  }

  /// Reads `tokenizer_config.json` and adds it to `files`; nil if there is none.
  private static func settings(
    _ directory: ModelDirectory, _ files: inout [(String, ModelFile)]
  ) throws(BertQAError) -> ObjectReader? {
    guard directory.exists(settingsName) else { return nil }
    let file = try directory.file(settingsName, limit: ModelFile.configurationLimit)
    files.append((settingsName, file))
    return try ObjectReader(file, directory.monitor)
  }

  private static func fingerprint(_ files: [ModelFile]) -> UInt64 {
    files.reduce(0) { bq_fingerprint($1.bytes.baseAddress, $1.bytes.count, $0) }
  }
}
