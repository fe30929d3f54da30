/// Options for training a classifier. Equal texts, labels and options lead to equal files.
public struct TrainOptions: Sendable {
  public var features = TrainingFeatures.words
  /// Embedding: the directory of the model, or the name of an installed one. nil: the default model.
  public var embeddingModel: String?
  /// Of word counts. Logistic regression is the only one for vectors.
  public var algorithm = TrainingAlgorithm.logisticRegression
  /// Words: the minimum length of words in code points, 1...255. Shorter words are skipped.
  public var minWordLength = 3
  /// Words: the minimum number of distinct words in a text, 1...2³¹ - 1. The model makes no prediction for texts
  /// with fewer.
  public var minDistinctWords = 3
  /// Words: 1: words; 2: also pairs of words that are adjacent after the removal of short words.
  public var maxNGram = 1
  /// Words: weighs counts by TF-IDF, as scikit-learn's TfidfTransformer does, and scales each text to length 1.
  public var usesTFIDF = false
  /// Words: the minimum number of texts with a term, 1...2³¹ - 1. Terms in fewer texts are omitted.
  public var minDocumentCount = 1
  /// Words: the maximum fraction of texts with a term, above 0 and at most 1. Terms in more texts are omitted.
  public var maxDocumentFraction = 1.0
  /// Words: the maximum number of terms, 1...2²⁸. The most frequent ones are kept.
  public var maxVocabulary = 1 << 18
  /// Logistic regression: inverse strength of the L2 penalty, as in scikit-learn; 10⁻⁹...10⁹. nil: 1 for words, 10 for
  /// vectors, whose numbers are small.
  public var c: Double?
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
  public var progress: (@Sendable (_ stage: StaticString, _ fraction: Double) -> Void)?
  /// The call options of each `ClassifierTrainer.add` and of `finish` that get none of their own.
  public var call = CallOptions()

  public init() {}
}

/// What a classifier reads of a text, with the numbers of `bertqa_features`.
public enum TrainingFeatures: Int32, Sendable, CaseIterable, CustomStringConvertible {
  /// The counts of its words.
  case words = 0
  /// Its vector by an embedding model.
  case embedding = 1
  /// The one with the higher accuracy in the cross-validation; words if both are equal.
  case auto = 2

  /// The name in the command line, Python and reports.
  public var description: String {
    switch self {
    case .words: "words"
    case .embedding: "embedding"
    case .auto: "auto"
    }
  }
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
    try BertQAError.check("min_word_length", minWordLength, 1...WordScanner.maximumBytes)
    try BertQAError.check("min_distinct_words", minDistinctWords, 1...Int(Int32.max))
    try BertQAError.check("max_ngram", maxNGram, 1...2)
    try BertQAError.check("min_document_count", minDocumentCount, 1...Int(Int32.max))
    try BertQAError.check("max_vocabulary", maxVocabulary, 1...WordCountModel.vocabularyLimit)
    try BertQAError.check("max_iterations", maxIterations, 1...Int(Int32.max))
    try BertQAError.check("threads", threads, 0...WorkerThreads.maximumCount)
    try BertQAError.check(
      "folds", folds, folds == 0 || (2...Self.foldLimit).contains(folds), "0 or 2 to \(Self.foldLimit)")
    guard folds > 0 || features != .auto else {
      throw BertQAError(
        .invalidArgument, argument: "features",
        "is auto, which needs a cross-validation: set folds to 2 or more")
    }
    guard features != .words || embeddingModel == nil else {
      throw BertQAError(
        .invalidArgument, argument: "features",
        "is words, which uses no embedding model: choose embedding or auto, or give no model")
    }
    guard features != .embedding || algorithm == .logisticRegression else {
      throw BertQAError(
        .invalidArgument, argument: "algorithm",
        "is naive_bayes, which counts words: vectors need logistic_regression")
    }
    guard folds > 0 || !calibrates else {
      throw BertQAError(
        .invalidArgument, argument: "calibrate",
        "needs a cross-validation, because a model is overconfident on its training texts: set folds to 2 or more"
      )
    }
    try BertQAError.check(
      "max_document_fraction", maxDocumentFraction, maxDocumentFraction > 0 && maxDocumentFraction <= 1,
      "above 0 and at most 1")
    if let c { try BertQAError.check("c", c, (1e-9...1e9).contains(c), "1e-9 to 1e9") }
    try BertQAError.check("alpha", alpha, alpha > 0 && alpha <= 1e6, "above 0 and at most 1e6")
    try BertQAError.check("tolerance", tolerance, tolerance > 0 && tolerance.isFinite, "a positive number")
  }

  /// - Parameter features: not `auto`.
  func inverseStrength(_ features: TrainingFeatures) -> Double { c ?? (features == .embedding ? 10 : 1) }

  private static let foldLimit = 1000
}
