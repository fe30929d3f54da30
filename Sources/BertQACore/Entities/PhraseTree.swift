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
    /// Of the letters in lower case and decomposed, by FNV-1a.
    var hash: UInt64
  }

  /// The words of a phrase. Their number bounds the time for each word of a text.
  static let mostWords = 16

  /// Adds a phrase with a number, unless the tree has it already.
  /// - Returns: false if it has no word or too many.
  mutating func add(
    _ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, number: Int, _ monitor: CallMonitor
  ) throws(BertQAError) -> Bool {
    var node = 0
    var position = range.lowerBound
    var poll = TextPoll(monitor, from: position)
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
        guard let next = try Self.word(text, from: end, to: min(text.count, end + 256), &poll),
          Self.isGap(text, end..<next.range.lowerBound)
        else { break }
        node = nodes[Step(node: current, word: next.hash)]
        end = next.range.upperBound
      }
      if let found { try body(first.range.lowerBound..<found.end, found.number) }
      position = found?.end ?? first.range.upperBound
    }
  }

  /// Returns where the first word of a part of a text begins; nil if there is none.
  static func firstWord(
    _ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, _ monitor: CallMonitor
  ) throws(BertQAError) -> Int? {
    var poll = TextPoll(monitor, from: range.lowerBound)
    return try word(text, from: range.lowerBound, to: range.upperBound, &poll)?.range.lowerBound
  }

  /// True if there are few bytes between two words, and no paragraph ends there.
  private static func isGap(_ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Bool {
    range.count <= 8 && text[range].reduce(0) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) } < 2
  }

  /// Returns the first word that begins in a part of the text: letters, digits and the marks on them.
  private static func word(
    _ text: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int, _ poll: inout TextPoll
  ) throws(BertQAError) -> Word? {
    var position = start
    var range: Range<Int>?
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    while position < end {
      try poll.reach(position)
      let unit = UTF8Codec.decode(text, at: position)
      let kind = WordTables.shared.wordBreak(unit.scalar)
      guard kind.isWord || kind == .single && range == nil || range != nil && kind == .extend else {
        if range != nil { break }
        position += unit.size
        continue
      }
      UnicodeData.shared.forEachPart(of: UnicodeData.shared.lowercase(unit.scalar)) { part in
        // A sigma at the end of a word has another form. The capitals of ß are SS.
        for _ in 0..<(part == 0xDF ? 2 : 1) {
          hash = (hash ^ UInt64(part == 0x3C2 ? 0x3C3 : part == 0xDF ? 0x73 : part)) &* 0x100_0000_01B3
        }
      }
      position += unit.size
      range = (range?.lowerBound ?? position - unit.size)..<position
      // A script without spaces: each character is a word.
      if kind == .single { break }
    }
    return range.map { Word(range: $0, hash: hash) }
  }
}
