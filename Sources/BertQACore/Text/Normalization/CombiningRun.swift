/// A run of combining characters in canonical order, around one whose place in that order matters (kind
/// `.reordered`).
///
/// The reference replaces the characters of the text one by one by those of the ordered decomposition: a moved
/// character has the range of the place it moved to, and further parts of a decomposition have that of the text
/// consumed last. Accents are dropped only then. Time and memory: linear in the length of the run.
struct CombiningRun {
  /// A character that stays, and its range in the text.
  struct Mark {
    var utf8: UInt32
    var size: Int
    var start: Int
    var end: Int
  }

  private struct Part: DecompositionPart {
    var scalar: UInt32
    var combiningClass: UInt8
    /// True if it is the first of its character's decomposition.
    var isFirst: Bool
  }

  /// The characters that stay, in order.
  private(set) var marks: [Mark] = []
  /// Where the run ends.
  private(set) var end: Int

  /// - Parameters:
  ///   - range: the part of the text that is looked at.
  ///   - position: a `.reordered` character; nothing of the run before it was kept.
  @inline(never)
  init(
    _ text: UnsafePointer<UInt8>, within range: Range<Int>, around position: Int, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    let data = UnicodeData.shared
    var units: [(start: Int, end: Int)] = []
    var parts: [Part] = []
    let heldBefore = monitor?.heldBytes ?? 0
    defer { monitor.map { $0.release($0.heldBytes - heldBefore) } }
    end = try Self.beginning(text, range, before: position, monitor)
    var poll = TextPoll(monitor, from: end)
    while end < range.upperBound {
      try poll.reach(end)
      let decoded = UTF8Codec.decode(text, at: end, end: range.upperBound)
      let properties = data.properties(of: decoded.scalar)
      if properties.isRemoved {
        end += decoded.size
        continue
      }
      if !units.isEmpty, properties.isWhitespace || !Self.beginsWithNonstarter(decoded.scalar) { break }
      try units.makeRoom(for: 1, monitor)
      units.append((end, end + decoded.size))
      // A decomposition has at most four parts.
      try parts.makeRoom(for: 4, monitor)
      var isFirst = true
      data.forEachPart(of: decoded.scalar) { part in
        parts.append(
          Part(
            scalar: part, combiningClass: data.properties(of: part).combiningClass, isFirst: isFirst))
        isFirst = false
      }
      end += decoded.size
    }
    var consumed = 0
    try parts.sortByCombiningClass(parts.indices, monitor)
    for (index, part) in parts.enumerated() {
      if index % CallPoll.elementInterval == 0 { try monitor?.check() }
      if part.isFirst { consumed += 1 }
      if data.properties(of: part.scalar).isNonspacingMark { continue }
      let (utf8, size) = UTF8Codec.encode(part.scalar)
      let unit = units[max(0, consumed - 1)]
      try marks.makeRoom(for: 1, monitor)
      marks.append(Mark(utf8: utf8, size: size, start: unit.start, end: unit.end))
    }
  }

  /// Returns the beginning of the run of the character at `position`: that place if the character begins with a
  /// starter, else the first of the characters before it that do not.
  private static func beginning(
    _ text: UnsafePointer<UInt8>, _ range: Range<Int>, before position: Int, _ monitor: CallMonitor?
  ) throws(BertQAError) -> Int {
    guard beginsWithNonstarter(UTF8Codec.decode(text, at: position, end: range.upperBound).scalar) else {
      return position
    }
    var beginning = position
    var candidate = position
    var poll = TextPoll(monitor)
    while candidate > range.lowerBound {
      let decoded = UTF8Codec.decodeBackwards(text, before: candidate, begin: range.lowerBound)
      candidate -= decoded.size
      try poll.read(decoded.size)
      if UnicodeData.shared.properties(of: decoded.scalar).isRemoved { continue }
      guard beginsWithNonstarter(decoded.scalar) else { break }
      beginning = candidate
    }
    return beginning
  }

  private static func beginsWithNonstarter(_ scalar: UInt32) -> Bool {
    var first: UInt32?
    UnicodeData.shared.forEachPart(of: scalar) { if first == nil { first = $0 } }
    return UnicodeData.shared.properties(of: first ?? scalar).combiningClass != 0
  }
}
