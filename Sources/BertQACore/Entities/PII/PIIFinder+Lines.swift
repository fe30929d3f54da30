/// Finds numbers that a line break divides, as programs for mail wrap them: `+49 30` and, on the next line, `901820`,
/// perhaps behind `>`.
///
/// Columns of numbers must not become numbers of several lines. So only what is certain counts: account numbers and
/// cards with their check digits, and telephone numbers of a calling code, or behind a word for telephones.
extension PIIFinder {
  /// The maximum number of bytes read of each of the two lines.
  private static let reach = 64

  /// Adds the numbers that continue on a next line to what `run` has found.
  mutating func joinLines() throws(BertQAError) {
    let kinds = kinds.intersection([.phone, .card, .iban])
    if kinds.isEmpty { return }
    var poll = TextPoll(monitor)
    var joined: [Found] = []
    var window: [UInt8] = []
    // The list of each window's finder: a new one would count as more memory of the call.
    var spare: [Found] = []
    var next = 0  // of `found`
    for position in 0..<text.count {
      try poll.reach(position)
      guard text[position] == UInt8(ascii: "\n"), let gap = gap(at: position) else { continue }
      let start = windowStart(before: gap.lowerBound)
      // Most lines with numbers at both edges are those of tables.
      guard text.bytes[start..<gap.lowerBound].contains(where: { $0 >= 0x40 || $0 == UInt8(ascii: "+") })
      else {
        continue
      }
      let end = windowEnd(behind: gap.upperBound)
      window.removeAll(keepingCapacity: true)
      window += text.bytes[start..<gap.lowerBound]
      window.append(UInt8(ascii: " "))
      window += text.bytes[gap.upperBound..<end]
      while next < found.count, Int(found[next].end) < gap.lowerBound { next += 1 }
      let space = gap.lowerBound - start
      var number: Found?
      try window.withElements { bytes throws(BertQAError) in
        var finder = PIIFinder(bytes, kinds, phones.regions, monitor)
        swap(&finder.found, &spare)
        try finder.run()
        // What begins where the window cuts its line may be a part of a longer number.
        let isCut = start > 0 && text[start - 1] != UInt8(ascii: "\n")
        number = finder.found.first {
          Int($0.start) < space && Int($0.end) > space + 1 && ($0.start > 0 || !isCut) && finder.isCertain($0)
        }
        finder.found.removeAll(keepingCapacity: true)
        swap(&finder.found, &spare)
      }
      guard let number else { continue }
      let first = start + Int(number.start)
      let last = gap.upperBound + Int(number.end) - space - 1
      if let before = joined.last, Int(before.end) > first { continue }
      // A number may end with its line, and another begin on the next one.
      if number.kind == .phone, next < found.count, Int(found[next].start) <= first {
        let isInternational = text.bytes[first..<first + 2].contains(UInt8(ascii: "+"))
        if !isInternational || phones.isInPlan(first..<Int(found[next].end)) { continue }
      }
      try joined.makeRoom(for: 1, monitor)
      joined.append(Found(start: UInt32(first), end: UInt32(last), kind: number.kind))
    }
    if !joined.isEmpty { try merge(joined) }
  }

  /// Returns the range of a line break with the white space around it and the quotation marks behind it, if a number
  /// may continue there.
  private func gap(at lineEnd: Int) -> Range<Int>? {
    var start = lineEnd
    while start > 0, Self.isBlank(text[start - 1]) { start -= 1 }
    guard isOfNumber(start - 1) else { return nil }
    var end = lineEnd + 1
    while end - lineEnd < Self.reach, Self.isBlank(text[end]) || text[end] == UInt8(ascii: ">") { end += 1 }
    return isOfNumber(end) || text[end] == UInt8(ascii: "(") ? start..<end : nil
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
  }

  /// True for digits and the letters of account numbers, and for a bracket behind an area code.
  private func isOfNumber(_ position: Int) -> Bool {
    let byte = text[position]
    return TextBytes.isDigit(byte) || byte &- UInt8(ascii: "A") < 26 || byte == UInt8(ascii: ")")
  }

  private func windowStart(before end: Int) -> Int {
    var start = end
    while start > 0, end - start < Self.reach, text[start - 1] != UInt8(ascii: "\n") { start -= 1 }
    // Not inside a word.
    while start > 0, start < end, text[start - 1] > 0x20 { start += 1 }
    return start
  }

  private func windowEnd(behind start: Int) -> Int {
    var end = start
    while end < text.count, end - start < Self.reach, text[end] != UInt8(ascii: "\n") { end += 1 }
    while end > start, text[end] > 0x20 { end -= 1 }
    return end
  }

  private func isCertain(_ number: Found) -> Bool {
    let start = Int(number.start)
    switch number.kind {
    case .phone:
      return phones.isInPlan(start..<Int(number.end)) || PhoneContext(text, before: start).isPhone
    case .card: return text.bytes[..<start].contains(where: Self.isOfSentence)
    default: return true
    }
  }

  /// False for the bytes of tables of numbers, perhaps hexadecimal ones.
  private static func isOfSentence(_ byte: UInt8) -> Bool {
    TextBytes.isLetter(byte) ? byte | 0x20 > UInt8(ascii: "f") : byte >= 0x80 || "\"'(:".utf8.contains(byte)
  }

  /// Replaces what overlaps numbers of two lines by these.
  private mutating func merge(_ joined: [Found]) throws(BertQAError) {
    var merged: [Found] = []
    try merged.makeRoom(for: found.count + joined.count, monitor)
    var next = 0
    for one in joined {
      while next < found.count, found[next].end <= one.start {
        merged.append(found[next])
        next += 1
      }
      var last = next
      while last < found.count, found[last].end <= one.end { last += 1 }
      // What reaches further, such as a URL, is more than the number.
      if last < found.count, found[last].start < one.end { continue }
      merged.append(one)
      next = last
    }
    merged += found[next...]
    found = merged
  }
}
