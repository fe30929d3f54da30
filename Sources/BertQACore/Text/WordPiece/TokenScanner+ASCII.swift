extension TokenScanner {
  /// Writes the tokens of text[begin ..< end].
  mutating func scan(from begin: Int, to end: Int) {
    self.begin = begin
    self.end = end
    let text = self.text
    let table = pieces.short
    let separators = tokenizer.separators
    let lowercaseBit: UInt64 = tokenizer.configuration.lowercase ? 0x2020_2020_2020_2020 : 0
    var window = self.window
    window.prepare(text, from: begin, limit: end, lowercaseBit: lowercaseBit)
    var pending = self.pending
    var position = begin
    while position < end {
      if position &+ 16 > window.end, window.end < end || position > window.end {
        window.prepare(text, from: position, limit: end, lowercaseBit: lowercaseBit)
      }
      if pending.isFull {
        self.pending = pending
        flush()
        pending = self.pending
      }
      let offset = position &- window.begin
      let count = window.wordCount(at: offset)
      let next = position &+ count
      // What follows the word decides whether it is complete.
      let separator = next < end ? separators[Int(text[next])] : SeparatorTable.space
      guard count <= PieceKey.maximumCount, separator >= SeparatorTable.space else {
        self.pending = pending
        position = scanCharacters(from: position)
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
