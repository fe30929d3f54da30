/// Characters of Windows-1252 in pages and mail that name Latin-1, UTF-8, or a number such as `&#150;`.
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

  /// Returns UTF-8 with Windows' characters for the bytes that are not part of it, as in a text that was put together
  /// from several; nil if most are not, so that the text has another encoding.
  static func repairingUTF8(in text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    guard let converter = CharacterConverter(from: "UTF-8", to: "UTF-8") else { return nil }
    var output: [UInt8] = []
    output.reserveCapacity(text.count)
    var repairedCount = 0
    func append(_ bytes: some Collection<UInt8>, to output: inout [UInt8]) {
      for byte in bytes {
        output += byte < 0xA0 ? characters[Int(byte & 0x1F)] : [0xC0 | byte >> 6, 0x80 | byte & 0x3F]
        repairedCount += 1
      }
    }
    let taken = converter.convert(text, to: &output) { rest, output in
      append(rest.prefix(1), to: &output)
      return 1
    }
    append(text[taken...], to: &output)
    // Those repaired are characters of several bytes, too.
    return output.count { $0 >= 0xC0 } > 2 * repairedCount ? output : nil
  }
}
