import Glibc

/// The likelihood of a text under a model.
public struct SequenceScore: Sendable, Equatable {
  /// The number of predicted words: all but a sequence's first, plus the end symbol with
  /// `SequenceOptions.includesEnd`.
  public var wordCount = 0
  /// The number of words of the text that are not in the vocabulary.
  public var unknownCount = 0
  /// The sum of the natural logarithms of their probabilities.
  public var logLikelihood = 0.0

  /// exp(-logLikelihood / wordCount); NaN if no word was predicted.
  public var perplexity: Double {
    wordCount == 0 ? .nan : exp(-logLikelihood / Double(wordCount))
  }
}

extension SequenceModel {
  /// Computes the likelihood of a text that follows `state`. Without a state the first word is not predicted.
  func likelihood(
    _ text: UnsafeBufferPointer<UInt8>, state: SequenceState?, options: SequenceOptions
  ) throws(BertQAError) -> SequenceScore {
    let monitor = try begin(options, state)
    try TextLimit.check(text, "text")
    return try likelihood(text, state: state, includesEnd: options.includesEnd, monitor)
  }

  private func likelihood(
    _ text: UnsafeBufferPointer<UInt8>, state: SequenceState?, includesEnd: Bool, _ monitor: CallMonitor
  ) throws(BertQAError) -> SequenceScore {
    let text = try WordSplitter.split(text, words, monitor)
    var score = SequenceScore()
    score.unknownCount = text.unknownCount
    let before = monitor.heldBytes - text.heldBytes
    defer { monitor.release(monitor.heldBytes - before) }
    var targets = try [Int32](checkedCapacity: text.ids.count + 1, monitor)
    targets += text.ids
    if includesEnd { targets.append(try requiredEndID()) }
    var state = state
    if state == nil, let first = text.ids.first {
      targets.removeFirst()
      state = try step(id: first, state: nil)
    }
    guard let state else { return score }
    score.wordCount = targets.count
    score.logLikelihood = try logLikelihood(of: targets, after: state, monitor)
    return score
  }

  /// Computes the scores of several continuations of a prefix, and their indices, highest likelihood per word
  /// first.
  func rank(
    _ continuations: [UnsafeBufferPointer<UInt8>], after prefix: UnsafeBufferPointer<UInt8>,
    state: SequenceState?, options: SequenceOptions
  ) throws(BertQAError) -> (order: [Int], scores: [SequenceScore]) {
    let monitor = try begin(options, state)
    try TextLimit.check(prefix, "prefix")
    var state = state
    for id in try WordSplitter.split(prefix, words, monitor).ids {
      try monitor.check()
      state = try step(id: id, state: state)
    }
    var scores = try [SequenceScore](checkedCapacity: continuations.count, monitor)
    for (index, continuation) in continuations.enumerated() {
      do {
        try TextLimit.check(continuation, "continuation")
        scores.append(
          try likelihood(continuation, state: state, includesEnd: options.includesEnd, monitor))
      } catch {
        throw error.of(item: index, in: "continuations", count: continuations.count)
      }
    }
    let order = try scores.indices.checkedSorted(CallPoll(monitor)) { left, right in
      let (first, second) = (scores[left].perWord, scores[right].perWord)
      return first > second || first == second && left < right
    }
    return (order, scores)
  }

  private func requiredEndID() throws(BertQAError) -> Int32 {
    guard let endID = words.endID else {
      throw BertQAError(
        .invalidArgument, argument: "include_end", "is set, but the model has no word that ends a sequence")
    }
    return endID
  }

  /// Returns the sum of the logarithms of the probabilities of `targets`, which follow `state` one after the
  /// other.
  ///
  /// States must be computed one by one, but the logits after them can be computed together. The decoder,
  /// which is most of the work, then reads its weights once for many words.
  private func logLikelihood(
    of targets: [Int32], after state: SequenceState, _ monitor: CallMonitor
  ) throws(BertQAError) -> Double {
    guard !targets.isEmpty else { return 0 }
    let (length, vocabulary) = (configuration.stateLength, configuration.vocabularySize)
    let chunk = max(1, min(Self.chunkSequences, targets.count, Self.logitsPerChunk / vocabulary))
    let workspace = workspaces.take() ?? SequenceWorkspace()
    defer { workspaces.give(workspace) }
    try workspace.reserve(sequences: chunk, for: configuration)
    try workspace.reserve(words: chunk + 1, of: configuration)
    let team = ThreadPool.Team(
      maxThreads: SequencePass.threads(self, cost: chunk * configuration.decoderCost))
    let states = workspace.states.base
    states.update(from: state.base, count: length)
    var sum = 0.0
    for first in stride(from: 0, to: targets.count, by: chunk) {
      try monitor.check()
      let count = min(chunk, targets.count - first)
      for word in 0..<count where first + word + 1 < targets.count {
        workspace.sources.base[0] = states + word * length
        workspace.targets.base[0] = states + (word + 1) * length
        var pass = SequencePass(self, workspace, count: 1)
        withUnsafePointer(to: targets[first + word]) { pass.advance(ids: $0, team: team) }
      }
      for word in 0..<count { workspace.targets.base[word] = states + word * length }
      var pass = SequencePass(self, workspace, count: count)
      pass.decode(to: workspace.logits.base, team: team)
      for word in 0..<count {
        let logits = UnsafeBufferPointer(
          start: workspace.logits.base + word * vocabulary, count: vocabulary)
        let distribution = try WordDistribution(logits, workspace.exponentials.base, kernels)
        sum += distribution.logProbability(of: targets[first + word])
      }
      states.update(from: states + count * length, count: length)
    }
    return sum
  }

  /// The maximum number of floats in a chunk's logits.
  private static let logitsPerChunk = 1 << 20
}

extension SequenceScore {
  /// The value by which continuations are ranked; those without words come last.
  fileprivate var perWord: Double { wordCount == 0 ? -.infinity : logLikelihood / Double(wordCount) }
}
