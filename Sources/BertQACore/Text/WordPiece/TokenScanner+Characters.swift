extension TokenScanner {
  /// Scans character by character from the beginning of a word, until a word has ended and ASCII
  /// follows; returns that position.
  @inline(never)
  mutating func scanCharacters(from start: Int) -> Int {
    let text = self.text
    let end = self.end
    let table = self.table
    var word = self.word
    var position = start
    while position < end {
      let decoded = UTF8Text.decode(text, at: position, end: end)
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
        finish(&word)
        guard next < end, text[next] >= 0x80 else { return next }
      case .isolated, .isolatedItself:
        finish(&word)
        let isItself = scalar.kind == NormalizedScalar.Kind.isolatedItself.rawValue
        appendIsolated(
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
        let run = combiningRun(around: position)
        for mark in run.marks {
          word.append(mark.utf8, size: mark.size, start: mark.start, end: mark.end)
        }
        position = run.end
        continue
      }
      position = next
    }
    finish(&word)
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
  private mutating func appendIsolated(_ utf8: UInt32, size: Int, start: Int, end: Int) {
    let key = PieceKey(low: UInt64(utf8), high: 0).prefix(size, continuation: 0)
    let id = pieces.short.id(of: key)
    append(id >= 0 ? id : tokenizer.unkID, start: start, end: end)
  }

  /// Writes the tokens of the word, if there is one, and empties it.
  @inline(__always)
  private mutating func finish(_ word: inout WordBuffer) {
    if !word.isEmpty { appendPieces(of: word) }
    word.removeAll()
  }

  @inline(never)
  private mutating func appendPieces(of word: WordBuffer) {
    if pending.isFull { flush() }
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
