/// The words of a text as GLiNER divides it, and their tokens: letters, digits and "_", with single hyphens between
/// them, or any other character but white space. Each word is tokenized by itself.
struct WordSpans {
  struct Word {
    /// Bytes of the text.
    var start: UInt32
    var end: UInt32
    /// The word's first token. The next word's follows the last one.
    var firstToken: Int
  }

  private(set) var words: [Word] = []
  /// Of all words, in order.
  private(set) var tokens = Tokens()

  init(
    _ text: UnsafeBufferPointer<UInt8>, _ tokenizer: any Tokenizer, _ monitor: CallMonitor
  ) throws(BertQAError) {
    var poll = TextPoll(monitor)
    var one = Tokens()
    var position = 0
    while position < text.count {
      try poll.reach(position)
      let unit = UTF8Codec.decode(text, at: position)
      if Self.isSpace(unit.scalar) {
        position += unit.size
        continue
      }
      let end = Self.isWord(unit.scalar) ? Self.end(ofWord: position, text) : position + unit.size
      try words.makeRoom(for: 1, monitor)
      words.append(Word(start: UInt32(position), end: UInt32(end), firstToken: tokens.count))
      let bytes = UnsafeBufferPointer(rebasing: text[position..<end])
      let (held, capacity) = (monitor.heldBytes, one.capacityBytes)
      try tokenizer.tokenize(bytes, parseSpecialTokens: false, into: &one, monitor)
      // The memory for the work of a word is free again.
      monitor.release(monitor.heldBytes - held - (one.capacityBytes - capacity))
      try tokens.append(one, from: UInt32(position), monitor)
      position = end
    }
    monitor.release(one.capacityBytes)
  }

  /// True if a word has no tokens, such as a control character.
  func isEmpty(_ word: Int) -> Bool {
    words[word].firstToken == (word + 1 < words.count ? words[word + 1].firstToken : tokens.count)
  }

  private static func end(ofWord start: Int, _ text: UnsafeBufferPointer<UInt8>) -> Int {
    var end = start
    while end < text.count {
      var unit = UTF8Codec.decode(text, at: end)
      var next = end
      if unit.scalar == UInt32(UInt8(ascii: "-")), end + 1 < text.count {
        next += 1
        unit = UTF8Codec.decode(text, at: next)
      }
      guard isWord(unit.scalar) else { break }
      end = next + unit.size
    }
    return end
  }

  /// Python's `\w`.
  private static func isWord(_ scalar: UInt32) -> Bool {
    scalar == UInt32(UInt8(ascii: "_"))
      || !CharacterClass.of(scalar).isDisjoint(with: [.letter, .number])
  }

  /// Python's `\s`.
  private static func isSpace(_ scalar: UInt32) -> Bool {
    CharacterClass.isWhiteSpace(scalar) || 0x1C...0x1F ~= scalar
  }
}

extension Tokens {
  /// Appends the tokens of a part of a text.
  /// - Parameter offset: where the part begins.
  fileprivate mutating func append(
    _ other: Tokens, from offset: UInt32, _ monitor: CallMonitor
  ) throws(BertQAError) {
    try makeRoom(for: other.count, monitor)
    ids += other.ids
    for index in 0..<other.count {
      starts.append(other.starts[index] + offset)
      ends.append(other.ends[index] + offset)
    }
  }
}
