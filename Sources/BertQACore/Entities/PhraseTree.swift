/// Finds phrases in texts: in any case, with composed or decomposed letters, and any spaces and marks between words.
struct PhraseTree: Sendable {
  /// The first words of phrases, as nodes of a tree: the node of more words by the node of fewer and the next word.
  private var nodes: [Step: Int] = [:]
  /// For each node the number of the phrase that ends there; -1 for none.
  private var phraseOfNode = [-1]

  private struct Step: Hashable {
    var node: Int
    var word: UInt64
  }

  private struct Word {
    var range: Range<Int>
    /// As `WordHash`.
    var hash: UInt64
  }

  /// The maximum number of words of a phrase. It bounds the time for each word of a text.
  static let mostWords = 16
  /// The maximum number of bytes between two words.
  private static let widestGap = 8

  /// Adds a phrase with a number, unless the tree has it already.
  /// - Parameter poll: one for many phrases, which may be short.
  /// - Returns: false if it has no word or too many.
  mutating func add(
    _ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, number: Int, _ monitor: CallMonitor,
    _ poll: inout TextPoll
  ) throws(BertQAError) -> Bool {
    var node = 0
    var position = range.lowerBound
    var count = 0
    while let word = try Self.word(text, from: position, to: range.upperBound, &poll) {
      count += 1
      guard count <= Self.mostWords else { return false }
      let step = Step(node: node, word: word.hash)
      if let next = nodes[step] {
        node = next
      } else {
        node = phraseOfNode.count
        try nodes.insert(node, for: step)
        try phraseOfNode.makeRoom(for: 1, monitor)
        phraseOfNode.append(-1)
      }
      position = word.range.upperBound
    }
    if node > 0, phraseOfNode[node] < 0 { phraseOfNode[node] = number }
    return node > 0
  }

  /// Calls a closure with the places of phrases in a text, in its order and without overlaps, and their numbers. Of
  /// phrases that begin at one place the longest counts. The time is linear in the text.
  func forEach(
    in text: UnsafeBufferPointer<UInt8>, _ monitor: CallMonitor,
    _ body: (Range<Int>, Int) throws(BertQAError) -> Void
  ) throws(BertQAError) {
    if nodes.isEmpty { return }
    var poll = TextPoll(monitor)
    var position = 0
    while let first = try Self.word(text, from: position, to: text.count, &poll) {
      var node = nodes[Step(node: 0, word: first.hash)]
      var end = first.range.upperBound
      var found: (end: Int, number: Int)?
      while let current = node {
        if phraseOfNode[current] >= 0 { found = (end, phraseOfNode[current]) }
        guard let next = try Self.word(text, from: end, to: text.count, behind: Self.widestGap, &poll),
          !SentenceFinder(text: text).hasBlankLine(in: end..<next.range.lowerBound)
        else { break }
        node = nodes[Step(node: current, word: next.hash)]
        end = next.range.upperBound
      }
      if let found { try body(first.range.lowerBound..<found.end, found.number) }
      position = found?.end ?? first.range.upperBound
    }
  }

  /// Returns where the first word of a part of the text begins; its end if there is none.
  fileprivate static func wordStart(
    _ text: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int, _ poll: inout TextPoll
  ) throws(BertQAError) -> Int {
    var position = start
    while position < end {
      let unit = UTF8Codec.decode(text, at: position)
      let kind = WordTables.shared.wordBreak(unit.scalar)
      if kind.isWord || kind == .single { return position }
      try poll.read(unit.size)
      position += unit.size
    }
    return end
  }

  /// Returns the first word of a part of the text: letters, digits and the marks on them, with the invisible characters
  /// between them.
  /// - Parameter gap: the maximum number of bytes before it.
  private static func word(
    _ text: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int, behind gap: Int = .max,
    _ poll: inout TextPoll
  ) throws(BertQAError) -> Word? {
    let limit = gap < end - start ? start + gap + 1 : end
    let first = try wordStart(text, from: start, to: limit, &poll)
    if first >= limit { return nil }
    var (position, visibleEnd) = (first, first)
    var hash = WordHash()
    while position < end {
      let unit = UTF8Codec.decode(text, at: position)
      let kind = WordTables.shared.wordBreak(unit.scalar)
      guard kind.isWord || position == first || kind == .extend else { break }
      UnicodeData.shared.forEachPart(of: UnicodeData.shared.lowercase(unit.scalar)) { hash.take($0) }
      try poll.read(unit.size)
      position += unit.size
      if kind != .extend || !UnicodeData.isInvisible(unit.scalar) { visibleEnd = position }
      // A script without spaces: each character is a word.
      if kind == .single { break }
    }
    return Word(range: first..<visibleEnd, hash: hash.finish())
  }
}

/// A hash (FNV-1a) of a word's lower-case and decomposed letters, which is the same for all canonically equivalent words.
/// Invisible characters do not count.
private struct WordHash {
  private var hash: UInt64 = 0xCBF2_9CE4_8422_2325
  /// The sum of the marks of the last letter: composed and decomposed letters have them in different orders.
  private var marks: UInt64 = 0
  private var letter: UInt32 = 0

  mutating func take(_ part: UInt32) {
    if UnicodeData.isInvisible(part) { return }
    if UnicodeData.shared.properties(of: part).combiningClass > 0 {
      // The dot of İ, which its lower-case letter may lack.
      if part != 0x307 || letter != 0x69 { marks &+= UInt64(part) &* 0x9E37_79B9_7F4A_7C15 }
      return
    }
    endLetter()
    letter = part
    // A sigma at the end of a word has another form. The capitals of ß are SS.
    add(part == 0x3C2 ? 0x3C3 : part == 0xDF ? 0x73 : UInt64(part))
    if part == 0xDF { add(0x73) }
  }

  mutating func finish() -> UInt64 {
    endLetter()
    return hash
  }

  private mutating func endLetter() {
    if marks != 0 { add(marks) }
    marks = 0
  }

  private mutating func add(_ value: UInt64) { hash = (hash ^ value) &* 0x100_0000_01B3 }
}

/// Finds where words of a text begin, from places that ascend. The time for all of them is linear in the text.
struct WordStarts {
  private let text: UnsafeBufferPointer<UInt8>
  private var poll: TextPoll
  /// No word begins in `from` ..< `next`.
  private var (from, next) = (0, -1)

  init(_ text: UnsafeBufferPointer<UInt8>, _ monitor: CallMonitor) {
    self.text = text
    poll = TextPoll(monitor)
  }

  /// Returns where the first word from a place on begins; the text's end if there is none.
  mutating func first(from position: Int) throws(BertQAError) -> Int {
    if position < from || position > next {
      (from, next) = (position, try PhraseTree.wordStart(text, from: position, to: text.count, &poll))
    } else {
      try poll.read(1)
    }
    return next
  }
}
