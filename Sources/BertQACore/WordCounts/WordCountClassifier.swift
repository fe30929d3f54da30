/// Classifies texts by the counts of their words. Immutable: any number of threads may use it at once.
final class WordCountClassifier: Sendable {
  let model: WordCountModel
  /// The maximum number of threads for one call; 0: as many as are available.
  private let threadLimit: Int
  private let scratch = ObjectPool<WordCounts>()

  init(_ model: WordCountModel, threadLimit: Int) {
    self.model = model
    self.threadLimit = threadLimit
    // Made here because a fork in another thread could interrupt the first call.
    _ = ThreadPool.shared
  }

  var threadCount: Int { threadLimit > 0 ? threadLimit : ThreadPool.shared.size }

  /// Returns one result or failure per text, in order. Throws failures of the whole call.
  func classifyEach(
    _ texts: [TextPair], _ options: ClassifyOptions
  ) throws(BertQAError) -> [Result<Classification, BertQAError>] {
    try BertQAError.check("contributions", options.contributions, 0...Int(Int32.max))
    try options.validate(for: .singleLabel)
    guard options.labels.isEmpty else { throw Hypotheses.wrongModel("this one counts words") }
    let monitor = CallMonitor(options.call)
    try monitor.check()
    let resultSize =
      MemoryLayout<Result<Classification, BertQAError>>.stride
      + model.labelCount * MemoryLayout<LabelScore>.stride
    try monitor.hold(texts.count * resultSize)
    try Memory.require(texts.count * resultSize)
    var results = try [Result<Classification, BertQAError>](repeating: .missing, count: texts.count, nil)
    try results.withMutableElements { results throws(BertQAError) in
      let groups = TextGroups(texts.indices, byteCount: { texts[$0].text.count }, monitor)
      // Each thread writes the results of its own groups, which no other thread reads before all are done.
      try groups.run(threads: threadCount) { [self] index, isCaller throws(BertQAError) in
        try Memory.requireReserve(atItem: index)
        do throws(BertQAError) {
          // The ledger releases the memory of the work; the contributions stay counted.
          let work = CallPoll(monitor, isCaller: isCaller, MemoryLedger(partOf: monitor.ledger))
          let result = try classify(texts[index], options, poll: work)
          try monitor.holdResult(result.contributions.count, of: WordContribution.self)
          results[index] = .success(result)
        } catch {
          if error.status == .cancelled || error.status == .deadlineExceeded { throw error }
          results[index] = .failure(error.of(item: index, in: "texts", count: texts.count))
        }
      }
      if monitor.stopsAtFailure { for result in results { _ = try result.get() } }
    }
    return results
  }

  private func classify(
    _ pair: TextPair, _ options: ClassifyOptions, poll: CallPoll
  ) throws(BertQAError) -> Classification {
    guard pair.second == nil else {
      throw BertQAError(
        .invalidArgument, argument: "second", "is set, but a word-count model reads only single texts")
    }
    let text = pair.text
    try TextLimit.check(text, "text")
    let counts =
      if let idle = scratch.take() { idle } else { try WordCounts(featureCount: model.featureCount) }
    defer {
      counts.removeAll()
      scratch.give(counts)
    }
    try counts.count(text, of: model, poll: poll)
    guard counts.distinctWords >= model.settings.minDistinctWords else {
      return Classification(scores: [], notEnoughText: true, distinctWords: counts.distinctWords)
    }
    let scale = model.scale(of: counts)
    var result = try Classification(
      logits: model.logits(of: counts, scale: scale), labels: model.labels, problemType: .singleLabel,
      temperature: model.temperature.at(occurrences: counts.occurrenceCount))
    result.distinctWords = counts.distinctWords
    result.require(options)
    if options.contributions > 0, let best = result.scores.first {
      result.contributions = try model.contributions(
        to: best.id, in: text, scale: scale, limit: options.contributions, poll: poll)
    }
    return result
  }
}
