extension WindowLogits {
  /// Leaves the `count` best starts and the `count` best ends of each window, of equals the earlier ones,
  /// and sets the others to -∞, so that no span with them is a candidate.
  mutating func keepBest(_ count: Int) {
    for index in windows.indices {
      let range = offsets[index]..<offsets[index + 1]
      Self.keepBest(count, of: range, in: &start)
      Self.keepBest(count, of: range, in: &end)
    }
  }

  private static func keepBest(_ count: Int, of range: Range<Int>, in logits: inout [Float]) {
    guard range.count > count else { return }
    let ranked = range.sorted { (logits[$0], $1) > (logits[$1], $0) }
    for position in ranked[count...] { logits[position] = -.infinity }
  }
}
