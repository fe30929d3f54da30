/// A model directory in Hugging Face's form, checked and mapped. Immutable.
final class LoadedModel: Sendable {
  let configuration: ModelConfiguration
  let tokenizer: LoadedTokenizer
  let encoder: EncoderWeights
  let head: HeadWeights
  /// Of embedding models.
  let embedding: EmbeddingConfiguration?
  /// The files and copies that the weights point into.
  private let owners: [any AnyObject & Sendable]

  var tokenizerConfiguration: TokenizerConfiguration { tokenizer.configuration }
  var vocabulary: Vocabulary { tokenizer.vocabulary }

  /// `owners` must keep alive what the weights point into.
  init(
    configuration: ModelConfiguration, encoder: EncoderWeights, head: HeadWeights,
    embedding: EmbeddingConfiguration?, tokenizer: LoadedTokenizer,
    owners: [any AnyObject & Sendable]
  ) {
    self.configuration = configuration
    self.encoder = encoder
    self.head = head
    self.embedding = embedding
    self.tokenizer = tokenizer
    self.owners = owners
  }

  /// Reads `config.json`, the tokenizer's files and the headers of the weights; the weights
  /// themselves are mapped, not read.
  static func load(directory: String) throws(BertQAError) -> LoadedModel {
    guard !directory.isEmpty else {
      throw BertQAError(.invalidArgument, "the model directory's name is empty")
    }
    let configuration = try ModelConfiguration(MappedFile(path: "\(directory)/config.json"))
    let tokenizer = try LoadedTokenizer.load(path: directory)
    guard tokenizer.vocabulary.count <= configuration.vocabSize else {
      throw BertQAError(
        .invalidModel,
        "\(tokenizer.vocabularyPath): \(tokenizer.vocabulary.count) pieces, but config.json has "
          + "\"vocab_size\" \(configuration.vocabSize) and the embeddings as many rows: "
          + "the vocabulary belongs to another model")
    }
    let names = TensorNames(configuration.family)
    var loader = WeightLoader(try Checkpoint(directory: directory), prefix: names.prefix)
    let encoder = try EncoderWeights(&loader, names, configuration)
    let head = try HeadWeights(&loader, names, configuration)
    let embedding =
      configuration.architecture.task == .embed
      ? try EmbeddingConfiguration(directory: directory, configuration, tokenizer.configuration) : nil
    return LoadedModel(
      configuration: configuration, encoder: encoder, head: head, embedding: embedding,
      tokenizer: tokenizer, owners: loader.owners)
  }
}

extension EncoderWeights {
  fileprivate init(
    _ loader: inout WeightLoader, _ names: TensorNames, _ configuration: ModelConfiguration
  ) throws(BertQAError) {
    let hidden = configuration.hiddenSize
    wordEmbeddings = try loader.embedding(
      names.wordEmbeddings, rows: configuration.vocabSize, width: hidden)
    positionEmbeddings = try loader.embedding(
      names.positionEmbeddings, rows: configuration.maxPositions, width: hidden)
    if let name = names.tokenTypeEmbeddings {
      tokenTypeEmbeddings = try loader.embedding(
        name, rows: configuration.typeVocabSize, width: hidden)
    }
    embeddingNorm = try loader.norm(names.embeddingNorm, count: hidden)
    layers = []
    for index in 0..<configuration.layerCount {
      layers.append(try LayerWeights(&loader, names.layer(index), configuration))
    }
  }
}

extension HeadWeights {
  fileprivate init(
    _ loader: inout WeightLoader, _ names: TensorNames, _ configuration: ModelConfiguration
  ) throws(BertQAError) {
    let hidden = configuration.hiddenSize
    switch configuration.architecture.task {
    case .answer:
      self = .questionAnswering(try loader.linear(names.questionAnswering, outs: 2, ins: hidden))
    case .classify:
      // Some exporters leave BERT's pooler out, for models that were trained without.
      let hasPooler = try loader.hasLinear(names.pooler)
      var pooler: LinearWeights?
      if configuration.family == .distilBert || hasPooler {
        pooler = try loader.linear(names.pooler, outs: hidden, ins: hidden)
      }
      self = .classification(
        ClassifierWeights(
          pooler: pooler,
          outputs: try loader.linear(
            names.classifier, outs: configuration.labels.count, ins: hidden)))
    case .embed, .predict:
      self = .none
    }
  }
}

extension LayerWeights {
  fileprivate init(
    _ loader: inout WeightLoader, _ names: TensorNames.Layer, _ configuration: ModelConfiguration
  ) throws(BertQAError) {
    let hidden = configuration.hiddenSize
    let inner = configuration.intermediateSize
    query = try loader.linear(names.query, outs: hidden, ins: hidden)
    key = try loader.linear(names.key, outs: hidden, ins: hidden)
    value = try loader.linear(names.value, outs: hidden, ins: hidden)
    attentionOutput = try loader.linear(names.attentionOutput, outs: hidden, ins: hidden)
    attentionNorm = try loader.norm(names.attentionNorm, count: hidden)
    intermediate = try loader.linear(names.intermediate, outs: inner, ins: hidden)
    output = try loader.linear(names.output, outs: hidden, ins: inner)
    outputNorm = try loader.norm(names.outputNorm, count: hidden)
  }
}
