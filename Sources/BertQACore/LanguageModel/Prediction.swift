import Glibc

/// A predicted or generated word.
public struct PredictedWord: Sendable {
  /// The id in the vocabulary.
  public let id: Int32
  /// The model's softmax over all words, 0...1, including words that the options of a generation exclude.
  public let probability: Float
  /// The natural logarithm of the probability.
  public let logProbability: Float
  private let vocabulary: Vocabulary

  init(_ id: Int32, logProbability: Double, _ vocabulary: Vocabulary) {
    self.id = id
    self.logProbability = Float(logProbability)
    probability = Float(exp(logProbability))
    self.vocabulary = vocabulary
  }

  /// The word as the vocabulary spells it, in UTF-8, followed by a NUL. Valid while this value lives.
  public var bytes: UnsafeBufferPointer<UInt8> { vocabulary.piece(id) }

  public var text: String {
    defer { withExtendedLifetime(vocabulary) {} }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// The predicted next words.
public struct Prediction: Sendable {
  /// The `SequenceOptions.topK` most probable words, most probable first, equal ones by id.
  public let words: [PredictedWord]
  /// True if the word that was read is not in the vocabulary, so the model read its unknown token.
  public let isUnknown: Bool
  /// [vocabulary], by id: the softmax of the logits.
  public let probabilities: [Float]
}

extension SequenceModel {
  /// Makes one step: reads a word and predicts the next.
  func predict(
    _ word: UnsafeBufferPointer<UInt8>, state: SequenceState?, options: SequenceOptions
  ) throws(BertQAError) -> (prediction: Prediction, state: SequenceState) {
    let monitor = try begin(options, state)
    try TextLimit.check(word, "word")
    let read = try words.id(reading: word)
    return try predict(
      after: [read.id], isUnknown: read.isUnknown, state: state, topK: options.topK, monitor)
  }

  /// Reads a text and predicts the next word. `isUnknown` refers to the text's last word.
  func predict(
    after text: UnsafeBufferPointer<UInt8>, state: SequenceState?, options: SequenceOptions
  ) throws(BertQAError) -> (prediction: Prediction, state: SequenceState) {
    let monitor = try begin(options, state)
    try TextLimit.check(text, "text")
    let text = try WordSplitter.split(text, words, monitor)
    let isUnknown = !text.ids.isEmpty && text.ids.last == words.unknownID
    return try predict(after: text.ids, isUnknown: isUnknown, state: state, topK: options.topK, monitor)
  }

  private func predict(
    after ids: [Int32], isUnknown: Bool, state: SequenceState?, topK: Int, _ monitor: CallMonitor
  ) throws(BertQAError) -> (prediction: Prediction, state: SequenceState) {
    let workspace = workspaces.take() ?? SequenceWorkspace()
    defer { workspaces.give(workspace) }
    try workspace.reserve(words: 1, of: configuration)
    let logits = UnsafeBufferPointer(
      start: workspace.logits.base, count: configuration.vocabularySize)
    let next = try read(ids, state: state, logits: workspace.logits.base, monitor)
    let distribution = try WordDistribution(logits, workspace.exponentials.base, kernels)
    let probabilities = distribution.probabilities(workspace.exponentials.base)
    let best = TopWords.ids(of: logits, count: topK).map { distribution.word($0, words.vocabulary) }
    return (Prediction(words: best, isUnknown: isUnknown, probabilities: probabilities), next)
  }

  /// Makes one step without a prediction.
  func read(
    _ word: UnsafeBufferPointer<UInt8>, state: SequenceState?, options: SequenceOptions
  ) throws(BertQAError) -> SequenceState {
    _ = try begin(options, state)
    try TextLimit.check(word, "word")
    return try step(id: words.id(reading: word).id, state: state)
  }

  /// Reads a text without a prediction.
  func read(
    text: UnsafeBufferPointer<UInt8>, state: SequenceState?, options: SequenceOptions
  ) throws(BertQAError) -> SequenceState {
    let monitor = try begin(options, state)
    try TextLimit.check(text, "text")
    return try read(WordSplitter.split(text, words, monitor).ids, state: state, logits: nil, monitor)
  }
}
