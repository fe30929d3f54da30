extension PieceIndex {
  /// Longest words, in characters, that are split into pieces.
  static var maximumWordCharacters: Int { 100 }

  /// Splits a word greedily into the longest pieces, the first from those without "##".
  ///
  /// Appends them to `pending`, with ranges in the word; appends nothing and returns false if the word
  /// cannot be split. `word` has 16 readable bytes after its end; `count` ≤ 400.
  @inline(__always)
  func split(
    _ word: UnsafePointer<UInt8>, count: Int, into pending: inout PendingTokens
  ) -> Bool {
    let table = short
    let first = pending.count
    var start = 0
    while start < count {
      let (id, length) = longestMatch(
        word + start, remaining: count &- start, continuation: start == 0 ? 0 : 1, in: table)
      if id < 0 {
        pending.count = first
        return false
      }
      pending.append(id, start: start, end: start &+ length)
      start &+= length
    }
    return true
  }

  /// The longest piece that the `remaining` > 0 bytes at `text` begin with; id -1 if there is none.
  @inline(__always)
  private func longestMatch(
    _ text: UnsafePointer<UInt8>, remaining: Int, continuation: UInt64, in table: ShortPieceTable
  ) -> (id: Int32, length: Int) {
    let bytes = PieceKey(loading: text)
    if remaining >= 4 {
      let known = prefixLengths[prefixSlot(firstFour: bytes.low, continuation: continuation)]
      if remaining > PieceKey.maximumCount, known & Self.longPrefixBit != 0 {
        let found = longestLongMatch(text, remaining: remaining, continuation: continuation)
        if found.id >= 0 { return found }
      }
      let allowed: UInt32 = (2 &<< UInt32(truncatingIfNeeded: min(remaining, 15))) &- 1
      var lengths = UInt32(known) & allowed & ~1
      while lengths != 0 {
        let length = 31 &- lengths.leadingZeroBitCount
        let id = table.id(of: bytes.prefix(length, continuation: continuation))
        if id >= 0 { return (id, length) }
        lengths &= ~(1 &<< UInt32(truncatingIfNeeded: length))
      }
    }
    let allowed: UInt32 = (2 &<< UInt32(truncatingIfNeeded: min(remaining, 3))) &- 1
    let known = shortLengths[Int(text[0]) &<< 1 | Int(truncatingIfNeeded: continuation)]
    var lengths = UInt32(known) & allowed
    while lengths != 0 {
      let length = 31 &- lengths.leadingZeroBitCount
      let id = table.id(of: bytes.prefix(length, continuation: continuation))
      if id >= 0 { return (id, length) }
      lengths &= ~(1 &<< UInt32(truncatingIfNeeded: length))
    }
    return (-1, 0)
  }

  @inline(never)
  private func longestLongMatch(
    _ text: UnsafePointer<UInt8>, remaining: Int, continuation: UInt64
  ) -> (id: Int32, length: Int) {
    for length in longLengths where length <= remaining {
      let id = longID(text, count: length, continuation: continuation)
      if id >= 0 { return (id, length) }
    }
    return (-1, 0)
  }
}
