/// A text as PII rules read it: spaces, hyphens, digits and letters of typography and of other scripts become those
/// of ASCII, and zero-width characters are omitted. U+2011 in a card number does not hide it. The same applies to escapes
/// of URLs, HTML and JSON, and to words in brackets for @ and the full stop. Underscores around emphasis become `*`, which
/// no name has.
struct FoldedText {
  private(set) var bytes: [UInt8] = []
  private struct Place {
    var folded: UInt32
    var source: UInt32
    /// The bytes of the source that became one; 0 if the two texts run in parallel from here on.
    var size: UInt32
  }

  private var places: [Place] = []
  private let source: UnsafeBufferPointer<UInt8>

  /// nil if the text has nothing to replace.
  init?(_ text: UnsafeBufferPointer<UInt8>, _ monitor: CallMonitor) throws(BertQAError) {
    source = text
    var poll = TextPoll(monitor)
    // Up to this place the text has been copied.
    var copied = 0
    var position = 0
    /// Where the underscores are that end emphasis.
    var emphasisEnd = -1 ..< -1
    while position < text.count {
      try poll.reach(position)
      // Most lead bytes: of ASCII, of Latin, Greek, Cyrillic, Armenian and Hebrew letters, of Chinese characters and of
      // Hangul.
      let range: Range<Int>
      let change: Change?
      switch text[position] {
      case UInt8(ascii: "%"), UInt8(ascii: "&"), UInt8(ascii: "\\"), UInt8(ascii: "("), UInt8(ascii: "["),
        UInt8(ascii: "{"):
        guard let escape = TextEscape(in: TextBytes(bytes: text), at: position, behind: copied) else {
          position += 1
          continue
        }
        range = escape.range
        change = escape.scalar < 0x80 ? .byte(UInt8(escape.scalar)) : Self.change(escape.scalar)
      case UInt8(ascii: "_"):
        guard let marks = Self.emphasis(in: TextBytes(bytes: text), at: position, until: &emphasisEnd) else {
          position += 1
          continue
        }
        range = marks
        change = .byte(UInt8(ascii: "*"))
      case 0..<0xC2, 0xC3...0xD7, 0xE4...0xE9, 0xEB, 0xEC:
        position += 1
        continue
      default:
        let unit = UTF8Codec.decode(text, at: position)
        range = position..<position + unit.size
        change = Self.change(unit.scalar)
      }
      position = range.upperBound
      guard let change else { continue }
      if case .dash = change, !Self.isBesideDigit(text, range) { continue }
      if case .dot = change, !Self.isBetweenDigits(text, range) { continue }
      try copy(copied..<range.lowerBound, monitor)
      switch change {
      case .byte(let byte): try add(byte, for: range, monitor)
      case .dash, .dot: try add(UInt8(ascii: "-"), for: range, monitor)
      case .nothing: break
      }
      copied = position
    }
    if copied == 0 { return nil }
    try copy(copied..<text.count, monitor)
  }

  private mutating func copy(_ range: Range<Int>, _ monitor: CallMonitor) throws(BertQAError) {
    if range.isEmpty { return }
    try bytes.makeRoom(for: range.count, monitor)
    try add(Place(folded: UInt32(bytes.count), source: UInt32(range.lowerBound), size: 0), monitor)
    bytes.append(contentsOf: source[range])
  }

  private mutating func add(_ byte: UInt8, for range: Range<Int>, _ monitor: CallMonitor) throws(BertQAError)
  {
    try bytes.makeRoom(for: 1, monitor)
    let place = Place(
      folded: UInt32(bytes.count), source: UInt32(range.lowerBound), size: UInt32(range.count))
    try add(place, monitor)
    bytes.append(byte)
  }

  private mutating func add(_ place: Place, _ monitor: CallMonitor) throws(BertQAError) {
    try places.makeRoom(for: 1, monitor)
    places.append(place)
  }

  // MARK: - Places in the source

  /// Returns the range of the source that a range without characters at its edges was made of.
  func sourceRange(_ range: Range<Int>) -> Range<Int> {
    sourceByte(range.lowerBound).lowerBound..<sourceByte(range.upperBound - 1).upperBound
  }

  /// Returns the bytes of the source that a byte was made of.
  private func sourceByte(_ position: Int) -> Range<Int> {
    var (low, high) = (0, places.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if Int(places[middle].folded) <= position { low = middle } else { high = middle }
    }
    let place = places[low]
    let start = Int(place.source) + position - Int(place.folded)
    return start..<start + max(1, Int(place.size))
  }

  // MARK: - Characters

  private enum Change {
    case byte(UInt8)
    /// A hyphen next to a digit; a dash of the sentence elsewhere.
    case dash
    /// A hyphen between digits.
    case dot
    case nothing
  }

  private static func change(_ scalar: UInt32) -> Change? {
    switch scalar {
    case 0xA0, 0x2000...0x200A, 0x202F, 0x205F, 0x3000: return .byte(UInt8(ascii: " "))
    case 0x2010, 0x2011, 0xFE63: return .byte(UInt8(ascii: "-"))
    case 0x2012...0x2015, 0x2212, 0x30FC: return .dash
    case 0xB7, 0x2022, 0x2219, 0x22C5: return .dot
    case 0xAD, 0x61C, 0x180E, 0x200B...0x200F, 0x202A...0x202E, 0x2060...0x2064, 0x2066...0x2069, 0xFEFF:
      return .nothing
    case 0xFE6B: return .byte(UInt8(ascii: "@"))
    case 0xFF01...0xFF5E: return fullWidth(UInt8(scalar - 0xFEE0))
    // No digits of their own.
    case 0..<0x660, 0x2E80..<0xA620, 0xAC00..<0xFE00: return nil
    default:
      let properties = Unicode.Scalar(scalar)?.properties
      guard properties?.numericType == .decimal, let value = properties?.numericValue else { return nil }
      return .byte(UInt8(ascii: "0") + UInt8(value))
    }
  }

  /// Letters, digits and the marks of numbers and addresses; other punctuation ends them.
  private static func fullWidth(_ byte: UInt8) -> Change? {
    if TextBytes.isLetter(byte) || TextBytes.isDigit(byte) { return .byte(byte) }
    switch byte {
    case UInt8(ascii: "@"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "/"),
      UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "_"):
      return .byte(byte)
    default: return nil
    }
  }

  /// The longest text in emphasis whose end is looked for.
  private static let longestEmphasis = 128

  /// Returns the range of underscores that begin or end emphasis, as in Markdown: `_+49 30 901820_`. Those of names
  /// such as `user_4111` have letters or digits on both sides.
  /// - Parameter end: where the emphasis ends that was found before; becomes that of what begins here.
  private static func emphasis(in text: TextBytes, at start: Int, until end: inout Range<Int>) -> Range<Int>?
  {
    if start == end.lowerBound { return end }
    guard start >= end.upperBound, !text.isWordByte(start - 1) else { return nil }
    var content = start
    while text[content] == UInt8(ascii: "_") { content += 1 }
    let count = content - start
    guard count <= 3, text[content] > 0x20 else { return nil }
    var position = content + 1
    while position - content < longestEmphasis, text[position] >= 0x20 {
      if text[position] == UInt8(ascii: "_") {
        var last = position
        while text[last] == UInt8(ascii: "_") { last += 1 }
        if last - position == count, text[position - 1] > 0x20, !text.isAlphanumeric(last) {
          end = position..<last
          return start..<content
        }
        position = last
      } else {
        position += 1
      }
    }
    return nil
  }

  private static func isBetweenDigits(_ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Bool {
    let text = TextBytes(bytes: text)
    return text.isDigit(range.lowerBound - 1) && text.isDigit(range.upperBound)
  }

  /// True if a digit is on either side, perhaps after a space. Digits of other scripts count by their last byte.
  private static func isBesideDigit(_ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Bool {
    func isDigit(_ position: Int) -> Bool {
      guard text.indices.contains(position) else { return false }
      if text[position] < 0x80 { return TextBytes.isDigit(text[position]) }
      var start = position
      while start > 0, position - start < 3, text[start] & 0xC0 == 0x80 { start -= 1 }
      guard case .byte(let byte) = change(UTF8Codec.decode(text, at: start).scalar) else { return false }
      return TextBytes.isDigit(byte)
    }
    func isSpace(_ position: Int) -> Bool { text.indices.contains(position) && text[position] == 0x20 }
    return isDigit(range.lowerBound - (isSpace(range.lowerBound - 1) ? 2 : 1))
      || isDigit(range.upperBound + (isSpace(range.upperBound) ? 1 : 0))
  }
}
