/// The state of one text while the model reads it: its tokens, and the entities found in the windows so far.
///
/// Two windows may share tokens. The first half of these, including the middle one of an odd number, gets its
/// labels from the earlier window, the rest from the later one, so each token's label comes from the window
/// with the most context.
final class EntityWork: EntityWindows {
  private let text: TokenizedText
  private let windows: [WindowLayout.Parts]
  /// The memory that this text accounts for.
  private var memory: [MemoryLedger] = []
  private var aggregator: EntityAggregator
  /// The first token without a label.
  private var nextToken = 0
  /// The probabilities of one token, by label.
  private var probabilities: [Double]
  private var edges: TextEdges
  private let monitor: CallMonitor

  init(
    _ text: UnsafeBufferPointer<UInt8>, _ tokenizer: any Tokenizer, _ layout: WindowLayout,
    _ aggregator: EntityAggregator, labelCount: Int, _ monitor: CallMonitor
  ) throws(BertQAError) {
    try TextLimit.check(text, "text")
    self.monitor = monitor
    edges = TextEdges(text: text)
    self.aggregator = aggregator
    let before = monitor.heldBytes
    self.text = try TokenizedText(text, tokenizer, monitor)
    windows = try layout.parts(first: self.text, second: nil, monitor)
    memory.append(monitor.part(since: before))
    probabilities = [Double](repeating: 0, count: labelCount)
  }

  var item: WindowReader.Item {
    WindowReader.Item(first: text.tokens.ids[...], second: nil, windows: text.count > 0 ? windows : [])
  }

  /// Adds the labels of a window's tokens. Windows come in order.
  func add(_ output: WindowReader.Output) throws(BertQAError) {
    let before = monitor.heldBytes
    defer { keep(since: before) }
    let window = windows[output.window].first
    var end = window.upperBound
    if output.window + 1 < windows.count {
      let next = windows[output.window + 1].first
      end = next.lowerBound + (window.upperBound - next.lowerBound + 1) / 2
    }
    let first = text.tokenizer.template.prefix.count - window.lowerBound
    while nextToken < end {
      for label in probabilities.indices {
        let logit = output.values[label * output.stride + first + nextToken]
        guard logit.isFinite else { throw .nonFiniteResult("logits that are not finite numbers") }
        probabilities[label] = Double(logit)
      }
      let range = edges.range(of: nextToken, of: text.tokens)
      try probabilities.withMutableElements { buffer throws(BertQAError) in
        if let base = buffer.baseAddress { softmax(base, count: buffer.count) }
        try aggregator.add(
          UnsafeBufferPointer(buffer), range,
          continuesWord: text.continuesWord(nextToken))
      }
      nextToken += 1
    }
  }

  private func keep(since mark: Int) {
    if monitor.heldBytes != mark { memory.append(monitor.part(since: mark)) }
  }

  /// Returns the entities of all windows. Called once, after the last of them.
  /// - Parameter title: returns the label of an entity that starts with a label.
  func result(title: (Int) -> String) throws(BertQAError) -> EntityList {
    let before = monitor.heldBytes
    try aggregator.finish()
    keep(since: before)
    let found = aggregator.found
    return try monitor.undoing { () throws(BertQAError) in
      var list = EntityList()
      list.entities = try [Entity](resultCapacity: found.count, monitor)
      var locator = RangeLocator(text.text, monitor)
      for part in found {
        let bytes = edges.visible(TextRange(start: Int(part.start), end: Int(part.end)))
        if bytes.count == 0 { continue }
        list.entities.append(try locator.entity(title(Int(part.label)), bytes, part.score))
      }
      list.windowCount = item.windows.count
      return list
    }
  }
}
