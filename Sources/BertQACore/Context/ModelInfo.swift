/// What a context loaded and how it runs.
public struct ModelInfo: Sendable {
  /// Where the model came from.
  public let directory: String
  /// Hugging Face's name, such as "BertForQuestionAnswering"; empty for a tokenizer alone.
  public internal(set) var architecture = ""
  /// What the model is for; nil for a tokenizer alone.
  public internal(set) var task: ModelTask?
  /// In use, never `.auto`; nil for word-count models and tokenizers.
  public internal(set) var precision: Precision?
  /// In use, never `.auto`; nil for word-count models and tokenizers.
  public internal(set) var instructionSet: InstructionSet?
  /// Threads that one call may use, the calling one included.
  public internal(set) var threads = 1
  /// Pieces or words.
  public internal(set) var vocabularySize = 0
  /// The model's dimensions; 0 where it has no such thing.
  public internal(set) var hiddenSize = 0
  public internal(set) var layerCount = 0
  public internal(set) var headCount = 0
  public internal(set) var intermediateSize = 0
  /// The longest window, in tokens.
  public internal(set) var maxPositions = 0
  public internal(set) var lowercase = false
  /// The model's own threshold on the gap below which a question counts as impossible.
  public internal(set) var noAnswerThreshold: Float = 0
  /// A classifier's labels by id.
  public internal(set) var labels: [String] = []
  /// Floats of an embedding; 0 for models of other tasks.
  public internal(set) var embeddingLength = 0
  /// Floats of a sequence's state; 0 for models of other tasks.
  public internal(set) var stateLength = 0

  init(directory: String) { self.directory = directory }

  /// One line for a log.
  var summary: String {
    guard task != nil else { return "loaded the tokenizer of \(directory)" }
    var line = "loaded \(architecture) from \(directory): "
    if let precision, let instructionSet { line += "precision \(precision), isa \(instructionSet), " }
    if !labels.isEmpty { line += "\(labels.count) labels, " }
    return line + "\(threads) thread(s)"
  }
}

/// What a recurrent language model has beside `ModelInfo`.
public struct SequenceInfo: Sendable {
  /// Floats of a state.
  public let stateLength: Int
  /// The text between two words: a space, or nothing between characters.
  public let separator: String
  /// The word that ends a sequence, such as "</s>"; nil where the model has none.
  public let end: String?
  public let endID: Int32?
  /// Of the word that words outside the vocabulary are read as; nil where the model has none.
  public let unknownID: Int32?
}
