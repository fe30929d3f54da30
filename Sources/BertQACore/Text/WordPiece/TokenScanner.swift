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

  let text: UnsafePointer<UInt8>
  let tokenizer: WordPieceTokenizer
  let table: NormalizationTable
  let pieces: PieceIndex
  /// The part of the text that is being scanned: nothing outside it has an influence.
  var begin = 0
  var end = 0

  var pending: PendingTokens
  var tokens: Tokens
  var word: WordBuffer
  let window: ASCIIWindow

  init(
    text: UnsafePointer<UInt8>, tokenizer: WordPieceTokenizer, scratch: UnsafeMutableRawPointer,
    tokens: Tokens
  ) {
    self.text = text
    self.tokenizer = tokenizer
    self.tokens = tokens
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
  mutating func flush() {
    let count = pending.count
    tokens.ids.append(contentsOf: UnsafeBufferPointer(start: pending.ids, count: count))
    tokens.starts.append(contentsOf: UnsafeBufferPointer(start: pending.starts, count: count))
    tokens.ends.append(contentsOf: UnsafeBufferPointer(start: pending.ends, count: count))
    pending.count = 0
  }

  /// Writes one token.
  mutating func append(_ id: Int32, start: Int, end: Int) {
    if pending.isFull { flush() }
    pending.append(id, start: start, end: end)
  }
}
