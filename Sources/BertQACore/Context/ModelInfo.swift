/// Describes the loaded model and how it runs.
public struct ModelInfo: Sendable {
  /// The directory or other source of the model.
  public let directory: String
  /// Hugging Face's name, such as "BertForQuestionAnswering"; empty for a tokenizer without a model.
  public internal(set) var architecture = ""
  /// The model's task; nil for a tokenizer without a model.
  public internal(set) var task: ModelTask?
  /// The precision in use, never `.auto`; nil for word-count models and tokenizers.
  public internal(set) var precision: Precision?
  /// The instruction set in use, never `.auto`; nil for word-count models and tokenizers.
  public internal(set) var instructionSet: InstructionSet?
  /// The maximum number of threads for one call, including the calling one.
  public internal(set) var threads = 1
  /// The number of pieces or words.
  public internal(set) var vocabularySize = 0
  /// The model's dimensions; 0 for those that it does not have.
  public internal(set) var hiddenSize = 0
  public internal(set) var layerCount = 0
  public internal(set) var headCount = 0
  public internal(set) var intermediateSize = 0
  /// The maximum number of tokens in a window.
  public internal(set) var maxPositions = 0
  public internal(set) var lowercase = false
  /// The model's default threshold: a question whose gap is below it counts as impossible.
  public internal(set) var noAnswerThreshold: Float = 0
  /// A classifier's labels by id.
  public internal(set) var labels: [String] = []
  /// The number of floats in an embedding; 0 for models of other tasks, and for those that compute only vectors of
  /// tokens.
  public internal(set) var embeddingLength = 0
  /// The number of floats in a sequence's state; 0 for models of other tasks.
  public internal(set) var stateLength = 0

  /// The encoder's family by its class prefix, such as "Bert"; empty for models without an encoder.
  public internal(set) var family = ""
  /// The kind of tokenizer and the file that has its vocabulary, such as "WordPiece from vocab.txt"; empty for models
  /// that read words.
  public internal(set) var tokenizer = ""
  /// nil for models of other tasks.
  public internal(set) var embedding: EmbeddingInfo?
  /// The names of the checkpoint's unused tensors, such as those of a head for masked words.
  public internal(set) var ignoredTensors: [String] = []

  /// True if the weights became int8 as the model was loaded, in memory that processes do not share.
  var isQuantizedAtLoading = false

  init(directory: String) { self.directory = directory }

  /// One line for a log about work that each start could avoid; nil if there is none.
  var hint: String? {
    guard isQuantizedAtLoading else { return nil }
    return "quantized the weights of \(directory) to int8, as every start does: "
      + "'bertqa quantize \(directory) DIRECTORY' writes them once, and processes share them"
  }

  /// One line for a log.
  var summary: String {
    guard task != nil else { return "loaded the tokenizer of \(directory)" }
    var line = "loaded \(architecture) from \(directory): "
    if let precision, let instructionSet { line += "precision \(precision), isa \(instructionSet), " }
    if !labels.isEmpty { line += "\(labels.count) labels, " }
    return line + "\(threads) thread(s)"
  }
}

/// How an embedding model turns texts into vectors.
public struct EmbeddingInfo: Sendable {
  /// What the model computes for each text.
  public enum Output: String, Sendable {
    case vector
    /// A vector for each token: late interaction.
    case tokenVectors = "token vectors"
    /// A weight for vocabulary pieces: a sparse model.
    case pieceWeights = "piece weights"
  }

  public let output: Output
  /// The numbers of tokens to which a model of late interaction cuts queries and documents; nil for other models.
  public let interactionLengths: (query: Int, document: Int)?
  /// How tokens' vectors become one, by sentence-transformers' names; the results of several are joined end to end.
  public let poolings: [String]
  /// The widths of the linear layers after the pooling.
  public let denseWidths: [Int]
  public let normalizes: Bool
  /// The number of tokens of a window; 0: no limit.
  public let maxSequenceLength: Int
  /// In the order of the file.
  public let prompts: [(name: String, text: String)]
  public let defaultPromptName: String?
  /// False: the vector excludes a prompt's tokens.
  public let poolsPrompts: Bool
}

extension EmbeddingInfo {
  init(_ configuration: EmbeddingConfiguration) {
    self.init(
      output: configuration.lateInteraction != nil
        ? .tokenVectors : configuration.sparse != nil ? .pieceWeights : .vector,
      interactionLengths: configuration.lateInteraction.map { ($0.query.length, $0.document.length) },
      poolings: configuration.hasTextVectors ? configuration.pooling.modes.map(\.rawValue) : [],
      denseWidths: configuration.dense.map(\.outs),
      normalizes: configuration.normalizes || configuration.lateInteraction != nil,
      maxSequenceLength: configuration.maxSequenceLength,
      configuration.prompts)
  }

  init(_ model: StaticModel) {
    self.init(
      poolings: [TokenPooling.Mode.mean.rawValue], denseWidths: [], normalizes: model.normalizes,
      maxSequenceLength: model.limit?.tokens ?? 0, model.prompts)
  }

  private init(
    output: Output = .vector, interactionLengths: (query: Int, document: Int)? = nil, poolings: [String],
    denseWidths: [Int], normalizes: Bool, maxSequenceLength: Int, _ prompts: EmbeddingPrompts
  ) {
    self.output = output
    self.interactionLengths = interactionLengths
    self.poolings = poolings
    self.denseWidths = denseWidths
    self.normalizes = normalizes
    self.maxSequenceLength = maxSequenceLength
    self.prompts = prompts.texts
    defaultPromptName = prompts.defaultName
    poolsPrompts = prompts.isPooled
  }
}

/// The properties that only recurrent language models have.
public struct SequenceInfo: Sendable {
  /// The number of floats in a state.
  public let stateLength: Int
  /// The separator between two words: a space, or nothing between characters.
  public let separator: String
  /// The word that ends a sequence, such as "</s>"; nil if the model has none.
  public let end: String?
  public let endID: Int32?
  /// The id of the word that replaces words outside the vocabulary; nil if the model has none.
  public let unknownID: Int32?
}
