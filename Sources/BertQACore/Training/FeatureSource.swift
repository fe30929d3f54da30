/// How a training represents texts: the features of its models and their values in each text.
protocol FeatureSource: AnyObject {
  var kind: TrainingFeatures { get }

  /// The bytes that all texts take.
  var byteCount: Int { get }

  /// Begins a training on all texts that have been added.
  func begin(_ call: CallOptions, _ monitor: CallMonitor) throws(BertQAError)

  /// Returns the features of a model that is trained on some of the texts; nil: all.
  func selection(rows: [Int], _ monitor: CallMonitor) throws(BertQAError) -> FeatureSelection?

  func matrix(
    rows: [Int], _ selection: FeatureSelection?, _ monitor: CallMonitor
  ) throws(BertQAError) -> FeatureMatrix

  /// Returns the number of occurrences of features in a text; 0 if features do not occur.
  func occurrenceCount(row: Int, _ selection: FeatureSelection?) -> Int

  /// Returns a model of all features in single precision.
  func model(
    _ fitted: borrowing FittedModel, labels: [String], temperature: LengthTemperature, _ monitor: CallMonitor
  ) throws(BertQAError) -> any TrainedModel
}

/// A trained model that can be written.
protocol TrainedModel {
  /// - Parameter training: a record of the settings of the training.
  func write(
    to directory: OutputDirectory, training: JSON.Object, _ monitor: CallMonitor
  ) throws(BertQAError)
}
