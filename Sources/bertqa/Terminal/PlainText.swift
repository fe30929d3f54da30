/// Text for lines and columns: valid UTF-8 without line breaks, tabs or terminal control characters.
enum PlainText {
  static func of(_ text: String) -> String {
    var bytes: [UInt8] = []
    append(text.utf8, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends `text`. A space replaces each run of white space and control characters, and U+FFFD each invalid
  /// sequence.
  static func append(_ text: some Collection<UInt8>, to output: inout [UInt8]) {
    var inSpace = false
    for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
      let isSpace = isSpaceOrControl(scalar)
      if !isSpace {
        output.append(contentsOf: scalar.utf8)
      } else if !inSpace {
        output.append(UInt8(ascii: " "))
      }
      inSpace = isSpace
    }
  }

  /// True if the text has only white space and control characters.
  static func isBlank(_ text: some Collection<UInt8>) -> Bool {
    String(decoding: text, as: UTF8.self).unicodeScalars.allSatisfy {
      isSpaceOrControl($0) || $0.properties.isWhitespace
    }
  }

  /// Replaces each occurrence of a scalar, such as a quote, also before a combining mark: Swift takes both for one
  /// character.
  static func replacing(_ scalar: Unicode.Scalar, in text: String, by replacement: String) -> String {
    text.unicodeScalars.split(separator: scalar, omittingEmptySubsequences: false).map { String($0) }
      .joined(separator: replacement)
  }

  /// Returns the text without surrounding white space.
  static func trimmed(_ text: String) -> String {
    var scalars = Substring(text).unicodeScalars
    while let first = scalars.first, first.properties.isWhitespace { scalars.removeFirst() }
    while let last = scalars.last, last.properties.isWhitespace { scalars.removeLast() }
    return String(scalars)
  }

  /// Returns the text in one line, without surrounding white space; nil if nothing is left.
  static func line(_ text: String) -> String? {
    let line = trimmed(of(text))
    return line.isEmpty ? nil : line
  }

  /// Returns a generated word. Line ends and tabs, which character models generate, stay.
  static func word(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    if text.count == 1, let byte = text.first, byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\t") {
      return [byte]
    }
    var output: [UInt8] = []
    append(text, to: &output)
    return output
  }

  /// True for C0 and C1 controls, space, and Unicode's line and paragraph separators.
  private static func isSpaceOrControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0...0x20, 0x7F...0x9F, 0x2028, 0x2029: return true
    default: return false
    }
  }
}
