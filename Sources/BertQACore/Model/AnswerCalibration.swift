import Glibc

/// What a model's gaps and scores are worth as chances, fitted to questions with known answers (`bertqa.calibration`).
///
/// The chance of "no answer" is a logistic function of the best answer's gap; what is left is divided among the
/// document's spans by a softmax with a temperature of its own. Both follow the scores, so that neither the order of
/// answers nor their comparison with each other changes.
struct AnswerCalibration: Sendable, Equatable {
  /// How fast the log-odds of an answer grow with the gap; above 0.
  var slope: Double
  /// The gap at which a document of one window is as likely to have an answer as not.
  var midpoint: Double
  /// What scores are divided by before the softmax over spans; above 0.
  var spanTemperature: Double

  /// The chance that a document has an answer.
  /// - Parameter gap: of its best span, less what the number of windows adds to it by chance.
  func answerChance(gap: Double) -> Double { 1 / (1 + exp(-slope * (gap - midpoint))) }
}

extension AnswerCalibration {
  /// Far beyond what any fit gives, and such that no product with a finite score is undefined.
  private static let positive = 1e-6...1e6
  private static let midpoints = -1e6...1e6
  /// Of the threshold's rise.
  static let rises = 0.0...1e6

  /// - Parameter reader: the member `calibration`, which has all three numbers.
  init(_ reader: ObjectReader) throws(BertQAError) {
    slope = try reader.required("slope", in: Self.positive)
    midpoint = try reader.required("midpoint", in: Self.midpoints)
    spanTemperature = try reader.required("span_temperature", in: Self.positive)
  }
}

extension ObjectReader {
  fileprivate func required(_ key: String, in range: ClosedRange<Double>) throws(BertQAError) -> Double {
    guard let value = try number(key, in: range) else {
      throw BertQAError(.invalidModel, "\(file): \"calibration\" has no \(quoted(key))")
    }
    return value
  }

  func number(_ key: String, in range: ClosedRange<Double>) throws(BertQAError) -> Double? {
    guard let value = try number(key) else { return nil }
    guard range.contains(value) else {
      throw BertQAError(
        .invalidModel,
        "\(file): \(quoted(key)) is \(value), expected \(range.lowerBound) to \(range.upperBound)")
    }
    return value
  }
}
