extension TokenScanner {
  /// Writes the tokens of text[begin ..< end].
  mutating func scan(from begin: Int, to end: Int) {
    self.begin = begin
    self.end = end
    let text = self.text
    let table = pieces.short
    let separators = tokenizer.separators
    let lowercaseBit: UInt64 = tokenizer.configuration.lowercase ? 0x2020_2020_2020_2020 : 0
    var position = begin
    while position < end {
      reserveWord()
      let block =
        position &+ 16 <= end
        ? PieceKey(loading: text + position) : Self.loadTail(text, at: position, end: end)
      let low = ASCIIBlock(block.low)
      let high = ASCIIBlock(block.high)
      let count = low.wordCount == 8 ? 8 &+ high.wordCount : low.wordCount
      let next = position &+ count
      // What follows the word decides whether it is complete.
      let separator = next < end ? separators[Int(text[next])] : SeparatorTable.space
      guard count <= PieceKey.maximumCount, separator >= SeparatorTable.space else {
        position = count == 0 && separator == SeparatorTable.dropped
          ? position &+ 1 : scanCharacters(from: position)
        continue
      }
      if count > 0 {
        let bytes = PieceKey(
          low: block.low | low.letters &>> 2 & lowercaseBit,
          high: block.high | high.letters &>> 2 & lowercaseBit)
        let key = bytes.prefix(count, continuation: 0)
        let id = table.id(of: key)
        if id >= 0 {
          append(id, start: position, end: next)
        } else {
          splitASCII(key, count: count, at: position)
        }
      }
      position = next &+ 1
      if separator >= 0 {
        append(separator, start: next, end: position)
        if position < end, text[position] == 0x20 { position &+= 1 }
      }
    }
  }

  /// The bytes up to the end of the text, fewer than 16, and spaces.
  @inline(never)
  private static func loadTail(
    _ text: UnsafePointer<UInt8>, at position: Int, end: Int
  ) -> PieceKey {
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
