extension WordScanner {
  /// A code point and what it is.
  private struct Unit {
    var scalar: UInt32
    var kind: WordBreak
    var end: Int
  }

  /// Takes what lies between the boundary at `position` and the next, or a part of that which is no word.
  /// - Returns: the word's length in code points; 0 if it is no word.
  @inline(never)
  mutating func takeUnicode(_ base: UnsafePointer<UInt8>) -> Int {
    byteCount = 0
    var unit = unit(base, at: position)
    position = unit.end
    guard unit.kind.isWord || unit.kind == .single || unit.kind == .extendNumLet else { return 0 }
    var length = 0
    var isWord = false
    var sigma = FinalSigma()
    while true {
      isWord = isWord || unit.kind != .extendNumLet
      sigma.take(unit.kind, isSigma: unit.scalar == 0x3A3, at: byteCount, in: bytes)
      append(unit.scalar)
      length += 1
      position = unit.end
      length += takeExtenders(base)
      guard position < text.count else { break }
      var next = self.unit(base, at: position)
      if !unit.kind.joins(next.kind) {
        guard let middle = takeMiddle(base, unit.kind, &next) else { break }
        append(middle.scalar)
        length += 1
        // With its extenders.
        position = middle.end
        length += takeExtenders(base)
        guard next.kind != .other else { break }
      }
      unit = next
    }
    sigma.end(in: bytes)
    end = position
    return isWord ? length : 0
  }

  private func unit(_ base: UnsafePointer<UInt8>, at position: Int) -> Unit {
    let decoded = UTF8Codec.decode(base, at: position, end: text.count)
    return Unit(
      scalar: decoded.scalar, kind: tables.wordBreak(decoded.scalar), end: position + decoded.size)
  }

  /// Takes what belongs to the character before, and counts it.
  private mutating func takeExtenders(_ base: UnsafePointer<UInt8>) -> Int {
    var count = 0
    while position < text.count {
      let unit = unit(base, at: position)
      guard unit.kind == .extend else { break }
      append(unit.scalar)
      position = unit.end
      count += 1
    }
    return count
  }

  /// Whether `candidate`, which stands behind a character of kind `before`, belongs to the word. If so it is
  /// returned, and `candidate` becomes what follows it; of kind `other` if nothing of the word does.
  private func takeMiddle(
    _ base: UnsafePointer<UInt8>, _ before: WordBreak, _ candidate: inout Unit
  ) -> Unit? {
    let middle = candidate
    guard middle.kind.rawValue >= WordBreak.singleQuote.rawValue else { return nil }
    var index = middle.end
    while index < text.count {
      let next = unit(base, at: index)
      if next.kind == .extend {
        index = next.end
        continue
      }
      if before.joins(next.kind, over: middle.kind) {
        candidate = next
        return middle
      }
      break
    }
    // A Hebrew letter keeps the quote behind it.
    guard before == .hebrewLetter, middle.kind == .singleQuote else { return nil }
    candidate.kind = .other
    return middle
  }

  /// Appends a code point in lower case. A word that is too long is cut at a byte more than it may have.
  private mutating func append(_ scalar: UInt32) {
    guard byteCount <= Self.maximumBytes else { return }
    appendEncoded(tables.lowercase(scalar))
    if scalar == 0x130 { appendEncoded(0x307) }
  }

  private mutating func appendEncoded(_ scalar: UInt32) {
    let utf8 = UTF8Codec.encode(scalar)
    for index in 0..<utf8.count {
      bytes[byteCount] = UInt8(truncatingIfNeeded: utf8.bytes >> UInt32(8 * index))
      byteCount += 1
    }
  }
}

/// Tells which lower-cased sigma of a word is a final one: one behind a letter and before none.
private struct FinalSigma {
  private var candidate: Int?
  private var followsLetter = false

  /// Takes a character of the word, extenders and middles left out, before it is written at `offset`.
  mutating func take(
    _ kind: WordBreak, isSigma: Bool, at offset: Int, in bytes: UnsafeMutablePointer<UInt8>
  ) {
    if kind.isLetter { candidate = nil } else { end(in: bytes) }
    if isSigma, followsLetter { candidate = offset }
    followsLetter = kind.isLetter
  }

  /// Makes the candidate final: U+03C3 becomes U+03C2.
  mutating func end(in bytes: UnsafeMutablePointer<UInt8>) {
    if let candidate, candidate < WordScanner.maximumBytes - 1 { bytes[candidate + 1] = 0x82 }
    candidate = nil
  }
}
