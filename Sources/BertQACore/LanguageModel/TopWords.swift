/// The highest scores and their ids, highest first, equal ones by id.
enum TopWords {
  /// The `count` highest, or all. At most O(scores · log count).
  static func ids(of scores: UnsafeBufferPointer<Float>, count: Int) -> [Int32] {
    let count = min(count, scores.count)
    guard count > 0 else { return [] }
    if count == 1 { return [best(of: scores)] }
    func precedes(_ left: Int32, _ right: Int32) -> Bool {
      let (first, second) = (scores[Int(left)], scores[Int(right)])
      return first > second || first == second && left < right
    }
    // Candidates are gathered up to twice the count, and then the lower half is dropped.
    var candidates: [Int32] = []
    candidates.reserveCapacity(2 * count)
    var threshold = -Float.infinity
    for id in 0..<Int32(scores.count) where scores[Int(id)] > threshold || candidates.count < count {
      candidates.append(id)
      guard candidates.count == 2 * count, count < scores.count else { continue }
      candidates.sort(by: precedes)
      candidates.removeLast(count)
      threshold = scores[Int(candidates[count - 1])]
    }
    candidates.sort(by: precedes)
    return Array(candidates.prefix(count))
  }

  /// The id of the highest score, the first of equal ones.
  static func best(of scores: UnsafeBufferPointer<Float>) -> Int32 {
    var best: Int32 = 0
    for id in 1..<Int32(max(1, scores.count)) where scores[Int(id)] > scores[Int(best)] { best = id }
    return best
  }
}
