/// How to train a word-count classifier. Equal texts, labels and options give equal files.
public struct TrainOptions: Sendable {
  public var algorithm = TrainingAlgorithm.logisticRegression
  /// Shorter words are passed over; in code points.
  public var minWordLength = 3
  /// The model says nothing of texts with fewer distinct words.
  public var minDistinctWords = 3
  /// 1: words; 2: and pairs of words that neighbour once the short ones are gone.
  public var maxNGram = 1
  /// Weigh counts by TF-IDF, as scikit-learn's TfidfTransformer does, and scale each text to length 1.
  public var usesTFIDF = false
  /// Words in fewer texts are left out.
  public var minDocumentCount = 1
  /// Words in a larger part of the texts are left out.
  public var maxDocumentFraction = 1.0
  /// The most frequent words are kept.
  public var maxVocabulary = 1 << 18
  /// Logistic regression: inverse strength of the L2 penalty, as in scikit-learn.
  public var c = 1.0
  /// Naive Bayes: additive smoothing.
  public var alpha = 1.0
  /// Logistic regression: the most iterations of L-BFGS.
  public var maxIterations = 1000
  /// Logistic regression: the largest component of the gradient of the mean loss at the end.
  public var tolerance = 1e-4
  /// Parts of the cross-validation; 0: none.
  public var folds = 5
  /// Threads that may work, the calling one included. 0: as many as the process may run on.
  public var threads = 0
  /// Of the random division into folds.
  public var seed: UInt64 = 0
  /// Told now and then, on the calling thread, what is done and which part of that is over, 0...1; true ends
  /// the training with an error.
  public var progress: (@Sendable (_ stage: String, _ fraction: Double) -> Bool)?

  public init() {}
}

/// In the numbering of `bertqa_algorithm`.
public enum TrainingAlgorithm: Int32, Sendable, CaseIterable, CustomStringConvertible {
  /// Multinomial, with L2 penalty: scikit-learn's LogisticRegression.
  case logisticRegression = 0
  /// Multinomial: scikit-learn's MultinomialNB.
  case naiveBayes = 1

  /// The name that the command line, Python and model files use.
  public var description: String {
    switch self {
    case .logisticRegression: "logistic_regression"
    case .naiveBayes: "naive_bayes"
    }
  }
}

extension TrainOptions {
  /// Refuses values outside what is documented; the names are those of the C ABI.
  func validate() throws(BertQAError) {
    try Self.check("min_word_length", minWordLength, 1...WordScanner.maximumBytes)
    try Self.check("min_distinct_words", minDistinctWords, 1...Int(Int32.max))
    try Self.check("max_ngram", maxNGram, 1...2)
    try Self.check("min_document_count", minDocumentCount, 1...Int(Int32.max))
    try Self.check("max_vocabulary", maxVocabulary, 1...Self.vocabularyLimit)
    try Self.check("max_iterations", maxIterations, 1...Int(Int32.max))
    try Self.check("threads", threads, 0...1024)
    guard folds == 0 || (2...1000).contains(folds) else {
      throw BertQAError(.invalidArgument, "folds is \(folds), but must be 0 or 2 to 1000")
    }
    guard maxDocumentFraction > 0, maxDocumentFraction <= 1 else {
      throw BertQAError(
        .invalidArgument, "max_document_fraction is \(maxDocumentFraction), but must be above 0 and at most 1"
      )
    }
    for (name, value) in [("c", c), ("alpha", alpha), ("tolerance", tolerance)] {
      guard value > 0, value.isFinite else {
        throw BertQAError(.invalidArgument, "\(name) is \(value), but must be a number above 0")
      }
    }
  }

  /// Ids in files and matrices have 32 bits.
  static let vocabularyLimit = 1 << 28

  private static func check(_ name: String, _ value: Int, _ range: ClosedRange<Int>) throws(BertQAError) {
    guard range.contains(value) else {
      throw BertQAError(
        .invalidArgument, "\(name) is \(value), but must be \(range.lowerBound) to \(range.upperBound)")
    }
  }
}
