/// Numbers without a calling code.
extension PhoneFinder {
  /// Returns the number of groups of the number.
  func national(_ groups: DigitGroups, at start: Int, behind last: Int) -> Int? {
    if isLocal(groups) { return groups.count }
    let fewest = regions.isEmpty ? Self.fewestNational : 4
    guard groups.digitCount(groups.count) >= fewest, !isDate(groups), !areDecimals(groups) else { return nil }
    if groups.digits[0] != 0 && isCurrency(before: start) || isPostalCode(groups, at: start)
      || isStatus(groups, at: start)
    {
      return nil
    }
    // Digits before a number that are not part of another one make it doubtful.
    let isContinued = isBehindNumber(start, last)
    var known: PhoneContext?
    func context() -> PhoneContext {
      if let known { return known }
      let found = PhoneContext(text, before: start)
      known = found
      return found
    }
    for count in stride(from: groups.count, to: 0, by: -1) where mayEnd(groups, count) {
      let total = groups.digitCount(count)
      guard total >= fewest else { return nil }
      if isExact(groups, count), mayStop(groups, count, at: start, isExact: true), !isContinued || total > 8,
        isExactEnough(groups, count) && !(isContinued && arePairs(groups, count))
          ? !context().isOther : context().isPhone
      {
        return count
      }
      guard total <= Self.mostNational, mayStop(groups, count, at: start, isExact: false) else { continue }
      if isOfRegions(groups, count), !context().isOther { return count }
      let isSmooth = isSingleDigitFree(groups, count)
      let isLong =
        total >= Self.fewestDigitsInContext
        || total == Self.fewestDigitsInContext - 1 && directDialCount(groups, count, at: start) > 0
      let isInContext =
        isSmooth && isLong && areSeparatorsPlausible(groups, count) && !isAmount(groups, count)
      if isInContext, context().isPhone { return count }
      guard isSmooth, !isContinued || groups.digits[0] == 0 else { continue }
      if count == 1 ? isBare(groups) : isUsual(groups, count, at: start), !context().isOther { return count }
    }
    return nil
  }

  /// True if spaces and a number that is not part of what was found come before a place: in a row of numbers, or in
  /// a log's `"GET / HTTP/1.1" 200 2326`.
  private func isBehindNumber(_ start: Int, _ last: Int) -> Bool {
    var end = start
    while text[end - 1] == UInt8(ascii: " "), start - end < 8 { end -= 1 }
    guard end < start else { return false }
    if text[end - 1] == UInt8(ascii: "\"") { end -= 1 }
    guard text.isDigit(end - 1), end - 1 >= last else { return false }
    return !(text.group(before: start, gap: start - end).map { isHouseNumber($0..<end) } ?? false)
  }

  private static let mostNational = 13

  /// A number of fewer digits cannot be told from others.
  private static let fewestNational = 6
  private static let fewestDigitsInContext = 7

  /// True if what follows a group does not continue it.
  private func mayStop(_ groups: DigitGroups, _ count: Int, at start: Int, isExact: Bool) -> Bool {
    guard count < groups.count else { return true }
    switch groups.separator(count) {
    case UInt8(ascii: "-"): return directDialCount(groups, count, at: start) > 0
    case UInt8(ascii: "."): return false
    // "24/7" is no number and another last digit.
    case UInt8(ascii: "/"): return groups.length(count) >= 2 || groups.length(count - 1) >= 3
    default: return isExact || count > 1 && groups.separator(count - 1) != UInt8(ascii: " ")
    }
  }

  /// True if no group but a trunk prefix and an area code has one digit; such a group after a number is something
  /// else. In `(0 89) 1 23 45 67` it is the first of pairs.
  private func isSingleDigitFree(_ groups: DigitGroups, _ count: Int) -> Bool {
    var first = leadCount(groups) + 1
    if groups.length(first) == 1, first + 1 < count,
      (first + 1..<count).allSatisfy({ groups.length($0) == 2 })
    {
      first += 1
    }
    return (first..<max(first, count)).allSatisfy { groups.length($0) > 1 }
  }

  /// The number of groups before the others, whose lengths and separators may differ: the 06 of `06-1/234 5678`, the 8
  /// of `8 (912) 345-67-89`.
  func leadCount(_ groups: DigitGroups) -> Int {
    guard groups.count > 2, groups.length(0) <= 2 else { return 0 }
    let isBracketed = groups.isBracketed(1) || groups.isBracketed(0) && groups.digits[0] == 0
    let isTrunk = groups.digits[0] == 0 || isEight(groups)
    // "(11) 9 8765-4321": Brazil's mobile numbers have a 9 before the older eight digits.
    let isNine = groups.isBracketed(0) && groups.length(1) == 1 && groups.digits[groups.length(0)] == 9
    return isBracketed || isNine
      || isTrunk && groups.separator(2) != groups.separator(groups.count > 3 ? 3 : 1) ? 1 : 0
  }

  /// True if the first group may be the trunk prefix of countries that dial 8: the 8 of `8-912-345-67-89`.
  private func isEight(_ groups: DigitGroups) -> Bool { groups.length(0) == 1 && groups.digits[0] == 8 }

  // MARK: - Groups of the numbering plans

  /// True if a region writes one of its numbers in these groups.
  /// - Parameter regions: of these only; empty for any.
  private func isExact(_ groups: DigitGroups, _ count: Int, of regions: [Int] = []) -> Bool {
    guard count > 1 else { return false }
    let digits = groups.digits.prefix(groups.digitCount(count))
    guard digits.count >= Self.fewestNational else { return false }
    // Without a trunk prefix, brackets or an area code of two digits the separators must be the region's own, unless
    // the groups are of one length.
    let isMarked = digits[0] == 0 || groups.isBracketed(0) || groups.isBracketed(1)
    let isEven =
      count > 2 && (groups.length(0) == 2 || (1..<count).allSatisfy { groups.length($0) == groups.length(0) })
    let mayDiffer = digits.count >= 9 && (isMarked || isEven) && areSeparatorsPlausible(groups, count)
    let separators = (1..<count).reduce(0 as UInt16) { mask, group in
      let place = NumberingPlans.separators.firstIndex(of: groups.separator(group)) ?? 0
      return mask | UInt16(place) << UInt16(2 * group)
    }
    return plans.forms(of: groups.shape(count)).contains { form in
      (form.separators == separators || mayDiffer) && plans.isValid(digits, in: form)
        && (regions.isEmpty || regions.contains(Int(form.region)))
    }
  }

  /// True unless other numbers are often written in the same groups.
  private func isExactEnough(_ groups: DigitGroups, _ count: Int) -> Bool {
    if isCurrency(behind: groups.end(count - 1)) || isYears(groups, count) || isDayAndYear(groups, count)
      || areNeighbours(groups, count)
    {
      return false
    }
    // Few digits with more after them are a part of a longer number.
    if groups.digitCount(count) < 9 || arePairs(groups, count), count < groups.count, groups.digits[0] != 0 {
      return false
    }
    return !isPlainAmount(groups, count) && !isCut(groups, count)
  }

  /// True if the groups after a number that is written with spaces seem to belong to it: they are no other number, and
  /// no trunk prefix tells where it ends.
  private func isCut(_ groups: DigitGroups, _ count: Int) -> Bool {
    let end = groups.end(count - 1)
    guard 1 < count, count < groups.count, !groups.isBracketed(0), !groups.isBracketed(1),
      groups.separator(count - 1) == UInt8(ascii: " "),
      text.hasGroup(behind: end, gap: groups.start(count - 1) - groups.end(count - 2))
    else { return false }
    // A single group after a trunk prefix is more often something else, such as a postal code; but groups of three are
    // those of many numbers.
    if groups.digits[0] == 0, !isAmount(groups, count), groups.count == count + 1 { return false }
    let rest = DigitGroups(text, at: groups.start(count))
    let isFollowed = rest.count >= count && isExact(rest, count)
    // The row "120 130 140 150 160" is not two numbers.
    let isRow = (1..<groups.count).allSatisfy { groups.length($0) == groups.length(0) }
    return isRow ? !isFollowed || groups.count % count != 0 : !isFollowed && !isExact(rest, rest.count)
  }

  /// True for groups as in amounts, but not for three groups of three without zeros at the end.
  private func isPlainAmount(_ groups: DigitGroups, _ count: Int) -> Bool {
    guard isAmount(groups, count) else { return false }
    return count < 3 || groups.length(0) < 3 || groups.separator(1) != UInt8(ascii: " ")
      || groups.digits.dropping(groups.digitCount(count - 1)).number(3) == 0
  }

  /// True if the separators are all the same, or all but the first after a trunk prefix: 0171/123 45 67.
  private func areSeparatorsPlausible(_ groups: DigitGroups, _ count: Int) -> Bool {
    let first = leadCount(groups) + 2
    let rest = count > first ? groups.separator(first) : 0
    for group in first..<max(first, count) where groups.separator(group) != rest || groups.isBracketed(group)
    {
      return false
    }
    // "49576 - 56115" is a difference, "48.858370" a decimal fraction.
    let hasTrunk = groups.digits[0] == 0 || groups.isBracketed(0) || groups.isBracketed(1)
    if !hasTrunk, groups.isSpaced(1) || count == 2 && groups.separator(1) == UInt8(ascii: ".") {
      return false
    }
    return rest != UInt8(ascii: "/")
  }

  // MARK: - Usual forms

  /// True for forms that people write regardless of the region's own form: a trunk prefix, an area code in brackets,
  /// or three, three and four digits.
  private func isUsual(_ groups: DigitGroups, _ count: Int, at start: Int) -> Bool {
    let directDial = directDialCount(groups, count, at: start)
    let total = groups.digitCount(count + directDial)
    guard areSeparatorsPlausible(groups, count) else { return false }
    let hasTrunk = groups.digits[0] == 0
    // "0 30/90 18 20" and "(0 30) 90 18 20" have the area code in two groups.
    let isDivided =
      groups.isBracketed(1)
      ? groups.isBracketed(0)
      : groups.length(0) == 1 && hasTrunk && groups.length(1) > 1 && leadCount(groups) == 1
    let first = groups.length(0) + (isDivided ? groups.length(1) : 0)
    if groups.isBracketed(0) {
      let isYear = first == 4 && Self.isYear(groups.digits.number(4)) || isYears(groups, count)
      return (2...6).contains(first) && (8...13).contains(total) && !isYear
    }
    if count > 2, groups.isBracketed(1), first <= 2 { return (9...12).contains(total) }
    guard !groups.isBracketed(1) else { return false }
    if hasTrunk {
      let isDotted = groups.separator(1) == UInt8(ascii: ".") && count == 2
      return (2...6).contains(first) && (8...13).contains(total) && !isDotted
        && (total > 8 || count > 2 || directDial > 0)
    }
    if isEight(groups), count > 2, total >= 10, !isAmount(groups, count) {
      let digits = groups.digits.prefix(total)
      return plans.regions.indices.contains { plans.isValidBehindTrunk(digits, $0) }
    }
    let isNorthAmerican =
      count == 3 && groups.shape(3) == 0x433
      || count == 4 && groups.shape(4) == 0x4331 && groups.digits[0] == 1
    guard isNorthAmerican, groups.separator(1) != UInt8(ascii: "/") else { return false }
    return count == 4 || groups.digits[0] >= 2
  }

  /// True for digits in one piece that begin with a trunk prefix, which other numbers of their length rarely do, or
  /// that are a mobile number of a region that dials no prefix.
  private func isBare(_ groups: DigitGroups) -> Bool {
    let digits = groups.digits.prefix(groups.length(0))
    guard (9...11).contains(digits.count), digits[0] != 0 || digits[1] != 0, !Self.isOfComputers(digits)
    else { return false }
    // Ten digits from 1 on are seconds since 1970.
    if digits[0] != 0 { return digits.count > (digits[0] == 1 ? 10 : 9) && plans.isMobile(digits) }
    return plans.regions.indices.contains {
      plans.isValidBehindTrunk(digits, $0) || digits.count == 9 && plans.isValid(digits, $0)
    }
  }

  // MARK: - Regions that the caller names

  private func isOfRegions(_ groups: DigitGroups, _ count: Int) -> Bool {
    guard !regions.isEmpty, !isPlainAmount(groups, count) || isExact(groups, count, of: regions)
    else { return false }
    let digits = groups.digits.prefix(groups.digitCount(count))
    return regions.contains { region in
      let plan = plans.regions[region]
      let hasTrunk = plan.trunk.count > 0 && digits.starts(with: plan.trunk)
      if hasTrunk, plans.isValidBehindTrunk(digits, region) { return true }
      // Islands have numbers of four and five digits.
      let isLongEnough =
        digits.count >= Self.fewestNational || NumberingPlans.has(digits.count, plan.bareLengths)
      if isLongEnough, plans.isValid(digits, region),
        count > 1 || NumberingPlans.has(digits.count, plan.bareLengths)
      {
        return true
      }
      // A form of the region with digits that its plan does not have.
      let isLong = digits.count >= (count > 1 ? 9 : 8)
      return isLong
        && (hasTrunk && NumberingPlans.has(digits.count - plan.trunk.count, plan.lengths)
          || NumberingPlans.has(digits.count, count > 1 ? plan.lengths : plan.bareLengths & plan.lengths))
    }
  }
}
