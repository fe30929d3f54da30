import CBertQA

/// The files of a tokenizer: of a model, of a tokenizer alone, or a vocabulary file.
///
/// Their names, transformers' class for them and the contents of `tokenizer.json` determine how they become a
/// `Pipeline`.
struct TokenizerFiles: Sendable {
  let pipeline: Pipeline
  /// The files by the names under which they are found; the first has the vocabulary.
  let files: [(name: String, file: ModelFile)]
  /// BERT's settings, if there is no `tokenizer_config.json`.
  private(set) var settings: TokenizerConfiguration?
  private let added: AddedVocabulary

  /// Reads `tokenizer.json`, else `vocab.txt`, else a vocabulary of another form.
  init(_ directory: ModelDirectory) throws(BertQAError) {
    let (vocabulary, json) = ("vocab.txt", "tokenizer.json")
    if directory.exists(json) {
      try self.init(tokenizerJSON: json, directory)
    } else if directory.exists(vocabulary) {
      try self.init(vocabulary: vocabulary, directory)
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
    let (folder, file) = FilePath.split(path)
    let parent = directory.replaced(by: folder)
    if file.hasSuffix(".json") {
      try self.init(tokenizerJSON: file, parent)
    } else if file.hasSuffix(".model") {
      try self.init(sentencePiece: file, parent)
    } else {
      try self.init(vocabulary: file, parent)
    }
  }

  /// Reads `tokenizer.json` and nothing else, as the library tokenizers does.
  init(tokenizerJSONAlone directory: ModelDirectory) throws(BertQAError) {
    let file = try directory.file("tokenizer.json", limit: ModelFile.jsonLimit)
    var pipeline = try Pipeline(ObjectReader(file, directory.monitor), directory.monitor)
    pipeline.fingerprint = Self.fingerprint([file])
    try self.init(pipeline, [("tokenizer.json", file)], directory.monitor)
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

  /// Returns the tokenizer without the added tokens that have no row in a model's table. transformers fails on a text
  /// with such a token; here it is ordinary text.
  func within(_ rows: Int) throws(BertQAError) -> TokenizerFiles {
    guard vocabularySize > rows, pipeline.model.vocabulary.count <= rows else { return self }
    var pipeline = pipeline
    pipeline.removeTokens(added.contents(from: rows))
    var fitting = try TokenizerFiles(pipeline, files, nil)
    fitting.settings = settings
    return fitting
  }

  /// Returns the spelling of an added token that is no piece of the model.
  func spelling(of id: Int32) -> UnsafeBufferPointer<UInt8>? { added.piece(id) }

  /// True if the vocabulary has a piece or added token of this spelling.
  func hasPiece(_ spelling: String) -> Bool {
    pipeline.model.vocabulary.id(of: spelling) != nil
      || pipeline.addedTokens.contains { $0.content.utf8.elementsEqual(spelling.utf8) }
  }

  /// The number of ids, including added tokens and duplicates.
  var vocabularySize: Int { added.size }

  var lowercases: Bool { pipeline.lowercases }

  /// The kind of tokenizer and its file.
  var summary: String {
    let kind =
      switch pipeline.model {
      case is WordPieceModel: "WordPiece"
      case is WordLevelModel: "WordLevel"
      case is UnigramModel: "Unigram"
      default: "BPE"
      }
    return "\(kind) from \(files[0].name)"
  }

  /// The token types that the tokenizer gives to a text or pair.
  var tokenTypes: PostProcessor.TokenTypes { pipeline.postProcessor.tokenTypes }

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
  /// Reads the `vocab.txt` of BERT's or MPNet's class, by whatever name.
  private init(vocabulary name: String, _ directory: ModelDirectory) throws(BertQAError) {
    let file = try directory.file(name, limit: ModelFile.vocabularyLimit)
    let kind = try TokenizerClass(directory)
    if kind.isFastBPE || !kind.isStated && directory.exists("bpe.codes") {
      try self.init(fastBPE: file, directory)
      return
    }
    try kind.checkReadsVocabulary()
    let settings = try TokenizerSettings(directory)
    let configuration = try TokenizerConfiguration(
      settings.reader, kind.isMPNet ? TokenizerConfiguration.mpnet : TokenizerConfiguration())
    var pipeline = try BertQAError.naming(file.path) { () throws(BertQAError) in
      let vocabulary = try file.withBytes { bytes throws(BertQAError) in
        try Vocabulary(vocabularyFile: bytes, directory.monitor)
      }
      return try Pipeline(bert: configuration, vocabulary, directory.monitor)
    }
    pipeline.addListed(settings)
    try self.init(pipeline, [("vocab.txt", file)] + settings.files, directory.monitor)
    if !settings.isConfigured, !kind.isMPNet { self.settings = configuration }
  }

  /// Reads `vocab.txt` and `bpe.codes` as BERTweet's, with the settings of `tokenizer_config.json`.
  private init(fastBPE vocabulary: ModelFile, _ directory: ModelDirectory) throws(BertQAError) {
    let merges = try directory.file("bpe.codes", limit: ModelFile.jsonLimit)
    let settings = try TokenizerSettings(directory)
    let pipeline = try Pipeline(
      fastBPE: vocabulary, merges: merges, settings.reader, directory.monitor)
    try self.init(
      pipeline, adding: settings, [("vocab.txt", vocabulary), ("bpe.codes", merges)], directory.monitor)
  }

  /// Reads a `tokenizer.json`, by whatever name, with the settings of `tokenizer_config.json` that transformers' class
  /// reads: those of BERT's normalizer, or of RoBERTa's space before a text; and the added tokens that files list.
  private init(tokenizerJSON name: String, _ directory: ModelDirectory) throws(BertQAError) {
    let file = try directory.file(name, limit: ModelFile.jsonLimit)
    let root = try ObjectReader(file, directory.monitor)
    let kind = try TokenizerClass(directory)
    let settings = try TokenizerSettings(directory)
    let files = [("tokenizer.json", file)] + settings.files
    guard kind.isBert, try Pipeline.isBert(root) else {
      var pipeline = try Pipeline(root, directory.monitor)
      pipeline.fingerprint = Self.fingerprint([file])
      if settings.isConfigured {
        if kind.isBert || kind.isMPNet {
          try pipeline.setNormalizer(
            root.reader("normalizer"), settings.reader, setsChinese: !kind.isMPNet)
        }
        let prefix = try settings.reader.bool("add_prefix_space") ?? false
        if kind.setsPrefixSpace { pipeline.setPrefixSpace(prefix) }
        if kind.setsTrimming {
          try pipeline.setTrimming(
            root.reader("post_processor"), settings.reader, addsPrefixSpace: prefix)
        }
      }
      let listed = pipeline.addedTokens
      pipeline.addedTokens = []
      pipeline.addListed(settings, after: listed)
      try self.init(pipeline, files, directory.monitor)
      return
    }
    let model = try root.required("model", root.reader)
    let own = try TokenizerConfiguration(tokenizerJSON: root)
    let pieces = try Pipeline.pieces(of: model, directory.monitor)
    var configuration = own
    if settings.isConfigured {
      configuration = try TokenizerConfiguration(settings.reader)
      (configuration.unkToken, configuration.cleansText) = (own.unkToken, own.cleansText)
    }
    var pipeline = try BertQAError.naming(file.path) { () throws(BertQAError) in
      let vocabulary = try Vocabulary(pieces: pieces, directory.monitor)
      return try Pipeline(
        bert: configuration, vocabulary, pieceCount: vocabulary.filledCount, directory.monitor)
    }
    let listed = try root.readers("added_tokens").map { token throws(BertQAError) in try AddedToken(token) }
    pipeline.addListed(settings, after: listed)
    try self.init(pipeline, files, directory.monitor)
    if !settings.isConfigured { self.settings = configuration }
  }

  /// Reads `vocab.json` and `merges.txt` as a RoBERTa's, with the settings of `tokenizer_config.json`.
  private init(merges directory: ModelDirectory) throws(BertQAError) {
    let vocabulary = try directory.file("vocab.json", limit: ModelFile.jsonLimit)
    let merges = try directory.file("merges.txt", limit: ModelFile.jsonLimit)
    let settings = try TokenizerSettings(directory)
    let pipeline = try Pipeline(
      robertaVocabulary: ObjectReader(vocabulary, directory.monitor), merges: merges,
      TokenizerClass(directory).name, settings.reader, directory.monitor)
    try self.init(
      pipeline, adding: settings, [("vocab.json", vocabulary), ("merges.txt", merges)], directory.monitor)
  }

  /// Reads a SentencePiece model, with the settings of `tokenizer_config.json`.
  /// - Parameter name: the name of the file.
  private init(sentencePiece name: String, _ directory: ModelDirectory) throws(BertQAError) {
    let file = try directory.file(name, limit: ModelFile.vocabularyLimit)
    let settings = try TokenizerSettings(directory)
    let configuration = directory.exists("config.json") ? try directory.object(in: "config.json") : nil
    let family = try SentencePieceFamily.of(settings.reader, configuration) { name == $0 }
    guard let family else {
      throw BertQAError(
        .unsupported,
        "\(file.path): which model it belongs to is not known; set \"tokenizer_class\" in tokenizer_config.json"
      )
    }
    var pipeline = try Pipeline(
      SentencePieceModel(file, directory.monitor), family, settings, file: file.path, directory.monitor)
    let files = [(name, file)] + settings.files
    pipeline.fingerprint = Self.fingerprint(files.map(\.1))
    try self.init(pipeline, files, directory.monitor)
  }

  /// Adds the tokens that files list to a pipeline whose files tell it apart from others.
  private init(
    _ pipeline: Pipeline, adding settings: TokenizerSettings, _ own: [(name: String, file: ModelFile)],
    _ monitor: CallMonitor?
  ) throws(BertQAError) {
    var pipeline = pipeline
    pipeline.addListed(settings)
    let files = own + settings.files
    pipeline.fingerprint = Self.fingerprint(files.map(\.file))
    try self.init(pipeline, files, monitor)
  }

  private static func fingerprint(_ files: [ModelFile]) -> UInt64 {
    files.reduce(0) { bq_fingerprint($1.bytes.baseAddress, $1.bytes.count, $0) }
  }
}
