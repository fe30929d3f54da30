extension RandomAccessCollection where Index == Int {
  /// Returns the first index whose element satisfies a condition, else `endIndex`; all later elements must satisfy it.
  /// O(log count).
  func partitionPoint(_ condition: (Element) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = (low + high) / 2
      if condition(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
