/// How a number of a country's register is written, as a pattern of ASCII characters: `d` is a digit, `L` a letter, `x`
/// either; any other character separates groups. A number has all separators or none.
struct IdentifierShape {
  let pattern: StaticString
  /// Instead of each separator one of these may stand; empty: only the pattern's own.
  var separators: StaticString = " -./"

  struct Match {
    /// Digits, and letters in upper case.
    var characters: [UInt8] = []
    var range: Range<Int>
    var isGrouped: Bool

    subscript(position: Int) -> UInt8 { characters[position] }

    func digit(_ position: Int) -> Int { Int(characters[position] &- UInt8(ascii: "0")) }

    /// The digits from one position up to another as a number.
    func number(_ positions: Range<Int>) -> Int { positions.reduce(0) { 10 * $0 + digit($1) } }

    /// The sum of the first digits, each times its weight.
    func sum(_ weights: [Int]) -> Int { weights.indices.reduce(0) { $0 + weights[$1] * digit($1) } }
  }

  /// Returns the number that begins at a place and ends before a character that is no part of a word.
  func match(_ text: TextBytes, at start: Int) -> Match? {
    pattern.withUTF8Buffer { pattern in
      var characters: [UInt8] = []
      var position = start
      var isGrouped: Bool?
      for expected in pattern {
        let byte = text[position]
        switch expected {
        case UInt8(ascii: "d"): guard TextBytes.isDigit(byte) else { return nil }
        case UInt8(ascii: "L"): guard TextBytes.isLetter(byte) else { return nil }
        case UInt8(ascii: "x"): guard text.isAlphanumeric(position) else { return nil }
        default:
          let isSeparator = byte == expected || separators.withUTF8Buffer { $0.contains(byte) }
          guard isSeparator == isGrouped ?? isSeparator else { return nil }
          isGrouped = isSeparator
          if isSeparator { position += 1 }
          continue
        }
        characters.append(TextBytes.isLetter(byte) ? byte & 0xDF : byte)
        position += 1
      }
      // A further group belongs to a longer number.
      let isLonger =
        text.isWordByte(position) || text[position] == UInt8(ascii: "-") && text.isAlphanumeric(position + 1)
      return isLonger
        ? nil : Match(characters: characters, range: start..<position, isGrouped: isGrouped == true)
    }
  }
}
