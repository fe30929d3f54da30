/// Finds coordinates and dates of birth.
extension TextBytes {
  // MARK: - Coordinates

  /// Matches a latitude and a longitude in degrees with three decimals or more: `48.8584, 2.2945`,
  /// `48.8584 N 2.2945 E`.
  func coordinates(at start: Int) -> Range<Int>? {
    let before = self[start - 1]
    if before == UInt8(ascii: "."), isDigit(start - 2) { return nil }
    guard let latitude = degrees(at: start, most: 90, "ns") else { return nil }
    var position = latitude
    while [0x20, 0x2C, 0x3B, 0x2F].contains(self[position]), position - latitude < 3 { position += 1 }
    guard position > latitude, let end = degrees(at: position, most: 180, "ew") else { return nil }
    let isLonger = isWordByte(end) || self[end] == UInt8(ascii: ".") && isDigit(end + 1)
    return isLonger ? nil : start..<end
  }

  /// Returns the end of a number with decimals, a sign of degrees, and one of two letters.
  private func degrees(at start: Int, most: Int, _ letters: StaticString) -> Int? {
    var position = start
    if self[position] == UInt8(ascii: "-") || self[position] == UInt8(ascii: "+") { position += 1 }
    let first = position
    var whole = 0
    while isDigit(position), position - first < 4 {
      whole = 10 * whole + Int(self[position] - UInt8(ascii: "0"))
      position += 1
    }
    guard position > first, whole <= most, self[position] == UInt8(ascii: ".") else { return nil }
    let point = position
    position += 1
    while isDigit(position), position - point < 20 { position += 1 }
    guard position - point > 3 else { return nil }
    var end = position
    if self[end] == 0xC2, self[end + 1] == 0xB0 { end += 2 }
    let letter = self[end] == UInt8(ascii: " ") ? end + 1 : end
    let isLetter = letters.withUTF8Buffer { $0.contains(self[letter] | 0x20) }
    return isLetter && !isWordByte(letter + 1) ? letter + 1 : end
  }

  // MARK: - Dates of birth

  /// Words before a date of birth, in lower case.
  static let birthWords = Set(
    words: """
      born birth birthdate birthday bday dob geb geboren geburtsdatum geburtstag né née naissance nacido nacida nacimiento \
      nato nata nascita nascimento nascido nascida geboortedatum urodzony urodzona urodzenia född födelsedatum født \
      fødselsdato syntynyt syntymäaika narozen narozena narození doğum родился родилась рождения народився народилася \
      народження γεννήθηκε γέννησης γεννησησ 生年月日 出生日期 生日 출생 생년월일
      """)

  /// Matches a date after a word such as "born", in the 32 bytes before it: `12.03.1980`, `1980-03-12`, `19800312`,
  /// `March 12, 1980`, `12 mars 1980`, `12-MAR-80`, `1980年3月12日`.
  func birthDate(at start: Int) -> Range<Int>? {
    guard !Self.isDateMark(self[start - 1]), let end = date(at: start), !isWordByte(end) || isTime(at: end),
      !(Self.isDateMark(self[end]) && isDigit(end + 1)), word(among: Self.birthWords, before: start) != nil
    else { return nil }
    return start..<end
  }

  private static func isDateMark(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "/")
  }

  /// True for the time of ISO 8601 after a date: `T08:30:00Z`.
  private func isTime(at position: Int) -> Bool {
    self[position] == UInt8(ascii: "T") && isDigit(position + 1) && isDigit(position + 2)
      && self[position + 3] == UInt8(ascii: ":")
  }

  private static let ordinals: [StaticString] = ["st", "nd", "rd", "th", "er", "º"]
  /// Signs behind a year, a month and a day.
  private static let dateUnits: [StaticString] = ["年", "月", "日", "년", "월", "일"]

  private func date(at start: Int) -> Int? {
    if let end = basicDate(at: start) { return end }
    var position = start
    var numbers: [Int] = []
    /// The part that is a word, which counts as a month's name.
    var month: Int?
    var hasUnit = false
    var yearDigits = 0
    var lastDigits = 0
    var isMarked = false
    for part in 0..<3 {
      let first = position
      var value = 0
      while isDigit(position), position - first < 5 {
        value = 10 * value + Int(self[position] - UInt8(ascii: "0"))
        position += 1
      }
      if position > first {
        numbers.append(value)
        lastDigits = position - first
        yearDigits = max(yearDigits, lastDigits)
        if let ordinal = Self.ordinals.first(where: { has($0, at: position) }) {
          position += ordinal.utf8CodeUnitCount
          guard letterSize(at: position) == 0 else { return nil }
        }
        if let unit = Self.dateUnits.first(where: { has($0, at: position) }) {
          position += unit.utf8CodeUnitCount
          hasUnit = true
        }
      } else if month == nil {
        while Self.isLetter(self[position]) || self[position] >= 0x80, position - first < 24 { position += 1 }
        guard position - first >= 3 else { return nil }
        month = part
      } else {
        return nil
      }
      if part == 2 { break }
      let gap = position
      while Self.isDateMark(self[position]) || self[position] == UInt8(ascii: " ")
        || self[position] == UInt8(ascii: ","),
        position - gap < 2
      {
        position += 1
      }
      isMarked = (gap..<position).contains { Self.isDateMark(self[$0]) }
      if month != nil || part == 0, has("de ", at: position) || has("of ", at: position) { position += 3 }
      guard position > gap || hasUnit else { return nil }
    }
    // "12-MAR-80", but not "May 12, 10".
    if yearDigits == 2 { return month == nil || month == 1 && lastDigits == 2 && isMarked ? position : nil }
    guard yearDigits == 4, let year = numbers.max(), Self.birthYears.contains(year),
      numbers.count(where: { $0 != year && 1...31 ~= $0 }) == (month == nil ? 2 : 1)
    else { return nil }
    return position
  }

  private static let birthYears = 1850...2100

  /// Returns the end of a year, a month and a day in one piece, the basic format of ISO 8601: `19800312`.
  private func basicDate(at start: Int) -> Int? {
    let digits = DigitGroups(self, at: start)
    guard digits.length(0) == 8, Self.birthYears.contains(digits.digits.number(4)),
      1...12 ~= digits.digits.dropping(4).number(2), 1...31 ~= digits.digits.dropping(6).number(2)
    else { return nil }
    return digits.end(0)
  }
}
