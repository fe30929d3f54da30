/// Finds added tokens in a text: the leftmost first, of several there the longest.
struct AddedTokenMatcher: Sendable {
  /// A match, with the white space that belongs to it.
  struct Match {
    var range: Range<Int>
    var id: Int32
  }

  private struct Entry {
    var id: Int32
    var token: AddedToken
  }

  /// A node of the trie of all spellings.
  private struct Node {
    var byte: UInt8
    var firstChild: Int32 = -1
    var nextSibling: Int32 = -1
    /// The index in `entries` of the spelling that ends here, or -1.
    var entry: Int32 = -1
  }

  /// The maximum bytes of a spelling, which bound the time per byte of text.
  static var maximumLength: Int { 1024 }

  private var entries: [Entry] = []
  private var nodes = [Node(byte: 0)]
  private var isFirstByte = [Bool](repeating: false, count: 256)
  private var hasOrdinary = false

  init() {}

  /// Adds a token, spelled `spelling`. Of tokens with the same spelling, the first is found, and special ones go before
  /// others.
  mutating func add(
    _ token: AddedToken, id: Int32, spelling: [UInt8]
  ) throws(BertQAError) {
    guard spelling.count <= Self.maximumLength else {
      throw BertQAError(
        .unsupported,
        "the added token \(quoted(token.content)) has \(spelling.count) bytes; at most "
          + "\(Self.maximumLength) are supported")
    }
    guard let first = spelling.first else { return }
    var node = 0
    for byte in spelling { node = child(of: node, byte) }
    if nodes[node].entry >= 0 {
      let earlier = entries[Int(nodes[node].entry)].token
      guard token.isSpecial, !earlier.isSpecial else { return }
    }
    nodes[node].entry = Int32(clamping: entries.count)
    entries.append(Entry(id: id, token: token))
    isFirstByte[Int(first)] = true
    if !token.isSpecial { hasOrdinary = true }
  }

  private mutating func child(of node: Int, _ byte: UInt8) -> Int {
    if let found = existingChild(of: node, byte) { return found }
    nodes.append(Node(byte: byte, nextSibling: nodes[node].firstChild))
    nodes[node].firstChild = Int32(clamping: nodes.count - 1)
    return nodes.count - 1
  }

  private func existingChild(of node: Int, _ byte: UInt8) -> Int? {
    var child = nodes[node].firstChild
    while child >= 0 {
      if nodes[Int(child)].byte == byte { return Int(child) }
      child = nodes[Int(child)].nextSibling
    }
    return nil
  }

  /// True if a search can find a token.
  func canMatch(parseSpecialTokens: Bool) -> Bool { parseSpecialTokens ? !entries.isEmpty : hasOrdinary }

  /// Returns the next token in `text[start...]`; nothing before `start` is part of it.
  ///
  /// Unrequested special tokens are skipped: no token may overlap them.
  /// - Parameter position: where to begin, at or after `start`; afterwards, where to continue.
  func next(
    in text: UnsafeBufferPointer<UInt8>, from position: inout Int, behind start: Int,
    parseSpecialTokens: Bool,
    _ monitor: CallMonitor?
  ) throws(BertQAError) -> Match? {
    guard let base = text.baseAddress else { return nil }
    var poll = TextPoll(monitor, from: position)
    while position < text.count {
      try poll.reach(position)
      guard isFirstByte[Int(base[position])], let found = longest(in: text, at: position) else {
        position += 1
        continue
      }
      let (entry, end) = (entries[found.entry], found.end)
      let begin = position
      position = end
      if entry.token.isSpecial, !parseSpecialTokens { continue }
      if entry.token.isSingleWord, Self.isWord(before: begin, in: text) || Self.isWord(at: end, in: text) {
        continue
      }
      var range = begin..<end
      if entry.token.stripsLeft {
        range = try Self.whiteSpaceStart(before: begin, behind: start, in: text, monitor)..<end
      }
      if entry.token.stripsRight {
        // No other token may begin in it.
        position = try Self.whiteSpaceEnd(at: end, in: text, monitor)
        range = range.lowerBound..<position
      }
      return Match(range: range, id: entry.id)
    }
    return nil
  }

  private func longest(
    in text: UnsafeBufferPointer<UInt8>, at position: Int
  ) -> (entry: Int, end: Int)? {
    var found: (Int, Int)?
    var node = 0
    var end = position
    while end < text.count, let next = existingChild(of: node, text[end]) {
      node = next
      end += 1
      if nodes[node].entry >= 0 { found = (Int(nodes[node].entry), end) }
    }
    return found
  }

  private static func isWord(at position: Int, in text: UnsafeBufferPointer<UInt8>) -> Bool {
    position < text.count
      && CharacterClass.of(UTF8Codec.decode(text, at: position).scalar).contains(.word)
  }

  private static func isWord(before position: Int, in text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let base = text.baseAddress, position > 0 else { return false }
    let decoded = UTF8Codec.decodeBackwards(base, before: position, begin: 0)
    return CharacterClass.of(decoded.scalar).contains(.word)
  }

  private static func whiteSpaceStart(
    before position: Int, behind begin: Int, in text: UnsafeBufferPointer<UInt8>, _ monitor: CallMonitor?
  ) throws(BertQAError) -> Int {
    guard let base = text.baseAddress else { return position }
    var start = position
    var poll = TextPoll(monitor)
    while start > begin {
      let decoded = UTF8Codec.decodeBackwards(base, before: start, begin: begin)
      guard CharacterClass.isWhiteSpace(decoded.scalar) else { break }
      try poll.read(decoded.size)
      start -= decoded.size
    }
    return start
  }

  private static func whiteSpaceEnd(
    at position: Int, in text: UnsafeBufferPointer<UInt8>, _ monitor: CallMonitor?
  ) throws(BertQAError) -> Int {
    var end = position
    var poll = TextPoll(monitor)
    while end < text.count {
      let decoded = UTF8Codec.decode(text, at: end)
      guard CharacterClass.isWhiteSpace(decoded.scalar) else { break }
      try poll.read(decoded.size)
      end += decoded.size
    }
    return end
  }
}
