/// The logits of the windows of one document that the model has read: those of the document's tokens, and the
/// score of "no answer".
struct WindowLogits {
  /// In document order; each starts and ends later than the one before.
  let windows: [TokenWindow]
  /// Where each window's tokens begin in `start` and `end`; one entry more than windows.
  let offsets: [Int]
  private(set) var start: [Float]
  private(set) var end: [Float]
  /// By window: start logit + end logit of [CLS].
  private(set) var nullScores: [Float]

  /// Above this a sum of two logits could overflow.
  private static let largest: Float = 1e37

  /// What a call counts for them.
  var heldBytes: Int {
    guard !windows.isEmpty else { return 0 }
    return offsets.count * MemoryLayout<Int>.stride
      + (start.count + end.count + nullScores.count) * MemoryLayout<Float>.stride
  }

  /// Those of no window.
  init() {
    windows = []
    offsets = [0]
    start = []
    end = []
    nullScores = []
  }

  /// - Parameters:
  ///   - windows: in document order.
  ///   - known: the logits of some of these windows.
  init(windows: [TokenWindow], keeping known: WindowLogits = WindowLogits(), _ monitor: CallMonitor? = nil)
    throws(BertQAError)
  {
    self.windows = windows
    var offsets = try [Int](checkedCapacity: windows.count + 1, monitor)
    offsets.append(0)
    for (index, window) in windows.enumerated() {
      if index % CallPoll.elementInterval == 0 { try monitor?.check() }
      offsets.append(offsets[index] + window.tokenCount)
    }
    self.offsets = offsets
    start = try [Float](repeating: 0, count: offsets[windows.count], monitor)
    end = try [Float](repeating: 0, count: offsets[windows.count], monitor)
    nullScores = try [Float](repeating: .infinity, count: windows.count, monitor)
    for (old, window) in known.windows.enumerated() {
      let index = position(of: window)
      nullScores[index] = known.nullScores[old]
      for token in 0..<window.tokenCount {
        start[offsets[index] + token] = known.start[known.offsets[old] + token]
        end[offsets[index] + token] = known.end[known.offsets[old] + token]
      }
    }
  }

  /// Returns the place of one of the windows.
  func position(of window: TokenWindow) -> Int {
    windows.partitionPoint { $0.firstToken >= window.firstToken }
  }

  /// Takes over window `index` from the logits of its tokens, where [CLS] is at `classifier` and the document
  /// begins at `document`.
  mutating func store(
    window index: Int, start newStart: UnsafePointer<Float>, end newEnd: UnsafePointer<Float>,
    classifier: Int,
    document: Int
  ) throws(BertQAError) {
    let null = newStart[classifier] + newEnd[classifier]
    var isUsable = abs(null) <= Self.largest
    nullScores[index] = null
    for token in 0..<windows[index].tokenCount {
      let (s, e) = (newStart[document + token], newEnd[document + token])
      isUsable = isUsable && abs(s) <= Self.largest && abs(e) <= Self.largest  // false for NaN
      start[offsets[index] + token] = s
      end[offsets[index] + token] = e
    }
    if isUsable { return }
    throw .nonFiniteResult(
      "logits that are not finite numbers (window \(windows[index].index) of the document)")
  }

  /// Drops the windows that were not stored.
  mutating func keepRead(_ monitor: CallMonitor) throws(BertQAError) {
    let read = windows.indices.filter { nullScores[$0] < .infinity }
    guard read.count < windows.count else { return }
    var kept = try WindowLogits(windows: read.map { windows[$0] }, monitor)
    for (new, old) in read.enumerated() {
      kept.nullScores[new] = nullScores[old]
      for token in 0..<windows[old].tokenCount {
        kept.start[kept.offsets[new] + token] = start[offsets[old] + token]
        kept.end[kept.offsets[new] + token] = end[offsets[old] + token]
      }
    }
    self = kept
  }

  /// Subtracts a number, by window, from the scores of the window's spans.
  mutating func lowerScores(by amounts: [Float], _ monitor: CallMonitor) throws(BertQAError) {
    for (index, amount) in amounts.enumerated() {
      try monitor.check()
      for position in offsets[index]..<offsets[index + 1] { start[position] -= amount }
    }
  }

  /// Returns the windows that hold `token`. O(log windows).
  func windows(containing token: Int) -> Range<Int> {
    let first = windows.partitionPoint { $0.endToken > token }
    let end = windows.partitionPoint { $0.firstToken > token }
    return first..<max(first, end)
  }

  // MARK: - n_best_size

  /// Keeps the `count` best starts and the `count` best ends of each window (of equals, the earlier ones) and sets
  /// the others to -∞, so that no span with them is a candidate.
  mutating func keepBest(_ count: Int, _ monitor: CallMonitor? = nil) throws(BertQAError) {
    for index in windows.indices {
      try monitor?.check()
      let range = offsets[index]..<offsets[index + 1]
      Self.keepBest(count, of: range, in: &start)
      Self.keepBest(count, of: range, in: &end)
    }
  }

  private static func keepBest(_ count: Int, of range: Range<Int>, in logits: inout [Float]) {
    guard range.count > count else { return }
    let ranked = rankedIndices(of: Array(logits[range]))
    for position in ranked[count...] { logits[range.lowerBound + position] = -.infinity }
  }
}
