/// Finds e-mail and web addresses.
extension PatternText {
  private static let longestLocalPart = 64
  private static let longestDomain = 253
  private static let longestLabel = 63

  /// Returns the address whose @ is at a place, by RFC 5321's lengths and the characters in common use.
  func email(around at: Int) -> Range<Int>? {
    guard var start = localPart(before: at), let end = domain(at: at + 1) else { return nil }
    // The part before the @ begins with a letter, digit or underscore.
    while start < at, !isWordByte(start), nameLetter(at: start) == 0 { start += 1 }
    return start < at ? start..<end : nil
  }

  /// Returns the beginning of the part before an @; nil if there is none, or if it is too long.
  private func localPart(before at: Int) -> Int? {
    let begin = max(0, at - Self.longestLocalPart - 4)
    var start = at
    while start > begin {
      let byte = self[start - 1]
      let size: Int
      switch byte {
      case UInt8(ascii: "."):
        // No two dots in succession, and none at the end.
        guard start < at, self[start] != UInt8(ascii: ".") else { return start < at ? start : nil }
        size = 1
      case UInt8(ascii: "_"), UInt8(ascii: "%"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "'"):
        size = 1
      default: size = isAlphanumeric(start - 1) ? 1 : nameLetter(before: start, begin: begin)
      }
      if size == 0 { break }
      start -= size
    }
    return start < at && at - start <= Self.longestLocalPart ? start : nil
  }

  /// Returns the end of the domain name that begins at a place: two labels or more, the last of letters; nil if there
  /// is none.
  func domain(at start: Int) -> Int? {
    var position = start
    // Behind the last label that may be a top-level domain.
    var end: Int?
    var labelCount = 0
    while position - start <= Self.longestDomain {
      let label = position
      var isAlphabetic = true
      while position - label <= Self.longestLabel {
        let letter = nameLetter(at: position)
        guard letter > 0 || isAlphanumeric(position) || self[position] == UInt8(ascii: "-") else { break }
        if letter == 0, !Self.isLetter(self[position]) { isAlphabetic = false }
        position += max(1, letter)
      }
      // A label ends with a letter or digit: hyphens at its end do not belong to it.
      var stop = position
      while stop > label, self[stop - 1] == UInt8(ascii: "-") { stop -= 1 }
      guard stop > label, self[label] != UInt8(ascii: "-"), stop - label <= Self.longestLabel else { break }
      labelCount += 1
      if stop < position, labelCount > 1 { isAlphabetic = Self.isAlphabetic(bytes[label..<stop]) }
      if labelCount > 1, isAlphabetic && stop - label > 1 || has("xn--", at: label) { end = stop }
      guard stop == position, self[position] == UInt8(ascii: ".") else { break }
      position += 1
    }
    guard let end, end - start <= Self.longestDomain else { return nil }
    return end
  }

  private static func isAlphabetic(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    bytes.allSatisfy { isLetter($0) || $0 >= 0x80 }
  }

  /// Matches an address that begins with http://, https://, ftp:// or www.
  func url(at start: Int) -> Range<Int>? {
    var position = start
    if has("www.", at: start) {
      guard let end = domain(at: start + 4) else { return nil }
      position = end
      if self[position] == UInt8(ascii: ":"), isDigit(position + 1) {
        position += 1
        while isDigit(position) { position += 1 }
      }
      switch self[position] {
      case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): break
      default: return start..<position
      }
    } else {
      guard
        let size = (["https://", "http://", "ftp://"] as [StaticString]).first(where: { has($0, at: start) })
      else { return nil }
      position += size.utf8CodeUnitCount
      guard isAlphanumeric(position) || nameLetter(at: position) > 0 || self[position] == UInt8(ascii: "[")
      else { return nil }
    }
    return start..<urlEnd(from: position)
  }

  /// Returns the end of an address: at white space, at a character that no address has, or before punctuation and
  /// closing brackets of the sentence around it.
  func urlEnd(from start: Int) -> Int {
    var end = start
    // Opening minus closing brackets: round, square.
    var (round, square) = (0, 0)
    scan: while end < count {
      switch self[end] {
      case 0...0x20, 0x7F, UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"),
        UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
        break scan
      case UInt8(ascii: "("): round += 1
      case UInt8(ascii: ")"): round -= 1
      case UInt8(ascii: "["): square += 1
      case UInt8(ascii: "]"): square -= 1
      default: break
      }
      let size = self[end] < 0x80 ? 1 : nameLetter(at: end)
      if size == 0 { break }
      end += size
    }
    while end > start {
      switch self[end - 1] {
      case UInt8(ascii: "."), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: ":"), UInt8(ascii: "!"),
        UInt8(ascii: "?"), UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "~"):
        break
      case UInt8(ascii: "(") where round > 0: round -= 1
      case UInt8(ascii: ")") where round < 0: round += 1
      case UInt8(ascii: "]") where square < 0: square += 1
      default: return end
      }
      end -= 1
    }
    return end
  }
}
