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
  private static let suffixes: [StaticString] = [
    "rc", "beta", "alpha", "pre", "dev", "snapshot", "release", "final",
  ]
  private static let comparisons: [StaticString] = ["<<", ">>", "<=", ">=", "==", "!=", "~=", "~>"]
  /// What stands in names of fields that are compared with addresses: `ip.src == 192.0.2.1`.
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
    if isPrivate ? hasWord(before: range.lowerBound, text) : isToldByContext(range, numbers, text) {
      if !known.contains(series) { known.append(series) }
      if known.count > Self.mostKnown { known.removeFirst() }
      return true
    }
    return !isPrivate && known.contains(series)
  }

  private func isToldByContext(_ range: Range<Int>, _ numbers: [Int], _ text: TextBytes) -> Bool {
    // Addresses of 0.0.0.0/8 other than 0.0.0.0 are not hosts.
    if numbers[0] == 0, numbers != [0, 0, 0, 0] { return true }
    return hasWord(before: range.lowerBound, text) || isCompared(range.lowerBound, text)
      || hasSuffix(at: range.upperBound, text) || hasEpoch(range, text) || isHeading(range, text)
  }

  /// True behind the version that a package must have: `foo (>= 1.2.6.3)`, `foo==1.2.6.3`, `(= 1.2.6.3)`.
  private func isCompared(_ start: Int, _ text: TextBytes) -> Bool {
    func position(beforeSpaces end: Int) -> Int {
      var position = end
      while end - position < 2, text[position - 1] == UInt8(ascii: " ") { position -= 1 }
      return position
    }
    let sign = position(beforeSpaces: start)
    let isEqual = text.has("(=", at: sign - 2)
    guard isEqual || Self.comparisons.contains(where: { text.has($0, at: sign - 2) }) else { return false }
    if isEqual || text[sign - 3] == UInt8(ascii: "(") { return true }
    let end = position(beforeSpaces: sign - 2)
    var begin = end
    while end - begin < 40, text.isWordByte(begin - 1) || [0x2B, 0x2D, 0x2E].contains(text[begin - 1]) {
      begin -= 1
    }
    guard (begin..<end).contains(where: { TextBytes.isLetter(text[$0]) }) else { return false }
    // Not String.contains, with which the library would link the engine of regular expressions.
    return !(begin..<end).contains { start in Self.addressWords.contains { text.has($0, at: start) } }
  }

  /// True for a version of a Debian package with epoch and revision: `2:1.0.99.4-1`. At the beginning of a line or
  /// behind a colon may be the line's number.
  private func hasEpoch(_ range: Range<Int>, _ text: TextBytes) -> Bool {
    let start = range.lowerBound
    return text[start - 1] == UInt8(ascii: ":") && text.isDigit(start - 2)
      && [0x20, 0x28, 0x3D, 0x5B, 0x09].contains(text[start - 3])
      && text[range.upperBound] == UInt8(ascii: "-") && text.isDigit(range.upperBound + 1)
      && text.internetAddress(at: range.upperBound + 1) == nil
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
    }
    return false
  }

  /// True for `-rc1`, `+build`, `-2ubuntu1` after a number.
  private func hasSuffix(at end: Int, _ text: TextBytes) -> Bool {
    switch text[end] {
    case UInt8(ascii: "+"), UInt8(ascii: "~"): return text.isAlphanumeric(end + 1)
    case UInt8(ascii: "-"):
      return Self.suffixes.contains { text.has($0, at: end + 1) } || isRevision(at: end + 1, text)
    default: return false
    }
  }

  /// True for the revision of a package: `2ubuntu1`, `1+b1`, `1~bpo12`, `3.el9`. Digits alone may end a range.
  private func isRevision(at start: Int, _ text: TextBytes) -> Bool {
    var end = start
    while text.isDigit(end), end - start < 3 { end += 1 }
    guard end > start else { return false }
    if [0x2B, 0x2E, 0x7E].contains(text[end]) { end += 1 }
    let word = end
    while TextBytes.isLetter(text[end]), end - word < 8 { end += 1 }
    return end > word && text.isDigit(end)
  }

  /// True on a line of its own with marks of a heading, or with a date after it: `## 1.2.6.3`,
  /// `1.2.6.3 (2011-07-24)`.
  private func isHeading(_ range: Range<Int>, _ text: TextBytes) -> Bool {
    var begin = range.lowerBound
    var hasMark = false
    while begin > 0, range.lowerBound - begin < 16, text[begin - 1] != UInt8(ascii: "\n") {
      switch text[begin - 1] {
      case UInt8(ascii: "#"), UInt8(ascii: "="): hasMark = true
      case UInt8(ascii: " "), UInt8(ascii: "*"), UInt8(ascii: "["), UInt8(ascii: "-"), UInt8(ascii: "\t"):
        break
      default: return false
      }
      begin -= 1
    }
    if hasMark { return true }
    var end = range.upperBound
    while [0x20, 0x28, 0x2F, 0x2D, 0x5D, 0x2C, 0x3A].contains(text[end]), end - range.upperBound < 6 {
      end += 1
    }
    // A year, or a day and a month.
    let isYear =
      text.isDigit(end + 3) && text.isDigit(end) && !text.isDigit(end + 4) && !text.isWordByte(end + 4)
    return isYear && (text.has("19", at: end) || text.has("20", at: end)) && end > range.upperBound
  }
}
