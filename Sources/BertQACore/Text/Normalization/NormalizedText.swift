/// The byte range of the caller's text that a byte was made from.
struct SourceRange: BitwiseCopyable {
  var start: UInt32
  var end: UInt32
}

/// A part of a text in a `Pipeline`: well-formed UTF-8 and the source of each byte.
///
/// tokenizers calls it a NormalizedString. The bytes of one character share its range, an inserted character has the
/// range of the byte before it, and a token's range extends from the first byte's start to the last byte's end. A
/// character of the caller's text is a well-formed sequence, or a maximal invalid one, which reads as U+FFFD.
struct NormalizedText: ~Copyable {
  /// The number of readable bytes after the last one, all zero after `seal`.
  static var padding: Int { 16 }

  private var bytes = GrowableBuffer<UInt8>()
  private var ranges = GrowableBuffer<SourceRange>()
  /// Accounts for memory that is allocated from now on.
  var ledger: MemoryLedger? {
    didSet {
      bytes.ledger = ledger
      ranges.ledger = ledger
    }
  }
  /// Bytes of text.
  private(set) var count = 0
  /// The beginning of the part in the caller's text. Characters inserted before any other have the range `begin ..<
  /// begin`.
  private(set) var begin = 0
  /// True if byte i is the caller's byte `begin + i`; then there are no `sources` until `writeSources`.
  private(set) var isVerbatim = true

  var base: UnsafeMutablePointer<UInt8> { bytes.base }

  /// Bytes of memory.
  var byteCount: Int { bytes.capacity + ranges.capacity * MemoryLayout<SourceRange>.stride }

  /// One for each byte; undefined while `isVerbatim`.
  var sources: UnsafeMutablePointer<SourceRange> { ranges.base }

  /// True if all bytes are ASCII.
  var isASCII: Bool {
    var position = 0
    while position &+ 8 <= count {
      let block = UnsafeRawPointer(base + position).loadUnaligned(as: UInt64.self)
      if block & 0x8080_8080_8080_8080 != 0 { return false }
      position &+= 8
    }
    while position < count {
      if base[position] >= 0x80 { return false }
      position &+= 1
    }
    return true
  }

  /// Empties it, for a part that begins at `begin` and that `append` fills.
  mutating func removeAll(begin: Int) {
    count = 0
    self.begin = begin
    isVerbatim = false
  }

  /// Makes room for `added` more bytes.
  @inline(__always)
  mutating func makeRoom(for added: Int) throws(BertQAError) {
    let needed = count &+ added &+ Self.padding
    if needed > bytes.capacity || needed > ranges.capacity {
      try grow(by: added)
    }
  }

  @inline(never)
  private mutating func grow(by added: Int) throws(BertQAError) {
    guard added <= TextLimit.byteCount - count else {
      throw BertQAError(
        .tooLarge,
        "a text has more than \(TextLimit.byteCount) bytes once the tokenizer has normalised it: split it")
    }
    let capacity = (count + added) * 3 / 2 + 256
    try bytes.reserve(capacity + Self.padding)
    try ranges.reserve(capacity + Self.padding)
  }

  /// Appends a character: `size` bytes of UTF-8, in `utf8` the first lowest.
  @inline(__always)
  mutating func append(_ utf8: UInt32, size: Int, from source: SourceRange) throws(BertQAError) {
    try makeRoom(for: 4)
    appendReserved(utf8, size: size, from: source)
  }

  /// Appends a character after `makeRoom` has made room for 4 bytes.
  @inline(__always)
  mutating func appendReserved(_ utf8: UInt32, size: Int, from source: SourceRange) {
    UnsafeMutableRawPointer(base + count).storeBytes(of: utf8.littleEndian, as: UInt32.self)
    for index in 0..<size { sources[count &+ index] = source }
    count &+= size
  }

  /// Appends a code point.
  mutating func append(scalar: UInt32, from source: SourceRange) throws(BertQAError) {
    let (utf8, size) = UTF8Codec.encode(scalar)
    try append(utf8, size: size, from: source)
  }

  /// Appends bytes of `other`, whole characters, as they are.
  mutating func append(
    copying other: borrowing NormalizedText, _ range: Range<Int>, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    try makeRoom(for: range.count)
    var start = range.lowerBound
    while start < range.upperBound {
      let size = other.blockEnd(from: start, limit: range.upperBound) - start
      (base + count).update(from: other.base + start, count: size)
      if other.isVerbatim {
        writeSources(count, size, from: other.begin + start)
      } else {
        (sources + count).update(from: other.sources + start, count: size)
      }
      count += size
      start += size
      if start < range.upperBound { try monitor?.check() }
    }
  }

  /// Returns the end of a block of whole characters, after which the monitor is polled.
  private func blockEnd(from start: Int, limit: Int) -> Int {
    let end = start + CallPoll.textInterval
    return end < limit ? characterEnd(end) : limit
  }

  /// Sets the ranges of `size` bytes from `index` on, whole characters, to those of as many bytes from `source` on.
  @inline(__always)
  private func writeSources(_ index: Int, _ size: Int, from source: Int) {
    let (bytes, ranges) = (UnsafePointer(base), sources)
    let end = index &+ size
    let shift = source &- index
    var index = index
    while index < end {
      let size = UTF8Codec.size(lead: bytes[index])
      let range = SourceRange(
        start: UInt32(truncatingIfNeeded: index &+ shift),
        end: UInt32(truncatingIfNeeded: index &+ size &+ shift))
      // Four at once: the next character overwrites the surplus, and there is room after the last one.
      for offset in 0..<4 { ranges[index &+ offset] = range }
      index &+= size
    }
  }

  /// Zeroes the bytes after the text. Call it last, after filling the text.
  mutating func seal() throws(BertQAError) {
    try makeRoom(for: 0)
    (base + count).update(repeating: 0, count: Self.padding)
  }

  /// Returns the source of byte `index`.
  @inline(__always)
  func source(of index: Int) -> SourceRange {
    if !isVerbatim { return sources[index] }
    return SourceRange(
      start: UInt32(truncatingIfNeeded: begin &+ characterStart(index)),
      end: UInt32(truncatingIfNeeded: begin &+ characterEnd(index &+ 1)))
  }

  /// Returns the beginning of the character of byte `index`.
  @inline(__always)
  func characterStart(_ index: Int) -> Int {
    var index = index
    while base[index] & 0xC0 == 0x80 { index &-= 1 }
    return index
  }

  /// Returns the end of the character of the byte before `end`.
  @inline(__always)
  func characterEnd(_ end: Int) -> Int {
    var end = end
    while base[end] & 0xC0 == 0x80 { end &+= 1 }
    return end
  }

  /// Writes the range of each byte, which a normalizer may then read.
  mutating func writeSources(_ monitor: CallMonitor? = nil) throws(BertQAError) {
    guard isVerbatim else { return }
    try ranges.reserve(count + Self.padding)
    var start = 0
    while start < count {
      let end = blockEnd(from: start, limit: count)
      writeSources(start, end - start, from: begin + start)
      start = end
      try monitor?.check()
    }
    isVerbatim = false
  }
}

// MARK: - Reading the caller's text

extension NormalizedText {
  /// Replaces it by a part of the caller's text. Polls the monitor.
  mutating func load(
    _ text: UnsafeBufferPointer<UInt8>, _ part: Range<Int>, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    count = 0
    begin = part.lowerBound
    isVerbatim = true
    guard let base = text.baseAddress else { return try seal() }
    try bytes.reserve(part.count + Self.padding)
    var position = part.lowerBound
    while position < part.upperBound {
      let next = min(part.upperBound, position + CallPoll.textInterval)
      position = try append(base, from: position, to: next, limit: part.upperBound, monitor)
      try monitor?.check()
    }
    try seal()
  }

  /// Appends the characters that begin in `start ..< end`; returns the end of the last.
  private mutating func append(
    _ text: UnsafePointer<UInt8>, from start: Int, to end: Int, limit: Int, _ monitor: CallMonitor?
  ) throws(BertQAError) -> Int {
    var position = start
    while position < end {
      let run = Self.wellFormedEnd(text, from: position, to: end, limit: limit)
      try appendVerbatim(text, position..<run)
      position = run
      guard position < end else { break }
      // An invalid sequence: from here on bytes are displaced.
      try writeSources(monitor)
      let decoded = UTF8Codec.decode(text, at: position, end: limit)
      let source = SourceRange(
        start: UInt32(truncatingIfNeeded: position),
        end: UInt32(truncatingIfNeeded: position &+ decoded.size))
      try append(scalar: decoded.scalar, from: source)
      position &+= decoded.size
    }
    return position
  }

  private mutating func appendVerbatim(
    _ text: UnsafePointer<UInt8>, _ range: Range<Int>
  ) throws(BertQAError) {
    guard !isVerbatim else {
      (base + count).update(from: text + range.lowerBound, count: range.count)
      count += range.count
      return
    }
    try makeRoom(for: range.count)
    var position = range.lowerBound
    while position < range.upperBound {
      let size = UTF8Codec.decode(text, at: position, end: range.upperBound).size
      let source = SourceRange(
        start: UInt32(truncatingIfNeeded: position), end: UInt32(truncatingIfNeeded: position &+ size))
      for offset in 0..<size {
        base[count] = text[position &+ offset]
        sources[count] = source
        count &+= 1
      }
      position &+= size
    }
  }

  /// Returns the end of the run of well-formed characters of at most three bytes, up to ASCII that can be read eight
  /// bytes at a time.
  @inline(__always)
  private static func commonEnd(
    _ text: UnsafePointer<UInt8>, from start: Int, to end: Int, limit: Int
  ) -> Int {
    var position = start
    while position < end, position &+ 4 <= limit {
      let raw = UnsafeRawPointer(text + position).loadUnaligned(as: UInt32.self)
      let bytes = UInt32(littleEndian: raw)
      if bytes & 0xC0_C0F0 == 0x80_80E0 {
        // Neither overlong nor a surrogate.
        if bytes & 0x200F == 0 || bytes & 0x200F == 0x200D { break }
        position &+= 3
      } else if bytes & 0xC0E0 == 0x80C0 {
        if bytes & 0x1E == 0 { break }
        position &+= 2
      } else if bytes & 0x80 == 0 {
        if bytes & 0x8080_8080 == 0 { break }
        position &+= 1
      } else {
        break
      }
    }
    return position
  }

  /// Returns the beginning of the first invalid sequence at or after `start`; if there is none, `end` or the end of
  /// the character there.
  private static func wellFormedEnd(
    _ text: UnsafePointer<UInt8>, from start: Int, to end: Int, limit: Int
  ) -> Int {
    var position = start
    while position < end {
      while position &+ 8 <= end,
        UnsafeRawPointer(text + position).loadUnaligned(as: UInt64.self) & 0x8080_8080_8080_8080 == 0
      {
        position &+= 8
      }
      position = commonEnd(text, from: position, to: end, limit: limit)
      guard position < end else { break }
      let decoded = UTF8Codec.decode(text, at: position, end: limit)
      guard decoded.isWellFormed(first: text[position]) else { return position }
      position &+= decoded.size
    }
    return position
  }
}

/// Maps the characters that a normalizer writes to the text that it read, as tokenizers does: for each character its
/// normalizers report only a change of the number of characters, and a position in the text moves along.
///
/// The change is 0 for a character that represents the next one of the text, -n for one that represents it and the n
/// after it, and positive for an inserted one, which shares the range of the character before.
struct SourceCursor {
  /// The next character of the text.
  var position = 0

  mutating func take(_ change: Int, _ text: borrowing NormalizedText) -> SourceRange {
    if change > 0 || position >= text.count {
      return position > 0
        ? text.source(of: position - 1)
        : SourceRange(
          start: UInt32(truncatingIfNeeded: text.begin), end: UInt32(truncatingIfNeeded: text.begin))
    }
    let source = text.source(of: position)
    for _ in 0...(-change) where position < text.count { position = text.characterEnd(position + 1) }
    return source
  }
}
