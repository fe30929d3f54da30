/// One pass over one text: finds words, normalises them and writes their tokens.
///
/// Words of ASCII letters and digits are lower-cased many at a time and looked up as a whole (`scan`);
/// everything else goes character by character (`scanCharacters`).
struct TokenScanner {
  /// Bytes of scratch memory, aligned to 8.
  static var scratchSize: Int {
    (PendingTokens.capacity * 3 + WordBuffer.capacity * 2) * 4 + WordBuffer.capacity
      + ASCIIWindow.scratchSize
  }

  private let text: UnsafePointer<UInt8>
  private let tokenizer: WordPieceTokenizer
  private let table: NormalizationTable
  private let pieces: PieceIndex
  private let monitor: CallMonitor?
  /// The part of the text that is being scanned: nothing outside it has an influence.
  private var begin = 0
  private var end = 0
  private var poll: TextPoll

  private var pending: PendingTokens
  private(set) var tokens: Tokens
  private var word: WordBuffer
  private let window: ASCIIWindow

  init(
    text: UnsafePointer<UInt8>, tokenizer: WordPieceTokenizer, scratch: UnsafeMutableRawPointer,
    tokens: Tokens, monitor: CallMonitor?
  ) {
    self.text = text
    self.tokenizer = tokenizer
    self.tokens = tokens
    self.monitor = monitor
    poll = TextPoll(monitor)
    table = tokenizer.table
    pieces = tokenizer.vocabulary.index
    let capacity = PendingTokens.capacity
    let numbers = scratch.bindMemory(
      to: UInt32.self, capacity: capacity * 2 + WordBuffer.capacity * 2)
    let wordNumbers = numbers + capacity * 2
    let idMemory = UnsafeMutableRawPointer(wordNumbers + WordBuffer.capacity * 2)
    let ids = idMemory.bindMemory(to: Int32.self, capacity: capacity)
    let bytes = UnsafeMutableRawPointer(ids + capacity)
      .bindMemory(to: UInt8.self, capacity: WordBuffer.capacity + ASCIIWindow.scratchSize)
    pending = PendingTokens(ids: ids, starts: numbers, ends: numbers + capacity)
    window = ASCIIWindow(scratch: bytes + WordBuffer.capacity)
    word = WordBuffer(
      bytes: bytes, starts: wordNumbers, ends: wordNumbers + WordBuffer.capacity)
  }

  /// Moves the pending tokens to `tokens`.
  @inline(never)
  mutating func flush() throws(BertQAError) {
    let count = pending.count
    try monitor?.check(tokenCount: tokens.count + count)
    try tokens.makeRoom(for: count, monitor)
    tokens.ids.append(contentsOf: UnsafeBufferPointer(start: pending.ids, count: count))
    tokens.starts.append(contentsOf: UnsafeBufferPointer(start: pending.starts, count: count))
    tokens.ends.append(contentsOf: UnsafeBufferPointer(start: pending.ends, count: count))
    pending.count = 0
  }

  /// Writes one token.
  mutating func append(_ id: Int32, start: Int, end: Int) throws(BertQAError) {
    if pending.isFull { try flush() }
    pending.append(id, start: start, end: end)
  }
}

// MARK: - Words of ASCII

extension TokenScanner {
  /// Writes the tokens of text[begin ..< end].
  mutating func scan(from begin: Int, to end: Int) throws(BertQAError) {
    self.begin = begin
    self.end = end
    let text = self.text
    let table = pieces.short
    let separators = tokenizer.separators.base
    let lowercaseBit: UInt64 = tokenizer.configuration.lowercase ? 0x2020_2020_2020_2020 : 0
    var window = self.window
    window.prepare(text, from: begin, limit: end, lowercaseBit: lowercaseBit)
    var pending = self.pending
    var position = begin
    while position < end {
      if position &+ 16 > window.end, window.end < end || position > window.end {
        try poll.reach(position)
        window.prepare(text, from: position, limit: end, lowercaseBit: lowercaseBit)
      }
      if pending.isFull {
        self.pending = pending
        try flush()
        pending = self.pending
      }
      let offset = position &- window.begin
      let count = window.wordCount(at: offset)
      let next = position &+ count
      // What follows the word decides whether it is complete.
      let separator = next < end ? separators[Int(text[next])] : SeparatorTable.space
      guard count <= PieceKey.maximumCount, separator >= SeparatorTable.space else {
        self.pending = pending
        position = try scanCharacters(from: position)
        pending = self.pending
        continue
      }
      if count > 0 {
        let key = PieceKey(loading: window.bytes + offset).prefix(count, continuation: 0)
        let id = table.id(of: key)
        if id >= 0 {
          pending.append(id, start: position, end: next)
        } else {
          pending.count = splitASCII(window.bytes + offset, count: count, at: position, pending)
        }
      }
      position = next &+ 1
      if separator >= 0 {
        pending.append(separator, start: next, end: position)
        if position < end, text[position] == 0x20 { position &+= 1 }
      }
    }
    self.pending = pending
  }

  /// Splits a word that is not a piece as a whole; returns the new count of pending tokens.
  @inline(never)
  private func splitASCII(
    _ word: UnsafePointer<UInt8>, count: Int, at position: Int, _ pending: PendingTokens
  ) -> Int {
    var pending = pending
    let first = pending.count
    guard pieces.split(word, count: count, into: &pending) else {
      pending.append(tokenizer.unkID, start: position, end: position &+ count)
      return pending.count
    }
    let offset = UInt32(truncatingIfNeeded: position)
    for index in first..<pending.count {
      pending.starts[index] &+= offset
      pending.ends[index] &+= offset
    }
    return pending.count
  }
}

// MARK: - Other characters

extension TokenScanner {
  /// Scans character by character from the beginning of a word, until a word has ended and ASCII
  /// follows; returns that position.
  @inline(never)
  private mutating func scanCharacters(from start: Int) throws(BertQAError) -> Int {
    let text = self.text
    let end = self.end
    let table = self.table
    var word = self.word
    var position = start
    while position < end {
      try poll.reach(position)
      let decoded = UTF8Codec.decode(text, at: position, end: end)
      let next = position &+ decoded.size
      let scalar = table.scalar(decoded.scalar)
      if scalar.kind == NormalizedScalar.Kind.word.rawValue {
        word.append(scalar.payload, size: scalar.count, start: position, end: next)
        position = next
        continue
      }
      switch NormalizedScalar.Kind(rawValue: scalar.kind) {
      case .itself:
        word.append(
          Self.bytes(text, at: position, size: decoded.size), size: decoded.size, start: position,
          end: next)
      case .removed, .word, nil:
        break
      case .space:
        try finish(&word)
        guard next < end, text[next] >= 0x80 else { return next }
      case .isolated, .isolatedItself:
        try finish(&word)
        let isItself = scalar.kind == NormalizedScalar.Kind.isolatedItself.rawValue
        try appendIsolated(
          isItself ? Self.bytes(text, at: position, size: decoded.size) : scalar.payload,
          size: isItself ? decoded.size : scalar.count, start: position, end: next)
        guard next < end, text[next] >= 0x80 else { return next }
      case .sequence:
        for index in 0..<scalar.count {
          let part = table.sequences[Int(scalar.payload) &+ index]
          word.append(part.payload, size: part.count, start: position, end: next)
        }
      case .hangul:
        let syllable = decoded.scalar &- 0xAC00
        word.append(Self.jamo(0x1100 &+ syllable / 588), size: 3, start: position, end: next)
        word.append(Self.jamo(0x1161 &+ syllable % 588 / 28), size: 3, start: position, end: next)
        if syllable % 28 != 0 {
          word.append(Self.jamo(0x11A7 &+ syllable % 28), size: 3, start: position, end: next)
        }
      case .reordered:
        let run = try CombiningRun(text, within: begin..<end, around: position, monitor)
        for mark in run.marks {
          word.append(mark.utf8, size: mark.size, start: mark.start, end: mark.end)
        }
        position = run.end
        continue
      }
      position = next
    }
    try finish(&word)
    return position
  }

  /// The `size` ≤ 4 bytes at a position of the text, the first lowest.
  @inline(__always)
  private static func bytes(_ text: UnsafePointer<UInt8>, at position: Int, size: Int) -> UInt32 {
    var bytes = UInt32(text[position])
    if size > 1 { bytes |= UInt32(text[position &+ 1]) &<< 8 }
    if size > 2 { bytes |= UInt32(text[position &+ 2]) &<< 16 }
    if size > 3 { bytes |= UInt32(text[position &+ 3]) &<< 24 }
    return bytes
  }

  /// The three bytes of a conjoining jamo.
  @inline(__always)
  private static func jamo(_ scalar: UInt32) -> UInt32 {
    0xE1 | (0x80 | scalar >> 6 & 0x3F) << 8 | (0x80 | scalar & 0x3F) << 16
  }

  /// Writes the token of a character that is a word.
  @inline(__always)
  private mutating func appendIsolated(
    _ utf8: UInt32, size: Int, start: Int, end: Int
  ) throws(BertQAError) {
    let key = PieceKey(low: UInt64(utf8), high: 0).prefix(size, continuation: 0)
    let id = pieces.short.id(of: key)
    try append(id >= 0 ? id : tokenizer.unkID, start: start, end: end)
  }

  /// Writes the tokens of the word, if there is one, and empties it.
  @inline(__always)
  private mutating func finish(_ word: inout WordBuffer) throws(BertQAError) {
    if !word.isEmpty { try appendPieces(of: word) }
    word.removeAll()
  }

  @inline(never)
  private mutating func appendPieces(of word: WordBuffer) throws(BertQAError) {
    if pending.isFull { try flush() }
    if !word.isTooLong {
      if word.count <= PieceKey.maximumCount {
        let key = PieceKey(loading: word.bytes).prefix(word.count, continuation: 0)
        let id = pieces.short.id(of: key)
        if id >= 0 { return pending.append(id, start: word.begin, end: word.end) }
      }
      if appendSplit(word) { return }
    }
    pending.append(tokenizer.unkID, start: word.begin, end: word.end)
  }

  /// Splits the word; false if that is impossible.
  private mutating func appendSplit(_ word: WordBuffer) -> Bool {
    var pending = self.pending
    let first = pending.count
    guard pieces.split(word.bytes, count: word.count, into: &pending) else { return false }
    for index in first..<pending.count {
      let start = pending.starts[index]
      let end = pending.ends[index]
      let begin = UInt32(truncatingIfNeeded: word.begin)
      pending.starts[index] = word.isVerbatim ? begin &+ start : word.starts[Int(start)]
      pending.ends[index] = word.isVerbatim ? begin &+ end : word.ends[Int(end) &- 1]
    }
    self.pending = pending
    return true
  }
}
