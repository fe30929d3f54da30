/// Classification by a BERT encoder and the head on it. Immutable.
struct TextClassifier: Sendable {
  let reader: TextReader
  private let head: ClassificationHead
  private let labels: [String]
  private let problemType: ProblemType

  /// nil for a model without such a head.
  init?(reader: TextReader) {
    guard let head = ClassificationHead(reader.encoder) else { return nil }
    self.reader = reader
    self.head = head
    labels = reader.encoder.configuration.labels
    problemType = reader.encoder.configuration.problemType
  }

  /// One result per text, in order. The logits of a long text's windows are averaged, or the largest are
  /// taken, before they become probabilities.
  func classify(
    _ texts: [TextPair], options: ClassifyOptions
  ) throws(BertQAError) -> [Classification] {
    let windows = try options.windows(maxPositions: reader.encoder.configuration.maxPositions)
    var results: [Classification] = []
    results.reserveCapacity(texts.count)
    var pooled = PooledLogits(options.windowPooling, count: labels.count)
    try reader.read(texts, .first, windows, cancellation: options.cancellation) {
      parts, vectors throws(BertQAError) in
      let logits = try head.logits(of: vectors, count: parts.count)
      for (index, part) in parts.enumerated() {
        let ofWindow = logits[index * labels.count..<(index + 1) * labels.count]
        guard ofWindow.allSatisfy(\.isFinite) else {
          throw BertQAError(
            .invalidModel,
            "the model produced logits that are not finite numbers (texts[\(part.text)]): its weights are "
              + "damaged or overflow the chosen precision; check the model's files")
        }
        pooled.add(ofWindow)
        guard part.isLastOfText else { continue }
        let windowCount = pooled.windowCount
        var result = Classification(
          logits: pooled.take(), labels: labels, problemType: problemType)
        result.windowCount = windowCount
        results.append(result)
      }
    }
    return results
  }
}

extension ClassifyOptions {
  /// How these options cut texts for a model.
  fileprivate func windows(maxPositions: Int) throws(BertQAError) -> TextWindows {
    guard documentStride >= 0 else {
      throw BertQAError(
        .invalidArgument, "doc_stride is \(documentStride), but must be at least 0")
    }
    return TextWindows(
      maxSequenceLength: try TextWindows.length(maxSequenceLength, default: maxPositions, maxPositions),
      overlap: documentStride)
  }
}
