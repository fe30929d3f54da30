/// The size of the largest text that a call takes.
enum TextLimit {
  /// Tokens keep byte offsets in 32 bits.
  static let bytes = Int(Int32.max)

  /// - Parameter name: the argument, as the C header names it.
  /// - Throws: `.tooLarge`.
  static func check(_ text: UnsafeBufferPointer<UInt8>, _ name: String) throws(BertQAError) {
    guard text.count > bytes else { return }
    throw BertQAError(
      .tooLarge, argument: name, "has \(text.count) bytes, but at most \(bytes) are allowed: split it")
  }
}
