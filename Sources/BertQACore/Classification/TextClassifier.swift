/// Classification by an encoder and its head. Immutable.
struct TextClassifier: Sendable {
  let reader: TextReader
  let labels: [String]
  let problemType: ProblemType

  /// Returns one result or failure per text, in order. For a long text the logits of its windows are
  /// averaged, or their maximum is taken, before they become probabilities.
  func classifyEach(
    _ texts: [TextPair], _ options: ClassifyOptions
  ) throws(BertQAError) -> [Result<Classification, BertQAError>] {
    try options.validate(for: problemType)
    let layout = try WindowLayout(
      maxSequenceLength: options.maxSequenceLength, documentStride: options.documentStride,
      maxPositions: reader.reader.maxPositions, template: reader.reader.tokenizer.template)
    // The reader has its own monitor with the same account.
    var options = options
    options.call = options.call.withOneLedger
    let monitor = CallMonitor(options.call)
    if !options.labels.isEmpty { return try classifyEach(texts, layout, options, monitor) }
    var results = try [Result<Classification, BertQAError>](results: .missing, count: texts.count, monitor)
    var pooled = PooledLogits(options.windowPooling, count: labels.count)
    try reader.read(texts, layout, options.call) { index, error in
      pooled.removeAll()
      results[index] = .failure(error)
    } _: { output throws(BertQAError) in
      try pooled.add(output.values)
      guard output.isLastOfItem else { return }
      let windowCount = pooled.windowCount
      var result = try Classification(logits: pooled.take(), labels: labels, problemType: problemType)
      result.windowCount = windowCount
      result.require(options)
      try monitor.holdResult(result.scores.count, of: LabelScore.self)
      results[output.item] = .success(result)
    }
    return results
  }

  /// As above, with the labels of the options. A text's tokens are computed once for all of them.
  private func classifyEach(
    _ texts: [TextPair], _ layout: WindowLayout, _ options: ClassifyOptions, _ monitor: CallMonitor
  ) throws(BertQAError) -> [Result<Classification, BertQAError>] {
    let tokenizer = reader.reader.tokenizer
    return try withBytes(of: Hypotheses.sentences(options, monitor)) { sentences throws(BertQAError) in
      let hypotheses = try Hypotheses(sentences, options, names: labels, tokenizer, monitor)
      var results = try [Result<Classification, BertQAError>](results: .missing, count: texts.count, monitor)
      // For each text that the model has not finished: by label, the end of its windows.
      var ends: [Int: [Int]] = [:]
      // A text's tokens are copied into the slice before the next text is tokenized.
      var part: MemoryLedger?
      var logits: [Float] = []
      var pooled = PooledLogits(options.windowPooling, count: labels.count)
      try reader.reader.read(count: texts.count, called: "texts", monitor) { index throws(BertQAError) in
        guard texts[index].second == nil else {
          throw BertQAError(
            .invalidArgument, argument: "second", "is set, but labels are the second texts: pass single texts"
          )
        }
        part = nil
        let before = monitor.heldBytes
        let (item, itemEnds) = try monitor.undoing { () throws(BertQAError) in
          try TextLimit.check(texts[index].text, "text")
          let text = try TokenizedText(texts[index].text, tokenizer, monitor)
          return try hypotheses.item(of: text, layout, monitor)
        }
        part = monitor.part(since: before)
        ends[index] = itemEnds
        return item
      } failed: { index, error throws(BertQAError) in
        pooled.removeAll()
        logits.removeAll(keepingCapacity: true)
        ends[index] = nil
        results[index] = .failure(error)
      } deliver: { output throws(BertQAError) in
        try pooled.add(output.values)
        if ends[output.item]?[logits.count] == output.window + 1 {
          logits.append(hypotheses.logit(pooled.take()))
        }
        guard output.isLastOfItem else { return }
        var result = try hypotheses.classification(logits, CallPoll(monitor))
        logits.removeAll(keepingCapacity: true)
        ends[output.item] = nil
        result.windowCount = output.window + 1
        result.require(options)
        try monitor.holdResult(result.scores.count, of: LabelScore.self)
        results[output.item] = .success(result)
      }
      withExtendedLifetime(part) {}
      return results
    }
  }
}

/// Combines the logits of a text's windows into those of the text, one window at a time.
private struct PooledLogits {
  private let pooling: ClassifyOptions.WindowPooling
  private(set) var windowCount = 0
  /// The sum or the maximum so far, per label.
  private var values: [Double]

  init(_ pooling: ClassifyOptions.WindowPooling, count: Int) {
    self.pooling = pooling
    values = [Double](repeating: 0, count: count)
  }

  /// - Parameter logits: one per label.
  mutating func add(_ logits: UnsafePointer<Float>) throws(BertQAError) {
    let logits = UnsafeBufferPointer(start: logits, count: values.count)
    guard logits.allSatisfy(\.isFinite) else {
      throw .nonFiniteResult("logits that are not finite numbers")
    }
    for (label, logit) in logits.enumerated() {
      switch pooling {
      case .mean: values[label] += Double(logit)
      case .max: values[label] = windowCount == 0 ? Double(logit) : max(values[label], Double(logit))
      }
    }
    windowCount += 1
  }

  /// Returns the text's logits and starts another text.
  mutating func take() -> [Float] {
    let divisor = pooling == .mean ? Double(windowCount) : 1
    let logits = values.map { Float($0 / divisor) }
    removeAll()
    return logits
  }

  mutating func removeAll() {
    windowCount = 0
    for label in values.indices { values[label] = 0 }
  }
}
