/// A text as the rules of patterns read it: bytes, of which those outside the text are 0.
struct PatternText {
  let bytes: UnsafeBufferPointer<UInt8>

  var count: Int { bytes.count }

  @inline(__always)
  subscript(position: Int) -> UInt8 {
    bytes.indices.contains(position) ? bytes[position] : 0
  }

  func isDigit(_ position: Int) -> Bool { PatternText.isDigit(self[position]) }

  static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

  static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- UInt8(ascii: "a") < 26 }

  func isAlphanumeric(_ position: Int) -> Bool {
    Self.isDigit(self[position]) || Self.isLetter(self[position])
  }

  /// Letters, digits and the underscore, of ASCII: what a number or a name does not begin or end beside.
  func isWordByte(_ position: Int) -> Bool {
    isAlphanumeric(position) || self[position] == UInt8(ascii: "_")
  }

  /// Whether a string of lower-case ASCII is at a place, in upper or lower case.
  func has(_ string: StaticString, at position: Int) -> Bool {
    string.withUTF8Buffer { string in
      string.indices.allSatisfy {
        let byte = self[position + $0]
        return byte == string[$0] || Self.isLetter(byte) && byte | 0x20 == string[$0]
      }
    }
  }

  /// The length of a letter, mark or number beyond ASCII at a place; 0 if there is none. Only those of scripts that
  /// put spaces between words (Latin, Greek, Cyrillic and Armenian): in others an address may follow without one.
  func nameLetter(at position: Int) -> Int {
    guard self[position] >= 0x80, let base = bytes.baseAddress else { return 0 }
    let unit = UTF8Codec.decode(base, at: position, end: count)
    return Self.isNameLetter(unit) ? unit.size : 0
  }

  /// The same of what ends before a place that is not before `begin`.
  func nameLetter(before position: Int, begin: Int) -> Int {
    guard position > begin, self[position - 1] >= 0x80, let base = bytes.baseAddress else { return 0 }
    let unit = UTF8Codec.decodeBackwards(base, before: position, begin: begin)
    return Self.isNameLetter(unit) ? unit.size : 0
  }

  private static func isNameLetter(_ unit: DecodedScalar) -> Bool {
    guard unit.scalar < 0x590 else { return false }
    switch unit.unicodeScalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .nonspacingMark, .decimalNumber:
      return true
    default: return false
    }
  }
}
