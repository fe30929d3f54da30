/// An encoder's directory in Hugging Face's form, checked and mapped. Immutable.
final class LoadedModel: Sendable {
  /// `config.json` as it was read.
  let source: ObjectReader
  let configuration: ModelConfiguration
  let tokenizer: TokenizerFiles
  let encoder: EncoderWeights
  let head: HeadWeights
  /// Of embedding models.
  let embedding: EmbeddingConfiguration?
  /// The files and copies that the weights point into.
  private let owners: [any AnyObject & Sendable]

  /// Reads the tokenizer's files and the headers of the weights, which are mapped; those in floating point are looked
  /// through.
  /// - Parameter source: `config.json`, whose "architectures" gave `architecture`.
  init(
    _ directory: ModelDirectory, _ source: ObjectReader, _ architecture: Architecture
  ) throws(BertQAError) {
    self.source = source
    var configuration = try ModelConfiguration(source, architecture)
    try configuration.readTokenTypes(directory)
    self.configuration = configuration
    tokenizer = try TokenizerFiles(directory)
    guard tokenizer.vocabularySize <= configuration.vocabSize else {
      throw BertQAError(
        .invalidModel,
        "\(tokenizer.vocabularyFile.path): \(tokenizer.vocabularySize) pieces, but config.json has "
          + "\"vocab_size\" \(configuration.vocabSize) and the embeddings as many rows: "
          + "the vocabulary belongs to another model")
    }
    guard tokenizer.beginsTexts else {
      throw BertQAError(
        .unsupported,
        "\(tokenizer.vocabularyFile.path): the tokenizer puts no special token before a text, which the model's "
          + "head would read; save it with the post-processor it was trained with")
    }
    var loader = WeightLoader(
      try Checkpoint(directory), prefix: configuration.family.tensors.prefix, directory.monitor)
    encoder = try EncoderWeights(&loader, configuration)
    head = try HeadWeights(&loader, configuration)
    embedding =
      architecture.task == .embed
      ? try EmbeddingConfiguration(directory, source, configuration, tokenizer) : nil
    owners = loader.owners
  }

  /// Reads `config.json` too.
  convenience init(_ directory: ModelDirectory) throws(BertQAError) {
    let source = try directory.object(in: "config.json")
    try self.init(directory, source, try Architecture(source))
  }
}
