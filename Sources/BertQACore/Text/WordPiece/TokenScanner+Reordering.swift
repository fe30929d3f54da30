extension TokenScanner {
  /// A character of a combining run that stays, and the text it is attributed to.
  struct CombiningMark {
    var utf8: UInt32
    var size: Int
    var start: Int
    var end: Int
  }

  /// Puts the run of combining characters around a `.reordered` one into canonical order.
  ///
  /// The reference replaces the characters of the text one after the other by those of the ordered
  /// decomposition, so a character that moved is attributed to the text at the place it moved to,
  /// and the second and further parts of a decomposition to the text consumed last. Accents are
  /// dropped only then. Here only the characters that stay are returned, and the end of the run;
  /// nothing of the run before `position` was kept. O(n log n) in the length of the run.
  @inline(never)
  func combiningRun(around position: Int) -> (marks: [CombiningMark], end: Int) {
    let data = UnicodeData.shared
    var units: [(start: Int, end: Int)] = []
    var parts: [(scalar: UInt32, order: UInt64, isFirst: Bool)] = []
    var next = beginningOfRun(before: position)
    while next < end {
      let decoded = UTF8Text.decode(text, at: next, end: end)
      let properties = data.properties(of: decoded.scalar)
      if properties.isRemoved {
        next += decoded.size
        continue
      }
      if !units.isEmpty, properties.isWhitespace || !beginsWithNonstarter(decoded.scalar) { break }
      units.append((next, next + decoded.size))
      var isFirst = true
      data.forEachPart(of: decoded.scalar) { part in
        let order = UInt64(data.properties(of: part).combiningClass) << 32 | UInt64(parts.count)
        parts.append((part, order, isFirst))
        isFirst = false
      }
      next += decoded.size
    }
    // The position in `order` makes the sort stable.
    parts.sort { $0.order < $1.order }

    var marks: [CombiningMark] = []
    var consumed = 0
    for part in parts {
      if part.isFirst { consumed += 1 }
      if data.properties(of: part.scalar).isNonspacingMark { continue }
      let (utf8, size) = UTF8Text.encode(part.scalar)
      let unit = units[max(0, consumed - 1)]
      marks.append(CombiningMark(utf8: utf8, size: size, start: unit.start, end: unit.end))
    }
    return (marks, next)
  }

  /// Where the run that the character at `position` belongs to begins: there, if it begins with a
  /// starter, else at the first of the characters before it that do not.
  private func beginningOfRun(before position: Int) -> Int {
    guard beginsWithNonstarter(UTF8Text.decode(text, at: position, end: end).scalar) else {
      return position
    }
    var beginning = position
    var candidate = position
    while candidate > begin {
      let decoded = UTF8Text.decodeBackwards(text, before: candidate, begin: begin)
      candidate -= decoded.size
      if UnicodeData.shared.properties(of: decoded.scalar).isRemoved { continue }
      guard beginsWithNonstarter(decoded.scalar) else { break }
      beginning = candidate
    }
    return beginning
  }

  private func beginsWithNonstarter(_ scalar: UInt32) -> Bool {
    var first: UInt32?
    UnicodeData.shared.forEachPart(of: scalar) { if first == nil { first = $0 } }
    return UnicodeData.shared.properties(of: first ?? scalar).combiningClass != 0
  }
}
