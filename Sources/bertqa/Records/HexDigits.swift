/// Bytes as two hexadecimal digits each.
enum HexDigits {
  static func of(_ bytes: some Sequence<UInt8>) -> String {
    bytes.reduce(into: "") { $0 += String(Int($1) + 0x100, radix: 16).dropFirst() }
  }

  /// Returns the bytes that `of` made digits of; nil for other text.
  static func bytes(_ text: some StringProtocol) -> [UInt8]? {
    let digits = text.compactMap(\.hexDigitValue)
    guard digits.count == text.utf8.count, digits.count % 2 == 0 else { return nil }
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }
}
