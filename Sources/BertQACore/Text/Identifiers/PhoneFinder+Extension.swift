/// What follows a telephone number and belongs to it: direct dial numbers, extensions, other last digits.
extension PhoneFinder {
  // MARK: - Direct dial numbers

  /// Returns the number of groups after a hyphen that are a direct dial number of an office, 0 of its exchange:
  /// `089 123 45-0`, `(0 30) 2 27-3 25 01`. Its hyphen is the only one after the area code, and the number has a trunk
  /// prefix.
  func directDialCount(_ groups: DigitGroups, _ count: Int, at start: Int) -> Int {
    guard count > 1, count < groups.count, groups.separator(count) == UInt8(ascii: "-"),
      groups.length(count) <= 4,
      groups.digits[0] == 0 || groups.isBracketed(0),
      !groups.isSpaced(count) || isSpacedDirectDial(groups, count)
    else { return 0 }
    let pairs = directDialPairs(groups, count)
    let stop = count + 1 + pairs
    guard stop == groups.count || ![0x2D, 0x2E].contains(groups.separator(stop)),
      !text.isWordByte(groups.end(stop - 1)) || extensionEnd(behind: groups.end(stop - 1)) != nil
    else { return 0 }
    let digit = groups.digitCount(count)
    let isExchange = groups.length(count) == 1 && groups.digits[digit] == 0
    // "0 43-21 11-20" is a row of numbers.
    if groups.length(0) == 1, groups.separator(2) == UInt8(ascii: "-"), !groups.isSpaced(2) { return 0 }
    let first = leadCount(groups) + 2
    let hasOtherMarks = (min(first, count - 1)..<count).allSatisfy {
      groups.separator($0) != UInt8(ascii: "-") && groups.separator($0) != UInt8(ascii: ".")
    }
    // Other numbers have a check digit after a hyphen. China's have hyphens only: 010-12345678-802.
    let isLong = groups.length(1) >= 7 && groups.length(count) > 1
    let isLikely = isExchange || hasOtherMarks && (groups.length(count) > 1 || pairs > 0)
    guard isLikely || (hasOtherMarks || isLong) && PhoneContext(text, before: start).isPhone else { return 0 }
    return areHours(groups, count) ? 0 : 1 + pairs
  }

  private static let mostDirectDialPairs = 2

  /// Returns the number of pairs after the first group of a direct dial number. Who writes its groups that way divides
  /// the area code, too.
  private func directDialPairs(_ groups: DigitGroups, _ count: Int) -> Int {
    guard groups.length(0) == 1, groups.digits[0] == 0, groups.length(count) <= 2, !groups.isSpaced(count),
      groups.digits[groups.digitCount(count)] != 0
    else { return 0 }
    let pairs = (count + 1..<groups.count).prefix {
      groups.length($0) == 2 && groups.separator($0) == UInt8(ascii: " ")
    }
    return pairs.count <= Self.mostDirectDialPairs ? pairs.count : 0
  }

  /// True if a group directly after a hyphen is the extension of a number with a calling code: `+86-10-12345678-802`.
  func isExtension(_ groups: DigitGroups, _ group: Int) -> Bool {
    let start = groups.start(group)
    return groups.separator(group) == UInt8(ascii: "-") && start == groups.end(group - 1) + 1
      && digitsEnd(from: start, most: 4) != nil
  }

  /// True for a direct dial number with spaces around its hyphen: 0, or in a number whose other marks have them.
  func isSpacedDirectDial(_ groups: DigitGroups, _ group: Int) -> Bool {
    guard groups.separator(group) == UInt8(ascii: "-"), groups.length(group) <= 4 else { return false }
    return groups.length(group) == 1 && groups.digits[groups.digitCount(group)] == 0
      || (1..<group).contains { groups.isSpaced($0) }
  }

  /// True if the groups on both sides of a hyphen are hours after a number: `030 901820 10-17`.
  private func areHours(_ groups: DigitGroups, _ count: Int) -> Bool {
    let before = groups.digitCount(count - 1)
    guard before >= 8, groups.length(count - 1) <= 2, groups.length(count) <= 2 else { return false }
    let opening = groups.digits.dropping(before).number(groups.length(count - 1))
    let closing = groups.digits.dropping(groups.digitCount(count)).number(groups.length(count))
    return opening < closing && closing <= 24
  }

  // MARK: - Extensions

  /// Words before the digits of an extension.
  private static let extensionWords = Set(
    words: """
      extension extensión extn ext xtn x poste durchwahl dw apparat app nst anexo ramal interno int доб внутр wew linka \
      klapka mellék toestel tst dahili εσωτ ekst anknytning ankn alanumero 转 轉 转接 轉接 分机 分機 内線 內線 내선 داخلی \
      داخلي تحويلة שלוחה ต่อ
      """)
  private static let longestExtensionWord = 24

  /// Returns the end of an extension: `x99`, ` (ext. 12)`, `/21`; nil if there is none.
  func extensionEnd(behind end: Int) -> Int? {
    if text.has(",,", at: end) { return dialledEnd(behind: end) }
    if let stop = parametersEnd(behind: end) ?? alternativesEnd(behind: end) { return stop }
    var position = end
    if [0x2C, 0x2D, 0x3B].contains(text[position]) { position += 1 }
    while text[position] == UInt8(ascii: " "), position - end < 2 { position += 1 }
    let isBracketed = text[position] == UInt8(ascii: "(")
    if isBracketed { position += 1 }
    let word = position
    if text[position] == UInt8(ascii: "#") { position += 1 }
    while case let size = text.letterSize(at: position), size > 0, position - word < Self.longestExtensionWord
    {
      position += size
    }
    let wordEnd = position
    while position - wordEnd < 3, [0x20, 0x2E, 0x3A, 0x3D].contains(text[position]) { position += 1 }
    guard wordEnd > word, let stop = digitsEnd(from: position, most: 7),
      !isBracketed || text[stop] == UInt8(ascii: ")"),
      wordEnd == word + 1 && text[word] == UInt8(ascii: "#")
        || Self.extensionWords.contains(text.spelling(word..<wordEnd))
    else { return nil }
    return isBracketed ? stop + 1 : stop
  }

  private static let mostAlternatives = 9
  private static let longestGroup = 8

  /// Returns the end of other last digits of the same count, which are for other telephones of one owner: `/21`,
  /// `/21/22`, ` / -21`; nil if there are none, or if the digits are a date.
  private func alternativesEnd(behind end: Int) -> Int? {
    var position = end
    var count = 0
    for _ in 0..<Self.mostAlternatives {
      var first = text[position] == UInt8(ascii: " ") ? position + 1 : position
      guard text[first] == UInt8(ascii: "/") else { break }
      let isSpaced = first > position
      first += 1
      if isSpaced, text[first] == UInt8(ascii: " ") { first += 1 }
      if text[first] == UInt8(ascii: "-") { first += 1 }
      let stop = digitsEnd(from: first, most: Self.longestGroup) ?? first
      let length = stop - first
      if length == 0 || length > 4 && length != groupLength(before: end) || text[stop] == UInt8(ascii: "-")
        || count > 0 && length != count || isSpaced && length < 2
      {
        // Something else that begins directly behind a slash makes all of it doubtful.
        if isSpaced { break } else { return nil }
      }
      count = length
      position = stop
    }
    guard position > end else { return nil }
    let isYear = count == 4 && (text.has("19", at: position - 4) || text.has("20", at: position - 4))
    return isYear ? nil : position
  }

  private func groupLength(before end: Int) -> Int {
    var first = end
    while text.isDigit(first - 1), end - first <= Self.longestGroup { first -= 1 }
    return end - first
  }

  private static let parameters: [StaticString] = [";ext=", ";isub=", ";postd=", ";phone-context="]
  private static let longestParameter = 64

  /// True for a number of any length with the parameter that says where it is valid: `7042;phone-context=+49-30`.
  func isLocal(_ groups: DigitGroups) -> Bool {
    text.has(";phone-context=", at: groups.end(groups.count - 1))
  }

  /// Returns the end of the parameters of a `tel:` address (RFC 3966): `;ext=21;phone-context=+49`.
  private func parametersEnd(behind end: Int) -> Int? {
    var stop = end
    for _ in Self.parameters {
      guard let name = Self.parameters.first(where: { text.has($0, at: stop) }) else { break }
      let value = stop + name.utf8CodeUnitCount
      var last = value
      while text.isAlphanumeric(last) || [0x23, 0x25, 0x2A, 0x2B, 0x2D, 0x2E].contains(text[last]),
        last - value < Self.longestParameter
      {
        last += 1
      }
      while last > value, !text.isAlphanumeric(last - 1), text[last - 1] != UInt8(ascii: "#") { last -= 1 }
      guard last > value else { break }
      stop = last
    }
    return stop > end ? stop : nil
  }

  private static let longestDialled = 64

  /// Returns the end of what a telephone dials after pauses: `,,8645421#,,,,*1234#`.
  private func dialledEnd(behind end: Int) -> Int? {
    var position = end
    var stop: Int?
    while position - end < Self.longestDialled,
      text.isDigit(position) || [0x2C, 0x2A].contains(text[position])
        || text[position] == UInt8(ascii: "#")
    {
      position += 1
      if text[position - 1] == UInt8(ascii: "#") { stop = position }
    }
    return stop
  }

  private func digitsEnd(from start: Int, most: Int) -> Int? {
    var end = start
    while text.isDigit(end), end - start <= most { end += 1 }
    guard end > start, end - start <= most, !text.isWordByte(end) else { return nil }
    // "/16.198.88.150" and "/8 0152 45-09-11" begin something else.
    let isLonger = [0x20, 0x2E, 0x3A, 0x2D].contains(text[end]) && text.isDigit(end + 1)
    return isLonger ? nil : end
  }
}
