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
    var generator = SplitMix64(seed: seed)
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
