extension TokenScanner {
  /// Writes the tokens of text[begin ..< end].
  mutating func scan(from begin: Int, to end: Int) {
    self.begin = begin
    self.end = end
    let lowercaseBit: UInt64 = tokenizer.configuration.lowercase ? 0x2020_2020_2020_2020 : 0
    var position = begin
    while position < end {
      reserveWord()
      let block = load(at: position)
      let low = ASCIIBlock(block.low)
      let high = ASCIIBlock(block.high)
      let count = low.wordCount == 8 ? 8 &+ high.wordCount : low.wordCount
      if count == 0 {
        position = scanSeparator(at: position)
        continue
      }
      let next = position &+ count
      // The byte after the word decides whether the word is complete.
      guard count <= PieceKey.maximumCount, next == end || tokenizer.endsWord(text[next]) else {
        position = scanCharacters(from: position)
        continue
      }
      let bytes = PieceKey(
        low: block.low | low.letters &>> 2 & lowercaseBit,
        high: block.high | high.letters &>> 2 & lowercaseBit)
      let key = bytes.prefix(count, continuation: 0)
      let id = pieces.id(of: key)
      if id >= 0 {
        append(id, start: position, end: next)
      } else {
        splitASCII(key, count: count, at: position)
      }
      position = next
      if next < end, text[next] == 0x20 { position &+= 1 }
    }
  }

  /// Sixteen bytes of the text; beyond its end spaces.
  @inline(__always)
  private func load(at position: Int) -> PieceKey {
    if position &+ 16 <= end { return PieceKey(loading: text + position) }
    return loadTail(at: position)
  }

  @inline(never)
  private func loadTail(at position: Int) -> PieceKey {
    var tail = PieceKey(low: 0x2020_2020_2020_2020, high: 0x2020_2020_2020_2020)
    for offset in 0..<end - position {
      let difference = UInt64(text[position + offset] ^ 0x20)
      if offset < 8 {
        tail.low ^= difference << UInt64(offset * 8)
      } else {
        tail.high ^= difference << UInt64(offset * 8 - 64)
      }
    }
    return tail
  }

  /// Handles a byte that begins no ASCII word; returns the position after what it scanned.
  @inline(__always)
  private mutating func scanSeparator(at position: Int) -> Int {
    let byte = text[position]
    guard byte < 0x80 else { return scanCharacters(from: position) }
    let id = tokenizer.asciiIDs[Int(byte)]
    // Spaces and control characters have none.
    if id >= 0 { append(id, start: position, end: position &+ 1) }
    return position &+ 1
  }

  /// Splits an ASCII word that is not a piece as a whole.
  @inline(never)
  private mutating func splitASCII(_ key: PieceKey, count: Int, at position: Int) {
    let raw = UnsafeMutableRawPointer(word.bytes)
    raw.storeBytes(of: key.low.littleEndian, as: UInt64.self)
    raw.storeBytes(of: key.high.littleEndian, toByteOffset: 8, as: UInt64.self)
    let added = pieces.split(
      word.bytes, count: count, ids: ids + pending, starts: starts + pending, ends: ends + pending)
    if added == 0 { return append(tokenizer.unkID, start: position, end: position &+ count) }
    let offset = UInt32(truncatingIfNeeded: position)
    for index in pending..<pending &+ added {
      starts[index] &+= offset
      ends[index] &+= offset
    }
    pending &+= added
  }
}

/// Eight bytes of text and which of them are ASCII letters and digits.
private struct ASCIIBlock {
  /// The top bit of each byte that is a letter.
  let letters: UInt64
  /// Letters and digits before the first other byte.
  let wordCount: Int

  @inline(__always)
  init(_ bytes: UInt64) {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let tops = ones &* 0x80
    // Sums of seven bits carry into the top bit where the byte is at least the bound.
    let seven = bytes & ~tops
    let folded = seven | ones &* 0x20
    let isASCII = ~bytes & tops
    letters = (folded &+ ones &* (0x80 - 0x61)) & ~(folded &+ ones &* (0x80 - 0x7B)) & isASCII
    let digits = (seven &+ ones &* (0x80 - 0x30)) & ~(seven &+ ones &* (0x80 - 0x3A)) & isASCII
    wordCount = (~(letters | digits) & tops).trailingZeroBitCount &>> 3
  }
}
