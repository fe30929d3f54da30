/// Reads the words beside a number, which say what it is.
extension TextBytes {
  /// Returns the size of the letter or mark, of any script, that ends before a place, which is not before `begin`; 0
  /// if there is none.
  func letterSize(before position: Int, begin: Int) -> Int {
    guard position > begin, self[position - 1] >= 0x80, let base = bytes.baseAddress else {
      return position > begin && Self.isLetter(self[position - 1]) ? 1 : 0
    }
    let unit = UTF8Codec.decodeBackwards(base, before: position, begin: begin)
    return Self.isOfWord(unit) ? unit.size : 0
  }

  /// Returns the same for the one at a place.
  func letterSize(at position: Int) -> Int {
    guard self[position] >= 0x80 else { return Self.isLetter(self[position]) ? 1 : 0 }
    let unit = UTF8Codec.decode(bytes, at: position)
    return Self.isOfWord(unit) ? unit.size : 0
  }

  /// Returns the beginning of the word that ends at a place, not before `begin`; the place itself if none does.
  func wordStart(before end: Int, begin: Int) -> Int {
    var start = end
    while case let size = letterSize(before: start, begin: begin), size > 0 { start -= size }
    return start
  }

  private static func isOfWord(_ unit: DecodedScalar) -> Bool {
    switch unit.unicodeScalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .nonspacingMark, .spacingMark:
      return true
    default: return false
    }
  }

  /// Returns a word as lists have it: in lower case. Lists compare composed and decomposed letters as equal.
  func spelling(_ word: Range<Int>) -> String { String(decoding: bytes[word], as: UTF8.self).lowercased() }

  /// Returns the part of a word that a list has: the word, or one that begins with a capital in a name such as
  /// `phoneNumber`, the last one first.
  func part<Meaning>(of word: Range<Int>, _ meaning: (String) -> Meaning?) -> (Range<Int>, Meaning)? {
    if let found = meaning(spelling(word)) { return (word, found) }
    var end = word.upperBound
    for position in word.reversed() where position > word.lowerBound {
      guard isCapital(position), !isCapital(position - 1) else { continue }
      if let found = meaning(spelling(position..<end)) { return (position..<end, found) }
      end = position
    }
    guard end < word.upperBound, let found = meaning(spelling(word.lowerBound..<end)) else { return nil }
    return (word.lowerBound..<end, found)
  }

  func isCapital(_ position: Int) -> Bool { self[position] &- UInt8(ascii: "A") < 26 }
}
