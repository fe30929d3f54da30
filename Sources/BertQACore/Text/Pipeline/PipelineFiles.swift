/// What the files of a tokenizer other than BERT's say.
struct PipelineFiles: Sendable {
  let pipeline: Pipeline
  /// What it was read from, by the names that it is found by; the first has the vocabulary.
  let files: [(name: String, file: ModelFile)]
  /// Ids, those of added tokens included.
  let vocabularySize: Int

  private init(
    _ pipeline: Pipeline, _ files: [(name: String, file: ModelFile)], _ monitor: CallMonitor?
  ) throws(BertQAError) {
    self.pipeline = pipeline
    let added = try Pipeline.named(files[0].file.path) { () throws(BertQAError) in
      try AddedVocabulary(pipeline, monitor)
    }
    vocabularySize = max(pipeline.model.vocabulary.count, Int(added.lastID) + 1)
    self.files = files
    let template = pipeline.postProcessor.template
    for id in template.prefix + template.separator + template.suffix where Int(id) >= vocabularySize {
      throw BertQAError(
        .invalidModel,
        "\(files[0].file.path): the post-processor adds the token \(id), but the vocabulary has "
          + "\(vocabularySize) ids")
    }
  }

  /// A `tokenizer.json`, by whatever name.
  init(
    tokenizerJSON root: ObjectReader, _ file: ModelFile, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    var pipeline = try Pipeline(root, monitor)
    pipeline.fingerprint = Pipeline.fingerprint(of: file)
    try self.init(pipeline, [("tokenizer.json", file)], monitor)
  }

  /// Whether there are the two files of a byte-pair vocabulary.
  static func hasMerges(_ directory: ModelDirectory) -> Bool {
    directory.exists("vocab.json") && directory.exists("merges.txt")
  }

  /// Reads `vocab.json` and `merges.txt` as a RoBERTa's, with the settings of `tokenizer_config.json`.
  init(merges directory: ModelDirectory) throws(BertQAError) {
    let vocabulary = try directory.file("vocab.json", limit: ModelFile.jsonLimit)
    let merges = try directory.file("merges.txt", limit: ModelFile.jsonLimit)
    var files = [("vocab.json", vocabulary), ("merges.txt", merges)]
    var settings: ObjectReader?
    if directory.exists("tokenizer_config.json") {
      let file = try directory.file("tokenizer_config.json", limit: ModelFile.configurationLimit)
      files.append(("tokenizer_config.json", file))
      settings = try ObjectReader(file, directory.monitor)
    }
    var pipeline = try Pipeline(
      robertaVocabulary: ObjectReader(vocabulary, directory.monitor), merges: merges,
      settings ?? ObjectReader(file: directory.name, object: JSON.Object()), directory.monitor)
    pipeline.fingerprint = files.reduce(0) { Pipeline.fingerprint(of: $1.1, seed: $0) }
    try self.init(pipeline, files, directory.monitor)
  }

  /// The SentencePiece model that stands for a vocabulary in the directory; nil if there is none.
  static func sentencePieceFile(_ directory: ModelDirectory) -> String? {
    SentencePieceFamily.allCases.first { directory.exists($0.fileName) }?.fileName
  }

  /// Reads a SentencePiece model, with the settings of `tokenizer_config.json`.
  /// - Parameter name: of the file.
  init(sentencePiece name: String, _ directory: ModelDirectory) throws(BertQAError) {
    let file = try directory.file(name, limit: ModelFile.vocabularyLimit)
    var files = [(name, file)]
    func reader(_ name: String) throws(BertQAError) -> ObjectReader? {
      guard directory.exists(name) else { return nil }
      let file = try directory.file(name, limit: ModelFile.configurationLimit)
      if name == "tokenizer_config.json" { files.append((name, file)) }
      return try ObjectReader(file, directory.monitor)
    }
    let settings = try reader("tokenizer_config.json")
    let family = try SentencePieceFamily.of(settings, try reader("config.json")) { name == $0 }
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
    pipeline.fingerprint = files.reduce(0) { Pipeline.fingerprint(of: $1.1, seed: $0) }
    try self.init(pipeline, files, directory.monitor)
  }

  func makeTokenizer(_ monitor: CallMonitor?) throws(BertQAError) -> PipelineTokenizer {
    try Pipeline.named(files[0].file.path) { () throws(BertQAError) in
      try PipelineTokenizer(pipeline, monitor)
    }
  }
}
