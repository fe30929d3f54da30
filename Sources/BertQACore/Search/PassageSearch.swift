/// A search of a collection's passages by the words and by the meaning of a question.
///
/// The caller holds the passages. It adds those that a full-text search with `query` finds, then the vectors of all
/// passages, and takes the best.
package final class PassageSearch {
  package struct Hit: Equatable {
    package let id: Int64
    /// Compares the hits of one search; at most 1. In a search with a model, above 0 for all hits except those
    /// without any similarity.
    package let score: Double
  }

  package let question: [UInt8]
  /// FTS5's query for the question's words.
  package let query: [UInt8]
  /// The length of a vector; 0: the search is by words only.
  package var vectorLength: Int { vector?.length ?? 0 }

  private let vector: QuestionVector?
  private let threads: Int
  /// Empty: all passages. Ranges of ids that may be found.
  private var allowed: [ClosedRange<Int64>] = []
  /// The passages that the full-text search found, by ascending id.
  private var byWords: [WordMatch] = []
  private var byMeaning = BestRows()

  private struct WordMatch {
    let id: Int64
    /// BM25.
    let score: Double
    /// The cosine of its vector and the question's; 0 if it has none.
    var cosine: Float = 0
  }

  /// The number of passages that count in each of the two rankings.
  package static let depth = 200
  /// Words count mainly for passages that have clearly more of them than others. `Benchmarks/collection.py fusion`
  /// compares other weights and powers.
  private static let wordWeight = 0.25

  /// Returns a passage's score, at most 1.
  /// - Parameters:
  ///   - cosine: that of its vector and the question's.
  ///   - share: its BM25 score, or another, as a share of the best passage's.
  package static func score(cosine: Double, share: Double) -> Double {
    (cosine + wordWeight * share * share) / (1 + wordWeight)
  }

  /// - Parameter vector: nil searches by words only.
  init(
    question: UnsafeBufferPointer<UInt8>, vector: QuestionVector?, threads: Int,
    call: CallOptions = CallOptions()
  ) throws(BertQAError) {
    var copy = try [UInt8](checkedCapacity: question.count, CallMonitor(call))
    copy += question
    self.question = copy
    query = try FullTextQuery.matching(question, call: call)
    self.vector = vector
    self.threads = threads
  }

  /// A search by words only.
  package convenience init(
    question: UnsafeBufferPointer<UInt8>, call: CallOptions = CallOptions()
  ) throws(BertQAError) {
    try self.init(question: question, vector: nil, threads: 1, call: call)
  }

  /// Restricts the vectors' rows to the passages `first` ... `last` and those of other calls. Ranges must ascend
  /// without overlaps.
  package func allow(first: Int64, last: Int64) throws(BertQAError) {
    guard first <= last else {
      throw BertQAError(.invalidArgument, argument: "last", "is \(last), which is below first, \(first)")
    }
    if let before = allowed.last, first <= before.upperBound {
      throw BertQAError(
        .invalidArgument, argument: "first", "must be above the last passage of the range before")
    }
    try allowed.makeRoom(for: 1)
    allowed.append(first...last)
  }

  /// Sets the passages that the full-text search found, at most `depth` of them, before any vectors.
  /// - Parameter matches: passages with their BM25 scores, which are positive and the higher the better.
  package func setWords(_ matches: [(id: Int64, score: Double)]) {
    byWords = matches.prefix(Self.depth).filter { $0.score > 0 && $0.score.isFinite }
      .map { WordMatch(id: $0.id, score: $0.score) }.sorted { $0.id < $1.id }
  }

  /// Adds the vectors of the passages `first` ... `first + count - 1`.
  /// - Parameters:
  ///   - rows: [count][vectorLength]
  ///   - scales: [count]
  package func addVectors(
    first: Int64, count: Int, rows: UnsafePointer<Int8>, scales: UnsafePointer<Float>
  ) throws(BertQAError) {
    guard let vector else {
      throw BertQAError(.wrongModel, "the search was made without an embedding model: it takes no vectors")
    }
    let (end, overflow) = first.addingReportingOverflow(Int64(count))
    if overflow {
      throw BertQAError(.invalidArgument, argument: "first", "is \(first), too high for \(count) rows")
    }
    if allowed.isEmpty { return try compare(vector, first..<end, first, rows, scales) }
    var index = allowed.partitioningIndex { $0.upperBound >= first }
    while index < allowed.count, allowed[index].lowerBound < end {
      let last = min(end - 1, allowed[index].upperBound)
      let ids = max(first, allowed[index].lowerBound)..<last + 1
      try compare(vector, ids, first, rows, scales)
      index += 1
    }
  }

  private func compare(
    _ vector: QuestionVector, _ ids: Range<Int64>, _ first: Int64, _ rows: UnsafePointer<Int8>,
    _ scales: UnsafePointer<Float>
  ) throws(BertQAError) {
    let skipped = Int(ids.lowerBound - first)
    var products = try [Float](results: 0, count: ids.count, CallMonitor(CallOptions()))
    try products.withMutableElements { products throws(BertQAError) in
      guard let base = products.baseAddress else { return }
      try vector.compare(
        rows: rows + skipped * vector.length, scales: scales + skipped, count: ids.count, products: base,
        threads: threads)
    }
    for (index, product) in products.enumerated() {
      guard product.isFinite else {
        throw BertQAError(
          .invalidArgument, argument: "scales",
          "give passage \(ids.lowerBound + Int64(index)) a score that is not a finite number")
      }
      byMeaning.add(ids.lowerBound + Int64(index), product)
    }
    var match = byWords.partitioningIndex { $0.id >= ids.lowerBound }
    while match < byWords.count, byWords[match].id < ids.upperBound {
      byWords[match].cosine = products[Int(byWords[match].id - ids.lowerBound)]
      match += 1
    }
  }

  /// Returns the best passages of both rankings, best first; of equals, the lower id first.
  package func best(_ count: Int) -> [Hit] {
    let highest = byWords.lazy.map(\.score).max() ?? 1
    var scores: [Int64: Double] = [:]
    if vector == nil {
      for match in byWords { scores[match.id] = match.score / highest }
    } else {
      for row in byMeaning.best() { scores[row.id] = Self.score(cosine: Double(row.product), share: 0) }
      for match in byWords {
        scores[match.id] = Self.score(cosine: Double(match.cosine), share: match.score / highest)
      }
    }
    return scores.map { Hit(id: $0.key, score: $0.value) }
      .sorted { ($0.score, $1.id) > ($1.score, $0.id) }.prefix(count).map { $0 }
  }
}

/// The rows with the highest products.
private struct BestRows {
  private var rows: [(id: Int64, product: Float)] = []
  /// A row below it is not among the best.
  private var least = -Float.infinity

  mutating func add(_ id: Int64, _ product: Float) {
    guard product > least else { return }
    rows.append((id, product))
    if rows.count >= 4 * PassageSearch.depth { reduce() }
  }

  private mutating func reduce() {
    rows.sort { ($0.product, $1.id) > ($1.product, $0.id) }
    rows.removeSubrange(min(rows.count, PassageSearch.depth)...)
    if rows.count == PassageSearch.depth, let last = rows.last { least = last.product }
  }

  /// Best first; of equals, the lower id first.
  func best() -> [(id: Int64, product: Float)] {
    var copy = self
    copy.reduce()
    return copy.rows
  }
}

extension Array {
  /// Returns the first index whose element satisfies a condition; all later elements must satisfy it.
  fileprivate func partitioningIndex(_ isBehind: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
