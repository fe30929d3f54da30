/// Characters of Windows-1252 in pages and mail that name Latin-1, or a number such as `&#150;`.
enum WindowsCharacters {
  /// By the last byte of Latin-1's control in UTF-8, from 0x80. Five have no character.
  private static let characters = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8D}Ž\u{8F}\u{90}‘’“”•–—˜™š›œ\u{9D}žŸ".unicodeScalars
    .map {
      Array(String($0).utf8)
    }

  /// Returns the text, in UTF-8, with Windows' characters for Latin-1's controls, which no text has.
  static func replacingControls(in text: [UInt8]) -> [UInt8] {
    var output: [UInt8] = []
    var done = 0
    for index in text.indices.dropFirst() where text[index - 1] == 0xC2 && text[index] & 0xE0 == 0x80 {
      output += text[done..<index - 1]
      output += characters[Int(text[index] & 0x1F)]
      done = index + 1
    }
    return done == 0 ? text : output + text[done...]
  }
}
