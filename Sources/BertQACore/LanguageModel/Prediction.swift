/// The words that may come next.
public struct Prediction: Sendable {
  /// The most probable first, equal ones by id.
  public let words: [PredictedWord]
  /// Whether the word that was read is not in the vocabulary; the model read its unknown token.
  public let isUnknown: Bool
  /// Of every word, by id; sums to 1.
  public let probabilities: [Float]
}

extension SequenceModel {
  /// One step: reads a word and predicts the next.
  func predict(
    _ word: UnsafeBufferPointer<UInt8>, state: SequenceState?, topK: Int
  ) throws(BertQAError) -> (prediction: Prediction, state: SequenceState) {
    try check(topK, state)
    let read = try words.id(reading: word)
    return try predict(after: [read.id], isUnknown: read.isUnknown, state: state, topK: topK)
  }

  /// Reads a text and predicts the next word.
  func predict(
    after text: UnsafeBufferPointer<UInt8>, state: SequenceState?, topK: Int
  ) throws(BertQAError) -> (prediction: Prediction, state: SequenceState) {
    try check(topK, state)
    let text = try WordSplitter.split(text, words)
    return try predict(
      after: text.ids, isUnknown: text.ids.last == words.unknownID, state: state, topK: topK)
  }

  private func check(_ topK: Int, _ state: SequenceState?) throws(BertQAError) {
    guard topK >= 1 else {
      throw BertQAError(.invalidArgument, "top_k is \(topK), but must be at least 1")
    }
    if let state { try check(state, "state") }
  }

  private func predict(
    after ids: [Int32], isUnknown: Bool, state: SequenceState?, topK: Int
  ) throws(BertQAError) -> (prediction: Prediction, state: SequenceState) {
    let workspace = workspaces.take() ?? SequenceWorkspace()
    defer { workspaces.give(workspace) }
    try workspace.reserve(words: 1, of: configuration)
    let logits = UnsafeBufferPointer(
      start: workspace.logits.base, count: configuration.vocabularySize)
    let next = try read(ids, state: state, logits: workspace.logits.base)
    let distribution = try WordDistribution(logits, workspace.exponentials.base, kernels)
    let probabilities = distribution.probabilities(workspace.exponentials.base)
    let best = TopWords.ids(of: logits, count: topK).map { distribution.word($0, words.vocabulary) }
    return (Prediction(words: best, isUnknown: isUnknown, probabilities: probabilities), next)
  }

  /// One step that predicts nothing.
  func read(
    _ word: UnsafeBufferPointer<UInt8>, state: SequenceState?
  ) throws(BertQAError) -> SequenceState {
    if let state { try check(state, "state") }
    return try step(id: words.id(reading: word).id, state: state)
  }
}
