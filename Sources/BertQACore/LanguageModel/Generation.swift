/// The reason why a generation ended, with the numbers of `bertqa_stop`.
public enum GenerationStop: Int32, Sendable, CaseIterable {
  /// The model predicted its end symbol.
  case end = 1
  /// `GenerateOptions.maxWords` were generated.
  case limit = 2
  /// `GenerateOptions.onWord` returned false.
  case callback = 3
}

/// The result of a generation.
public struct Generation: Sendable {
  /// The generated words, without the prompt and the end symbol.
  public let words: [PredictedWord]
  /// The words joined as in the model's texts: with spaces between words, without between characters.
  public let text: String
  public let stop: GenerationStop
  /// The number of words of the prompt that are not in the vocabulary.
  public let unknownCount: Int
  /// The state after the last word, for continuing.
  public let state: SequenceState
}

extension SequenceModel {
  /// Reads a prompt and generates a continuation. Never generates the unknown token.
  func generate(
    _ prompt: UnsafeBufferPointer<UInt8>, state: SequenceState?, options: GenerateOptions
  ) throws(BertQAError) -> Generation {
    try options.validate()
    try TextLimit.check(prompt, "prompt")
    if let state { try check(state) }
    let monitor = CallMonitor(options.call)
    try monitor.check()
    guard configuration.vocabularySize > (words.unknownID == nil ? 0 : 1) else {
      throw BertQAError(.invalidModel, "\(directory): the vocabulary has nothing but the unknown token")
    }
    let prompt = try WordSplitter.split(prompt, words, monitor)
    let workspace = workspaces.take() ?? SequenceWorkspace()
    defer { workspaces.give(workspace) }
    try workspace.reserve(words: 1, of: configuration)
    var current = try read(prompt.ids, state: state, logits: workspace.logits.base, monitor)

    var sampler = WordSampler(options)
    var generated: [PredictedWord] = []
    var stop: GenerationStop?
    while stop == nil {
      try monitor.check()
      guard let word = try choose(&sampler, workspace) else {
        stop = .end
        break
      }
      try generated.makeRoom(for: 1, monitor)
      generated.append(word)
      if let onWord = options.onWord, !onWord(word) {
        stop = .callback
      } else if generated.count == options.maxWords {
        stop = .limit
      }
      current = try step(
        id: word.id, state: current, logits: stop == nil ? workspace.logits.base : nil)
    }
    return Generation(
      words: generated, text: try joined(generated, monitor), stop: stop ?? .end,
      unknownCount: prompt.unknownCount,
      state: current)
  }

  /// Reads words and, if requested, computes the logits of the next word.
  func read(
    _ ids: [Int32], state: SequenceState?, logits: UnsafeMutablePointer<Float>?, _ monitor: CallMonitor
  ) throws(BertQAError) -> SequenceState {
    guard let last = ids.last else {
      guard let state else {
        throw BertQAError(
          .invalidArgument,
          "there is no word to continue from, and no state: give the prompt at least one word")
      }
      if let logits { try decode(state, to: logits) }
      return state
    }
    var current = state
    for id in ids.dropLast() {
      try monitor.check()
      current = try step(id: id, state: current)
    }
    return try step(id: last, state: current, logits: logits)
  }

  /// Chooses the next word by the workspace's logits; nil for the end symbol.
  private func choose(
    _ sampler: inout WordSampler, _ workspace: SequenceWorkspace
  ) throws(BertQAError) -> PredictedWord? {
    let logits = UnsafeBufferPointer(start: workspace.logits.base, count: configuration.vocabularySize)
    let scratch = workspace.exponentials.base
    let distribution = try WordDistribution(logits, scratch, kernels)
    if let unknownID = words.unknownID { workspace.logits.base[Int(unknownID)] = -.infinity }
    let id = sampler.draw(logits, weights: scratch)
    guard id != words.endID else { return nil }
    return distribution.word(id, words.vocabulary)
  }

  private func joined(_ words: [PredictedWord], _ monitor: CallMonitor) throws(BertQAError) -> String {
    let separator = Array(self.words.separator.utf8)
    var text: [UInt8] = []
    for (index, word) in words.enumerated() {
      try text.makeRoom(for: separator.count + word.bytes.count, monitor)
      if index > 0 { text += separator }
      text += word.bytes
    }
    try monitor.hold(text.count)
    return String(decoding: text, as: UTF8.self)
  }
}
