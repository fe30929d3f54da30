/// Finds numbers of payment cards and bank accounts by their check digits.
extension PatternText {
  // MARK: - Payment cards

  /// Matches 13 to 19 digits of a known issuer with a valid Luhn sum (ISO/IEC 7812-1), in one group or in groups as
  /// printed: of four, or 4-6-5 and 4-6-4, with spaces or hyphens between them.
  func card(at start: Int) -> Range<Int>? {
    guard isDigit(start) else { return nil }
    var digits: [UInt8] = []
    var groups: [Int] = []
    var separator: UInt8 = 0
    var best: Range<Int>?
    var position = start
    while groups.count < 5 {
      let first = position
      while isDigit(position), digits.count < 20 {
        digits.append(self[position] - UInt8(ascii: "0"))
        position += 1
      }
      guard position > first, digits.count < 20 else { break }
      groups.append(position - first)
      let isEnd = !isWordByte(position) && !(self[position] == UInt8(ascii: "-") && isDigit(position + 1))
      if isEnd, Self.isCardShape(groups), Self.isCard(digits) { best = start..<position }
      let next = self[position]
      guard next == UInt8(ascii: " ") || next == UInt8(ascii: "-"), separator == 0 || next == separator
      else { break }
      separator = next
      position += 1
    }
    return best
  }

  private static func isCardShape(_ groups: [Int]) -> Bool {
    if groups.count == 1 || groups == [4, 6, 5] || groups == [4, 6, 4] { return true }
    return groups.count >= 4 && groups.dropLast().allSatisfy { $0 == 4 } && groups.last ?? 5 <= 4
  }

  private static func isCard(_ digits: [UInt8]) -> Bool {
    guard (13...19).contains(digits.count) else { return false }
    // The first four digits identify the issuer.
    let issuer = digits.prefix(4).reduce(0) { 10 * $0 + Int($1) }
    let lengths: ClosedRange<Int>
    switch issuer {
    case 2221...2720, 5100...5599: lengths = 16...16  // Mastercard
    case 3400...3499, 3700...3799: lengths = 15...15  // American Express
    case 3000...3059, 3095, 3600...3699, 3800...3999: lengths = 14...19  // Diners Club
    case 4000...4999: lengths = 13...19  // Visa
    case 2200...2204, 3528...3589: lengths = 16...19  // Mir, JCB
    case 5000...5099, 5600...6999: lengths = 13...19  // Maestro, Discover, UnionPay, RuPay
    default: return false
    }
    return lengths.contains(digits.count) && luhnSum(digits) % 10 == 0
  }

  /// Every second digit from the right counts twice, by the sum of its own digits.
  private static func luhnSum(_ digits: [UInt8]) -> Int {
    var sum = 0
    for (index, digit) in digits.reversed().enumerated() {
      let value = index % 2 == 0 ? Int(digit) : 2 * Int(digit)
      sum += value > 9 ? value - 9 : value
    }
    return sum
  }

  // MARK: - Bank accounts

  /// Matches an IBAN (ISO 13616): country, check digits and account, with the country's length and a remainder of 1
  /// modulo 97; written together or in groups of four.
  func iban(at start: Int) -> Range<Int>? {
    guard Self.isLetter(self[start]), Self.isLetter(self[start + 1]), isDigit(start + 2), isDigit(start + 3),
      let length = Self.ibanLength(self[start] & 0xDF, self[start + 1] & 0xDF)
    else { return nil }
    var characters: [UInt8] = []
    var position = start
    let isGrouped = self[start + 4] == UInt8(ascii: " ")
    while characters.count < length {
      if isGrouped, characters.count % 4 == 0, !characters.isEmpty {
        guard self[position] == UInt8(ascii: " ") else { return nil }
        position += 1
      }
      guard isAlphanumeric(position) else { return nil }
      characters.append(self[position])
      position += 1
    }
    guard !isWordByte(position), Self.remainder97(characters[4...] + characters[..<4]) == 1 else {
      return nil
    }
    return start..<position
  }

  /// The remainder of the number in which letters are 10 to 35.
  private static func remainder97(_ characters: ArraySlice<UInt8>) -> Int {
    characters.reduce(0) { remainder, byte in
      isDigit(byte)
        ? (10 * remainder + Int(byte - UInt8(ascii: "0"))) % 97
        : (100 * remainder + Int(byte & 0xDF - UInt8(ascii: "A")) + 10) % 97
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
