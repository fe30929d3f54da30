/// An encoder's directory in Hugging Face's format, checked and mapped. Immutable.
final class LoadedModel: Sendable {
  /// The contents of `config.json`.
  let source: ObjectReader
  let configuration: ModelConfiguration
  let tokenizer: TokenizerFiles
  let encoder: EncoderWeights
  let head: HeadWeights
  /// nil if it is not an embedding model.
  let embedding: EmbeddingConfiguration?
  /// The layers after the encoder of a model that reads labels; nil for other models.
  let prompted: PromptedWeights?
  /// The names of the checkpoint's unused tensors.
  let ignoredTensors: [String]
  /// The files and copies that the weights point into.
  private let owners: [any AnyObject & Sendable]

  /// Reads the tokenizer's files and the headers of the weights, and maps the weights. Checks that
  /// floating-point weights are finite.
  /// - Parameter source: `config.json`, whose "architectures" led to `architecture`.
  convenience init(
    _ directory: ModelDirectory, _ source: ObjectReader, _ architecture: Architecture
  ) throws(BertQAError) {
    try self.init(directory, source, architecture, tokenizer: directory, prompted: nil)
  }

  convenience init(_ files: PromptedModelFiles) throws(BertQAError) {
    try self.init(
      files.directory, files.source, files.architecture, tokenizer: files.tokenizerDirectory,
      prompted: files)
  }

  private init(
    _ directory: ModelDirectory, _ source: ObjectReader, _ architecture: Architecture,
    tokenizer tokenizerDirectory: ModelDirectory, prompted files: PromptedModelFiles?
  ) throws(BertQAError) {
    self.source = source
    var configuration = try ModelConfiguration(source, architecture)
    if let settings = files?.settings {
      configuration.vocabSize = settings.vocabularySize ?? configuration.vocabSize
      if configuration.disentangled != nil, !configuration.hasPositionTable {
        configuration.maxPositions = max(configuration.maxPositions, PromptedEntities.fewestPositions)
      }
    }
    tokenizer = try TokenizerFiles(tokenizerDirectory).within(configuration.vocabSize)
    try configuration.readTokenTypes(tokenizerDirectory, tokenizer)
    self.configuration = configuration
    guard tokenizer.vocabularySize <= configuration.vocabSize else {
      throw BertQAError(
        .invalidModel,
        "\(tokenizer.vocabularyFile.path): \(tokenizer.vocabularySize) pieces, but config.json has "
          + "\"vocab_size\" \(configuration.vocabSize) and the embeddings have as many rows: "
          + "the vocabulary belongs to another model")
    }
    guard tokenizer.beginsTexts else {
      throw BertQAError(
        .unsupported,
        "\(tokenizer.vocabularyFile.path): the tokenizer puts no special token before a text, but the model's "
          + "head reads one; save the tokenizer with the post-processor it was trained with")
    }
    var loader = WeightLoader(
      try Checkpoint(directory), prefix: configuration.family.tensors.prefix,
      ownPrefix: files == nil ? "" : PromptedEntities.encoderPrefix, directory.monitor)
    encoder = try EncoderWeights(&loader, configuration)
    embedding =
      architecture.task == .embed
      ? try EmbeddingConfiguration(directory, source, configuration, tokenizer) : nil
    if let files {
      head = try HeadWeights(ofWords: &loader, configuration, width: files.settings.width)
      prompted = try PromptedWeights(&loader, files)
    } else {
      head = try HeadWeights(&loader, configuration, embedding)
      prompted = nil
    }
    owners = loader.owners
    ignoredTensors = loader.unread
  }

  /// Also reads `config.json`.
  convenience init(_ directory: ModelDirectory) throws(BertQAError) {
    let directory = try directory.ofModel()
    if let files = try PromptedModelFiles(directory) {
      try self.init(files)
      return
    }
    let source = try directory.object(in: "config.json")
    try self.init(directory, source, try Architecture(source, directory))
  }
}
