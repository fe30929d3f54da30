/// Tells versions of four numbers from IPv4 addresses by the words and marks around them, and by versions that the
/// same text has had.
struct VersionContext {
  /// The first two numbers of versions that the text has had, most recent last.
  private var known: [UInt16] = []
  private static let mostKnown = 16

  private static let words = Set(
    words: """
      v ver version versions versionen versión versione versão release released releases rev revision build \
      firmware upgrade upgraded update updated bump bumped downgrade downgraded changelog since tag patch \
      hotfix rc changes section sections sec subsection clause clauses subclause paragraph article chapter \
      appendix annex abschnitt kapitel ziffer artikel oid
      """)
  /// Those of packages follow a revision's digits, too. None consists of hexadecimal digits, as identifiers do.
  private static let suffixes: [StaticString] = [
    "-rc", "-beta", "-alpha", "-pre", "-dev", "-snapshot", "-release", "-final", "+build", "+git", "+dfsg",
    "+ds", "+b", "+deb", "~rc", "~beta", "~alpha", "~git", "~bpo", "~deb", "ubuntu", "build", ".el", ".fc",
  ]
  /// Programs compare addresses by the others, too.
  private static let requirements: [StaticString] = ["<=", ">=", "~=", "~>"]
  private static let equalities: [StaticString] = ["==", "!="]
  /// What stands in the words before addresses: `ip.src==192.0.2.1`, `update from 192.0.2.1`.
  private static let addressWords: [StaticString] = [
    "ip", "addr", "src", "source", "dst", "dest", "host", "from", "client", "server", "peer", "remote",
    "gateway", "dns",
  ]

  /// True if the address in a range is a version.
  mutating func isVersion(_ range: Range<Int>, in text: TextBytes) -> Bool {
    // An address with a port, or one of IPv6, is not a version.
    guard text.bytes[range].allSatisfy({ TextBytes.isDigit($0) || $0 == UInt8(ascii: ".") }) else {
      return false
    }
    let numbers = text.bytes[range].split(separator: UInt8(ascii: "."))
      .map { $0.reduce(0) { min(255, 10 * $0 + Int($1 - UInt8(ascii: "0"))) } }
    guard numbers.count == 4 else { return false }
    let isPrivate =
      numbers[0] == 10 || numbers[0] == 127 || numbers[0] == 192 && numbers[1] == 168
      || numbers[0] == 172 && 16...31 ~= numbers[1]
    // 120.0.0.0 is a network or a browser's version, but no host.
    if numbers[1...].allSatisfy({ $0 == 0 }), numbers[0] != 0, !isPrivate { return true }
    let series = UInt16(numbers[0] << 8 | numbers[1])
    if hasWord(before: range.lowerBound, text) {
      if !known.contains(series) { known.append(series) }
      if known.count > Self.mostKnown { known.removeFirst() }
      return true
    }
    return !isPrivate && (known.contains(series) || isToldByMarks(range, numbers, text))
  }

  /// True for marks of a single version, which say nothing of others.
  private func isToldByMarks(_ range: Range<Int>, _ numbers: [Int], _ text: TextBytes) -> Bool {
    // Addresses of 0.0.0.0/8 other than 0.0.0.0 are not hosts.
    if numbers[0] == 0, numbers != [0, 0, 0, 0] { return true }
    return isRequired(range.lowerBound, text) || hasSuffix(at: range.upperBound, text)
      || hasEpoch(range, text) || isHeading(range, text)
  }

  /// True behind the version that a package must have: `foo (>= 1.2.6.3)`, `foo>=1.2.6.3`, `foo==1.2.6.3`. Arrows and
  /// signs between spaces stand before addresses, too.
  private func isRequired(_ start: Int, _ text: TextBytes) -> Bool {
    var end = start
    if text[end - 1] == 0x20, text[end - 4] == UInt8(ascii: "(") { end -= 1 }
    func hasSign(_ signs: [StaticString]) -> Bool { signs.contains { text.has($0, at: end - 2) } }
    let isOrder = hasSign(Self.requirements)
    guard isOrder || end == start && hasSign(Self.equalities) else { return false }
    end -= 2
    if isOrder, text.has(" (", at: end - 2) { end -= 2 } else if end + 2 < start { return false }
    var begin = end
    while end - begin < 40, text.isWordByte(begin - 1) || [0x2B, 0x2D, 0x2E].contains(text[begin - 1]) {
      begin -= 1
    }
    return (begin..<end).contains { TextBytes.isLetter(text[$0]) } && !hasAddressWord(begin..<end, text)
  }

  // Not String.contains, with which the library would link the engine of regular expressions.
  private func hasAddressWord(_ range: Range<Int>, _ text: TextBytes) -> Bool {
    range.contains { start in Self.addressWords.contains { text.has($0, at: start) } }
  }

  /// True for a version of a Debian package with epoch and revision: `2:1.0.99.4-1`. At the beginning of a line or
  /// behind a colon may be the line's number.
  private func hasEpoch(_ range: Range<Int>, _ text: TextBytes) -> Bool {
    let start = range.lowerBound
    return text[start - 1] == UInt8(ascii: ":") && text.isDigit(start - 2)
      && [0x20, 0x28, 0x3D, 0x5B, 0x09].contains(text[start - 3])
      && revisionEnd(at: range.upperBound, text).map { !text.isWordByte($0) } == true
      && text.internetAddress(at: range.upperBound + 1) == nil
  }

  /// Returns the end of a hyphen and up to three digits.
  private func revisionEnd(at hyphen: Int, _ text: TextBytes) -> Int? {
    var end = hyphen + 1
    while text.isDigit(end), end - hyphen < 4 { end += 1 }
    return text[hyphen] == UInt8(ascii: "-") && end > hyphen + 1 ? end : nil
  }

  /// True if one of the words stands before a number, perhaps with a mark or one other word between.
  private func hasWord(before start: Int, _ text: TextBytes) -> Bool {
    var position = start
    for _ in 0..<2 {
      let low = max(0, position - 24)
      while position > low, text.letterSize(before: position, begin: low) == 0 {
        if text.has("§", at: position - 2) { return true }
        if text[position - 1] == UInt8(ascii: "\n") || text.isDigit(position - 1) { return false }
        position -= 1
      }
      let end = position
      position = text.wordStart(before: end, begin: low)
      guard position < end else { return false }
      if Self.words.contains(text.spelling(position..<end)) { return true }
      if hasAddressWord(position..<end, text) { return false }
    }
    return false
  }

  /// True for `-rc1`, `+build`, `-2ubuntu1`, `-1+b1`, `-1~bpo12`, `-3.el9` after a number. Digits alone may end a range.
  private func hasSuffix(at end: Int, _ text: TextBytes) -> Bool {
    let end = revisionEnd(at: end, text) ?? end
    return Self.suffixes.contains {
      var next = end + $0.utf8CodeUnitCount
      while text.isDigit(next) { next += 1 }
      // Debian's updates: `+deb12u1`.
      return text.has($0, at: end)
        && (!TextBytes.isLetter(text[next]) || text.isDigit(next - 1) && text.has("u", at: next))
    }
  }

  /// True on a line of its own with marks of a heading, or with a date after it: `## 1.2.6.3`,
  /// `1.2.6.3 (2011-07-24)`.
  private func isHeading(_ range: Range<Int>, _ text: TextBytes) -> Bool {
    var end = range.upperBound
    while text[end] == 0x20, end - range.upperBound < 6 { end += 1 }
    // A comment has text behind the address, or no space behind its mark.
    let isAlone =
      text[range.lowerBound - 1] != UInt8(ascii: "#")
      && (end >= text.count || [0x0A, 0x0D, 0x28, 0x3D, 0x5D].contains(text[end]))
    var begin = range.lowerBound
    var hasMark = false
    while begin > 0, range.lowerBound - begin < 16, text[begin - 1] != UInt8(ascii: "\n") {
      switch text[begin - 1] {
      case UInt8(ascii: "#"): hasMark = isAlone
      case UInt8(ascii: "="): hasMark = text[end] == UInt8(ascii: "=")
      case UInt8(ascii: " "), UInt8(ascii: "*"), UInt8(ascii: "["), UInt8(ascii: "-"), UInt8(ascii: "\t"):
        break
      default: return false
      }
      begin -= 1
    }
    if hasMark { return true }
    end = range.upperBound
    while [0x20, 0x28, 0x2F, 0x2D, 0x5D, 0x2C, 0x3A].contains(text[end]), end - range.upperBound < 6 {
      end += 1
    }
    // A year, or a day and a month.
    let isYear =
      text.isDigit(end + 3) && text.isDigit(end) && !text.isDigit(end + 4) && !text.isWordByte(end + 4)
    return isYear && (text.has("19", at: end) || text.has("20", at: end)) && end > range.upperBound
  }
}
