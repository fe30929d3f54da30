/// A passage, and the share of a question's words that it has.
struct WordCoverage {
  let id: Int64
  /// Above 0, at most 1. A word counts by its inverse document frequency, however often the passage has it. A word that
  /// no passage has does not count.
  private(set) var share: Double
  /// BM25 as a share of the highest possible.
  private(set) var bm25: Double

  /// FTS5's. A word's BM25 is below `k1` + 1 times its weight.
  private static let k1 = 1.2

  /// Returns the passages by ascending id.
  /// - Parameters:
  ///   - ids: [count] the passages.
  ///   - words: [count] the number of a word that the passage has.
  ///   - scores: [count] BM25 of this word in the passage. nil: 0.
  static func list(
    ids: UnsafePointer<Int64>, words: UnsafePointer<Int32>, scores: UnsafePointer<Double>?, count: Int
  ) throws(BertQAError) -> [WordCoverage] {
    // Full-text searches return each word's passages in order, so the sorting merges a few runs.
    let matches = try (0..<count).checkedMap(nil) { index throws(BertQAError) in
      let score = scores?[index] ?? 0
      guard score.isFinite else {
        throw BertQAError(
          .invalidArgument, argument: "scores", "have a number that is not finite, at \(index)")
      }
      return Match(id: ids[index], word: words[index], score: score)
    }
    .checkedSorted(nil) { ($0.id, $0.word) < ($1.id, $1.word) }
    guard let first = matches.first, let last = matches.last else { return [] }
    func isNew(_ index: Int) -> Bool {
      index == 0
        || (matches[index].id, matches[index].word) != (matches[index - 1].id, matches[index - 1].word)
    }
    var weights: [Int32: Double] = [:]
    for index in matches.indices where isNew(index) { weights[matches[index].word, default: 0] += 1 }
    // Ids count the passages.
    let total = Double(last.id) - Double(first.id) + 1
    weights = weights.mapValues { inverseDocumentFrequency($0, of: total) }
    let whole = weights.sorted(byKey: { Int($0.key) }).reduce(0) { $0 + $1.value }
    var list = try [WordCoverage](checkedCapacity: count)
    for (index, match) in matches.enumerated() where isNew(index) {
      if list.last?.id != match.id { list.append(WordCoverage(id: match.id, share: 0, bm25: 0)) }
      list[list.count - 1].share += (weights[match.word] ?? 0) / whole
      list[list.count - 1].bm25 += match.score / (whole * (k1 + 1))
    }
    return list
  }

  private struct Match {
    let id: Int64
    let word: Int32
    let score: Double
  }
}
