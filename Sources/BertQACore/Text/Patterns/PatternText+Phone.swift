/// Finds telephone numbers: international ones by their prefix, national ones by their grouping.
extension PatternText {
  /// A number's digits, in groups as written.
  private struct Groups {
    struct Group {
      var digits: Int
      var end: Int
      /// The character before it; 0 for the first.
      var separator: UInt8
      var isBracketed: Bool
    }

    var groups: [Group] = []
    var first: UInt8 = 0
    var second: UInt8 = 0

    /// Digits of the first `count` groups.
    func digits(_ count: Int) -> Int { groups.prefix(count).reduce(0) { $0 + $1.digits } }
    func shape(_ count: Int) -> [Int] { groups.prefix(count).map(\.digits) }
  }

  private static let mostDigits = 17
  private static let mostGroups = 8

  func phone(at start: Int) -> Range<Int>? {
    let before = self[start - 1]
    // Part of something longer that is written with digits: a date, a fraction, an identifier.
    for byte in [
      UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: "+"), UInt8(ascii: "_"),
    ] {
      if before == byte { return nil }
    }
    if self[start] == UInt8(ascii: ":") { return nil }
    let isInternational = self[start] == UInt8(ascii: "+")
    let numbers = groups(at: isInternational ? start + 1 : start)
    guard !numbers.groups.isEmpty else { return nil }
    // The longest prefix that is a number; further groups do not belong to it.
    for count in stride(from: numbers.groups.count, to: 0, by: -1) {
      let last = numbers.groups[count - 1]
      guard !isWordByte(last.end) else { continue }
      let isPhone =
        isInternational
        ? numbers.first != UInt8(ascii: "0") && (7...15).contains(numbers.digits(count))
        : Self.isNational(numbers, count)
      guard isPhone else { continue }
      // A number in one piece with a further group is a longer number or a date.
      if !isInternational, count < numbers.groups.count {
        let next = numbers.groups[count].separator
        if next != UInt8(ascii: " ") || last.separator == next { continue }
      }
      return start..<last.end
    }
    return nil
  }

  /// Reads groups of digits with one separator between them, and brackets around one.
  private func groups(at start: Int) -> Groups {
    var numbers = Groups()
    var position = start
    var digits = 0
    var separator: UInt8 = 0
    while numbers.groups.count < Self.mostGroups {
      let isBracketed = self[position] == UInt8(ascii: "(")
      if isBracketed { position += 1 }
      let first = position
      while isDigit(position), digits <= Self.mostDigits {
        if digits == 0 { numbers.first = self[position] }
        if digits == 1 { numbers.second = self[position] }
        digits += 1
        position += 1
      }
      guard position > first, digits <= Self.mostDigits else { break }
      if isBracketed {
        guard self[position] == UInt8(ascii: ")"), position - first <= 5 else { break }
        position += 1
      }
      numbers.groups.append(
        Groups.Group(
          digits: isBracketed ? position - first - 1 : position - first, end: position,
          separator: separator, isBracketed: isBracketed))
      separator = self[position]
      switch separator {
      case UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "/"): position += 1
      case _ where isBracketed && isDigit(position): separator = UInt8(ascii: " ")
      case UInt8(ascii: "("): separator = UInt8(ascii: " ")
      default: return numbers
      }
      // "0171 / 123" and "(030) - 123"
      if separator == UInt8(ascii: " "), self[position + 1] == UInt8(ascii: " "),
        self[position] == UInt8(ascii: "-") || self[position] == UInt8(ascii: "/")
      {
        separator = self[position]
        position += 2
      }
    }
    return numbers
  }

  /// True if the first groups are a number as written within a country.
  private static func isNational(_ numbers: Groups, _ count: Int) -> Bool {
    let groups = numbers.groups.prefix(count)
    guard count > 1, let second = groups.dropFirst().first else { return false }
    let (digits, shape) = (numbers.digits(count), numbers.shape(count))
    // The first separator may differ from the others: 0171/123 45 67.
    guard groups.dropFirst(2).allSatisfy({ $0.separator == groups.last?.separator }),
      groups.dropFirst().allSatisfy({ !$0.isBracketed })
    else { return false }
    if numbers.first == UInt8(ascii: "0") {
      if numbers.second == UInt8(ascii: "0") {
        // 00 and a country.
        return (9...17).contains(digits) && shape[0] > 2 && shape.dropFirst().allSatisfy { $0 >= 2 }
      }
      let isDate = shape.starts(with: [2, 2, 4])
      // No area code is longer than six digits.
      return (9...12).contains(digits) && !isDate && shape.allSatisfy { $0 >= 2 } && shape[0] <= 6
        && (groups.first?.isBracketed == true || shape[0] > 2 || count >= 4)
    }
    // North America: (212) 555-1234, 212-555-1234, 1-212-555-1234.
    let local = shape.first == 1 && numbers.first == UInt8(ascii: "1") ? shape.dropFirst() : shape[...]
    guard Array(local) == [3, 3, 4] else { return false }
    let isFraction = groups.allSatisfy { !$0.isBracketed } && second.separator == UInt8(ascii: "/")
    return !isFraction && (local.count < shape.count || numbers.first >= UInt8(ascii: "2"))
  }
}
