/// Windows of one or several pairs that go through the model in one call.
struct WindowSlice {
  private var batch = WindowBatch(ids: [], windows: [])
  private var sources: [(pair: PairWork, window: Int)] = []

  /// Tokens collected so far.
  var tokenCount: Int { batch.ids.count }
  var windowCount: Int { sources.count }

  /// [CLS] question [SEP] document [SEP]
  mutating func append(_ pair: PairWork, window index: Int) {
    let window = pair.windows[index]
    let firstToken = batch.ids.count
    batch.ids += pair.prefix
    batch.ids += pair.document.tokens.ids[window.firstToken..<window.endToken]
    batch.ids.append(pair.document.tokenizer.sepID)
    batch.windows.append(
      Window(
        firstToken: firstToken, tokenCount: batch.ids.count - firstToken,
        secondSegment: pair.prefix.count))
    sources.append((pair, index))
  }

  /// Runs the model on what was collected, hands the logits to their pairs, and is empty again.
  mutating func run(_ model: any LogitsSource, _ cancellation: Cancellation?) throws(BertQAError) {
    if let cancellation, cancellation.isCancelled() {
      throw BertQAError(.cancelled, "cancelled by the caller")
    }
    if sources.isEmpty { return }
    let (start, end) = try model.logits(of: batch, cancellation: cancellation)
    guard start.count == batch.ids.count, end.count == batch.ids.count else {
      throw BertQAError(
        .internal, "\(start.count) start and \(end.count) end logits for \(batch.ids.count) tokens")
    }
    for (source, window) in zip(sources, batch.windows) {
      try source.pair.store(
        window: source.window, start: start, end: end, firstToken: window.firstToken)
    }
    batch.ids.removeAll(keepingCapacity: true)
    batch.windows.removeAll(keepingCapacity: true)
    sources.removeAll(keepingCapacity: true)
  }
}
