/// The text of `<sup>`, without which 10²³ would become 1023.
enum Superscripts {
  private static let characters = Dictionary(
    uniqueKeysWithValues: zip(
      "0123456789+-−–n,./ ".unicodeScalars,
      "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻ⁿ,./ ".unicodeScalars.map { Array(String($0).utf8) }))
  /// In bytes.
  private static let longest = 64

  /// Writes what an element has added to a text as superscripts. Text with anything but digits, signs, n and
  /// punctuation between them stays, such as "st" and the footnote "[1]".
  static func raise(_ text: inout [UInt8], from start: Int) {
    guard start < text.count, text.count - start <= longest else { return }
    var raised: [UInt8] = []
    for scalar in String(decoding: text[start...], as: UTF8.self).unicodeScalars {
      guard let character = characters[scalar] else { return }
      raised += character
    }
    text.replaceSubrange(start..., with: raised)
  }
}
