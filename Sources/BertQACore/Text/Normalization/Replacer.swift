/// Replaces each match of a pattern by a text. tokenizers calls it Replace.
struct Replacer: Normalizer {
  private let pattern: ReplacementPattern
  private let content: [UInt32]

  init(_ pattern: ReplacementPattern, with content: String) {
    self.pattern = pattern
    self.content = content.unicodeScalars.map(\.value)
  }

  func leaves(_ text: borrowing NormalizedText, _ monitor: CallMonitor?) throws(BertQAError) -> Bool {
    try pattern.firstMatch(text, from: 0, monitor) == nil
  }

  func normalize(
    _ text: borrowing NormalizedText, into target: inout NormalizedText, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    var position = 0
    var poll = TextPoll(monitor)
    while let match = try pattern.firstMatch(text, from: position, monitor) {
      if match.lowerBound > position {
        try target.append(copying: text, position..<match.lowerBound, monitor)
      }
      // The inserted text has the range of the last character replaced.
      let source = text.source(of: match.upperBound - 1)
      for scalar in content { try target.append(scalar: scalar, from: source) }
      position = match.upperBound
      // Between adjacent matches there is no text that would poll.
      try poll.reach(position)
    }
    if position < text.count { try target.append(copying: text, position..<text.count, monitor) }
    try target.seal()
  }
}

/// The search pattern of a `Replacer`: a string, or a regular expression of the simple kind in use, alternatives of
/// one character or class each with a number of repetitions, such as ` {2,}` and `\s{2,}|[\n\r\t]`.
struct ReplacementPattern: Sendable {
  /// One alternative: at least `least` characters of a class, as many as follow each other.
  private struct Repetition: Sendable {
    var scalars: [UInt32] = []
    var matchesWhiteSpace = false
    var least = 1
    var most = 1

    func matches(_ scalar: UInt32) -> Bool {
      scalars.contains(scalar)
        || matchesWhiteSpace && CharacterClass.isWhiteSpace(scalar)
    }
  }

  private enum Kind: Sendable {
    case string([UInt8])
    case alternatives([Repetition])
  }

  private let kind: Kind
  /// For each byte, true if a match may begin with it.
  private let isFirst: [Bool]

  /// The largest number of repetitions: each is a step at every place of a text.
  private static let repetitionLimit = 64

  init(string: String) throws(BertQAError) {
    let bytes = Array(string.utf8)
    guard let first = bytes.first, bytes.count <= Self.repetitionLimit else {
      throw BertQAError(
        .unsupported,
        "normalizer Replace: pattern \(quoted(string)), expected 1 to \(Self.repetitionLimit) bytes")
    }
    kind = .string(bytes)
    isFirst = (0..<256).map { $0 == Int(first) }
  }

  init(regularExpression: String) throws(BertQAError) {
    guard let alternatives = Self.alternatives(Array(regularExpression.unicodeScalars)) else {
      throw BertQAError(
        .unsupported,
        "normalizer Replace: the regular expression \(quoted(regularExpression)) is not supported, only alternatives "
          + "of one character or class with repetitions such as \" {2,}\" are")
    }
    kind = .alternatives(alternatives)
    isFirst = (0..<256).map { byte in
      byte >= 0x80 || alternatives.contains { $0.matches(UInt32(byte)) }
    }
  }

  private static func alternatives(_ text: [Unicode.Scalar]) -> [Repetition]? {
    var rest = text[...]
    var alternatives: [Repetition] = []
    repeat {
      var repetition = Repetition()
      guard readClass(&rest, &repetition), readQuantifier(&rest, &repetition) else { return nil }
      alternatives.append(repetition)
      guard let next = rest.popFirst() else { return alternatives }
      if next != "|" { return nil }
    } while true
  }

  private static func readClass(_ rest: inout ArraySlice<Unicode.Scalar>, _ into: inout Repetition) -> Bool {
    guard let next = rest.popFirst() else { return false }
    switch next {
    case "\\": return readEscape(&rest, &into)
    case "[":
      while let member = rest.popFirst() {
        switch member {
        case "]": return !into.scalars.isEmpty || into.matchesWhiteSpace
        case "\\": if !readEscape(&rest, &into) { return false }
        // Ranges, complements, intersections and named classes.
        case "-", "^", "&", "[": return false
        default: into.scalars.append(member.value)
        }
      }
      return false
    case ".", "^", "$", "*", "+", "?", "(", ")", "{", "}", "|", "]": return false
    default:
      into.scalars.append(next.value)
      return true
    }
  }

  private static func readEscape(_ rest: inout ArraySlice<Unicode.Scalar>, _ into: inout Repetition) -> Bool {
    guard let next = rest.popFirst() else { return false }
    switch next {
    case "s": into.matchesWhiteSpace = true
    case "n": into.scalars.append(0x0A)
    case "r": into.scalars.append(0x0D)
    case "t": into.scalars.append(0x09)
    case "a"..."z", "A"..."Z", "0"..."9": return false
    default:
      guard next.isASCII else { return false }
      into.scalars.append(next.value)
    }
    return true
  }

  /// `+`, `{n}`, `{n,}` or nothing.
  private static func readQuantifier(_ rest: inout ArraySlice<Unicode.Scalar>, _ into: inout Repetition)
    -> Bool
  {
    switch rest.first {
    case "+":
      rest.removeFirst()
      into.most = .max
    case "{":
      rest.removeFirst()
      var least = 0
      var digits = 0
      while let digit = rest.first, "0"..."9" ~= digit, least <= repetitionLimit {
        least = least * 10 + Int(digit.value - 0x30)
        digits += 1
        rest.removeFirst()
      }
      (into.least, into.most) = (least, least)
      if rest.first == "," {
        rest.removeFirst()
        into.most = .max
      }
      guard digits > 0, 1...repetitionLimit ~= least, rest.popFirst() == "}" else { return false }
    default: return true
    }
    // Lazy and possessive ones, and repetitions of repetitions.
    return !(rest.first.map { "?+*{".unicodeScalars.contains($0) } ?? false)
  }

  /// Returns the first match at or after `begin`, which is never empty.
  func firstMatch(
    _ text: borrowing NormalizedText, from begin: Int, _ monitor: CallMonitor?
  ) throws(BertQAError) -> Range<Int>? {
    var position = begin
    while position < text.count {
      if isFirst[Int(text.base[position])], let end = try matchEnd(text, at: position, monitor) {
        return position..<end
      }
      position &+= 1
      // Counts places of the text, so that the polls of one search after another stay regular.
      if position % CallPoll.textInterval == 0 { try monitor?.check() }
    }
    return nil
  }

  private func matchEnd(
    _ text: borrowing NormalizedText, at begin: Int, _ monitor: CallMonitor?
  ) throws(BertQAError) -> Int? {
    switch kind {
    case .string(let bytes):
      guard bytes.count <= text.count - begin else { return nil }
      for index in bytes.indices where text.base[begin + index] != bytes[index] { return nil }
      return begin + bytes.count
    case .alternatives(let alternatives):
      if text.base[begin] & 0xC0 == 0x80 { return nil }
      for repetition in alternatives {
        var (position, count) = (begin, 0)
        while position < text.count, count < repetition.most {
          let decoded = UTF8Codec.decode(text.base, at: position, end: text.count)
          guard repetition.matches(decoded.scalar) else { break }
          position += decoded.size
          count += 1
          if count % CallPoll.textInterval == 0 { try monitor?.check() }
        }
        if count >= repetition.least { return position }
      }
      return nil
    }
  }
}
