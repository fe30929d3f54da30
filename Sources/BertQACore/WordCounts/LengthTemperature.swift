import Glibc

/// The temperature that divides a word-count model's logits before they become probabilities: exp(intercept +
/// slope · ln(1 + occurrences)). The occurrences are those of the model's features in the text.
///
/// Logits grow with the length of a text, because each occurrence counts as independent evidence, although
/// the second half of a text mostly repeats what the first said. One temperature for all texts (Guo et al.
/// 2017, On Calibration of Modern Neural Networks) would leave long texts overconfident and make short ones
/// underconfident.
struct LengthTemperature: Sendable, Equatable {
  var intercept = 0.0
  var slope = 0.0

  /// Leaves logits as they are.
  static let one = LengthTemperature()

  /// The range of both numbers. With 2³¹ words and the maximum of both, the exponent is 225: exp(225) and
  /// exp(-225) are finite, and so are logits divided by them.
  static let limits = -10.0...10.0

  func at(occurrences: Int) -> Double {
    self == .one ? 1 : exp(intercept + slope * log(1 + Double(occurrences)))
  }
}
