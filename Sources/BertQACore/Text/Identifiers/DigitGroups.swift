/// Up to 32 digits, without memory of their own.
struct Digits: Equatable {
  /// Four bits a digit, the first one lowest.
  private var low: UInt64 = 0
  private var high: UInt64 = 0
  private(set) var startIndex = 0
  private(set) var endIndex = 0

  var count: Int { endIndex - startIndex }

  subscript(position: Int) -> UInt8 {
    UInt8((position < 16 ? low : high) >> UInt64(4 * (position & 15)) & 15)
  }

  mutating func append(_ digit: UInt8) {
    guard endIndex < 32 else { return }
    let bits = UInt64(digit & 15) << UInt64(4 * (endIndex & 15))
    if endIndex < 16 { low |= bits } else { high |= bits }
    endIndex += 1
  }

  /// Returns the digits after the first `count`.
  func dropping(_ count: Int) -> Digits {
    var rest = self
    rest.startIndex = min(endIndex, startIndex + count)
    return rest
  }

  /// Returns the first `count` digits.
  func prefix(_ count: Int) -> Digits {
    var part = self
    part.endIndex = min(endIndex, startIndex + count)
    return part
  }

  /// Returns all but `count` digits from an index on.
  func removing(_ count: Int, at index: Int) -> Digits {
    var rest = Digits()
    for position in startIndex..<endIndex where position < index || position >= index + count {
      rest.append(self[position])
    }
    return rest
  }

  /// - Parameter digits: up to 16 from index 0 on.
  func starts(with digits: Digits) -> Bool {
    guard digits.count <= count, startIndex + digits.count <= 16 else { return false }
    let mask: UInt64 = digits.count < 16 ? (1 << UInt64(4 * digits.count)) - 1 : .max
    return low >> UInt64(4 * startIndex) & mask == digits.low
  }

  /// Every number of so many digits is an `Int`.
  private static let mostOfNumber = 18

  /// The first `count` digits as a number; the largest `Int` if they are more than 18.
  func number(_ count: Int) -> Int {
    let digits = startIndex..<min(endIndex, startIndex + count)
    return digits.count > Self.mostOfNumber ? .max : digits.reduce(0) { 10 * $0 + Int(self[$1]) }
  }
}

/// Digits in groups as written, with one separator between two groups and brackets around one.
struct DigitGroups {
  /// The maximum number of groups: those of a number and of what may follow it.
  static let mostGroups = 12
  /// 00 and the longest number of E.164, and the digits of a group that does not belong to it.
  private static let mostDigits = 24
  /// The longest card number.
  private static let longestGroup = 19

  private(set) var digits = Digits()
  private(set) var count = 0
  private var lengths = SIMD16<UInt8>()
  /// Places after `origin`, which is at most 255 bytes away from any.
  private var starts = SIMD16<UInt8>()
  private var ends = SIMD16<UInt8>()
  private let origin: Int
  private var marks = SIMD16<UInt8>()
  private var brackets: UInt16 = 0
  private var spaced: UInt16 = 0

  func length(_ group: Int) -> Int { Int(lengths[group & 15]) }
  /// The place of a group's first digit, or of the bracket before it.
  func start(_ group: Int) -> Int { origin + Int(starts[group & 15]) }
  func end(_ group: Int) -> Int { origin + Int(ends[group & 15]) }
  /// The separator before a group: 0 for the first one, a space, or the mark among the spaces.
  func separator(_ group: Int) -> UInt8 { marks[group & 15] }
  func isBracketed(_ group: Int) -> Bool { brackets >> UInt16(group & 15) & 1 == 1 }

  /// True if the separator before a group is a mark between two spaces.
  func isSpaced(_ group: Int) -> Bool { spaced >> UInt16(group & 15) & 1 == 1 }

  /// The digits of the first `count` groups.
  func digitCount(_ count: Int) -> Int { (0..<count).reduce(0) { $0 + length($1) } }

  /// The lengths of the first groups, four bits each; 0 if there are too many for that.
  func shape(_ count: Int) -> UInt32 {
    guard count <= NumberingPlans.mostGroups, (0..<count).allSatisfy({ length($0) < 16 }) else { return 0 }
    return (0..<count).reduce(0) { $0 | UInt32(length($1) & 15) << UInt32(4 * $1) }
  }

  /// Omits the groups after the first `count`.
  mutating func keep(_ count: Int) {
    digits = digits.prefix(digitCount(count))
    for group in count..<self.count { (lengths[group], marks[group]) = (0, 0) }
    brackets &= 1 << UInt16(count) - 1
    spaced &= 1 << UInt16(count) - 1
    self.count = count
  }

  /// - Parameter isOpen: true if an opening bracket before `start` belongs to the first group.
  init(_ text: TextBytes, at start: Int, isOpen: Bool = false) {
    origin = start
    var position = start
    var next = Separator(mark: 0, isSpaced: false, end: start)
    var isInside = isOpen
    while count < Self.mostGroups {
      let groupStart = position
      if text[position] == UInt8(ascii: "("), !isInside {
        isInside = true
        position += 1
        if text[position] == UInt8(ascii: " ") { position += 1 }
      }
      let first = position
      var group = digits
      while text.isDigit(position), group.count < Self.mostDigits {
        group.append(text[position] - UInt8(ascii: "0"))
        position += 1
      }
      let length = position - first
      guard length > 0, length <= Self.longestGroup, !text.isDigit(position) else { return }
      var isBracketed = isInside
      if count == 0, !isInside, Self.isAreaCode(text, first..<position) {
        isBracketed = true
        position += 1
      } else if isInside {
        // "(06 1)" and "(0-312)" have two groups, "(0 22 03)" has three.
        let isDivided = text[position] == UInt8(ascii: " ") || text[position] == UInt8(ascii: "-")
        if !isDivided || !text.isDigit(position + 1) {
          if text[position] == UInt8(ascii: " ") { position += 1 }
          guard text[position] == UInt8(ascii: ")") else { return }
          position += 1
          isInside = false
        } else if bracketEnd(text, from: position + 1) == nil,
          count > 0 || !isOpen && (length > 1 || group[0] != 0)
            || !Self.isEndOfAreaCode(text, from: position + 1)
        {
          return
        }
        guard length <= 6 else { return }
      }
      let found = Self.separator(text, at: position, behindBracket: isBracketed)
      digits = group
      if next.mark == UInt8(ascii: " "),
        continuesAreaCode(length: length, isBracketed: isBracketed, before: found)
      {
        lengths[1] += UInt8(length)
        ends[1] = UInt8(truncatingIfNeeded: position - origin)
      } else {
        lengths[count] = UInt8(length)
        starts[count] = UInt8(truncatingIfNeeded: groupStart - origin)
        ends[count] = UInt8(truncatingIfNeeded: position - origin)
        marks[count] = next.mark
        if next.isSpaced { spaced |= 1 << UInt16(count) }
        if isBracketed { brackets |= 1 << UInt16(count) }
        count += 1
      }
      guard let found else { return }
      next = found
      position = found.end
    }
  }

  /// True for an area code with a bracket behind it only, as Koreans write it: `02)123-4567`.
  private static func isAreaCode(_ text: TextBytes, _ group: Range<Int>) -> Bool {
    text[group.lowerBound] == UInt8(ascii: "0") && 2...4 ~= group.count
      && text[group.upperBound] == UInt8(ascii: ")") && text[group.lowerBound - 1] != UInt8(ascii: "(")
      && text.isDigit(group.upperBound + 1)
  }

  private func bracketEnd(_ text: TextBytes, from start: Int) -> Int? {
    var end = start
    while text.isDigit(end), end - start < 6 { end += 1 }
    return text[end] == UInt8(ascii: ")") ? end : nil
  }

  /// True if a pair, one or two digits and the closing bracket come next, as after the zero of `(0 22 03)`.
  private static func isEndOfAreaCode(_ text: TextBytes, from start: Int) -> Bool {
    guard text.isDigit(start), text.isDigit(start + 1), text[start + 2] == UInt8(ascii: " "),
      text.isDigit(start + 3)
    else { return false }
    return text[text.isDigit(start + 4) ? start + 5 : start + 4] == UInt8(ascii: ")")
  }

  /// True if a third group continues the area code, with which it counts as one: the 03 of `(0 22 03) 6 01` and of
  /// `0 22 03 / 6 01`.
  private func continuesAreaCode(length: Int, isBracketed: Bool, before next: Separator?) -> Bool {
    guard count == 2, lengths[1] == 2, length <= 2, marks[1] == UInt8(ascii: " ") else { return false }
    if isBracketed || brackets > 0 { return isBracketed && self.isBracketed(1) }
    return lengths[0] == 1 && digits[0] == 0
      && (next?.mark == UInt8(ascii: "/") || next?.mark == UInt8(ascii: "-") && next?.isSpaced == true)
  }

  private struct Separator {
    var mark: UInt8
    var isSpaced: Bool
    var end: Int
  }

  /// Reads up to two spaces, or one mark with a space on either side. Brackets separate without a space.
  private static func separator(
    _ text: TextBytes, at start: Int, behindBracket: Bool
  ) -> Separator? {
    var position = start
    var isSpaced = false
    while text[position] == UInt8(ascii: " "), position - start < 2 { position += 1 }
    var mark = UInt8(ascii: " ")
    switch text[position] {
    case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "/"):
      mark = text[position]
      isSpaced = position > start && text[position + 1] == UInt8(ascii: " ")
      position += 1
      if text[position] == UInt8(ascii: " ") { position += 1 }
    case UInt8(ascii: "("): break
    default: if position == start, !behindBracket { return nil }
    }
    let isGroup =
      text.isDigit(position)
      || text[position] == UInt8(ascii: "(")
        && (text.isDigit(position + 1)
          || text[position + 1] == UInt8(ascii: " ") && text.isDigit(position + 2))
    return isGroup ? Separator(mark: mark, isSpaced: isSpaced, end: position) : nil
  }
}

/// Groups of digits beside a number that is written with spaces: it may be a part of a longer number.
extension TextBytes {
  private static let longestNeighbour = 24

  /// True if a group of digits follows a gap of spaces. The beginning of a date, a time or an amount is no group.
  func hasGroup(behind end: Int, gap: Int) -> Bool {
    var stop = end + gap
    guard isDigit(stop), areSpaces(end..<stop) else { return false }
    while isDigit(stop), stop - end < Self.longestNeighbour { stop += 1 }
    return !(isNumberMark(stop) && isDigit(stop + 1))
  }

  /// Returns the beginning of the group of digits, perhaps with capitals as in FR40, before a gap of spaces; nil if
  /// there is none, or if it ends a date, a time or an amount.
  func group(before start: Int, gap: Int) -> Int? {
    let end = start - gap
    var digits = end
    while isDigit(digits - 1), end - digits < Self.longestNeighbour { digits -= 1 }
    guard digits < end, areSpaces(end..<start), !(isNumberMark(digits - 1) && isDigit(digits - 2)) else {
      return nil
    }
    var begin = digits
    while isCapital(begin - 1), digits - begin < 4 { begin -= 1 }
    return isWordByte(begin - 1) ? nil : begin
  }

  /// True if a separator and a group of letters and digits come after a place, such as the 89AB of `0123 4567 89AB` or
  /// the A1 of `030-901820-A1`: what ends there is a part of it.
  /// - Parameter count: the digits of the group before the place.
  func hasCode(behind end: Int, count: Int) -> Bool {
    var first = end
    while self[first] == UInt8(ascii: " "), first - end < 2 { first += 1 }
    if first == end, self[end] == UInt8(ascii: "-") { first += 1 }
    var stop = first
    while isAlphanumeric(stop), stop - first < Self.longestNeighbour { stop += 1 }
    return first > end && isCode(first..<stop, besideGroupOf: self[end] == UInt8(ascii: "-") ? nil : count)
  }

  /// True if such a group ends at a place.
  /// - Parameter count: the digits of the group after it.
  func hasCode(before end: Int, count: Int) -> Bool {
    var first = end
    while isAlphanumeric(first - 1), end - first < Self.longestNeighbour { first -= 1 }
    return isCode(first..<end, besideGroupOf: count)
  }

  /// - Parameter count: the digits of the group beside it, if spaces are between. Words may stand there, so the group
  ///   must be as long, and of capitals or of hexadecimal digits.
  private func isCode(_ group: Range<Int>, besideGroupOf count: Int?) -> Bool {
    guard !isWordByte(group.lowerBound - 1), !isWordByte(group.upperBound), group.contains(where: isDigit),
      !group.allSatisfy(isDigit)
    else { return false }
    guard let count else { return true }
    return group.count == count && count > 3
      && (group.allSatisfy { isDigit($0) || isCapital($0) } || group.allSatisfy(isHexDigit))
  }

  private func areSpaces(_ range: Range<Int>) -> Bool { range.allSatisfy { self[$0] == UInt8(ascii: " ") } }

  private func isNumberMark(_ position: Int) -> Bool {
    switch self[position] {
    case UInt8(ascii: "-"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: ","), UInt8(ascii: ":"): true
    default: false
    }
  }
}
