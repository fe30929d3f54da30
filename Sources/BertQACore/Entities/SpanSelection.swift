/// Chooses among overlapping spans of words: keeps the one with the highest score; of equal ones, the first.
struct SpanSelection {
  /// The settings of a call.
  struct Rules {
    /// By label.
    var thresholds: [Float]
    /// True: a span within another one also stays.
    var isNested: Bool
  }

  private let isNested: Bool
  /// The words of the spans that were chosen, if none may be within another one.
  private var isTaken: [Bool]
  /// Of the spans that were chosen, if they may be within others: the last words by the first word, the largest of
  /// them, and the smallest first word by the last one.
  private var lasts: [[Int]]
  private var farthest: [Int]
  private var nearest: [Int]

  private init(wordCount: Int, isNested: Bool, _ monitor: CallMonitor) throws(BertQAError) {
    self.isNested = isNested
    let nested = isNested ? wordCount : 0
    isTaken = try [Bool](repeating: false, count: wordCount - nested, monitor)
    lasts = try [[Int]](repeating: [], count: nested, monitor)
    farthest = try [Int](repeating: -1, count: nested, monitor)
    nearest = try [Int](repeating: wordCount, count: nested, monitor)
  }

  /// Returns the chosen spans, by score.
  static func chosen(
    _ candidates: [SpanCandidate], wordCount: Int, isNested: Bool, _ monitor: CallMonitor
  ) throws(BertQAError) -> [SpanCandidate] {
    var order = try [Int](checkedCapacity: candidates.count, monitor)
    order += candidates.indices
    try order.checkedSort(CallPoll(monitor)) { (-candidates[$0].score, $0) < (-candidates[$1].score, $1) }
    var selection = try SpanSelection(wordCount: wordCount, isNested: isNested, monitor)
    var chosen: [SpanCandidate] = []
    for (count, index) in order.enumerated() {
      if count % CallPoll.elementInterval == 0 { try monitor.check() }
      let one = candidates[index]
      guard !selection.excludes(one.first, one.last) else { continue }
      selection.add(one.first, one.last)
      try chosen.makeRoom(for: 1, monitor)
      chosen.append(one)
    }
    return chosen
  }

  private mutating func add(_ first: Int, _ last: Int) {
    guard isNested else {
      for word in first...last { isTaken[word] = true }
      return
    }
    lasts[first].append(last)
    farthest[first] = max(farthest[first], last)
    nearest[last] = min(nearest[last], first)
  }

  /// True if a span was chosen, or overlaps one that was. Time: linear in its words.
  private func excludes(_ first: Int, _ last: Int) -> Bool {
    guard isNested else { return isTaken[first...last].contains(true) }
    return lasts[first].contains(last) || farthest[first...last].dropFirst().contains { $0 > last }
      || nearest[first...last].dropLast().contains { $0 < first }
  }
}
