/// How to train a word-count classifier. Equal texts, labels and options give equal files.
public struct TrainOptions: Sendable {
  public var algorithm = TrainingAlgorithm.logisticRegression
  /// Shorter words are skipped; in code points, 1...255.
  public var minWordLength = 3
  /// Texts with fewer distinct words get no prediction from the model; 1...2³¹ - 1.
  public var minDistinctWords = 3
  /// 1: words; 2: also pairs of words that are neighbours once the short ones are gone.
  public var maxNGram = 1
  /// Weigh counts by TF-IDF, as scikit-learn's TfidfTransformer does, and scale each text to length 1.
  public var usesTFIDF = false
  /// Words in fewer texts are left out; 1...2³¹ - 1.
  public var minDocumentCount = 1
  /// Words in a larger part of the texts are left out; above 0, at most 1.
  public var maxDocumentFraction = 1.0
  /// The most frequent words are kept, so many at most; 1...2²⁸.
  public var maxVocabulary = 1 << 18
  /// Logistic regression: inverse strength of the L2 penalty, as in scikit-learn; 10⁻⁹...10⁹.
  public var c = 1.0
  /// Naive Bayes: additive smoothing; above 0, at most 10⁶.
  public var alpha = 1.0
  /// Logistic regression: the most iterations of L-BFGS; 1...2³¹ - 1.
  public var maxIterations = 1000
  /// Logistic regression: the largest component of the gradient of the mean loss at the end; a positive number.
  public var tolerance = 1e-4
  /// Parts of the cross-validation, 2...1000 and at most the number of texts; 0: none.
  public var folds = 5
  /// Threads that may work, the calling one included, at most 1024. 0: as many as the process may run on.
  public var threads = 0
  /// Of the random division into folds.
  public var seed: UInt64 = 0
  /// Told now and then, on the calling thread, which stage ("cross-validation", "training") is under way and which
  /// part of it is done, 0...1. It only informs: `call.cancellation` ends a training.
  public var progress: (@Sendable (_ stage: String, _ fraction: Double) -> Void)?
  /// Of each `WordCountTrainer.add` and of `finish`, where these are given none of their own.
  public var call = CallOptions()

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
    guard folds == 0 || (2...Self.foldLimit).contains(folds) else {
      throw BertQAError(
        .invalidArgument, argument: "folds", "is \(folds), but must be 0 or 2 to \(Self.foldLimit)")
    }
    try Self.check(
      "max_document_fraction", maxDocumentFraction, maxDocumentFraction > 0 && maxDocumentFraction <= 1,
      "above 0 and at most 1")
    try Self.check("c", c, (1e-9...1e9).contains(c), "1e-9 to 1e9")
    try Self.check("alpha", alpha, alpha > 0 && alpha <= 1e6, "above 0 and at most 1e6")
    try Self.check("tolerance", tolerance, tolerance > 0 && tolerance.isFinite, "a positive number")
  }

  /// Ids in files and matrices have 32 bits.
  static let vocabularyLimit = 1 << 28
  private static let foldLimit = 1000

  static func check(_ name: String, _ value: Int, _ range: ClosedRange<Int>) throws(BertQAError) {
    guard range.contains(value) else {
      throw BertQAError(
        .invalidArgument, argument: name,
        "is \(value), but must be \(range.lowerBound) to \(range.upperBound)")
    }
  }

  private static func check(
    _ name: String, _ value: Double, _ isAllowed: Bool, _ allowed: String
  ) throws(BertQAError) {
    guard isAllowed else {
      throw BertQAError(.invalidArgument, argument: name, "is \(value), but must be \(allowed)")
    }
  }
}
