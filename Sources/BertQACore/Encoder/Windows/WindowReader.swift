/// Reads the items of a call through a model, in windows. Every task uses it to get a head's numbers for
/// tokens.
///
/// It prepares items one after the other and collects their windows in slices, which bound the memory of a
/// call. The model reads one slice at a time. Results do not depend on the slices.
struct WindowReader: Sendable {
  let tokenizer: any Tokenizer
  var model: any WindowModel
  /// The maximum number of tokens in a window of the model.
  let maxPositions: Int
  /// The number of tokens or windows at which a slice is full and the model is run.
  var sliceTokens = 65_536
  var sliceWindows = 4096
  /// The frame around the tokens of a window; nil: the tokenizer's template.
  var frame: WindowFrame?
  /// The approximate bytes of an item's failure, including its message.
  private static let failureBytes = 512
  /// The approximate bytes of a token and of a window in a slice. A memory limit makes slices smaller.
  private static let (tokenBytes, windowBytes) = (256, 16_384)
  /// The tokens of a slice if the caller wants progress reports: small, so that reports are frequent.
  static let watchedSliceTokens = 16_384

  /// An item's tokens, and the parts of them that become windows. An item without windows is not read.
  struct Item {
    var first: ArraySlice<Int32>
    var second: ArraySlice<Int32>?
    var windows: [WindowLayout.Parts]
    /// The first tokens of `first` that windows leave out of their vectors, with the special tokens before them.
    var unpooledCount = 0
  }

  /// The windows that a call has read so far, and those that it is known to read.
  final class Progress {
    fileprivate var read = 0
    fileprivate var known = 0
  }

  /// The model's numbers for one window.
  struct Output {
    /// The index of the item in the call.
    let item: Int
    /// The position among the item's windows.
    let window: Int
    let isLastOfItem: Bool
    let tokenCount: Int
    /// The window's tokens, special tokens included.
    let ids: ArraySlice<Int32>
    /// The number of its first tokens that its vector omits.
    let unpooledCount: Int
    /// For heads of tokens: column c of the window's tokens starts at `c * stride`. For heads of windows: the
    /// window's numbers.
    let values: UnsafePointer<Float>
    /// From one column to the next, for heads of tokens.
    let stride: Int
  }

  /// - Parameters:
  ///   - count: the number of items.
  ///   - name: the name of the array of items in error messages.
  ///   - input: whether the model returns numbers per token or per window; nil: as its head does.
  ///   - progress: that of a call that reads several times.
  ///   - prepare: returns an item's tokens. An error that it throws is the item's failure, unless it concerns
  ///     the whole call.
  ///   - failed: receives an item's failure, after the windows of the items before it and before those of the items
  ///     behind it. An error that it throws ends the call. Not called if the call stops at its first failure.
  ///   - deliver: takes the numbers of each window, in the order of the items and of the windows within them.
  ///     An error that it throws is the item's failure too: the item's other windows are not delivered.
  func read(
    count: Int, called name: String, giving input: HeadInput? = nil, _ monitor: CallMonitor,
    _ progress: Progress = Progress(),
    prepare: (Int) throws(BertQAError) -> Item,
    failed: (Int, BertQAError) throws(BertQAError) -> Void,
    deliver: (Output) throws(BertQAError) -> Void
  ) throws(BertQAError) {
    var slice = Slice()
    var lastFailed: Int?
    let sliceTokens =
      monitor.reportsProgress ? min(sliceTokens, Self.watchedSliceTokens) : sliceTokens

    func failure(_ index: Int, _ error: BertQAError) throws(BertQAError) -> BertQAError {
      try Self.failure(error, ofItem: index, in: name, count: count, monitor)
    }
    func runSlice() throws(BertQAError) {
      monitor.report(done: progress.read, of: progress.known)
      progress.read += slice.sources.count
      try monitor.checkNow()
      try slice.run(model, input, monitor, failed: failed) { output throws(BertQAError) in
        guard output.item != lastFailed else { return }
        do throws(BertQAError) {
          try deliver(output)
        } catch {
          lastFailed = output.item
          try failed(output.item, try failure(output.item, error))
        }
      }
    }
    for index in 0..<count {
      try monitor.check()
      try Memory.requireReserve(atItem: index)
      let item: Item
      do throws(BertQAError) {
        item = try prepare(index)
      } catch {
        slice.failures.append((slice.sources.count, index, try failure(index, error)))
        if slice.failures.count >= sliceWindows { try runSlice() }
        continue
      }
      progress.known += item.windows.count
      for (number, parts) in item.windows.enumerated() {
        slice.append(
          item, parts, frame ?? WindowFrame(template: tokenizer.template),
          Slice.Source(item: index, window: number, isLastOfItem: number == item.windows.count - 1))
        if slice.batch.ids.count >= min(sliceTokens, monitor.room / Self.tokenBytes)
          || slice.sources.count >= min(sliceWindows, monitor.room / Self.windowBytes)
        {
          try runSlice()
        }
      }
    }
    try runSlice()
    monitor.report(done: progress.read, of: progress.known)
  }

  /// Returns the failure of one item of a call, which names it. Throws it if it ends the call.
  static func failure(
    _ error: BertQAError, ofItem index: Int, in name: String, count: Int, _ monitor: CallMonitor
  ) throws(BertQAError) -> BertQAError {
    if error.concernsWholeCall { throw error }
    let error = error.of(item: index, in: name, count: count)
    if monitor.stopsAtFailure { throw error }
    try monitor.holdResult(failureBytes, of: UInt8.self)
    return error
  }

  /// The windows of one or several items that the model reads at once.
  private struct Slice {
    struct Source {
      var item: Int
      var window: Int
      var isLastOfItem: Bool
    }

    var batch = WindowBatch()
    var sources: [Source] = []
    /// The items that could not be prepared, each with the number of `sources` before it.
    var failures: [(position: Int, item: Int, error: BertQAError)] = []

    mutating func append(
      _ item: Item, _ parts: WindowLayout.Parts, _ frame: WindowFrame, _ source: Source
    ) {
      let unpooled = parts.first.clamped(to: 0..<item.unpooledCount).count
      batch.append(
        first: item.first[shifted(parts.first, item.first)],
        second: item.second.map { $0[shifted(parts.second ?? 0..<0, $0)] }, frame.template,
        unpooledCount: unpooled > 0 ? frame.template.prefix.count + unpooled : 0, padding: frame.padding)
      sources.append(source)
    }

    /// Converts positions of a text's tokens to indices of the array slice that holds them.
    private func shifted(_ range: Range<Int>, _ tokens: ArraySlice<Int32>) -> Range<Int> {
      range.lowerBound + tokens.startIndex..<range.upperBound + tokens.startIndex
    }

    /// Runs the model on the collected windows, delivers its numbers and the failures, and empties the slice.
    mutating func run(
      _ model: any WindowModel, _ input: HeadInput?, _ monitor: CallMonitor,
      failed: (Int, BertQAError) throws(BertQAError) -> Void,
      deliver: (Output) throws(BertQAError) -> Void
    ) throws(BertQAError) {
      var rest = failures[...]
      failures = []
      func reportFailures(before position: Int) throws(BertQAError) {
        while let next = rest.first, next.position <= position {
          rest.removeFirst()
          try failed(next.item, next.error)
        }
      }
      if sources.isEmpty { return try reportFailures(before: 0) }
      let before = monitor.heldBytes
      try monitor.holdWork(batch.byteCount + sources.count * MemoryLayout<Source>.stride)
      let outputs = try monitor.undoing { () throws(BertQAError) in
        try model.outputs(of: batch, giving: input, monitor)
      }
      // Releases the memory of finished work; results made below stay counted.
      let heldBytes = monitor.heldBytes - before
      defer { monitor.release(heldBytes) }
      let rows = outputs.input == .tokens ? batch.ids.count : batch.windows.count
      guard outputs.values.count == rows * outputs.columns else {
        throw BertQAError(
          .internal, "\(outputs.values.count) numbers for \(rows) rows of \(outputs.columns) columns")
      }
      try outputs.values.withElements { values throws(BertQAError) in
        guard let base = values.baseAddress else { return }
        for (index, source) in sources.enumerated() {
          try reportFailures(before: index)
          let window = batch.windows[index]
          let offset = outputs.input == .tokens ? window.firstToken : index * outputs.columns
          try deliver(
            Output(
              item: source.item, window: source.window, isLastOfItem: source.isLastOfItem,
              tokenCount: window.tokenCount,
              ids: batch.ids[window.firstToken..<window.firstToken + window.tokenCount],
              unpooledCount: window.unpooledCount, values: base + offset,
              stride: batch.ids.count))
        }
      }
      try reportFailures(before: sources.count)
      batch.removeAll()
      sources.removeAll(keepingCapacity: true)
    }
  }
}

extension BertQAError {
  /// True for a failure that ends a call on many items rather than one of them.
  var concernsWholeCall: Bool {
    switch status {
    case .cancelled, .deadlineExceeded, .outOfMemory, .internal: true
    default: false
    }
  }
}
