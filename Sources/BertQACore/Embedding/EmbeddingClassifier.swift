/// Classifies by scores that are linear in the numbers of a text's vector. Immutable: any number of threads may use it
/// at once.
struct EmbeddingClassifier: Sendable {
  let embedder: any Embedder
  let head: LinearHead

  /// Returns one result or failure per text, in order. Throws failures of the whole call.
  func classifyEach(
    _ texts: [TextPair], _ options: ClassifyOptions
  ) throws(BertQAError) -> [Result<Classification, BertQAError>] {
    try options.validate(for: .singleLabel)
    guard options.labels.isEmpty else { throw Hypotheses.wrongModel("this one was trained on labels") }
    var embed = EmbedOptions()
    embed.normalizes = true
    embed.maxSequenceLength = options.maxSequenceLength
    embed.call = options.call
    return try head.classifyEach(texts, embedder, embed) { $0.require(options) }
  }
}

/// Scores of labels: bias + Σ weight · number of a vector.
struct LinearHead: Sendable {
  let labels: [String]
  /// [label][length]
  let weights: [Float]
  /// [label]
  let bias: [Float]
  var temperature = LengthTemperature.one

  /// The number of labels between two polls of the monitor.
  private static let pollInterval = 1024

  /// Returns one result or failure per text, in order. Throws failures of the whole call.
  /// - Parameter finish: completes a result.
  func classifyEach(
    _ texts: [TextPair], _ embedder: any Embedder, _ options: EmbedOptions,
    finish: (inout Classification) -> Void = { _ in }
  ) throws(BertQAError) -> [Result<Classification, BertQAError>] {
    // The embedder has its own monitor with the same account.
    var options = options
    options.call = options.call.withOneLedger
    let monitor = CallMonitor(options.call)
    // A text that cannot be read fails before earlier texts are classified.
    var results = try [Result<Classification, BertQAError>](results: .missing, count: texts.count, monitor)
    let divisor = temperature.at(occurrences: 0)
    try embedder.forEachVector(of: texts, called: "texts", options) {
      results[$0] = .failure($1)
    } _: { index, vector, windowCount throws(BertQAError) in
      try Memory.requireReserve(atItem: index)
      let logits = try labels.indices.checkedMap { label throws(BertQAError) in
        if label % Self.pollInterval == 0 { try monitor.check() }
        return logit(of: label, vector, length: embedder.length)
      }
      var result = try monitor.temporarily { () throws(BertQAError) in
        try Classification(
          logits: logits, labels: labels, problemType: .singleLabel, temperature: divisor,
          CallPoll(monitor))
      }
      try monitor.holdResult(result.scores.count, of: LabelScore.self)
      result.windowCount = windowCount
      finish(&result)
      results[index] = .success(result)
    }
    return results
  }

  private func logit(of label: Int, _ vector: UnsafePointer<Float>, length: Int) -> Double {
    let first = label * length
    var sum = Double(bias[label])
    for index in 0..<length { sum += Double(weights[first + index]) * Double(vector[index]) }
    return sum
  }
}
