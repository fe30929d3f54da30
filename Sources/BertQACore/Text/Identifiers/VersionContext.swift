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
  /// They end before a space. Only the names of packages stand before them in a list.
  private static let listed: [StaticString] = [" ~>", " (=", " (<<", " (>>"]
  private static let fields: [StaticString] = [
    "depends:", "pre-depends:", "build-depends:", "recommends:", "suggests:", "conflicts:", "breaks:",
    "replaces:",
  ]
  /// Words before addresses, apart from "IP": `client_addr==192.0.2.1`, `update from 192.0.2.1`.
  private static let addressWords = Set(
    words: """
      addr address src source dst dest destination host from client server peer remote gateway dns orig origin resp \
      forwarded login user visitor listen proxy router endpoint net target
      """)

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
    let word = word(before: range.lowerBound, text)
    if word == .ofVersions {
      if !known.contains(series) { known.append(series) }
      if known.count > Self.mostKnown { known.removeFirst() }
      return true
    }
    if isPrivate { return false }
    return word != .ofAddresses && known.contains(series) || isToldByMarks(range, numbers, text)
  }

  /// True for marks of a single version, which say nothing of others.
  private func isToldByMarks(_ range: Range<Int>, _ numbers: [Int], _ text: TextBytes) -> Bool {
    // Addresses of 0.0.0.0/8 other than 0.0.0.0 are not hosts.
    if numbers[0] == 0, numbers != [0, 0, 0, 0] { return true }
    return isRequired(range, text) || hasSuffix(at: range.upperBound, text)
      || hasEpoch(range, text) || isHeading(range, text)
  }

  /// True behind the version that a package must have: `foo (>= 1.2.6.3)`, `foo>=1.2.6.3`, `foo==1.2.6.3`, and in a
  /// list `foo ~> 1.2.6.3` and `foo (= 1.2.6.3)`. Arrows and signs between spaces stand before addresses, too.
  private func isRequired(_ range: Range<Int>, _ text: TextBytes) -> Bool {
    let isSpaced = text[range.lowerBound - 1] == 0x20
    var end = range.lowerBound - (isSpaced ? 1 : 0)
    func hasSign(_ signs: [StaticString]) -> Bool { signs.contains { text.has($0, at: end - 2) } }
    var sign: StaticString?
    if hasSign(Self.requirements), text.has(" (", at: end - 4) {
      end -= 4
    } else if !isSpaced, hasSign(Self.requirements) || hasSign(Self.equalities) {
      guard endsRequirement(range.upperBound, text) else { return false }
      end -= 2
    } else {
      sign = Self.listed.first { text.has($0, at: end - $0.utf8CodeUnitCount) }
      guard isSpaced, let sign else { return false }
      end -= sign.utf8CodeUnitCount
    }
    var begin = end
    while end - begin < 40, text.isWordByte(begin - 1) || [0x2B, 0x2D, 0x2E].contains(text[begin - 1]) {
      begin -= 1
    }
    guard (begin..<end).contains(where: { TextBytes.isLetter(text[$0]) }), !hasAddressWord(begin..<end, text)
    else { return false }
    guard sign != nil else { return true }
    if text[end + 1] == UInt8(ascii: "~") { return isListed(begin, text) }
    let revision = revisionEnd(at: range.upperBound, text)
    var next = (revision ?? range.upperBound) + 1
    guard text[next - 1] == UInt8(ascii: ")") else { return false }
    while text[next] == 0x20 { next += 1 }
    guard next >= text.count || [0x0A, 0x0D, 0x2C, 0x7C].contains(text[next]) else { return false }
    return isListed(begin, text, needsIndentation: revision == nil && text[end + 2] != UInt8(ascii: "<"))
  }

  /// True at the end of a text or line, and before what may follow in lists of packages. A condition goes on.
  private func endsRequirement(_ end: Int, _ text: TextBytes) -> Bool {
    var end = end
    while text[end] == 0x20 || text[end] == 0x09 { end += 1 }
    return end >= text.count || [0x0A, 0x0D, 0x22, 0x23, 0x27, 0x29, 0x2C, 0x3B, 0x5D].contains(text[end])
  }

  /// True for a name at the beginning of a line, behind the name of a field, and behind what another package must have.
  private func isListed(_ name: Int, _ text: TextBytes, needsIndentation: Bool = false) -> Bool {
    var start = name
    while start > 0, name - start < 1000, text[start - 1] != 0x0A, text[start - 1] != 0x0D { start -= 1 }
    func last(before end: Int) -> Int? { (start..<end).last { text[$0] != 0x20 && text[$0] != 0x09 } }
    guard let mark = last(before: name) else { return name > start || !needsIndentation }
    guard [0x2C, 0x3A, 0x7C].contains(text[mark]) else { return false }
    if Self.fields.contains(where: { text.has($0, at: start) }) { return true }
    guard let close = last(before: mark), text[close] == UInt8(ascii: ")"),
      let open = (start..<close).last(where: { text[$0] == UInt8(ascii: "(") })
    else { return false }
    return "<=>~".utf8.contains(text[open + 1])
  }

  /// True for a name or word that tells of addresses: `id.orig_h`, `clientAddr`, `remote_addr`, but not `dnspython`.
  /// "IP" is a word of its own or ends one: `ip.src`, `userIP`, `ipv4`, but not `ipython`, `pip`, `zipp`.
  private func hasAddressWord(_ range: Range<Int>, _ text: TextBytes) -> Bool {
    var begin = range.lowerBound
    for end in begin..<range.upperBound {
      let isLetter = TextBytes.isLetter(text[end])
      let isLast =
        end + 1 == range.upperBound || !TextBytes.isLetter(text[end + 1])
        || text[end] & 0x20 != 0 && text[end + 1] & 0x20 == 0
      if isLetter, isLast, Self.addressWords.contains(text.spelling(begin..<end + 1)) { return true }
      if isLast || !isLetter { begin = end + 1 }
    }
    return range.contains { start in
      guard text.has("ip", at: start), !"pz".utf8.contains(text[start - 1] | 0x20) else { return false }
      let next = "sv".utf8.contains(text[start + 2] | 0x20) ? start + 3 : start + 2
      return !TextBytes.isLetter(text[next]) || text[next] & 0x20 == 0
    }
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

  private enum Word {
    case ofVersions, ofAddresses
  }

  /// Returns the word that stands before a number, perhaps with a mark or one other word between.
  private func word(before start: Int, _ text: TextBytes) -> Word? {
    var position = start
    for _ in 0..<2 {
      let low = max(0, position - 24)
      while position > low, text.letterSize(before: position, begin: low) == 0 {
        if text.has("§", at: position - 2) { return .ofVersions }
        if text[position - 1] == UInt8(ascii: "\n") || text.isDigit(position - 1) { return nil }
        position -= 1
      }
      let end = position
      position = text.wordStart(before: end, begin: low)
      guard position < end else { return nil }
      if Self.words.contains(text.spelling(position..<end)) { return .ofVersions }
      if hasAddressWord(position..<end, text) { return .ofAddresses }
    }
    return nil
  }

  /// True for `-rc1`, `+build`, `-2ubuntu1`, `-1+b1`, `-1~bpo12`, `-3.el9` after a number. Digits alone may end a range.
  private func hasSuffix(at end: Int, _ text: TextBytes) -> Bool {
    let end = revisionEnd(at: end, text) ?? end
    return Self.suffixes.contains {
      guard text.has($0, at: end) else { return false }
      var next = end + $0.utf8CodeUnitCount
      while text.isDigit(next) { next += 1 }
      // Debian's updates: `+deb12u1`.
      return !TextBytes.isLetter(text[next]) || text.isDigit(next - 1) && text.has("u", at: next)
    }
  }

  /// True on a line of its own with marks of a heading, or with a date after it: `## 1.2.6.3`,
  /// `1.2.6.3 (2011-07-24)`, `1.2.6.3 - 2011-07-24`. Logs have an address and a date with other marks between. In a
  /// list of addresses, the line before or the next one begins with another.
  private func isHeading(_ range: Range<Int>, _ text: TextBytes) -> Bool {
    var end = range.upperBound
    while text[end] == 0x20, end - range.upperBound < 6 { end += 1 }
    // A comment has text behind the address, or no space behind its mark.
    let isAlone =
      text[range.lowerBound - 1] != UInt8(ascii: "#")
      && (end >= text.count || text[end] == 0x0A || text[end] == 0x0D || hasYear(inParenthesesAt: end, text)
        || text[end] == UInt8(ascii: "]") && text[range.lowerBound - 1] == UInt8(ascii: "["))
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
    if isListed(lineFrom: begin, to: end, text) { return false }
    if hasMark { return true }
    let isInParentheses = text[end] == UInt8(ascii: "(")
    guard isInParentheses || text.has(" - ", at: end - 1) else { return false }
    end += isInParentheses ? 1 : 2
    guard text.has("19", at: end) || text.has("20", at: end),
      (end..<end + 4).allSatisfy({ text.isDigit($0) }), !text.isWordByte(end + 4)
    else { return false }
    // A month and a day.
    while text.isDigit(end) || [0x2D, 0x2E, 0x2F].contains(text[end]) { end += 1 }
    if isInParentheses {
      guard text[end] == UInt8(ascii: ")") else { return false }
      end += 1
    }
    while text[end] == 0x20 { end += 1 }
    return end >= text.count || text[end] == 0x0A || text[end] == 0x0D
  }

  /// True for `(May 18, 2020)`.
  private func hasYear(inParenthesesAt start: Int, _ text: TextBytes) -> Bool {
    guard text[start] == UInt8(ascii: "(") else { return false }
    var position = start + 1
    while position - start < 24, text[position] != UInt8(ascii: ")"), position < text.count {
      var end = position
      while text.isDigit(end), end - position < 5 { end += 1 }
      if end - position == 4, text.has("19", at: position) || text.has("20", at: position) { return true }
      position = max(end, position + 1)
    }
    return false
  }

  /// True if the line before or after one begins with an address, as it does.
  private func isListed(lineFrom begin: Int, to end: Int, _ text: TextBytes) -> Bool {
    func hasAddress(at start: Int) -> Bool {
      guard text[start] == text[begin] || text.isDigit(start) && text.isDigit(begin) else { return false }
      var position = start
      while position - start < 16, [0x20, 0x09, 0x23, 0x2A, 0x2D, 0x5B].contains(text[position]) {
        position += 1
      }
      return text.internetAddress(at: position) != nil
    }
    var next = end
    while next < text.count, next - end < 200, text[next] != 0x0A { next += 1 }
    if text[next] == 0x0A, hasAddress(at: next + 1) { return true }
    guard begin > 0 else { return false }
    var previous = begin - 1
    while previous > 0, begin - previous < 200, text[previous - 1] != 0x0A { previous -= 1 }
    return hasAddress(at: previous)
  }
}
