import Glibc

/// The terms of a training that become features, in the order of their bytes, and their TF-IDF weights.
struct FeatureSelection {
  /// The feature of each term, or -1.
  private(set) var features: [Int32]
  /// The term of each feature.
  private(set) var terms: [UInt32] = []
  /// The inverse document frequency of each feature, as in scikit-learn: ln((1 + texts) / (1 + texts with the
  /// term)) + 1. nil without TF-IDF.
  private(set) var idf: [Double]?

  /// - Parameters:
  ///   - rows: the texts that determine the selection.
  ///   - order: all terms, sorted by their bytes.
  init(
    _ texts: borrowing TrainingTexts, rows: [Int], order: [UInt32], _ options: TrainOptions,
    _ monitor: CallMonitor
  ) throws(BertQAError) {
    // For each term: both counts, its feature, its weight, and its number, twice while filtering grows.
    try Memory.require(40 * order.count)
    var documents = [UInt32](repeating: 0, count: order.count)
    var occurrences = [UInt64](repeating: 0, count: order.count)
    for row in rows {
      try monitor.check()
      for index in texts.rowStarts[row]..<texts.rowStarts[row + 1] {
        let id = Int(texts.termIDs[index])
        documents[id] += 1
        occurrences[id] += UInt64(texts.counts[index])
      }
    }
    let most = options.maxDocumentFraction * Double(rows.count)
    terms = order.filter { id in
      let count = documents[Int(id)]
      return count >= 1 && count >= options.minDocumentCount && Double(count) <= most
    }
    if terms.count > options.maxVocabulary {
      terms = try Self.mostFrequent(options.maxVocabulary, of: terms, occurrences, CallPoll(monitor))
    }
    features = Array(repeating: -1, count: order.count)
    for (feature, id) in terms.enumerated() { features[Int(id)] = Int32(feature) }
    if options.usesTFIDF {
      idf = terms.map { log((1 + Double(rows.count)) / (1 + Double(documents[Int($0)]))) + 1 }
    }
  }

  /// Returns the `number` terms with most occurrences (of equal ones, the first), in their previous order.
  private static func mostFrequent(
    _ number: Int, of terms: [UInt32], _ occurrences: [UInt64], _ poll: CallPoll
  ) throws(BertQAError) -> [UInt32] {
    let ranked = try terms.indices.checkedSorted(poll) {
      let (a, b) = (occurrences[Int(terms[$0])], occurrences[Int(terms[$1])])
      return a != b ? a > b : $0 < $1
    }
    return try ranked.prefix(number).checkedSorted(poll, by: <).checkedMap { terms[$0] }
  }
}

extension TrainingTexts {
  /// Returns all terms, sorted by their bytes.
  func termsInOrder(_ monitor: CallMonitor) throws(BertQAError) -> [UInt32] {
    try (0..<UInt32(table.count)).checkedSorted(CallPoll(monitor)) { table.precedes(Int($0), Int($1)) }
  }
}
