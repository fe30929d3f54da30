import Glibc

/// What a word-count model's logits are divided by before they become probabilities: exp(intercept + slope · ln(1 +
/// occurrences)), where the occurrences are those of the model's features in the text.
///
/// Logits grow with the length of a text, as each occurrence counts as evidence of its own, though much of a text's
/// second half says what the first said. One temperature for all texts (Guo et al. 2017, On Calibration of Modern
/// Neural Networks) would leave long ones too sure and make short ones too unsure.
struct LengthTemperature: Sendable, Equatable {
  var intercept = 0.0
  var slope = 0.0

  /// Leaves logits as they are.
  static let one = LengthTemperature()

  /// Of both numbers. With 2³¹ words and the largest of both the exponent is 225: finite, as are all logits divided
  /// by it, and by exp(-225).
  static let limits = -10.0...10.0

  func at(occurrences: Int) -> Double {
    self == .one ? 1 : exp(intercept + slope * log(1 + Double(occurrences)))
  }
}
