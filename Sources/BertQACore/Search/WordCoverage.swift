/// A passage, and the share of a question's words that it has.
struct WordCoverage {
  let id: Int64
  /// Above 0, at most 1.
  private(set) var share: Double

  /// Returns the passages by ascending id. A word counts by its inverse document frequency, however often a passage has
  /// it. A word that no passage has does not count.
  /// - Parameters:
  ///   - ids: [count] the passages.
  ///   - words: [count] the number of a word that the passage has.
  static func list(
    ids: UnsafePointer<Int64>, words: UnsafePointer<Int32>, count: Int
  ) throws(BertQAError) -> [WordCoverage] {
    // Full-text searches return each word's passages in order, so the sorting merges a few runs.
    let matches = try (0..<count).checkedMap(nil) { Match(id: ids[$0], word: words[$0]) }
      .checkedSorted(nil) { ($0.id, $0.word) < ($1.id, $1.word) }
    guard let first = matches.first, let last = matches.last else { return [] }
    var weights: [Int32: Double] = [:]
    for (index, match) in matches.enumerated() where index == 0 || match != matches[index - 1] {
      weights[match.word, default: 0] += 1
    }
    // Ids count the passages.
    let total = Double(last.id) - Double(first.id) + 1
    weights = weights.mapValues { inverseDocumentFrequency($0, of: total) }
    let whole = weights.sorted { $0.key < $1.key }.reduce(0) { $0 + $1.value }
    var list = try [WordCoverage](checkedCapacity: count)
    for (index, match) in matches.enumerated() where index == 0 || match != matches[index - 1] {
      if list.last?.id != match.id { list.append(WordCoverage(id: match.id, share: 0)) }
      list[list.count - 1].share += (weights[match.word] ?? 0) / whole
    }
    return list
  }

  private struct Match: Equatable {
    let id: Int64
    let word: Int32
  }
}
