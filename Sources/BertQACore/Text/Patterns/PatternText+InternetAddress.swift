/// Finds IPv4 and IPv6 addresses, without port, prefix length and zone.
extension PatternText {
  func internetAddress(at start: Int) -> Range<Int>? {
    // Part of a longer name or number: 1.2.3.4.5, a::b::c.
    let before = self[start - 1]
    guard before != UInt8(ascii: "."), before != UInt8(ascii: ":") else { return nil }
    if let end = ipv4(at: start) {
      let isLonger = self[end] == UInt8(ascii: ".") && isAlphanumeric(end + 1)
      return isLonger || isWordByte(end) ? nil : start..<end
    }
    guard let end = ipv6(at: start), !isWordByte(end), self[end] != UInt8(ascii: ":") else { return nil }
    return self[end] == UInt8(ascii: ".") && isAlphanumeric(end + 1) ? nil : start..<end
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
  /// do not match.
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
    return isWhole && (hasDigit || groups >= 3) ? end : nil
  }

  private func isHexDigit(_ position: Int) -> Bool {
    isDigit(position) || (self[position] | 0x20) &- UInt8(ascii: "a") < 6
  }
}
