/// Finds IPv4 and IPv6 addresses, with their port and zone, without a prefix length.
extension TextBytes {
  /// - Parameter start: at the first digit or colon, or at the bracket of `[::1]:80`.
  func internetAddress(at start: Int) -> Range<Int>? {
    if self[start] == UInt8(ascii: "[") {
      guard let end = ipv6(at: start + 1).map(zoneEnd), self[end] == UInt8(ascii: "]") else { return nil }
      return portEnd(at: end + 1).map { start..<$0 }
    }
    // The first group has up to four digits, and a dot or colon after it.
    var mark = start
    while isHexDigit(mark), mark - start < 4 { mark += 1 }
    guard self[mark] == UInt8(ascii: ".") || self[mark] == UInt8(ascii: ":"), mayBeginAddress(at: start)
    else { return nil }
    if let end = ipv4(at: start) {
      let isLonger = self[end] == UInt8(ascii: ".") && isAlphanumeric(end + 1)
      return isLonger || isWordByte(end) ? nil : start..<(portEnd(at: end) ?? end)
    }
    guard !isBehindGroup(start), let address = ipv6(at: start) else { return nil }
    let end = zoneEnd(address)
    // A colon of the sentence may follow, but no further group.
    let isLonger =
      self[end] == UInt8(ascii: ":") && (isAlphanumeric(end + 1) || self[end + 1] == UInt8(ascii: ":"))
      || self[end] == UInt8(ascii: ".") && isAlphanumeric(end + 1)
    return isLonger || isWordByte(end) ? nil : start..<end
  }

  /// Returns the end of the address in brackets that a mail address may have for its domain (RFC 5321, 4.1.3):
  /// `[192.0.2.1]`, `[IPv6:2001:db8::1]`; nil if there is none.
  func addressLiteral(at start: Int) -> Int? {
    guard self[start] == UInt8(ascii: "["),
      let end = ipv4(at: start + 1) ?? ipv6(at: has("ipv6:", at: start + 1) ? start + 6 : start + 1)
    else { return nil }
    return self[end] == UInt8(ascii: "]") ? end + 1 : nil
  }

  /// False within a longer name or number: 1.2.3.4.5, a::b::c.
  private func mayBeginAddress(at start: Int) -> Bool {
    switch self[start - 1] {
    case UInt8(ascii: "."): return !isWordByte(start - 2) && self[start] != UInt8(ascii: ":")
    case UInt8(ascii: ":"):
      if self[start] == UInt8(ascii: ":") || self[start - 2] == UInt8(ascii: ":") { return false }
      // A label before the address, a time or a port; not the groups of an IPv6 address.
      var label = start - 1
      while isWordByte(label - 1), start - label < 32 { label -= 1 }
      return self[label - 1] != UInt8(ascii: ":")
    default: return true
    }
  }

  /// True if a colon and a group of an IPv6 address are before a place.
  private func isBehindGroup(_ start: Int) -> Bool {
    guard self[start - 1] == UInt8(ascii: ":") else { return false }
    var group = start - 1
    while isHexDigit(group - 1), start - group < 6 { group -= 1 }
    return group < start - 1 && !isWordByte(group - 1)
  }

  private func portEnd(at colon: Int) -> Int? {
    var end = colon + 1
    while isDigit(end), end - colon <= 6 { end += 1 }
    let isPort = self[colon] == UInt8(ascii: ":") && end > colon + 1 && end - colon <= 6 && !isWordByte(end)
    return isPort ? end : nil
  }

  /// Returns the end of an address with its zone: `%eth0`.
  private func zoneEnd(_ end: Int) -> Int {
    guard self[end] == UInt8(ascii: "%"), isAlphanumeric(end + 1) else { return end }
    var position = end + 1
    while isWordByte(position) || [0x2D, 0x2E, 0x7E].contains(self[position]), position - end < 64 {
      position += 1
    }
    while !isWordByte(position - 1) { position -= 1 }
    return position
  }

  /// Matches four decimal numbers up to 255, without leading zeros.
  private func ipv4(at start: Int) -> Int? {
    var position = start
    for part in 0..<4 {
      if part > 0 {
        guard self[position] == UInt8(ascii: ".") else { return nil }
        position += 1
      }
      let first = position
      var value = 0
      while isDigit(position), position - first < 3 {
        value = 10 * value + Int(self[position] - UInt8(ascii: "0"))
        position += 1
      }
      guard position > first, value <= 255, position - first == 1 || self[first] != UInt8(ascii: "0")
      else { return nil }
    }
    return isDigit(position) ? nil : position
  }

  /// Matches RFC 4291, 2.2: eight groups of one to four hexadecimal digits, where :: replaces one or more zero groups
  /// and an IPv4 address the last two. It requires a decimal digit or three groups, so that names of programs with ::
  /// do not match, and more than one group of few or only decimal digits before :: at the end.
  private func ipv6(at start: Int) -> Int? {
    var position = start
    var groups = 0
    var hasGap = false
    var hasDigit = false
    if self[position] == UInt8(ascii: ":") {
      guard self[position + 1] == UInt8(ascii: ":") else { return nil }
      hasGap = true
      position += 2
    }
    // Where the address may end.
    var end = position
    while groups < 8 {
      if groups <= 6, let last = ipv4(at: position) {
        groups += 2
        hasDigit = true
        end = last
        break
      }
      let first = position
      while position - first < 5, isHexDigit(position) {
        if isDigit(position) { hasDigit = true }
        position += 1
      }
      guard position > first, position - first <= 4 else { break }
      groups += 1
      end = position
      guard self[position] == UInt8(ascii: ":") else { break }
      position += 1
      if self[position] == UInt8(ascii: ":") {
        if hasGap { break }
        hasGap = true
        position += 1
        end = position
      }
    }
    let isWhole = hasGap ? (1...7).contains(groups) : groups == 8
    // "step 1:: do" and "port 6379::", but fe80:: and 2001::/16.
    if groups == 1, self[end - 1] == UInt8(ascii: ":"),
      end - start < 6 || self[end] != UInt8(ascii: "/") && (start..<end - 2).allSatisfy(isDigit)
    {
      return nil
    }
    return isWhole && (hasDigit || groups >= 3) ? end : nil
  }

  func isHexDigit(_ position: Int) -> Bool { Self.isHexDigit(self[position]) }
}
