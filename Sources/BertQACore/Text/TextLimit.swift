/// The longest text, in bytes: offsets of tokens are 32 bits wide.
enum TextLimit {
  static let byteCount = Int(Int32.max)

  /// Throws `.tooLarge` for a longer text; `argument` is what the caller knows it by.
  static func check(
    _ text: UnsafeBufferPointer<UInt8>, _ argument: String
  ) throws(BertQAError) {
    if text.count <= byteCount { return }
    throw BertQAError(
      .tooLarge, argument: argument,
      "has \(text.count) bytes, but at most \(byteCount) are allowed: split it")
  }
}
