extension Context {
  /// Loads a model with an encoder, whatever stands on that.
  static func loadEncoder(
    _ directory: String, _ options: ContextOptions
  ) throws(BertQAError) -> (Engine, ModelInfo) {
    let loaded = try LoadedModel.load(directory: directory)
    let tokenizer = try tokenizer(loaded.vocabulary, loaded.tokenizerConfiguration, of: directory)
    let encoder = try Encoder(
      model: loaded, precision: options.precision, kernels: kernels(options), threadLimit: options.threads)
    let info = ModelInfo(model: loaded, directory: directory, encoder: encoder)
    let reader = TextReader(tokenizer: tokenizer, encoder: encoder)
    if let classifier = TextClassifier(reader: reader) { return (.classification(classifier), info) }
    if let defaults = loaded.embedding {
      return (.embedding(TextEmbedder(reader: reader, defaults: defaults)), info)
    }
    let answerer = QuestionAnswerer(
      tokenizer: tokenizer, logits: encoder, maxPositions: loaded.configuration.maxPositions,
      noAnswerThreshold: loaded.configuration.noAnswerThreshold)
    return (.questionAnswering(answerer, encoder, tokenizer), info)
  }
}

extension ModelInfo {
  init(model: LoadedModel, directory: String, encoder: Encoder) {
    let configuration = model.configuration
    self.init(
      directory: directory, architecture: configuration.architecture.rawValue,
      task: configuration.architecture.task,
      precision: encoder.arithmetic.precision,
      instructionSet: InstructionSet(rawValue: encoder.kernels.table.isa),
      threads: encoder.threadLimit > 0 ? encoder.threadLimit : ThreadPool.shared.size,
      vocabularySize: model.vocabulary.count, hiddenSize: configuration.hiddenSize,
      layerCount: configuration.layerCount, headCount: configuration.headCount,
      intermediateSize: configuration.intermediateSize, maxPositions: configuration.maxPositions,
      lowercase: model.tokenizerConfiguration.lowercase,
      noAnswerThreshold: configuration.noAnswerThreshold)
    labels = configuration.labels
    if configuration.architecture.task == .embed { embeddingLength = configuration.hiddenSize }
  }
}
