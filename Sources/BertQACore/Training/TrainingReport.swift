/// The result of a training. Cross-validated figures are NaN, or empty, without folds.
public struct TrainingReport: Sendable {
  public var textCount = 0
  /// Those of the model: not `auto`.
  public var features = TrainingFeatures.words
  /// With `auto`: the accuracy and macro F1 of the other features; else NaN.
  public var otherAccuracy = Double.nan
  public var otherMacroF1 = Double.nan
  /// The number of features of the model: terms, or the numbers of a vector.
  public var vocabularySize = 0
  /// Sorted by their UTF-8 bytes.
  public var labels: [String] = []
  /// [label]: the number of texts with it.
  public var labelTexts: [Int] = []
  /// The number of L-BFGS iterations; 0 for naive Bayes.
  public var iterations = 0
  /// True if the gradient was within the tolerance; always true for naive Bayes.
  public var hasConverged = true
  /// The model's mean cross-entropy on its training texts, in nats, including the penalty of logistic
  /// regression: ‖weights‖² / (2 · c · texts).
  public var loss = Double.nan
  /// The fraction of texts whose most probable label is right, predicted by a model that has not seen them.
  public var accuracy = Double.nan
  /// The mean of `f1`.
  public var macroF1 = Double.nan
  /// The expected calibration error: the mean difference between the best label's probability and the
  /// fraction that is right, in 15 bins of equal width. With calibration, the predictions for the other folds
  /// calibrate the probabilities of each fold.
  public var calibrationError = Double.nan
  /// [label]: the fraction of the texts predicted as the label that have it; 0 if there are none.
  public var precision: [Double] = []
  /// [label]: the fraction of the texts with the label that are predicted as it.
  public var recall: [Double] = []
  /// [label]: the harmonic mean of precision and recall; 0 if no prediction of the label is right.
  public var f1: [Double] = []
  /// The pairs of labels that occur, sorted by the true and then by the predicted label. Empty without folds.
  public var confusion: [ConfusionEntry] = []

  public init() {}
}

/// The number of texts with one label that were predicted as another or the same label.
public struct ConfusionEntry: Sendable, Equatable {
  /// An index of `TrainingReport.labels`.
  public let trueLabel: Int
  /// An index of `TrainingReport.labels`.
  public let predictedLabel: Int
  /// The number of texts, at least 1.
  public let count: Int

  public init(trueLabel: Int, predictedLabel: Int, count: Int) {
    self.trueLabel = trueLabel
    self.predictedLabel = predictedLabel
    self.count = count
  }
}
