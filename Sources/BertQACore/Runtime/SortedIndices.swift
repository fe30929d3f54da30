/// Returns the indices of keys in ascending order; equal keys stay in order.
///
/// Few sorts need to be fast, and each one that the compiler specialises takes 4 KB of the library.
@inline(never)
func sortedIndices(of keys: [Int]) -> [Int] {
  keys.indices.sorted { (keys[$0], $0) < (keys[$1], $1) }
}

/// Returns the indices of scores from the highest on; equal scores stay in order.
@inline(never)
func rankedIndices(of scores: [Float]) -> [Int] {
  scores.indices.sorted { (scores[$0], $1) > (scores[$1], $0) }
}

extension Sequence {
  /// Returns the elements in ascending order of their keys; equal keys stay in order.
  func sorted(byKey key: (Element) -> Int) -> [Element] {
    let elements = Array(self)
    return sortedIndices(of: elements.map(key)).map { elements[$0] }
  }
}
