/// Divides texts into folds of about equal size.
struct Folds {
  let count: Int
  /// [text]
  private let folds: [Int32]

  /// Divides at random; every fold has about the same share of each label.
  /// - Parameter targets: the label of each text.
  init(count: Int, targets: [Int32], labelCount: Int, seed: UInt64) throws(BertQAError) {
    self.count = count
    // The folds, and the texts of each label, whose arrays double as they grow.
    try Memory.require(3 * targets.count + labelCount, of: Int.self)
    var folds = [Int32](repeating: 0, count: targets.count)
    var members = [[Int]](repeating: [], count: labelCount)
    for (text, label) in targets.enumerated() { members[Int(label)].append(text) }
    var generator = SplitMix64(seed: seed)
    // Each label starts in the fold after the last one of the previous label, so the sizes of folds differ by
    // at most one.
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

  /// Divides whole groups: largest first, each into the fold that is smallest so far. If there are as many
  /// groups as folds, each fold gets one.
  /// - Parameters:
  ///   - count: the maximum number of folds.
  ///   - groups: the group of each text; all of 0 ..< `groupCount` occur.
  init(count: Int, groups: [Int32], groupCount: Int) throws(BertQAError) {
    self.count = min(count, groupCount)
    // The folds of texts and of groups, and the groups' sizes and order.
    try Memory.require(groups.count + 4 * groupCount, of: Int.self)
    var sizes = [Int](repeating: 0, count: groupCount)
    for group in groups { sizes[Int(group)] += 1 }
    var totals = [Int](repeating: 0, count: self.count)
    var parts = [Int32](repeating: 0, count: groupCount)
    for group in sortedIndices(of: sizes.map { -$0 }) {
      let smallest = totals.indices.min { totals[$0] < totals[$1] } ?? 0
      parts[group] = Int32(smallest)
      totals[smallest] += sizes[group]
    }
    folds = groups.map { parts[Int($0)] }
  }

  func heldOut(_ fold: Int) throws(BertQAError) -> [Int] { try texts { $0 == fold } }
  func kept(_ fold: Int) throws(BertQAError) -> [Int] { try texts { $0 != fold } }

  private func texts(_ isWanted: (Int32) -> Bool) throws(BertQAError) -> [Int] {
    var texts = try [Int](checkedCapacity: folds.count { isWanted($0) })
    for (text, fold) in folds.enumerated() where isWanted(fold) { texts.append(text) }
    return texts
  }
}
