import Glibc

/// The temperature that divides a trained classifier's logits before they become probabilities: exp(intercept +
/// slope · ln(1 + occurrences)). The occurrences are those of the model's features in the text.
///
/// Logits grow with the length of a text, because each occurrence counts as independent evidence, although
/// the second half of a text mostly repeats what the first said. One temperature for all texts (Guo et al.
/// 2017, On Calibration of Modern Neural Networks) would leave long texts overconfident and make short ones
/// underconfident.
struct LengthTemperature: Sendable, Equatable {
  var intercept = 0.0
  var slope = 0.0
  /// 95 % of the texts that it was fitted to have at most as many occurrences; nil: unknown. For longer texts the
  /// temperature grows in proportion, so that they have the probabilities of a text of this length with the same
  /// shares of features. Otherwise the small bias of a book about none of the labels would add up to certainty.
  var longest: Int?

  /// Leaves logits as they are.
  static let one = LengthTemperature()

  /// The range of both numbers. With 2³¹ words and the maximum of both, the exponent is 225: exp(225) and
  /// exp(-225) are finite, also times 2³¹, and so are logits divided by them.
  static let limits = -10.0...10.0

  func at(occurrences: Int) -> Double {
    if self == .one { return 1 }
    let fitted = min(occurrences, longest ?? occurrences)
    let temperature = exp(intercept + slope * log(1 + Double(fitted)))
    return fitted < occurrences ? temperature * (Double(occurrences) / Double(fitted)) : temperature
  }
}

extension LengthTemperature {
  init(_ reader: ObjectReader) throws(BertQAError) {
    guard let own = try reader.reader("temperature") else { return }
    intercept = try Self.coefficient("intercept", own)
    slope = try Self.coefficient("slope", own)
    longest = try own.integer("max_occurrences", in: 1...Int(Int32.max))
  }

  private static func coefficient(_ key: String, _ reader: ObjectReader) throws(BertQAError) -> Double {
    let value = try reader.number(key) ?? 0
    guard limits.contains(value) else {
      throw reader.mismatch(
        key, .number(value), expected: "a number in \(limits.lowerBound)...\(limits.upperBound)")
    }
    return value
  }

  var json: JSON.Object {
    var object = JSON.Object()
    object["intercept"] = .number(intercept)
    object["slope"] = .number(slope)
    if let longest { object["max_occurrences"] = .number(longest) }
    return object
  }
}
