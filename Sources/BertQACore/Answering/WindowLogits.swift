/// The logits of one pair's windows: those of document tokens, and the null score of [CLS].
struct WindowLogits {
  /// In document order; each starts and ends later than the one before.
  let windows: [DocumentWindow]
  /// Where each window's tokens begin in `start` and `end`; one entry more than windows.
  let offsets: [Int]
  var start: [Float]
  var end: [Float]
  /// The least of the windows' null scores.
  var nullScore: Float = .infinity

  /// Above this a sum of two logits could overflow.
  private static let largest: Float = 1e37

  init(windows: [DocumentWindow]) {
    self.windows = windows
    var offsets = [0]
    offsets.reserveCapacity(windows.count + 1)
    for window in windows { offsets.append(offsets[offsets.count - 1] + window.tokenCount) }
    self.offsets = offsets
    start = [Float](repeating: 0, count: offsets[offsets.count - 1])
    end = start
  }

  /// Takes over window `index` from the logits of a batch, where its [CLS] is at `classifier` and its
  /// document begins at `document`.
  mutating func store(
    window index: Int, start newStart: [Float], end newEnd: [Float], classifier: Int, document: Int
  ) throws(BertQAError) {
    let null = newStart[classifier] + newEnd[classifier]
    var isUsable = abs(null) <= Self.largest
    nullScore = min(nullScore, null)
    for token in 0..<windows[index].tokenCount {
      let (s, e) = (newStart[document + token], newEnd[document + token])
      isUsable = isUsable && abs(s) <= Self.largest && abs(e) <= Self.largest  // false for NaN
      start[offsets[index] + token] = s
      end[offsets[index] + token] = e
    }
    if isUsable { return }
    throw BertQAError(
      .invalidModel,
      "the model produced logits that are not finite numbers (window \(windows[index].index) of the "
        + "document): its weights are damaged or overflow the chosen precision; check the model's files")
  }

  /// The windows that hold `token`. O(log windows).
  func windows(containing token: Int) -> Range<Int> {
    let first = partitionPoint { windows[$0].endToken > token }
    let end = partitionPoint { windows[$0].firstToken > token }
    return first..<max(first, end)
  }

  /// The first window for which `condition` holds; it must hold for all later ones.
  private func partitionPoint(_ condition: (Int) -> Bool) -> Int {
    var (low, high) = (0, windows.count)
    while low < high {
      let middle = (low + high) / 2
      if condition(middle) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
