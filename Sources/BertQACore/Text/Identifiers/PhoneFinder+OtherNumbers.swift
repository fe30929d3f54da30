/// Amounts, dates, postal codes and other numbers in a telephone number's groups.
extension PhoneFinder {
  /// True for groups of three digits as in amounts: 1 234 567 and 1.234.567.
  func isAmount(_ groups: DigitGroups, _ count: Int) -> Bool {
    guard count > 1, groups.length(0) <= 3, !groups.isBracketed(0) else { return false }
    let separator = groups.separator(1)
    return separator != UInt8(ascii: "-") && separator != UInt8(ascii: "/")
      && (1..<count).allSatisfy {
        groups.length($0) == 3 && groups.separator($0) == separator && !groups.isBracketed($0)
      }
  }

  static func isYear(_ number: Int) -> Bool { (1900...2099).contains(number) }

  /// True for the years of a life, a reign, a season: 1811-1891, 2014-15.
  func isYears(_ groups: DigitGroups, _ count: Int) -> Bool {
    guard count == 2, groups.length(0) == 4, groups.length(1) == 4 || groups.length(1) == 2 else {
      return false
    }
    let first = groups.digits.number(4)
    let second = groups.digits.dropping(4).number(4)
    guard (1000...2099).contains(first) else { return false }
    return groups.length(1) == 2 ? second == (first + 1) % 100 : first...2099 ~= second
  }

  /// True for what follows a month's name: 30 2015.
  func isDayAndYear(_ groups: DigitGroups, _ count: Int) -> Bool {
    count == 2 && groups.length(0) <= 2 && groups.length(1) == 4 && groups.separator(1) == UInt8(ascii: " ")
      && groups.digits.number(groups.length(0)) <= 31
      && Self.isYear(groups.digits.dropping(groups.length(0)).number(4))
  }

  /// True for two digits each, as in rows of numbers: 20 21 22 23 24.
  func arePairs(_ groups: DigitGroups, _ count: Int) -> Bool {
    groups.digits[0] != 0 && (0..<count).allSatisfy { groups.length($0) == 2 }
  }

  /// True if a date is written first: 2024-01-02, 01.02.2024, 01/02/24, with a time or without.
  func isDate(_ groups: DigitGroups) -> Bool {
    if isMonth(groups) { return true }
    guard groups.count >= 3, groups.separator(1) == groups.separator(2) else { return false }
    let lengths = (groups.length(0), groups.length(1), groups.length(2))
    let numbers = (
      groups.digits.number(lengths.0), groups.digits.dropping(lengths.0).number(lengths.1),
      groups.digits.dropping(lengths.0 + lengths.1).number(lengths.2)
    )
    func isDay(_ one: Int, _ other: Int) -> Bool { one <= 31 && other <= 12 || one <= 12 && other <= 31 }
    guard lengths.1 <= 2 else { return false }
    if lengths.0 == 4, lengths.2 <= 2 {
      // 9999-12-31 stands for never.
      return (1000...2199).contains(numbers.0) && isDay(numbers.1, numbers.2) || numbers == (9999, 12, 31)
    }
    guard lengths.0 <= 2, isDay(numbers.0, numbers.1) else { return false }
    if lengths.2 == 4 { return Self.isYear(numbers.2) }
    return lengths.2 == 2 && groups.separator(1) != UInt8(ascii: " ")
      && (groups.count == 3 || groups.separator(3) != groups.separator(2))
  }

  /// True for two decimal fractions: `0.123 12.34`.
  func areDecimals(_ groups: DigitGroups) -> Bool {
    groups.count > 3 && groups.separator(1) == UInt8(ascii: ".") && groups.separator(2) == UInt8(ascii: " ")
      && groups.separator(3) == UInt8(ascii: ".")
  }

  /// True for a month and its year, alone or at the beginning of a period: `01/2015 - 12/2019`.
  private func isMonth(_ groups: DigitGroups) -> Bool {
    guard groups.length(0) == 2, groups.length(1) == 4, groups.separator(1) != UInt8(ascii: " "),
      1...12 ~= groups.digits.number(2), Self.isYear(groups.digits.dropping(2).number(4))
    else { return false }
    return groups.count == 2 || groups.length(2) == 2 && 1...12 ~= groups.digits.dropping(6).number(2)
  }

  /// True for two numbers close to each other, as pages and numbers of processes are: 421-440, 53482 53480. The groups
  /// of short telephone numbers often are: 211-234.
  func areNeighbours(_ groups: DigitGroups, _ count: Int) -> Bool {
    guard count == 2, groups.digits[0] != 0, !groups.isBracketed(0), !groups.isBracketed(1) else {
      return false
    }
    let first = groups.digits.number(groups.length(0))
    let second = groups.digits.dropping(groups.length(0)).number(groups.length(1))
    return groups.digits[groups.length(0)] != 0
      && abs(first - second) < (groups.digitCount(count) > 6 ? 100 : 20)
  }

  /// True for zeros and ones only: 0010 0010 0110 0000.
  func isBinary(_ groups: DigitGroups) -> Bool {
    (0..<groups.digits.count).allSatisfy { groups.digits[$0] < 2 }
  }

  /// True for a power of two and the numbers beside it, such as 4294967295, and for all digits in their order.
  static func isOfComputers(_ digits: Digits) -> Bool {
    let number = digits.number(digits.count)
    return number == 123_456_789 || (-1...2).contains { (number + $0).nonzeroBitCount == 1 }
  }

  private static let mostBytesBeside = 16

  /// True for pairs of digits in a row of bytes in hexadecimal: `a3 7b 06 15 10 88 f4 af`.
  func isAmongBytes(_ groups: DigitGroups, _ count: Int, at start: Int) -> Bool {
    guard (0..<count).allSatisfy({ groups.length($0) == 2 }) else { return false }
    var (letters, mixed) = (0, 0)
    /// Counts a pair with a letter. Returns false if there is no pair.
    func take(_ pair: Int) -> Bool {
      guard text.isHexDigit(pair), text.isHexDigit(pair + 1), !text.isWordByte(pair - 1),
        !text.isWordByte(pair + 2)
      else { return false }
      let digits = (text.isDigit(pair) ? 1 : 0) + (text.isDigit(pair + 1) ? 1 : 0)
      if digits < 2 { letters += 1 }
      if digits == 1 { mixed += 1 }
      return true
    }
    var before = start - 3
    while start - before < 3 * Self.mostBytesBeside, text[before + 2] == UInt8(ascii: " "), take(before) {
      before -= 3
    }
    let end = groups.end(count - 1)
    var next = end
    while next - end < 3 * Self.mostBytesBeside, text[next] == UInt8(ascii: " "), take(next + 1) { next += 3 }
    // "de" and "fa" are words, too.
    return letters > 1 && mixed > 0
  }

  /// True for the status and the size that a web server logs: `"GET / HTTP/1.1" 200 1234567`.
  func isStatus(_ groups: DigitGroups, at start: Int) -> Bool {
    groups.length(0) == 3 && groups.separator(1) == UInt8(ascii: " ") && 100...599 ~= groups.digits.number(3)
      && text.has("\" ", at: start - 2) && text.isDigit(start - 3) && text[start - 4] == UInt8(ascii: ".")
  }

  /// The states of the USA whose ZIP codes begin with 0, the trunk prefix of many countries.
  private static let statesOfZero = Set(words: "CT MA ME NH NJ PR RI VT")

  private static let namesOfThem = Set(
    words: "connecticut massachusetts maine hampshire jersey rico island vermont")

  /// True for `02110-1301` after `MA`, perhaps on the next line of a comment, and `100-0001` after Japan's sign.
  func isPostalCode(_ groups: DigitGroups, at start: Int) -> Bool {
    if text.has("〒", at: start - 3) { return true }
    guard groups.shape(2) == 0x45, groups.separator(1) == UInt8(ascii: "-") else { return false }
    var end = start
    while 0 < end, start - end < 16, text[end - 1] < 0x80, !text.isWordByte(end - 1) { end -= 1 }
    let word = text.wordStart(before: end, begin: max(0, end - 16))..<end
    return word.count == 2
      ? Self.statesOfZero.contains(String(decoding: text.bytes[word], as: UTF8.self))
      : Self.namesOfThem.contains(text.spelling(word))
  }

  func isCurrency(before start: Int) -> Bool {
    let position = text[start - 1] == UInt8(ascii: " ") ? start - 1 : start
    return text.currencySize(before: position) > 0
  }

  func isCurrency(behind end: Int) -> Bool {
    var position = end
    if text[position] == UInt8(ascii: ",") || text[position] == UInt8(ascii: ".") {
      // Hundredths.
      let stop = text.isDigit(position + 2) ? position + 3 : position + 2
      return text.isDigit(position + 1) && !text.isWordByte(stop)
    }
    if text[position] == UInt8(ascii: " ") { position += 1 }
    return text[position] == UInt8(ascii: "%") || text.currencySize(at: position) > 0
  }

  // MARK: - Numbers of houses, which are often before a telephone number

  private static let longestHouseNumber = 4
  private static let mostStreetWords = 4
  private static let longestStreet = 48

  /// True if a group of digits is a number after a street's name: `Hauptstr. 5`, `Calle de la Luna 12`.
  func isHouseNumber(_ group: Range<Int>) -> Bool {
    guard group.count <= Self.longestHouseNumber, text.isDigit(group.lowerBound) else { return false }
    let low = max(0, group.lowerBound - Self.longestStreet)
    var position = group.lowerBound
    for _ in 0..<Self.mostStreetWords {
      while [0x20, 0x2C, 0x2D, 0x2E].contains(text[position - 1]), position > low { position -= 1 }
      let end = position
      position = text.wordStart(before: end, begin: low)
      if position == end { return false }
      let word = text.spelling(position..<end)
      if Self.streetWords.contains(word) || Self.streetEndings.contains(where: word.hasSuffix) { return true }
    }
    return false
  }

  private static let streetWords = Set(
    words: """
      street st road rd avenue ave lane drive boulevard blvd square place apt apartment suite unit flat floor box rue bd quai \
      impasse chemin calle avenida avda av plaza paseo carrera rua praça travessa via viale piazza corso largo ulica ul \
      aleja al plac ulice náměstí utca út tér ул улица улице проспект пр переулок пер шоссе вул вулиця cadde caddesi cad \
      sokak sokağı sok strada οδός λεωφόρος
      """)

  /// Of words for streets in languages that write them as one word.
  private static let streetEndings = Set(
    words: """
      straße strasse str gasse weg platz allee ring damm ufer markt hof straat laan plein gracht kade gatan gata vägen gaten \
      veien gade vej katu tie kuja
      """)
}
