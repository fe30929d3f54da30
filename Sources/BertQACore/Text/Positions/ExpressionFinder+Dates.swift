/// Dates and times in digits: `2026-05-09`, `2026-05-09T07:29:29.5Z`, `09/May/2026:07:29:29`, `07:29:29+02:00`.
extension ExpressionFinder {
  /// The longest one, in bytes.
  private static let longestDate = 36

  /// Matches ISO 8601's dates and times, and dates that other marks or the name of a month divide.
  func date(across cut: Int) -> Range<Int>? {
    for start in max(0, cut - Self.longestDate)..<cut
    where text.isDigit(start) && !text.isWordByte(start - 1) {
      let isInside =
        text.isDigit(start - 2) && (dateMark(at: start - 1) != nil || text[start - 1] == UInt8(ascii: ":"))
      // Without a zone, a time is a number, whose units may follow.
      let time = timeEnd(from: start).flatMap { $0.hasZone ? $0.end : nil }
      if !isInside, let end = dateEnd(from: start) ?? time, cut < end { return start..<end }
    }
    return nil
  }

  private func dateEnd(from start: Int) -> Int? {
    guard let (first, second) = digits(at: start), let mark = dateMark(at: second) else { return nil }
    var month = second + 1
    while month - second < 24, case let size = text.isAlphanumeric(month) ? 1 : text.nameLetter(at: month),
      size > 0
    {
      month += size
    }
    let isName = !(second + 1..<month).contains { text.isDigit($0) }
    let number = digits(at: second + 1)
    guard isName ? month - second > 3 : number?.end == month && month - second <= 3,
      dateMark(at: month) == mark, let (last, end) = digits(at: month + 1),
      first == 4 && last <= 2 || first <= 2 && last == 4
    else { return nil }
    let isTime = text[end] | 0x20 == UInt8(ascii: "t") || isName && text[end] == UInt8(ascii: ":")
    if isTime, let time = timeEnd(from: end + 1) { return time.end }
    return text.isWordByte(end) || dateMark(at: end) == mark && text.isDigit(end + 1) ? nil : end
  }

  /// Returns the end of `07:29`, `07:29:29`, `07:29:29,123` with `Z` or `+02:00` behind it. `-02:00` is a zone only behind
  /// a date.
  private func timeEnd(from start: Int) -> (end: Int, hasZone: Bool)? {
    guard var end = clockEnd(from: start) else { return nil }
    var hasZone = false
    if text[end] == UInt8(ascii: ":"), let (count, seconds) = digits(at: end + 1), count == 2 {
      end = seconds
      if text[end] == UInt8(ascii: ".") || text[end] == UInt8(ascii: ","),
        let (count, fraction) = digits(at: end + 1), count <= 9
      {
        end = fraction
      }
    }
    if text[end] | 0x20 == UInt8(ascii: "z") {
      end += 1
    } else if text[end] == UInt8(ascii: "+") || text[end] == UInt8(ascii: "-"),
      let zone = digits(at: end + 1).flatMap({ $0.count == 4 ? $0.end : clockEnd(from: end + 1) })
    {
      hasZone = text[end] == UInt8(ascii: "+")
      end = zone
    }
    return text.isWordByte(end) ? nil : (end, hasZone)
  }

  /// Returns the end of two digits, a colon and two digits.
  private func clockEnd(from start: Int) -> Int? {
    guard let (hours, colon) = digits(at: start), hours == 2, text[colon] == UInt8(ascii: ":"),
      let (minutes, end) = digits(at: colon + 1), minutes == 2
    else { return nil }
    return end
  }

  private func digits(at start: Int) -> (count: Int, end: Int)? {
    var end = start
    while text.isDigit(end), end - start < 10 { end += 1 }
    return end > start ? (end - start, end) : nil
  }

  private func dateMark(at position: Int) -> UInt8? {
    ["-", "/", "."].contains(Unicode.Scalar(text[position])) ? text[position] : nil
  }
}
