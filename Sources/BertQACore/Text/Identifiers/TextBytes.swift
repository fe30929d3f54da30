/// The bytes of a text, with 0 at every place outside it. Its extensions find identifiers: addresses, numbers of
/// cards and accounts.
struct TextBytes {
  let bytes: UnsafeBufferPointer<UInt8>

  var count: Int { bytes.count }

  @inline(__always)
  subscript(position: Int) -> UInt8 {
    bytes.indices.contains(position) ? bytes[position] : 0
  }

  func isDigit(_ position: Int) -> Bool { TextBytes.isDigit(self[position]) }

  static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

  static func isHexDigit(_ byte: UInt8) -> Bool { isDigit(byte) || (byte | 0x20) &- UInt8(ascii: "a") < 6 }

  static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- UInt8(ascii: "a") < 26 }

  func isAlphanumeric(_ position: Int) -> Bool {
    Self.isDigit(self[position]) || Self.isLetter(self[position])
  }

  /// ASCII letters, digits and the underscore: a number or a name does not begin or end next to one.
  func isWordByte(_ position: Int) -> Bool {
    isAlphanumeric(position) || self[position] == UInt8(ascii: "_")
  }

  /// True if a string of lower-case ASCII, in either case, is at a place.
  func has(_ string: StaticString, at position: Int) -> Bool {
    string.withUTF8Buffer { string in
      string.indices.allSatisfy {
        let byte = self[position + $0]
        return byte == string[$0] || Self.isLetter(byte) && byte | 0x20 == string[$0]
      }
    }
  }

  /// Returns the length of a letter, mark or number beyond ASCII at a place; 0 if there is none. It counts only
  /// scripts that put spaces between words (Latin, Greek, Cyrillic and Armenian): in others an address may follow
  /// without one.
  func nameLetter(at position: Int) -> Int {
    guard self[position] >= 0x80, let base = bytes.baseAddress else { return 0 }
    let unit = UTF8Codec.decode(base, at: position, end: count)
    return Self.isNameLetter(unit) ? unit.size : 0
  }

  /// Returns the same for the character that ends before a place, which is not before `begin`.
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

extension TextBytes {
  /// Returns the size of a sign or code of a currency at a place; 0 if there is none.
  func currencySize(at position: Int) -> Int {
    guard position >= 0, position < count else { return 0 }
    if self[position] < 0x80 {
      if self[position] == UInt8(ascii: "$") { return 1 }
      return Self.isLetter(self[position]) && Self.currencies.contains { has($0, at: position) }
        && !isWordByte(position + 3) ? 3 : 0
    }
    let unit = UTF8Codec.decode(bytes, at: position)
    return unit.unicodeScalar.properties.generalCategory == .currencySymbol ? unit.size : 0
  }

  /// Returns the same for one that ends before a place.
  func currencySize(before position: Int) -> Int {
    guard position > 0, position <= count, let base = bytes.baseAddress else { return 0 }
    if self[position - 1] < 0x80 {
      if self[position - 1] == UInt8(ascii: "$") { return 1 }
      return Self.isLetter(self[position - 1]) && Self.currencies.contains { has($0, at: position - 3) }
        && !isWordByte(position - 4) ? 3 : 0
    }
    let unit = UTF8Codec.decodeBackwards(base, before: position, begin: max(0, position - 4))
    return unit.unicodeScalar.properties.generalCategory == .currencySymbol ? unit.size : 0
  }

  private static let currencies: [StaticString] = [
    "eur", "usd", "gbp", "chf", "jpy", "sek", "nok", "dkk", "pln", "inr",
  ]
}
