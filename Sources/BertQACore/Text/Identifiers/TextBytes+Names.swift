/// Finds e-mail and web addresses.
extension TextBytes {
  /// RFC 5321 has 64. Addresses for replies and bounces, which hold another address or a key, are longer.
  static let longestLocalPart = 128
  private static let longestDomain = 253
  private static let longestLabel = 63

  /// Returns the address whose @ is at a place, with the lengths and characters that mail systems in use accept.
  func email(around at: Int) -> Range<Int>? {
    guard let end = addressLiteral(at: at + 1) ?? domain(at: at + 1), !isFileName(endingAt: end),
      var start = localPart(before: at, mayBeEnclosed: self[end] == UInt8(ascii: ">"))
    else { return nil }
    // The part before the @ begins with a letter, digit or underscore.
    while start < at, !isWordByte(start), nameLetter(at: start) == 0 { start += 1 }
    return start < at ? start..<end : nil
  }

  /// Returns the beginning of the part before an @; nil if there is none, or if it is too long.
  /// - Parameter mayBeEnclosed: true if `>` follows the address. After `<`, the part is whole.
  private func localPart(before at: Int, mayBeEnclosed: Bool) -> Int? {
    let begin = max(0, at - Self.longestLocalPart - 4)
    var start = at
    // Behind the last key and equals sign or slash, which belong only to an address that holds another one.
    var plain: Int?
    scan: while start > begin {
      switch self[start - 1] {
      // Some providers give out addresses with dots in succession and at the end. Three are an ellipsis.
      case UInt8(ascii: ".") where has("..", at: start): break scan
      case let byte where Self.isLocalMark(byte):
        if byte == UInt8(ascii: "/") || byte == UInt8(ascii: "=") && !isTag(endingAt: start - 1, begin),
          plain == nil
        {
          plain = start
        }
        start -= 1
      default:
        let size = isAlphanumeric(start - 1) ? 1 : nameLetter(before: start, begin: begin)
        if size == 0 { break scan }
        start -= size
      }
    }
    if let plain, !mayBeEnclosed || self[start - 1] != UInt8(ascii: "<") {
      start = envelope(from: start, to: plain) ?? plain
    }
    return start < at && at - start <= Self.longestLocalPart ? start : nil
  }

  /// What software puts before the address that it sends from or to: BATV's and SRS's tags.
  private static let envelopeTags: [StaticString] = [
    "prvs=", "msprvs1=", "btv1==", "srs0=", "srs0+", "srs0-", "srs1=", "srs1+", "srs1-",
  ]
  /// Words before the number of a message, after which the recipient follows (VERP).
  private static let bounceWords: [StaticString] = ["return-", "bounce-", "bounces-"]

  /// Returns the beginning of an address that holds another one, such as `prvs=12ab=ann@example.org` and
  /// `list-return-7-ann=example.org@list.example`; nil if there is none.
  private func envelope(from start: Int, to end: Int) -> Int? {
    for place in start..<end where !isWordByte(place - 1) {
      if Self.envelopeTags.contains(where: { has($0, at: place) }) { return place }
      guard self[end - 1] == UInt8(ascii: "="),
        Self.bounceWords.contains(where: { has($0, at: place) && isDigit(place + $0.utf8CodeUnitCount) })
      else { continue }
      var begin = place
      while begin > start, isWordByte(begin - 1) || [0x2E, 0x2D].contains(self[begin - 1]) { begin -= 1 }
      return begin
    }
    return nil
  }

  /// Marks of RFC 5322's atoms, without those that quote and enclose addresses.
  private static func isLocalMark(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "%"), UInt8(ascii: "+"), UInt8(ascii: "-"),
      UInt8(ascii: "'"), UInt8(ascii: "&"), UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"),
      UInt8(ascii: "~"), UInt8(ascii: "^"), UInt8(ascii: "*"), UInt8(ascii: "="), UInt8(ascii: "/"):
      return true
    default: return false
    }
  }

  /// True if the characters before a place include a plus sign.
  private func isTag(endingAt end: Int, _ begin: Int) -> Bool {
    var position = end
    while position > begin, isAlphanumeric(position - 1) || [0x2E, 0x2D, 0x5F].contains(self[position - 1]) {
      position -= 1
    }
    return position > begin && self[position - 1] == UInt8(ascii: "+")
  }

  private static let fileSuffixes: [StaticString] = [
    "png", "jpg", "jpeg", "gif", "webp", "svg", "css", "js", "mjs", "json", "html", "tgz", "whl", "jar",
    "service", "socket", "timer", "mount", "slice", "scope",
  ]

  /// True for names of files and of systemd's units with an @: `icon@2x.png`, `vue@3.2.1.js`, `user@1000.service`. No
  /// suffix is a top-level domain, as `target` is.
  private func isFileName(endingAt end: Int) -> Bool {
    Self.fileSuffixes.contains {
      let suffix = end - $0.utf8CodeUnitCount
      return self[suffix - 1] == UInt8(ascii: ".") && has($0, at: suffix)
    }
  }

  /// Returns the end of the domain name that begins at a place: two labels or more, the last of letters; nil if there
  /// is none.
  func domain(at start: Int) -> Int? {
    var position = start
    // After the last label that may be a top-level domain.
    var end: Int?
    var labelCount = 0
    while position - start <= Self.longestDomain {
      let label = position
      while position - label <= Self.longestLabel {
        let letter = nameLetter(at: position)
        guard letter > 0 || isAlphanumeric(position) || self[position] == UInt8(ascii: "-") else { break }
        position += max(1, letter)
      }
      // A label ends with a letter or digit: hyphens at its end do not belong to it.
      var stop = position
      while stop > label, self[stop - 1] == UInt8(ascii: "-") { stop -= 1 }
      guard stop > label, self[label] != UInt8(ascii: "-"), stop - label <= Self.longestLabel else { break }
      labelCount += 1
      if labelCount > 1 {
        if has("xn--", at: label) {
          end = stop
        } else if let name = alphabeticEnd(label..<stop) {
          end = name
        }
      }
      guard stop == position, self[position] == UInt8(ascii: ".") else { break }
      position += 1
    }
    guard let end, end - start <= Self.longestDomain else { return nil }
    return end
  }

  /// Returns the end of the letters that a label begins with, if they may be a top-level domain: in `com-2024` and
  /// `com2024` something else follows it.
  private func alphabeticEnd(_ label: Range<Int>) -> Int? {
    var end = label.lowerBound
    while end < label.upperBound, Self.isLetter(self[end]) || self[end] >= 0x80 { end += 1 }
    return end - label.lowerBound > 1 ? end : nil
  }

  private static let longestScheme = 32
  /// Schemes of addresses without slashes. What follows "mailto:" and "tel:" is found as it is elsewhere, so that one
  /// person has one pseudonym.
  private static let plainSchemes: [StaticString] = ["sip:", "sips:", "xmpp:", "jdbc:"]

  /// Returns the place behind the scheme of an address (RFC 3986, 3.1) and its slashes; nil if there is none.
  private func schemeEnd(at start: Int) -> Int? {
    var colon = start
    while colon - start < Self.longestScheme, isAlphanumeric(colon) || isSchemeMark(self[colon]) {
      colon += 1
    }
    // One letter is a drive.
    guard self[colon] == UInt8(ascii: ":"), colon - start > 1 else { return nil }
    let end = colon + 1
    if has("//", at: end) { return end + 2 }
    return !isNumber(at: end)
      && Self.plainSchemes.contains { $0.utf8CodeUnitCount == end - start && has($0, at: start) }
      ? end : nil
  }

  /// True for a telephone number that is no part of an address, unlike `+4930901820@example.org`.
  private func isNumber(at start: Int) -> Bool {
    var end = start
    while isDigit(end) || [0x28, 0x29, 0x2B, 0x2D, 0x2E].contains(self[end]), end - start < Self.longestScheme
    {
      end += 1
    }
    return end > start && self[end] != UInt8(ascii: "@")
  }

  private func isSchemeMark(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
  }

  /// Returns a mail address with the path behind it, as git and scp write it: `git@example.org:org/repo.git`; nil if
  /// there is no path.
  func remotePath(behind address: Range<Int>) -> Range<Int>? {
    let colon = address.upperBound
    guard self[colon] == UInt8(ascii: ":") else { return nil }
    var slash = colon + 1
    while slash - colon <= Self.longestLabel,
      isWordByte(slash) || [0x2D, 0x2E, 0x7E].contains(self[slash])
    {
      slash += 1
    }
    return self[slash] == UInt8(ascii: "/") ? address.lowerBound..<urlEnd(from: slash) : nil
  }

  /// Matches an address with a scheme, or one that begins with www.
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
      guard let begin = schemeEnd(at: start), case let end = urlEnd(from: begin), end > begin else {
        return nil
      }
      return start..<end
    }
    return start..<urlEnd(from: position)
  }

  /// True for white space, and for punctuation of scripts that put no space after it.
  private func endsAddress(at position: Int) -> Bool {
    let unit = UTF8Codec.decode(bytes, at: position)
    switch unit.unicodeScalar.properties.generalCategory {
    case .initialPunctuation, .finalPunctuation, .openPunctuation, .closePunctuation, .otherPunctuation,
      .control:
      return true
    default: return unit.isWhiteSpace
    }
  }

  /// Returns the end of an address: at white space, a closing mark or a closing bracket without its opening one, and
  /// before punctuation of the sentence around it.
  func urlEnd(from start: Int) -> Int {
    var end = start
    // Opening minus closing brackets: round, square, curly.
    var (round, square, curly) = (0, 0, 0)
    scan: while end < count {
      switch self[end] {
      case 0...0x20, 0x7F, UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"),
        UInt8(ascii: "`"):
        break scan
      case UInt8(ascii: "("): round += 1
      case UInt8(ascii: ")") where round == 0: break scan
      case UInt8(ascii: ")"): round -= 1
      case UInt8(ascii: "["): square += 1
      case UInt8(ascii: "]") where square == 0: break scan
      case UInt8(ascii: "]"): square -= 1
      case UInt8(ascii: "{"): curly += 1
      case UInt8(ascii: "}") where curly == 0: break scan
      case UInt8(ascii: "}"): curly -= 1
      case 0x80...: if endsAddress(at: end) { break scan }
      default: break
      }
      end += self[end] < 0x80 ? 1 : UTF8Codec.decode(bytes, at: end).size
    }
    while end > start {
      switch self[end - 1] {
      case UInt8(ascii: "."), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: ":"), UInt8(ascii: "!"),
        UInt8(ascii: "?"), UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "~"), UInt8(ascii: "|"):
        break
      case UInt8(ascii: "(") where round > 0: round -= 1
      case UInt8(ascii: "[") where square > 0: square -= 1
      case UInt8(ascii: "{") where curly > 0: curly -= 1
      default: return end
      }
      end -= 1
    }
    return end
  }
}
