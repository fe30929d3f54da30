/// How a training went. Cross-validated figures are NaN without folds.
public struct TrainingReport: Sendable {
  public var textCount = 0
  /// Features of the model.
  public var vocabularySize = 0
  /// Sorted by their bytes.
  public var labels: [String] = []
  /// Texts with each label.
  public var labelTexts: [Int] = []
  /// Of L-BFGS; 0 for naive Bayes, like the next but true.
  public var iterations = 0
  /// Whether the gradient was within the tolerance.
  public var hasConverged = true
  /// Mean cross-entropy of the model on what it was trained on, in nats, with the penalty of logistic
  /// regression: ‖weights‖² / (2 · c · texts).
  public var loss = Double.nan
  /// Part of the texts whose most probable label is right, when predicted by a model that has not seen them.
  public var accuracy = Double.nan
  /// Mean over the labels of the harmonic mean of precision and recall.
  public var macroF1 = Double.nan
  /// Expected calibration error: the mean difference of the best label's probability and the part that is
  /// right, in 15 bins of equal width.
  public var calibrationError = Double.nan
  /// [true label][predicted label], texts; empty without folds.
  public var confusion: [[Int]] = []
}
