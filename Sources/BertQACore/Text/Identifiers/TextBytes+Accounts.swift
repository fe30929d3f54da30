/// Finds numbers of payment cards and bank accounts by their check digits.
extension TextBytes {
  // MARK: - Payment cards

  /// Matches 12 to 19 digits of a known issuer with a valid Luhn sum (ISO/IEC 7812-1), in one group or in groups as
  /// printed: of four, or 4-6-5, 4-6-4 and 6-13, with spaces, hyphens or dots between them; with the rest of a
  /// magnetic stripe's track.
  /// - Parameters:
  ///   - last: the end of what was found before it.
  ///   - numbers: the groups at the place.
  func card(at start: Int, behind last: Int, _ numbers: DigitGroups) -> Range<Int>? {
    guard numbers.digits.count >= 12, numbers.length(0) >= 4, !numbers.isBracketed(0) else { return nil }
    // A part of a longer identifier.
    if self[start - 1] == UInt8(ascii: "-"), isDigit(start - 2), start - 1 != last { return nil }
    // "0.301029995663981" has the digits of a decimal fraction.
    let isFraction = self[start - 1] == UInt8(ascii: ".") && isDigit(start - 2) && start - 1 != last
    for count in stride(from: min(5, numbers.count), to: isFraction ? 1 : 0, by: -1) {
      let end = numbers.end(count - 1)
      let mark = count > 1 ? numbers.separator(1) : 0
      let track = trackEnd(behind: end)
      guard [0, UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: ".")].contains(mark),
        !isWordByte(end) || track != nil,
        (1..<count).allSatisfy({ numbers.separator($0) == mark && !numbers.isBracketed($0) }),
        Self.isCardShape(numbers, count), !isFourOfMore(numbers, count, at: start, behind: last),
        Self.isCard(numbers.digits.prefix(numbers.digitCount(count)))
      else { continue }
      return start..<(track ?? end)
    }
    return nil
  }

  /// Matches the first track of a magnetic stripe (ISO/IEC 7813) from its format code on, which is before the number:
  /// `B4111111111111111^DOE/JANE^2512101…`.
  func firstTrack(at start: Int, behind last: Int) -> Range<Int>? {
    guard has("b", at: start), isDigit(start + 1),
      let card = card(at: start + 1, behind: last, DigitGroups(self, at: start + 1)),
      card.contains(where: { self[$0] == UInt8(ascii: "^") })
    else { return nil }
    return start..<card.upperBound
  }

  private static let longestCardName = 26
  private static let longestTrack = 79

  /// Returns the end of what follows the number on a track: the name between two `^` or else `=` (D in the data of a
  /// chip), then the date of expiry and more digits; nil if a number is alone.
  private func trackEnd(behind number: Int) -> Int? {
    var data = number + 1
    let isFirst = self[number] == UInt8(ascii: "^")
    if isFirst {
      while data - number <= Self.longestCardName, self[data] >= 0x20, self[data] != UInt8(ascii: "^") {
        data += 1
      }
      guard self[data] == UInt8(ascii: "^") else { return nil }
      data += 1
    } else {
      let month = Int(self[number + 3] &- 48) * 10 + Int(self[number + 4] &- 48)
      guard has("=", at: number) || has("d", at: number), (1...4).allSatisfy({ isDigit(number + $0) }),
        (1...12).contains(month)
      else { return nil }
    }
    var end = data
    while isAlphanumeric(end) || self[end] == UInt8(ascii: "=") || isFirst && self[end] == UInt8(ascii: " "),
      end - number < Self.longestTrack
    {
      end += 1
    }
    if self[end] == UInt8(ascii: "?") { return end }
    // Spaces are a part of a track only before its end mark.
    end = data
    while isAlphanumeric(end), end - number < Self.longestTrack { end += 1 }
    return end
  }

  /// True if fewer than 16 digits in fours have four more beside them.
  private func isFourOfMore(_ numbers: DigitGroups, _ count: Int, at start: Int, behind last: Int) -> Bool {
    guard count > 1, numbers.digitCount(count) < 16, numbers.length(1) == 4 else { return false }
    let mark = numbers.separator(1)
    if numbers.count > count, numbers.separator(count) == mark, numbers.length(count) == 4 { return true }
    return self[start - 1] == mark && start - 1 > last && (2...5).allSatisfy { isDigit(start - $0) }
      && !isWordByte(start - 6)
  }

  private static func isCardShape(_ numbers: DigitGroups, _ count: Int) -> Bool {
    if count == 1 { return true }
    let shape = numbers.shape(count)
    if shape == 0x564 || shape == 0x464 || shape == 0xD6 { return true }
    return count >= 3 && (0..<count - 1).allSatisfy { numbers.length($0) == 4 }
      && numbers.length(count - 1) <= 5
  }

  private static func isCard(_ digits: Digits) -> Bool {
    guard let lengths = cardLengths(ofIssuer: digits.number(4)) else { return false }
    // Visa's have 13, 16 or 19 digits; a mobile telephone's IMEI has 15 and a Luhn sum, too.
    return lengths.contains(digits.count) && (digits[0] != 4 || digits.count % 3 == 1)
      && luhnSum(digits.count) { digits[digits.endIndex - 1 - $0] } % 10 == 0
  }

  /// Returns how many digits the numbers of an issuer have; nil if there is none.
  /// - Parameter issuer: the first four digits.
  static func cardLengths(ofIssuer issuer: Int) -> ClosedRange<Int>? {
    switch issuer {
    case 2221...2720, 5100...5599: 16...16  // Mastercard
    case 3400...3499, 3700...3799: 15...15  // American Express
    case 3000...3059, 3095, 3600...3699, 3800...3999: 14...19  // Diners Club
    case 4000...4999: 13...19  // Visa
    case 1800, 2131: 15...15  // JCB
    case 2200...2204, 3500...3599: 16...19  // Mir, JCB
    case 604, 5000...5099, 5600...6999: 12...19  // Maestro, Discover, UnionPay, RuPay
    default: nil
    }
  }

  /// Every second digit from the right counts twice, by the sum of its own digits.
  /// - Parameter digit: returns a digit by its place from the right.
  static func luhnSum(_ count: Int, _ digit: (Int) -> UInt8) -> Int {
    var sum = 0
    for index in 0..<count {
      let value = index % 2 == 0 ? Int(digit(index)) : 2 * Int(digit(index))
      sum += value > 9 ? value - 9 : value
    }
    return sum
  }

  // MARK: - Bank accounts

  /// Matches an IBAN (ISO 13616): country, check digits and account, with a remainder of 1 modulo 97. With its
  /// country's length it may be in groups of any lengths; with another one it is in one piece or in groups of four.
  /// Spaces and hyphens separate groups; a space may follow the country in capitals.
  func iban(at start: Int) -> Range<Int>? {
    let isSpaced = self[start + 2] == UInt8(ascii: " ") && isCapital(start) && isCapital(start + 1)
    let check = isSpaced ? start + 3 : start + 2
    guard Self.isLetter(self[start]), Self.isLetter(self[start + 1]), isDigit(check), isDigit(check + 1),
      let length = Self.ibanLength(self[start] & 0xDF, self[start + 1] & 0xDF)
    else { return nil }
    var remainder = Remainder97()
    var position = check + 2
    var characters = 4
    var digits = 2
    var pieces = isSpaced ? 2 : 1
    var isInFours = !isSpaced
    var best: Range<Int>?
    while characters < Self.longestIBAN {
      if self[position] == UInt8(ascii: " ") || self[position] == UInt8(ascii: "-") {
        if characters % 4 != 0 { isInFours = false }
        position += has("  ", at: position) ? 2 : 1
        pieces += 1
      } else if characters % 4 == 0, pieces > 1 {
        isInFours = false
      }
      guard isAlphanumeric(position) else { break }
      remainder.add(self[position])
      if isDigit(position) { digits += 1 }
      characters += 1
      position += 1
      // Words have letters: "be16 and be32 types".
      guard characters >= Self.shortestIBAN, 2 * digits >= characters, !isWordByte(position),
        pieces == 1 || isInFours || characters == length
      else { continue }
      var whole = remainder
      for index in start..<check + 2 where isAlphanumeric(index) { whole.add(self[index]) }
      if whole.value != 1 { continue }
      if characters == length { return start..<position }
      best = start..<position
    }
    return best
  }

  private static let shortestIBAN = 15
  private static let longestIBAN = 34

  /// Returns the remainder modulo 97 of letters and digits as a number in which letters are 10 to 35.
  func remainder97(_ range: Range<Int>) -> Int {
    var remainder = Remainder97()
    for position in range { remainder.add(self[position]) }
    return remainder.value
  }

  /// The remainder of the number in which letters are 10 to 35.
  private struct Remainder97 {
    private(set) var value = 0

    mutating func add(_ byte: UInt8) {
      value =
        isDigit(byte)
        ? (10 * value + Int(byte - UInt8(ascii: "0"))) % 97
        : (100 * value + Int(byte & 0xDF - UInt8(ascii: "A")) + 10) % 97
    }
  }

  /// Source: SWIFT, IBAN Registry (release 99).
  private static func ibanLength(_ first: UInt8, _ second: UInt8) -> Int? {
    let country = UInt16(first) << 8 | UInt16(second)
    return ibanLengths.first { $0.country == country }?.length
  }

  private static let ibanLengths: [(country: UInt16, length: Int)] = [
    (15, "NO"), (16, "BE"), (18, "DK FI FK FO GL NL SD"), (19, "MK SI"),
    (20, "AT BA EE KZ LT LU MN XK"), (21, "CH HR LI LV"),
    (22, "BG BH CR DE GB GE IE ME RS VA"), (23, "AE GI IL IQ OM SO TL"),
    (24, "AD CZ ES MD PK RO SA SE SK TN VG"), (25, "LY PT ST"), (26, "IS TR"),
    (27, "BI DJ FR GR IT MC MR SM"), (28, "AL AZ BY CY DO GT HN HU LB NI PL SV"), (29, "BR EG PS QA UA"),
    (30, "JO KW MU YE"), (31, "MT SC"), (32, "LC"), (33, "RU"),
  ].flatMap { length, countries in
    countries.split(separator: " ").map { country in
      (country.utf8.reduce(0 as UInt16) { $0 << 8 | UInt16($1) }, length)
    }
  }
}
