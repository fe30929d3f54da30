import Glibc

/// Rotary positions: the wavelengths of a head's planes are a geometric series (Su et al. 2021,
/// https://arxiv.org/abs/2104.09864).
struct RotaryPositions: Sendable, Equatable {
  /// The base of the series.
  var theta: Double
  /// The factor by which texts may be longer than those of the training; 1: no scaling. `theta` includes it.
  var factor = 1.0

  /// Returns the number by which the frequencies of all planes are divided.
  func divisor(headSize: Int) -> Float {
    factor == 1 ? 1 : Float(pow(factor, 2 / Double(headSize)))
  }
}

// MARK: - Reading

extension RotaryPositions {
  /// Reads `config.json` as transformers 5 writes it ("rope_parameters") or as the checkpoint's own code did.
  /// - Parameters:
  ///   - key: the key of the base.
  ///   - theta: the default if the file does not have the key.
  init(_ reader: ObjectReader, _ key: String, otherwise theta: Double) throws(BertQAError) {
    self.theta = try Self.theta(reader, key) ?? theta
    if let rope = try reader.reader("rope_parameters") {
      try Self.checkIsPlain(rope)
      self.theta = try Self.theta(rope, "rope_theta") ?? self.theta
    }
    guard let scaling = try reader.reader("rope_scaling") else { return }
    // The scaling of GTE's code multiplies the base, and divides the frequencies.
    if try scaling.string("type") == "ntk" {
      factor = try scaling.number("factor", in: 1...1000) ?? 1
      self.theta *= factor
    } else {
      try Self.checkIsPlain(scaling)
    }
  }

  static func theta(_ reader: ObjectReader, _ key: String) throws(BertQAError) -> Double? {
    guard let theta = try reader.number(key) else { return nil }
    guard theta >= 1, theta <= 1e12 else {
      throw BertQAError(
        .invalidModel, "\(reader.file): \(quoted(key)) is \(theta), expected 1 to 1e12")
    }
    return theta
  }

  /// Rejects positions that are scaled for texts longer than those of the training.
  static func checkIsPlain(_ rope: ObjectReader) throws(BertQAError) {
    for key in ["rope_type", "type"] { try rope.require(key, .string("default")) }
  }
}
