import BertQACore

/// A rule of the user: finds what matches its expression, passes its check and follows one of its words.
struct Rule {
  /// The label of what it finds.
  let name: String
  let expression: RegularExpression
  /// nil for none.
  let checksum: (name: String, check: Checksum)?
  /// One of the words; nil if none need to stand before.
  let context: RegularExpression?

  /// Characters before a match in which words are looked for, on the same line.
  private static let reach = 64

  /// Adds what the rule finds in a text.
  /// - Parameters:
  ///   - text: valid UTF-8.
  ///   - found: in any order.
  func find(
    in text: UnsafeBufferPointer<UInt8>, _ monitor: CallMonitor,
    to found: inout [(range: Range<Int>, reason: EntityReason)]
  ) throws(BertQAError) {
    var all: [(range: Range<Int>, reason: EntityReason)] = []
    try expression.forEachMatch(in: text, from: 0..<text.count, rule: name, monitor) {
      range throws(BertQAError) in
      var reason = EntityReason(rule: name, checksum: checksum?.name)
      if let checksum, try !checksum.check.accepts(UnsafeBufferPointer(rebasing: text[range])) { return }
      if let context {
        // The character after the words shows whether they are whole; the rest of the text need not be read.
        let end = RegularExpression.characterStart(text, after: range.lowerBound)
        let head = UnsafeBufferPointer(rebasing: text[..<end])
        let before = Self.line(text, before: range.lowerBound)
        try context.forEachMatch(in: head, from: before, rule: name, monitor) { word throws(BertQAError) in
          if word.upperBound <= range.lowerBound {
            reason.context = TextRange(start: word.lowerBound, end: word.upperBound)
          }
        }
        if reason.context == nil { return }
      }
      try all.makeRoom(for: 1, monitor)
      all.append((range, reason))
    }
    try found.makeRoom(for: all.count, monitor)
    found += all
  }

  private static func line(_ text: UnsafeBufferPointer<UInt8>, before end: Int) -> Range<Int> {
    var start = end
    for _ in 0..<reach where start > 0 && text[start - 1] != UInt8(ascii: "\n") {
      repeat { start -= 1 } while start > 0 && text[start] & 0xC0 == 0x80
    }
    return start..<end
  }
}

extension [Rule] {
  /// Returns what rules find in a text, in its order. What they find may overlap.
  func entities(
    of text: UnsafeBufferPointer<UInt8>, _ call: CallOptions
  ) throws(BertQAError) -> [Entity] {
    let monitor = CallMonitor(call)
    var found: [(range: Range<Int>, reason: EntityReason)] = []
    if text.isValidUTF8 {
      for rule in self { try rule.find(in: text, monitor, to: &found) }
    } else {
      // Each invalid byte is read as a control character, so that all places stay the same.
      let repaired = try Self.repaired(text, monitor)
      try repaired.withElements { text throws(BertQAError) in
        for rule in self { try rule.find(in: text, monitor, to: &found) }
      }
    }
    return try EntityList(
      of: text,
      found.map {
        ($0.reason.rule, TextRange(start: $0.range.lowerBound, end: $0.range.upperBound), 1, $0.reason)
      }, call: call
    ).entities
  }

  private static func repaired(
    _ text: UnsafeBufferPointer<UInt8>, _ monitor: CallMonitor
  ) throws(BertQAError) -> [UInt8] {
    var result = try [UInt8](checkedCapacity: text.count, monitor)
    var bytes = text.makeIterator()
    var parser = Unicode.UTF8.ForwardParser()
    while true {
      switch parser.parseScalar(from: &bytes) {
      case .valid(let scalar): result += scalar
      case .error(let length): result += repeatElement(0x1A, count: length)
      case .emptyInput: return result
      }
    }
  }
}
