/// A search of a collection's passages by the words and by the meaning of a question.
///
/// The caller holds the passages. It adds those that have each word of `query`, then the vectors of all passages by
/// ascending id, and takes the best.
package final class PassageSearch {
  package struct Hit: Equatable {
    package let id: Int64
    /// Compares the hits of one search; at most 1. In a search with a model, above 0 for all hits except those
    /// without any similarity.
    package let score: Double
  }

  package let question: [UInt8]
  /// FTS5's query for any of the question's words.
  package let query: [UInt8]
  /// The length of a vector; 0: the search is by words only.
  package var vectorLength: Int { vector?.length ?? 0 }

  private let vector: QuestionVector?
  private let threads: Int
  /// Empty: all passages. Ranges of ids that may be found.
  private var allowed: [ClosedRange<Int64>] = []
  /// The passages with words of the question, by ascending id. Those before `next` are among `hits`.
  private var words: [WordCoverage] = []
  private var next = 0
  /// The end of the last vectors.
  private var end = Int64.min
  private var hits = BestHits()

  /// The highest number of hits.
  package static let depth = 1000
  /// `Benchmarks/collection.py fusion` compares other weights and powers.
  private static let wordWeight = 0.4

  /// Returns a passage's score, at most 1.
  /// - Parameters:
  ///   - cosine: that of its vector and the question's.
  ///   - share: the share of the question's words that it has.
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

  /// Restricts the search to the passages `first` ... `last` and those of other calls. Ranges must ascend without
  /// overlaps.
  package func allow(first: Int64, last: Int64) throws(BertQAError) {
    guard end == .min else {
      throw BertQAError(
        .invalidArgument, argument: "first", "comes after vectors: allow passages before them")
    }
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

  /// Sets the passages that have words of the question, before any vectors.
  /// - Parameters:
  ///   - ids: [count] passages.
  ///   - words: [count] the index in `query` of a word that the passage has.
  ///   - scores: [count] BM25 of this word in the passage, which counts in a search by words only. May be nil.
  package func setWords(
    ids: UnsafePointer<Int64>, words: UnsafePointer<Int32>, scores: UnsafePointer<Double>?, count: Int
  ) throws(BertQAError) {
    guard end == .min else {
      throw BertQAError(.invalidArgument, argument: "ids", "come after vectors: set the words before them")
    }
    self.words = try WordCoverage.list(ids: ids, words: words, scores: scores, count: count)
  }

  /// Adds the vectors of the passages `first` ... `first + count - 1`, all above those of the call before.
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
    guard first >= self.end else {
      throw BertQAError(
        .invalidArgument, argument: "first",
        "is \(first), but must be at least \(self.end): vectors ascend and do not overlap")
    }
    // All products come first, so that an error changes nothing.
    var parts: [(ids: Range<Int64>, products: [Float])] = []
    let index = allowed.partitionPoint { $0.upperBound >= first }
    for range in allowed.isEmpty ? [.min ... .max] : allowed[index...] {
      guard range.lowerBound < end else { break }
      let ids = max(first, range.lowerBound)..<min(end - 1, range.upperBound) + 1
      try parts.makeRoom(for: 1)
      parts.append((ids, try products(vector, ids, first, rows, scales)))
    }
    self.end = end
    for part in parts { add(part.ids, part.products) }
  }

  /// Returns the cosines of the question and some of the passages, of which `first` is the first.
  private func products(
    _ vector: QuestionVector, _ ids: Range<Int64>, _ first: Int64, _ rows: UnsafePointer<Int8>,
    _ scales: UnsafePointer<Float>
  ) throws(BertQAError) -> [Float] {
    let skipped = Int(ids.lowerBound - first)
    var products = try [Float](results: 0, count: ids.count, CallMonitor(CallOptions()))
    try products.withMutableElements { products throws(BertQAError) in
      guard let base = products.baseAddress else { return }
      try vector.compare(
        rows: rows + skipped * vector.length, scales: scales + skipped, count: ids.count, products: base,
        threads: threads)
    }
    for (id, product) in zip(ids, products) where !product.isFinite {
      throw BertQAError(
        .invalidArgument, argument: "scales", "give passage \(id) a score that is not a finite number")
    }
    return products
  }

  private func add(_ ids: Range<Int64>, _ products: [Float]) {
    // Passages without vectors.
    while next < words.count, words[next].id < ids.lowerBound {
      add(words[next], to: &hits)
      next += 1
    }
    for (id, product) in zip(ids, products) {
      var share = 0.0
      if next < words.count, words[next].id == id {
        share = words[next].share
        next += 1
      }
      hits.add(Hit(id: id, score: Self.score(cosine: Double(product), share: share)))
    }
  }

  /// Adds a passage without a vector, if it is allowed.
  private func add(_ passage: WordCoverage, to hits: inout BestHits) {
    let index = allowed.partitionPoint { $0.upperBound >= passage.id }
    guard allowed.isEmpty || index < allowed.count && allowed[index].contains(passage.id) else { return }
    let score =
      vector == nil
      ? (passage.share + min(passage.bm25, 1)) / 2 : Self.score(cosine: 0, share: passage.share)
    hits.add(Hit(id: passage.id, score: score))
  }

  /// Returns the best passages, at most `depth`, best first; of equals, the lower id first.
  package func best(_ count: Int) -> [Hit] {
    var hits = hits
    for passage in words[next...] { add(passage, to: &hits) }
    return Array(hits.sorted().prefix(count))
  }
}

/// The passages with the highest scores, added by ascending id.
private struct BestHits {
  private var hits: [PassageSearch.Hit] = []
  /// The lowest score of as many as are kept: equal ones that come later have higher ids.
  private var least = -Double.infinity

  mutating func add(_ hit: PassageSearch.Hit) {
    guard hit.score > least else { return }
    hits.append(hit)
    guard hits.count >= 4 * PassageSearch.depth else { return }
    hits = sorted()
    if let last = hits.last { least = last.score }
  }

  func sorted() -> [PassageSearch.Hit] {
    Array(hits.sorted { ($0.score, $1.id) > ($1.score, $0.id) }.prefix(PassageSearch.depth))
  }
}
