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
    guard (0...Int(Int32.max)).contains(options.contributions) else {
      throw BertQAError(
        .invalidArgument, argument: "contributions",
        "is \(options.contributions), but must be 0 to \(Int32.max)")
    }
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
      let batch = Batch(texts, options, monitor, results)
      let team = ThreadPool.Team(maxThreads: max(1, min(threadCount, batch.groupCount)))
      team.run(count: batch.groupCount, whileWaiting: batch.poll) { group, seat in
        batch.classify(group: group, isCaller: seat == 0, by: self)
      }
      if let stop = batch.stop { throw stop }
      if monitor.stopsAtFailure { for result in results { _ = try result.get() } }
    }
    return results
  }

  fileprivate func classify(
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

extension WordCountClassifier {
  /// The texts of one call, in groups. One thread processes a group at a time.
  fileprivate final class Batch: @unchecked Sendable {
    // Sendable: each thread writes the results of its own groups, which no other thread reads before all are
    // done. `stop` belongs to the calling thread.

    private let texts: [TextPair]
    private let options: ClassifyOptions
    private let monitor: CallMonitor
    /// The reason why the call ends.
    private(set) var stop: BertQAError?
    /// The bounds of the groups in `texts`.
    private var bounds = [0]
    private let results: UnsafeMutableBufferPointer<Result<Classification, BertQAError>>

    /// A group with this many bytes of text is closed.
    private static let groupBytes = 1 << 16

    /// - Parameter results: [texts], receives the results.
    init(
      _ texts: [TextPair], _ options: ClassifyOptions, _ monitor: CallMonitor,
      _ results: UnsafeMutableBufferPointer<Result<Classification, BertQAError>>
    ) {
      self.texts = texts
      self.options = options
      self.monitor = monitor
      self.results = results
      var bytes = 0
      for (index, pair) in texts.enumerated() {
        // Short texts take time, too.
        bytes += pair.text.count + 64
        if bytes >= Self.groupBytes || index + 1 == texts.count {
          bounds.append(index + 1)
          bytes = 0
        }
      }
    }

    var groupCount: Int { bounds.count - 1 }

    /// Checks whether to stop. On the calling thread only.
    func poll() {
      guard stop == nil else { return }
      do throws(BertQAError) {
        try monitor.check()
      } catch {
        stop = error
      }
    }

    func classify(group: Int, isCaller: Bool, by classifier: WordCountClassifier) {
      let poll = CallPoll(monitor, isCaller: isCaller)
      for index in bounds[group]..<bounds[group + 1] {
        do throws(BertQAError) {
          try poll.check()
        } catch {
          if isCaller, stop == nil { stop = error }
          return
        }
        do throws(BertQAError) {
          // The ledger releases the memory of the work; the contributions stay counted.
          let work = CallPoll(monitor, isCaller: isCaller, MemoryLedger(partOf: monitor.ledger))
          let result = try classifier.classify(texts[index], options, poll: work)
          try monitor.holdResult(result.contributions.count, of: WordContribution.self)
          results[index] = .success(result)
        } catch {
          if error.status == .cancelled || error.status == .deadlineExceeded {
            if isCaller, stop == nil { stop = error }
            return
          }
          results[index] = .failure(error.of(item: index, in: "texts", count: texts.count))
        }
      }
    }
  }
}
