/// One pass over one text: finds words, normalises them and writes their tokens.
///
/// Words of ASCII letters and digits are lower-cased and looked up sixteen bytes at a time
/// (`scan`); everything else goes character by character (`scanCharacters`).
struct TokenScanner {
  static var tokenCapacity: Int { 1024 }
  /// Bytes of scratch memory, aligned to 8.
  static var scratchSize: Int { (tokenCapacity * 3 + WordBuffer.capacity * 2) * 4 + WordBuffer.capacity }

  let text: UnsafePointer<UInt8>
  let tokenizer: WordPieceTokenizer
  let table: NormalizationTable
  let pieces: PieceIndex
  /// The part of the text that is being scanned: nothing outside it has an influence.
  var begin = 0
  var end = 0

  // Tokens not yet in `tokens`.
  let ids: UnsafeMutablePointer<Int32>
  let starts: UnsafeMutablePointer<UInt32>
  let ends: UnsafeMutablePointer<UInt32>
  var pending = 0
  var tokens: Tokens
  var word: WordBuffer

  init(
    text: UnsafePointer<UInt8>, tokenizer: WordPieceTokenizer, scratch: UnsafeMutableRawPointer,
    tokens: Tokens
  ) {
    self.text = text
    self.tokenizer = tokenizer
    self.tokens = tokens
    table = tokenizer.table
    pieces = tokenizer.vocabulary.index
    let words = scratch.bindMemory(
      to: UInt32.self, capacity: Self.tokenCapacity * 3 + WordBuffer.capacity * 2)
    starts = words
    ends = words + Self.tokenCapacity
    let wordStarts = words + Self.tokenCapacity * 2
    let wordEnds = wordStarts + WordBuffer.capacity
    let idMemory = UnsafeMutableRawPointer(wordEnds + WordBuffer.capacity)
    ids = idMemory.bindMemory(to: Int32.self, capacity: Self.tokenCapacity)
    let byteMemory = UnsafeMutableRawPointer(ids + Self.tokenCapacity)
    word = WordBuffer(
      bytes: byteMemory.bindMemory(to: UInt8.self, capacity: WordBuffer.capacity),
      starts: wordStarts, ends: wordEnds)
  }

  /// Moves the pending tokens to `tokens`.
  mutating func flush() {
    tokens.ids.append(contentsOf: UnsafeBufferPointer(start: ids, count: pending))
    tokens.starts.append(contentsOf: UnsafeBufferPointer(start: starts, count: pending))
    tokens.ends.append(contentsOf: UnsafeBufferPointer(start: ends, count: pending))
    pending = 0
  }

  /// Makes room for the tokens of one word and of a character after it.
  @inline(__always)
  mutating func reserveWord() {
    if pending > Self.tokenCapacity &- PieceIndex.maximumWordCharacters &- 2 { flush() }
  }

  /// Writes one token; there must be room.
  @inline(__always)
  mutating func append(_ id: Int32, start: Int, end: Int) {
    ids[pending] = id
    starts[pending] = UInt32(truncatingIfNeeded: start)
    ends[pending] = UInt32(truncatingIfNeeded: end)
    pending &+= 1
  }
}
