/// Finds the words of a text in order, lower-cased.
///
/// A word is what lies between two default word boundaries of Unicode (UAX #29) and holds a letter or digit, without the
/// connectors at its ends: underscores emphasise, and French has narrow spaces before its marks. Code points that Unicode
/// calls default-ignorable, such as soft hyphens, are left out, but not joiners. Rule WB3c, which holds emoji together, is
/// omitted: emoji are not words. Lower-casing is Unicode's full one, without locale; the form of a final sigma is decided
/// within the word. Words of more than `maximumBytes` are skipped. Invalid UTF-8 reads as U+FFFD, which is not a word.
/// Time: linear in the text.
struct WordScanner: ~Copyable {
  /// The maximum bytes of a lower-cased word.
  static var maximumBytes: Int { 255 }
  /// A word grows by at most "i̇" beyond the maximum; readers take eight bytes at a time.
  private static var bufferSize: Int { maximumBytes + 17 }

  private let text: UnsafeBufferPointer<UInt8>
  private let minimumLength: Int
  private let poll: CallPoll?
  private let tables = WordTables.shared
  private var position = 0
  /// The position of the next poll, or the end of the text.
  private var limit: Int
  private let buffers: UnsafeMutablePointer<UInt8>

  /// The current word: `byteCount` lower-cased bytes, followed by at least eight readable ones.
  private(set) var bytes: UnsafeMutablePointer<UInt8>
  /// The word before it.
  private(set) var previousBytes: UnsafeMutablePointer<UInt8>
  private(set) var byteCount = 0
  private(set) var previousByteCount = 0
  /// The word's bytes in the text.
  private(set) var start = 0
  private(set) var end = 0
  private(set) var previousStart = 0

  /// - Parameters:
  ///   - text: borrowed; must live as long as the scanner.
  ///   - minimumLength: words of fewer code points are skipped.
  ///   - poll: asked every `CallPoll.textInterval` bytes whether to continue.
  init(_ text: UnsafeBufferPointer<UInt8>, minimumLength: Int, poll: CallPoll? = nil) {
    self.text = text
    self.minimumLength = minimumLength
    self.poll = poll
    limit = min(text.count, CallPoll.textInterval)
    buffers = .allocate(capacity: 2 * Self.bufferSize)
    buffers.initialize(repeating: 0, count: 2 * Self.bufferSize)
    bytes = buffers
    previousBytes = buffers + Self.bufferSize
  }

  deinit { buffers.deallocate() }

  /// Moves to the next word. Returns false at the end of the text.
  @inline(__always)
  mutating func next() throws(BertQAError) -> Bool {
    guard let base = text.baseAddress else { return false }
    swap(&bytes, &previousBytes)
    previousByteCount = byteCount
    previousStart = start
    while true {
      while position < limit {
        let kind = tables.kinds[Int(base[position])]
        if kind == WordTables.Kind.separator || kind == WordTables.Kind.middle
          || base[position] == UInt8(ascii: "_")
        {
          position &+= 1
          continue
        }
        let begin = position
        var length = 0
        if kind == WordTables.Kind.word, takeASCII(base) {
          length = byteCount
        } else {
          position = begin
          length = try takeUnicode(base)
        }
        if length >= minimumLength, byteCount <= Self.maximumBytes {
          start = begin
          return true
        }
      }
      guard position < text.count else { return false }
      try pollNow()
    }
  }

  @inline(never)
  private mutating func pollNow() throws(BertQAError) {
    limit = min(text.count, position &+ CallPoll.textInterval)
    try poll?.check()
  }

  /// Takes a word of ASCII. Returns false, and takes nothing, if it is not a word or may contain other characters.
  @inline(__always)
  private mutating func takeASCII(_ base: UnsafePointer<UInt8>) -> Bool {
    var size = 0
    var index = position
    while true {
      let limit = min(text.count, index &+ (Self.maximumBytes &- size))
      while index < limit, tables.kinds[Int(base[index])] == WordTables.Kind.word {
        bytes[size] = tables.lower[Int(base[index])]
        size &+= 1
        index &+= 1
      }
      guard index < text.count else { break }
      let kind = tables.kinds[Int(base[index])]
      if kind == WordTables.Kind.separator { break }
      guard kind == WordTables.Kind.middle, size < Self.maximumBytes else { return false }
      guard index &+ 1 < text.count else { break }
      let nextKind = tables.kinds[Int(base[index &+ 1])]
      if nextKind == WordTables.Kind.nonASCII { return false }
      guard nextKind == WordTables.Kind.word, joinsASCII(base, at: index) else { break }
      bytes[size] = base[index]
      size &+= 1
      index &+= 1
    }
    position = index
    while bytes[size &- 1] == UInt8(ascii: "_") {
      size &-= 1
      index &-= 1
    }
    byteCount = size
    end = index
    return true
  }

  /// True if the byte at `index`, of a kind that words may contain between letters or digits, joins its neighbours.
  private func joinsASCII(_ base: UnsafePointer<UInt8>, at index: Int) -> Bool {
    let before = tables.wordBreak(UInt32(base[index &- 1]))
    let middle = tables.wordBreak(UInt32(base[index]))
    return before.joins(tables.wordBreak(UInt32(base[index &+ 1])), over: middle)
  }
}

// MARK: - Words with other characters than ASCII

extension WordScanner {
  /// A code point and its kind.
  private struct Unit {
    var scalar: UInt32
    var kind: WordBreak
    var end: Int
  }

  /// Takes the text between the boundary at `position` and the next, or a part of it that is not a word.
  /// - Returns: the word's length in code points; 0 if it is not a word.
  @inline(never)
  private mutating func takeUnicode(_ base: UnsafePointer<UInt8>) throws(BertQAError) -> Int {
    byteCount = 0
    var unit = unit(base, at: position)
    position = unit.end
    guard unit.kind.isWord || unit.kind == .single else { return 0 }
    var length = 0
    // Without the connectors at the end.
    var kept = (byteCount: 0, length: 0, end: position)
    var sigma = FinalSigma()
    while true {
      if position >= limit { try pollNow() }
      sigma.take(unit.kind, isSigma: unit.scalar == 0x3A3, at: byteCount, in: bytes)
      append(unit.scalar)
      length += 1
      position = unit.end
      length += try takeExtenders(base)
      if unit.kind != .extendNumLet { kept = (byteCount, length, position) }
      guard position < text.count else { break }
      var next = self.unit(base, at: position)
      if !unit.kind.joins(next.kind) {
        guard let middle = try takeMiddle(base, unit.kind, &next) else { break }
        append(middle.scalar)
        length += 1
        // With its extenders.
        position = middle.end
        length += try takeExtenders(base)
        guard next.kind != .other else {
          kept = (byteCount, length, position)
          break
        }
      }
      unit = next
    }
    sigma.end(in: bytes)
    byteCount = kept.byteCount
    end = kept.end
    return kept.length
  }

  @inline(__always)
  private func unit(_ base: UnsafePointer<UInt8>, at position: Int) -> Unit {
    let decoded = UTF8Codec.decode(base, at: position, end: text.count)
    return Unit(
      scalar: decoded.scalar, kind: tables.wordBreak(decoded.scalar), end: position + decoded.size)
  }

  /// Takes the extenders of the previous character, and counts them. Invisible ones are left out.
  @inline(__always)
  private mutating func takeExtenders(_ base: UnsafePointer<UInt8>) throws(BertQAError) -> Int {
    var count = 0
    while position < text.count {
      let unit = unit(base, at: position)
      guard unit.kind == .extend else { break }
      // The spelling of some languages needs joiners.
      if !UnicodeData.isInvisible(unit.scalar) || 0x200C...0x200D ~= unit.scalar {
        append(unit.scalar)
        count += 1
      }
      position = unit.end
      if position >= limit { try pollNow() }
    }
    return count
  }

  /// Decides if `candidate`, which follows a character of kind `before`, belongs to the word. If so it is returned,
  /// and `candidate` becomes the character after it, of kind `other` at the end of the word.
  @inline(__always)
  private func takeMiddle(
    _ base: UnsafePointer<UInt8>, _ before: WordBreak, _ candidate: inout Unit
  ) throws(BertQAError) -> Unit? {
    let middle = candidate
    guard middle.kind.rawValue >= WordBreak.singleQuote.rawValue else { return nil }
    var index = middle.end
    var nextPoll = index + CallPoll.textInterval
    while index < text.count {
      if index >= nextPoll {
        try poll?.check()
        nextPoll = index + CallPoll.textInterval
      }
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
    // A Hebrew letter keeps the quote after it.
    guard before == .hebrewLetter, middle.kind == .singleQuote else { return nil }
    candidate.kind = .other
    return middle
  }

  /// Appends a code point in lower case. A word that is too long is cut one byte above the maximum.
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

/// Finds the lower-cased sigma of a word that is final: after a letter and before none.
private struct FinalSigma {
  private var candidate: Int?
  private var followsLetter = false

  /// Takes a character of the word, without extenders and middles, before it is written at `offset`.
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
