/// Options for calls on a recurrent language model.
public struct SequenceOptions: Sendable {
  /// Predictions: the number of words to return, at least 1. A number above the size of the vocabulary means
  /// all.
  public var topK = 1
  /// Likelihoods: true if the text is complete, so that its end symbol is predicted too.
  public var includesEnd = false
  public var call = CallOptions()

  public init(topK: Int = 1, includesEnd: Bool = false) {
    self.topK = topK
    self.includesEnd = includesEnd
  }

  /// Throws `.invalidArgument` for the first option outside its range.
  func validate() throws(BertQAError) {
    try BertQAError.check("top_k", topK, 1...Int.max)
  }
}

/// Options for generating a sequence, with the names and meanings of Hugging Face's `generate`.
public struct GenerateOptions {
  /// The maximum number of generated words, 1...1 000 000.
  public var maxWords = 100
  /// 0: greedy, always the most probable word. A positive number divides the logits.
  public var temperature: Float = 0
  /// Draws only from the k most probable words; 0: from all.
  public var topK = 0
  /// Draws only from the fewest words whose probabilities sum to this, above 0 and at most 1; 1: from all.
  public var topP: Float = 1
  /// The same seed leads to the same words.
  public var seed: UInt64 = 0
  /// Called on the calling thread with each generated word. If it returns false, the generation ends after
  /// this word without an error (`GenerationStop.callback`).
  public var onWord: ((PredictedWord) -> Bool)?
  public var call = CallOptions()

  public init() {}

  /// Throws `.invalidArgument` for the first option outside its range.
  package func validate() throws(BertQAError) {
    try BertQAError.check("max_words", maxWords, 1...1_000_000)
    try BertQAError.check(
      "temperature", temperature, temperature >= 0 && temperature.isFinite, "0 or a positive number")
    try BertQAError.check("top_k", topK, 0...Int.max)
    try BertQAError.check("top_p", topP, topP > 0 && topP <= 1, "above 0 and at most 1")
  }
}
