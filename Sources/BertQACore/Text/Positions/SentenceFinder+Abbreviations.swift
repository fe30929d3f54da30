extension SentenceFinder {
  /// English abbreviations that stand before a name or number far more often than at a sentence's end.
  private static let leading: Set<String> = [
    "Mr", "Mrs", "Ms", "Dr", "Prof", "Sr", "Jr", "St", "Mt", "Ft", "Gen", "Col", "Capt", "Lt", "Sgt",
    "Rev", "Hon", "Gov", "Sen", "Rep", "Pres", "vs", "cf", "al", "approx",
  ]

  /// Those that do so before a digit only.
  private static let leadingNumbers: Set<String> = [
    "No", "no", "Nos", "nos", "Fig", "fig", "Vol", "vol", "Art", "Sec", "Ch", "pp", "ca",
    "Jan", "Feb", "Mar", "Apr", "Jun", "Jul", "Aug", "Sep", "Sept", "Oct", "Nov", "Dec",
  ]

  private static let longest = 12

  /// Whether the dot at `dot` belongs to an abbreviation or initial. `next` is the character behind the
  /// white space that follows.
  func isAbbreviation(before dot: Int, next: Unicode.Scalar) -> Bool {
    var start = dot
    while start > 0 && isWordByte(text[start - 1]) {
      start -= 1
      if dot - start > Self.longest { return false }
    }
    let letters = String(decoding: text[start..<dot], as: UTF8.self).unicodeScalars
    let word = String(letters.drop { !$0.properties.isAlphabetic })  // less opening quotes
    let parts = word.split(separator: ".", omittingEmptySubsequences: false)
    // U.S, e.g, Ph.D; but not example.com, and not the last dot of an ellipsis.
    if parts.count > 1 { return parts.allSatisfy { (1...2).contains($0.count) } }
    if let letter = word.unicodeScalars.first, word.unicodeScalars.count == 1 {
      return letter.properties.isAlphabetic && letter.value < 0x3000
    }
    if Self.leadingNumbers.contains(word) { return ("0"..."9").contains(next) }
    return Self.leading.contains(word)
  }

  /// A letter, a dot, or any byte of a character beyond ASCII.
  private func isWordByte(_ byte: UInt8) -> Bool {
    let lower = byte | 0x20
    return byte >= 0x80 || (lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z"))
      || byte == UInt8(ascii: ".")
  }
}
