import Glibc

/// Converts a model's gaps and scores to probabilities, fitted to questions with known answers
/// (`bertqa.calibration`).
///
/// The probability of "no answer" is a logistic function of the best answer's gap. A softmax with its own
/// temperature divides the rest among the document's spans. Both are monotonic in the scores, so the order of
/// answers does not change.
struct AnswerCalibration: Sendable, Equatable {
  /// The growth of an answer's log-odds per unit of gap; above 0.
  var slope: Double
  /// The gap at which a document of one window is equally likely to have and not to have an answer.
  var midpoint: Double
  /// Divides scores before the softmax over spans; above 0.
  var spanTemperature: Double

  /// Returns the probability that a document has an answer.
  /// - Parameter gap: the gap of its best span, minus the amount by which the number of windows raises it by
  ///   chance.
  func answerChance(gap: Double) -> Double { 1 / (1 + exp(-slope * (gap - midpoint))) }
}

extension AnswerCalibration {
  /// Far wider than any fit needs, and narrow enough that products with finite scores are defined.
  private static let positive = 1e-6...1e6
  private static let midpoints = -1e6...1e6
  /// The range of the threshold's rise.
  static let rises = 0.0...1e6

  /// - Parameter reader: the member `calibration`, with all three numbers.
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
}
