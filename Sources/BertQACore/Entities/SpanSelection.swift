/// Chooses among spans of words that overlap: the one of the highest score stays, of equal ones the first.
struct SpanSelection {
  /// True: a span within another one stays, too.
  private let isNested: Bool
  private let maxWidth: Int
  /// The last words of the spans that were chosen, by their first word.
  private var lasts: [[Int]]

  /// Returns the chosen spans, by score.
  static func chosen(
    _ candidates: [SpanScorer.Candidate], wordCount: Int, maxWidth: Int, isNested: Bool,
    _ monitor: CallMonitor
  ) throws(BertQAError) -> [SpanScorer.Candidate] {
    var order = try [Int](checkedCapacity: candidates.count, monitor)
    order += candidates.indices
    try order.checkedSort(CallPoll(monitor)) { (-candidates[$0].score, $0) < (-candidates[$1].score, $1) }
    var selection = SpanSelection(
      isNested: isNested, maxWidth: maxWidth, lasts: try [[Int]](repeating: [], count: wordCount, monitor))
    var chosen: [SpanScorer.Candidate] = []
    for (count, index) in order.enumerated() {
      if count % CallPoll.elementInterval == 0 { try monitor.check() }
      let one = candidates[index]
      guard !selection.excludes(one.first, one.last) else { continue }
      selection.lasts[one.first].append(one.last)
      try chosen.makeRoom(for: 1, monitor)
      chosen.append(one)
    }
    return chosen
  }

  /// True if a span overlaps one that was chosen. Time: linear in the spans that begin in the words around it.
  private func excludes(_ first: Int, _ last: Int) -> Bool {
    for other in max(0, first - maxWidth + 1)...last {
      for otherLast in lasts[other] where otherLast >= first {
        let isWithin = other <= first && last <= otherLast || first <= other && otherLast <= last
        if !isNested || !isWithin || (other, otherLast) == (first, last) { return true }
      }
    }
    return false
  }
}
