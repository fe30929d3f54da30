/// Collects a model's tokens: takes ranges of a normalised text and stores ranges of the caller's.
struct TokenOutput: ~Copyable {
  /// The count of numbers that pending tokens need.
  static var memoryCount: Int { 3 * PendingTokens.capacity }

  private(set) var tokens: Tokens
  /// Tokens that have not been moved to `tokens` yet, with ranges of the caller's text.
  var pending: PendingTokens
  private let trimming: OffsetTrimming?
  /// The table of `trimming`, or nil.
  private let spaces: UnsafePointer<UInt8>?
  private let caller: UnsafeBufferPointer<UInt8>
  let monitor: CallMonitor?
  /// True if special tokens in the text become tokens. Otherwise the model, too, treats their spelling as text.
  let parsesSpecialTokens: Bool
  /// The text that the tokens come from.
  private var base: UnsafePointer<UInt8>
  private var sources: UnsafePointer<SourceRange>?
  private var begin = 0

  /// - Parameters:
  ///   - tokens: emptied by the caller; its memory is used.
  ///   - memory: `memoryCount` numbers, the caller's, as long as this is used.
  init(
    _ tokens: consuming Tokens, of caller: UnsafeBufferPointer<UInt8>, _ trimming: OffsetTrimming?,
    memory: UnsafeMutablePointer<UInt32>, parsesSpecialTokens: Bool, _ monitor: CallMonitor?
  ) {
    self.tokens = tokens
    self.trimming = trimming
    spaces = trimming?.table
    self.caller = caller
    self.monitor = monitor
    self.parsesSpecialTokens = parsesSpecialTokens
    let ids = UnsafeMutableRawPointer(memory).assumingMemoryBound(to: Int32.self)
    pending = PendingTokens(
      ids: ids, starts: memory + PendingTokens.capacity, ends: memory + 2 * PendingTokens.capacity)
    base = UnsafePointer(UnsafeMutableRawPointer(memory).assumingMemoryBound(to: UInt8.self))
  }

  /// Takes ranges of `text` from now on; the text must not change meanwhile.
  mutating func begin(_ text: borrowing NormalizedText) {
    base = UnsafePointer(text.base)
    sources = text.isVerbatim ? nil : UnsafePointer(text.sources)
    begin = text.begin
  }

  /// Appends a token made from the bytes `start ..< end`, at least one, of the text.
  @inline(__always)
  mutating func append(_ id: Int32, _ start: Int, _ end: Int) throws(BertQAError) {
    if pending.count == PendingTokens.capacity { try flush() }
    if let sources {
      append(id, source: Int(sources[start].start), Int(sources[end &- 1].end))
    } else {
      var (start, end) = (start, end)
      while base[start] & 0xC0 == 0x80 { start &-= 1 }
      while base[end] & 0xC0 == 0x80 { end &+= 1 }
      append(id, source: begin &+ start, begin &+ end)
    }
  }

  @inline(__always)
  private mutating func append(_ id: Int32, source start: Int, _ end: Int) {
    guard let spaces, spaces[Int(id)] != 0 else { return pending.append(id, start: start, end: end) }
    // One space before a token that is not the first: by far the most frequent case.
    if spaces[Int(id)] == OffsetTrimming.oneBefore, start > 0, start < end, caller[start] == 0x20,
      pending.count > 0
    {
      return pending.append(id, start: start &+ 1, end: end)
    }
    appendTrimmed(id, start, end)
  }

  @inline(never)
  private mutating func appendTrimmed(_ id: Int32, _ start: Int, _ end: Int) {
    let isFirst = pending.count &+ tokens.count == 0
    let range = trimming?.trimmed(start, end, id: id, isFirst: isFirst, in: caller) ?? start..<max(start, end)
    pending.append(id, start: range.lowerBound, end: range.upperBound)
  }

  /// Appends an added token.
  /// - Parameters:
  ///   - range: in the caller's text, with the white space around it.
  ///   - spelling: the token as it was found, with this white space.
  mutating func append(
    added id: Int32, _ range: Range<Int>, _ spelling: Slice<UnsafeBufferPointer<UInt8>>
  ) throws(BertQAError) {
    if pending.count == PendingTokens.capacity { try flush() }
    var range = range
    if let trimming {
      let spaces = OffsetTrimming.spaces(of: UnsafeBufferPointer(rebasing: spelling))
      range = trimming.trimmed(
        range.lowerBound, range.upperBound, spaces, isFirst: pending.count + tokens.count == 0, in: caller)
    }
    pending.append(id, start: range.lowerBound, end: range.upperBound)
  }

  /// Moves the pending tokens to `tokens`.
  @inline(never)
  mutating func flush() throws(BertQAError) {
    let count = pending.count
    try monitor?.check(tokenCount: tokens.count + count)
    try monitor?.check()
    try tokens.makeRoom(for: count, monitor)
    tokens.ids.append(contentsOf: UnsafeBufferPointer(start: pending.ids, count: count))
    tokens.starts.append(contentsOf: UnsafeBufferPointer(start: pending.starts, count: count))
    tokens.ends.append(contentsOf: UnsafeBufferPointer(start: pending.ends, count: count))
    pending.count = 0
  }

  consuming func finish() throws(BertQAError) -> Tokens {
    try flush()
    return tokens
  }
}

/// Tokens not yet moved to a `Tokens`, in memory of fixed size. A value of pointers and a count, so
/// that a loop can keep it in registers.
struct PendingTokens {
  static var capacity: Int { 1024 }

  let ids: UnsafeMutablePointer<Int32>
  let starts: UnsafeMutablePointer<UInt32>
  let ends: UnsafeMutablePointer<UInt32>
  var count = 0

  /// True if the tokens of one pre-token and of a character after it may not fit.
  @inline(__always) var isFull: Bool {
    count > Self.capacity &- PieceMatcher.maximumWordCharacters &- 2
  }

  /// Writes one token; there must be room.
  @inline(__always)
  mutating func append(_ id: Int32, start: Int, end: Int) {
    ids[count] = id
    starts[count] = UInt32(truncatingIfNeeded: start)
    ends[count] = UInt32(truncatingIfNeeded: end)
    count &+= 1
  }
}
