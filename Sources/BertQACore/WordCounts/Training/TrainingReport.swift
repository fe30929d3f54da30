/// How a training went. Cross-validated figures are NaN, or empty, without folds.
public struct TrainingReport: Sendable {
  public var textCount = 0
  /// Features of the model: words, and pairs of them.
  public var vocabularySize = 0
  /// Sorted by their UTF-8 bytes.
  public var labels: [String] = []
  /// [label]: texts with it.
  public var labelTexts: [Int] = []
  /// Of L-BFGS; 0 for naive Bayes.
  public var iterations = 0
  /// Whether the gradient was within the tolerance; true for naive Bayes.
  public var hasConverged = true
  /// Mean cross-entropy of the model on what it was trained on, in nats, with the penalty of logistic
  /// regression: ‖weights‖² / (2 · c · texts).
  public var loss = Double.nan
  /// Part of the texts whose most probable label is right, when predicted by a model that has not seen them.
  public var accuracy = Double.nan
  /// Mean of `f1`.
  public var macroF1 = Double.nan
  /// Expected calibration error: the mean difference of the best label's probability and the part that is
  /// right, in 15 bins of equal width.
  public var calibrationError = Double.nan
  /// [label]: of the texts predicted as the label, the part that has it; 0 where there are none.
  public var precision: [Double] = []
  /// [label]: of the texts that have the label, the part predicted as it.
  public var recall: [Double] = []
  /// [label]: the harmonic mean of the two; 0 for one that is neither right nor predicted anywhere.
  public var f1: [Double] = []
  /// The pairs of labels that occur, sorted by the true and then the predicted label. Empty without folds.
  public var confusion: [ConfusionEntry] = []

  public init() {}
}

/// How many texts with one label were predicted as another, or as the same.
public struct ConfusionEntry: Sendable, Equatable {
  /// In `TrainingReport.labels`.
  public let trueLabel: Int
  /// In `TrainingReport.labels`.
  public let predictedLabel: Int
  /// Texts, at least 1.
  public let count: Int

  public init(trueLabel: Int, predictedLabel: Int, count: Int) {
    self.trueLabel = trueLabel
    self.predictedLabel = predictedLabel
    self.count = count
  }
}
