/// Options for training a word-count classifier. Equal texts, labels and options lead to equal files.
public struct TrainOptions: Sendable {
  public var algorithm = TrainingAlgorithm.logisticRegression
  /// The minimum length of words in code points, 1...255. Shorter words are skipped.
  public var minWordLength = 3
  /// The minimum number of distinct words in a text, 1...2³¹ - 1. The model makes no prediction for texts
  /// with fewer.
  public var minDistinctWords = 3
  /// 1: words; 2: also pairs of words that are adjacent after the removal of short words.
  public var maxNGram = 1
  /// Weighs counts by TF-IDF, as scikit-learn's TfidfTransformer does, and scales each text to length 1.
  public var usesTFIDF = false
  /// The minimum number of texts with a term, 1...2³¹ - 1. Terms in fewer texts are left out.
  public var minDocumentCount = 1
  /// The maximum fraction of texts with a term, above 0 and at most 1. Terms in more texts are left out.
  public var maxDocumentFraction = 1.0
  /// The maximum number of terms, 1...2²⁸. The most frequent ones are kept.
  public var maxVocabulary = 1 << 18
  /// Logistic regression: inverse strength of the L2 penalty, as in scikit-learn; 10⁻⁹...10⁹.
  public var c = 1.0
  /// Naive Bayes: additive smoothing; above 0, at most 10⁶.
  public var alpha = 1.0
  /// Logistic regression: the maximum number of L-BFGS iterations, 1...2³¹ - 1.
  public var maxIterations = 1000
  /// Logistic regression: training ends when no component of the gradient of the mean loss is larger; a
  /// positive number.
  public var tolerance = 1e-4
  /// The number of folds of the cross-validation, 2...1000 and at most the number of texts; 0: no
  /// cross-validation.
  public var folds = 5
  /// Fits the model's `LengthTemperature` to the predictions of the cross-validation, which this requires.
  public var calibrates = false
  /// The maximum number of threads, including the calling one; at most 1024. 0: as many as the process may
  /// run on.
  public var threads = 0
  /// The seed of the random division into folds.
  public var seed: UInt64 = 0
  /// Receives, on the calling thread, the current stage ("cross-validation", "training") and its finished
  /// fraction, 0...1. It cannot stop a training; `call.cancellation` can.
  public var progress: (@Sendable (_ stage: String, _ fraction: Double) -> Void)?
  /// The call options of each `WordCountTrainer.add` and of `finish` that get none of their own.
  public var call = CallOptions()

  public init() {}
}

/// With the numbers of `bertqa_algorithm`.
public enum TrainingAlgorithm: Int32, Sendable, CaseIterable, CustomStringConvertible {
  /// Multinomial, with an L2 penalty: scikit-learn's LogisticRegression.
  case logisticRegression = 0
  /// Multinomial: scikit-learn's MultinomialNB.
  case naiveBayes = 1

  /// The name in the command line, Python and model files.
  public var description: String {
    switch self {
    case .logisticRegression: "logistic_regression"
    case .naiveBayes: "naive_bayes"
    }
  }
}

extension TrainOptions {
  /// Rejects values outside the documented ranges. The names are those of the C ABI.
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
    guard folds > 0 || !calibrates else {
      throw BertQAError(
        .invalidArgument, argument: "calibrate",
        "needs a cross-validation, because a model is overconfident on its training texts, but folds is 0")
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
