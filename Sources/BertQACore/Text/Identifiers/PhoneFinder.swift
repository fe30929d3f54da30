/// Finds telephone numbers: international ones by their calling code, national ones by the groups in which a region
/// writes them, by their trunk prefix, or by the words before them. Every step reads a bounded number of bytes.
struct PhoneFinder {
  let text: TextBytes
  let plans = NumberingPlans.shared
  /// Numbers of `NumberingPlans.regions` whose national numbers are expected; often none.
  let regions: [Int]

  private static let fewestDigits = 7

  /// Returns the number that begins at a place.
  /// - Parameters:
  ///   - last: the end of what was found before it.
  ///   - digits: the groups at the place, if it is a digit.
  func range(at start: Int, behind last: Int, _ digits: DigitGroups?) -> Range<Int>? {
    let isBracketed = text[start] == UInt8(ascii: "(") && text[start + 1] == UInt8(ascii: "+")
    let plus = isBracketed ? start + 1 : start
    let hasPlus = text[plus] == UInt8(ascii: "+")
    let isSpaced = hasPlus && text[plus + 1] == UInt8(ascii: " ")
    if isSpaced, isSum(at: start) { return nil }
    var groups =
      digits
      ?? DigitGroups(text, at: isSpaced ? plus + 2 : hasPlus ? plus + 1 : start, isOpen: isBracketed)
    // Islands have numbers of four digits.
    guard groups.count > 0, groups.digits.count >= 4, mayBegin(at: start, behind: last),
      !isSeconds(groups, at: start)
    else { return nil }
    let first = groups.digits
    // The digits before the national number.
    let prefix = hasPlus ? 0 : first[0] == 0 && first[1] == 0 && groups.length(0) > 1 ? 2 : nil
    if prefix != 0, isBinary(groups), !PhoneContext(text, before: start).isPhone { return nil }
    leaveOthers(&groups, behind: prefix.map { $0 + (callingCode(first.dropping($0))?.length ?? 0) } ?? 0)
    let count: Int?
    if prefix == 0 {
      count = international(groups, behind: 0, mustBeValid: isSpaced)
    } else if prefix == 2 {
      // 00 is dialled before a calling code in most countries. It is a group of its own or begins one with the code.
      let isOther = PhoneContext(text, before: start).isOther
      count =
        (isOther ? nil : international(groups, behind: 2))
        ?? (regions.isEmpty ? nil : national(groups, at: start, behind: last))
    } else {
      count =
        national(groups, at: start, behind: last)
        ?? (isDialledAbroad(groups, at: start) ? international(groups, behind: 3) : nil)
    }
    guard let count,
      prefix == 0 || !isInside(groups, count, at: start, behind: last)
        || PhoneContext(text, before: start).isPhone
    else { return nil }
    let directDial =
      count == groups.count
      ? 0
      : prefix == nil ? directDialCount(groups, count, at: start) : isExtension(groups, count) ? 1 : 0
    let end = groups.end(count + directDial - 1)
    return start..<(extensionEnd(behind: end) ?? end)
  }

  /// False within something longer that is written with digits: a date, a fraction, an identifier.
  private func mayBegin(at start: Int, behind last: Int) -> Bool {
    switch text[start - 1] {
    case UInt8(ascii: "+"): return false
    case UInt8(ascii: "-"), UInt8(ascii: "/"), UInt8(ascii: "."):
      if start - 1 == last, last > 0 { return true }
      if text.isDigit(start - 2) || text[start - 2] == UInt8(ascii: ")") { return false }
      if !text.isWordByte(start - 2), text[start - 1] != UInt8(ascii: ".") { return true }
      // "Tel.030 901820", but not "call about INV-2024-00123".
      return PhoneContext(text, before: start).isPhone(behindWordTo: start - 1)
    default: return text[start] != UInt8(ascii: ":")
    }
  }

  /// True for a plus sign after a number, a letter or a bracket: `x + 49 30 901820`.
  private func isSum(at start: Int) -> Bool {
    let before = text[start - 1] == UInt8(ascii: " ") ? start - 2 : start - 1
    let isLetter = text.isWordByte(before) && !text.isWordByte(before - 1)
    return (isLetter || text.isDigit(before) || text[before] == UInt8(ascii: ")"))
      && !PhoneContext(text, before: start).isPhone
  }

  /// True if a word for telephones ends directly before a number's zero, plus sign or bracket, or before the underscore
  /// before it: `Tel030 901820`.
  func isBehindWord(_ start: Int) -> Bool {
    let end = text[start - 1] == UInt8(ascii: "_") ? start - 1 : start
    // "HP9000" is a product.
    guard TextBytes.isLetter(text[end - 1]), [0x28, 0x2B, 0x30].contains(text[start]) else { return false }
    return PhoneContext(text, before: start).isPhone(behindWordTo: end)
  }

  /// True if the first group ends a time: `14:18:30 2015`.
  private func isSeconds(_ groups: DigitGroups, at start: Int) -> Bool {
    text[start - 1] == UInt8(ascii: ":") && text.isDigit(start - 2) && groups.length(0) == 2
  }

  /// True after the 011 that North Americans dial before a calling code.
  private func isDialledAbroad(_ groups: DigitGroups, at start: Int) -> Bool {
    groups.length(0) == 3 && groups.digits.number(3) == 11 && !groups.isBracketed(0)
      && !PhoneContext(text, before: start).isOther
  }

  /// True if the groups of a longer number come before it, with the spaces that it has between its own. Before a number
  /// in one piece there must be two.
  private func isInside(_ groups: DigitGroups, _ count: Int, at start: Int, behind last: Int) -> Bool {
    guard text.isDigit(start), count == 1 || groups.separator(1) == UInt8(ascii: " ") else { return false }
    let gap = count == 1 ? 1 : groups.start(1) - groups.end(0)
    if isAmongBytes(groups, count, at: start) { return true }
    guard start - gap > last else { return false }
    if text.hasCode(before: start - gap, count: groups.length(0)) { return true }
    guard let group = text.group(before: start, gap: gap), !isHouseNumber(group..<start - gap) else {
      return false
    }
    return count > 1 || text.group(before: group, gap: gap) != nil
  }

  /// Drops the groups from where something else begins: a card, an address, another number.
  /// - Parameter prefix: the digits before the national number.
  private func leaveOthers(_ groups: inout DigitGroups, behind prefix: Int) {
    for group in 1..<max(1, groups.count) {
      let start = groups.start(group)
      let digits = groups.digitCount(group)
      let isNext =
        digits - prefix >= Self.fewestDigits
        && (groups.isSpaced(group) && !isSpacedDirectDial(groups, group) || groups.isBracketed(group)
          || groups.separator(group) == UInt8(ascii: "/") && groups.length(group) > 2)
      // "12 34 1fb1:1789::"
      let isName =
        groups.separator(group) == UInt8(ascii: " ") && TextBytes.isLetter(text[groups.end(group)])
        && extensionEnd(behind: groups.end(group)) == nil
      if isNext || isName || text.internetAddress(at: start) != nil { return groups.keep(group) }
      if groups.length(group) >= 4, groups.digits.count - digits >= 12,
        TextBytes.cardLengths(ofIssuer: groups.digits.dropping(digits).number(4)) != nil,
        text.card(at: start, behind: start, DigitGroups(text, at: start)) != nil
      {
        return groups.keep(group)
      }
    }
  }

  // MARK: - With a calling code

  /// Returns the number of groups of the number.
  /// - Parameters:
  ///   - prefix: the digits before the calling code.
  ///   - mustBeValid: true for none that the calling code's plans do not have.
  private func international(_ groups: DigitGroups, behind prefix: Int, mustBeValid: Bool = false) -> Int? {
    let digits = groups.digits.dropping(prefix)
    guard digits.count > 3, digits[digits.startIndex] != 0 else { return nil }
    let code = callingCode(digits)
    // "+48.858370" may be a decimal fraction.
    let isDecimal = groups.count == 2 && groups.separator(1) == UInt8(ascii: ".")
    if prefix > 0, groups.length(0) > prefix, groups.length(0) < prefix + (code?.length ?? 3) { return nil }
    for count in stride(from: groups.count, to: 0, by: -1) {
      guard let code, mayEnd(groups, count) else { continue }
      let national = nationalDigits(groups, count, behind: prefix + code.length)
      if isNumber(national, ofCallingCode: code.number) { return count }
      if isDecimal || mustBeValid { continue }
      let isPossible = isPossible(national, ofCallingCode: code.number)
      if isPossible, national.count <= Self.mostPlausible, !isAmount(groups, count) { return count }
    }
    if isDecimal || mustBeValid { return nil }
    for count in stride(from: groups.count, to: 0, by: -1) {
      let total = groups.digitCount(count) - prefix
      guard total <= NumberingPlans.mostDigits, mayEnd(groups, count) else { continue }
      // Without a known length, a number without groups must be long.
      guard total >= (count == 1 ? 10 : Self.fewestDigits), prefix == 0 || count > 2 else { return nil }
      return isAmount(groups, count) ? nil : count
    }
    return nil
  }

  /// True if a number that begins with a plus sign, perhaps in a bracket, is one of its calling code's plans.
  func isInPlan(_ range: Range<Int>) -> Bool {
    let isOpen = text[range.lowerBound] == UInt8(ascii: "(")
    let sign = range.lowerBound + (isOpen ? 1 : 0)
    guard text[sign] == UInt8(ascii: "+") else { return false }
    let groups = DigitGroups(text, at: sign + 1, isOpen: isOpen)
    return international(groups, behind: 0, mustBeValid: true).map { groups.end($0 - 1) } == range.upperBound
  }

  /// Few national numbers have more digits; a longer sequence is more often a number and something after it.
  private static let mostPlausible = 12

  private func callingCode(_ digits: Digits) -> (number: Int, length: Int)? {
    for length in 1...3 {
      let number = digits.number(length)
      if plans.lengths(ofCallingCode: number) != 0 { return (number, length) }
    }
    return nil
  }

  /// Returns the digits after the calling code, without a trunk prefix in brackets.
  private func nationalDigits(_ groups: DigitGroups, _ count: Int, behind prefix: Int) -> Digits {
    var digits = groups.digits.prefix(groups.digitCount(count))
    for group in 1..<max(1, min(3, count)) where groups.isBracketed(group) && groups.length(group) == 1 {
      let index = groups.digitCount(group)
      if digits[index] == 0, index >= prefix { digits = digits.removing(1, at: index) }
    }
    return digits.dropping(prefix)
  }

  private func isNumber(_ national: Digits, ofCallingCode code: Int) -> Bool {
    plans.regions(ofCallingCode: code).contains {
      plans.isValid(national, $0) || plans.isValidBehindTrunk(national, $0)
    }
  }

  private func isPossible(_ national: Digits, ofCallingCode code: Int) -> Bool {
    let lengths = plans.lengths(ofCallingCode: code)
    let count = national.count
    guard count >= Self.fewestDigits - 1 else { return false }
    // A zero that callers within the country dial.
    return NumberingPlans.has(count, lengths)
      || national[national.startIndex] == 0 && code != 1 && NumberingPlans.has(count - 1, lengths)
  }

  // MARK: - Edges

  /// True if a number may end after a group.
  func mayEnd(_ groups: DigitGroups, _ count: Int) -> Bool {
    let end = groups.end(count - 1)
    if extensionEnd(behind: end) != nil { return true }
    // The hours of a time: `030 901820 12:30`.
    let isHours = groups.length(count - 1) <= 2 && text[end] == UInt8(ascii: ":") && text.isDigit(end + 1)
    if count > 1, isHours { return false }
    return !text.isWordByte(end) && !text.hasCode(behind: end, count: groups.length(count - 1))
  }
}
