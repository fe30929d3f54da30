/// What a context loaded and how it runs.
public struct ModelInfo: Sendable {
  /// Where the model came from.
  public let directory: String
  /// Hugging Face's name, such as "BertForQuestionAnswering"; empty for a tokenizer alone.
  public let architecture: String
  /// What the model is for; nil for a tokenizer alone.
  public var task: ModelTask? = nil
  /// In use, never `.auto`; nil for word-count models and tokenizers, like the next one.
  public let precision: Precision?
  public let instructionSet: InstructionSet?
  /// Threads that one call may use, the calling one included.
  public let threads: Int
  public let vocabularySize: Int
  /// The model's dimensions; 0 where it has no such thing.
  public let hiddenSize: Int
  public let layerCount: Int
  public let headCount: Int
  public let intermediateSize: Int
  /// The longest window, in tokens.
  public let maxPositions: Int
  public let lowercase: Bool
  /// The model's own threshold on the gap below which a question counts as impossible.
  public let noAnswerThreshold: Float
  /// A classifier's labels by id.
  public var labels: [String] = []
  /// Floats of an embedding; 0 for models of other tasks.
  public var embeddingLength = 0
  /// Floats of a sequence's state; 0 for models of other tasks.
  public var stateLength = 0
}
