/// A character of a decomposition.
protocol DecompositionPart: BitwiseCopyable {
  var combiningClass: UInt8 { get }
}

extension Array where Element: DecompositionPart {
  /// Sorts parts by combining class and keeps the order of equal ones: Unicode's canonical order of a starter and the
  /// characters up to the next one (The Unicode Standard, section 3.11). Linear in their number.
  mutating func sortByCombiningClass(
    _ range: Range<Int>, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    if range.count <= 16 {
      for index in range.dropFirst() {
        var place = index
        while place > range.lowerBound, self[place - 1].combiningClass > self[place].combiningClass {
          swapAt(place - 1, place)
          place -= 1
        }
      }
      return
    }
    var begins = [Int](repeating: 0, count: 257)
    for index in range {
      if index % CallPoll.elementInterval == 0 { try monitor?.check() }
      begins[Int(self[index].combiningClass) + 1] += 1
    }
    for order in 1...256 { begins[order] += begins[order - 1] }
    var sorted = try Array(repeating: self[range.lowerBound], count: range.count, monitor)
    for index in range {
      if index % CallPoll.elementInterval == 0 { try monitor?.check() }
      let order = Int(self[index].combiningClass)
      sorted[begins[order]] = self[index]
      begins[order] += 1
    }
    for index in range {
      if index % CallPoll.elementInterval == 0 { try monitor?.check() }
      self[index] = sorted[index - range.lowerBound]
    }
    monitor?.release(range.count * MemoryLayout<Element>.stride)
  }
}
