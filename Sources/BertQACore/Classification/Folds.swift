/// Divides texts into parts of about equal size, each with about the same share of every label, at random.
struct Folds {
  let count: Int
  /// [text]
  private let folds: [Int32]

  /// - Parameter targets: the label of each text.
  init(count: Int, targets: [Int32], labelCount: Int, seed: UInt64) {
    self.count = count
    var folds = [Int32](repeating: 0, count: targets.count)
    var members = [[Int]](repeating: [], count: labelCount)
    for (text, label) in targets.enumerated() { members[Int(label)].append(text) }
    var generator = SplitMix64(state: seed)
    // Each label begins where the last one ended, so that the parts' sizes differ by one at most.
    var next = 0
    for var texts in members {
      generator.shuffle(&texts)
      for text in texts {
        folds[text] = Int32(next % count)
        next += 1
      }
    }
    self.folds = folds
  }

  func heldOut(_ fold: Int) -> [Int] { folds.indices.filter { folds[$0] == fold } }
  func kept(_ fold: Int) -> [Int] { folds.indices.filter { folds[$0] != fold } }
}

/// Steele, Lea and Flood's SplitMix64: the same numbers for a seed, everywhere and always.
struct SplitMix64 {
  private var state: UInt64

  init(state: UInt64) { self.state = state }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
    return z ^ z >> 31
  }

  /// Fisher and Yates's shuffle.
  mutating func shuffle(_ elements: inout [Int]) {
    for last in stride(from: elements.count - 1, to: 0, by: -1) {
      elements.swapAt(last, Int(next() % UInt64(last + 1)))
    }
  }
}
