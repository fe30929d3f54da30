/// Finds the words of a text one after the other, lower-cased.
///
/// A word is what lies between two default word boundaries of Unicode (UAX #29) and holds a letter or digit.
/// Rule WB3c, which holds emoji together, is left out: emoji are no words. Lower-casing is Unicode's full
/// one, without locale; the form of a final sigma is decided within the word. Words of more than
/// `maximumBytes` are passed over. Invalid UTF-8 reads as U+FFFD, which is no word. Time: linear in the text.
struct WordScanner: ~Copyable {
  /// The most bytes of a word, lower-cased.
  static var maximumBytes: Int { 255 }
  /// A word grows by at most "i̇" beyond the maximum; readers take eight bytes at a time.
  private static var bufferSize: Int { maximumBytes + 17 }

  let text: UnsafeBufferPointer<UInt8>
  let minimumLength: Int
  let tables = WordTables.shared
  var position = 0
  private let buffers: UnsafeMutablePointer<UInt8>

  /// The word found: `byteCount` lower-cased bytes, followed by at least eight that may be read.
  private(set) var bytes: UnsafeMutablePointer<UInt8>
  /// The word found before that.
  private(set) var previousBytes: UnsafeMutablePointer<UInt8>
  var byteCount = 0
  private(set) var previousByteCount = 0
  /// Where the word stands in the text.
  private(set) var start = 0
  var end = 0
  private(set) var previousStart = 0

  /// Passes over words of fewer than `minimumLength` code points. `text` is borrowed.
  init(_ text: UnsafeBufferPointer<UInt8>, minimumLength: Int) {
    self.text = text
    self.minimumLength = minimumLength
    buffers = .allocate(capacity: 2 * Self.bufferSize)
    buffers.initialize(repeating: 0, count: 2 * Self.bufferSize)
    bytes = buffers
    previousBytes = buffers + Self.bufferSize
  }

  deinit { buffers.deallocate() }

  /// Moves to the next word. False at the end of the text.
  @inline(__always)
  mutating func next() -> Bool {
    guard let base = text.baseAddress else { return false }
    swap(&bytes, &previousBytes)
    previousByteCount = byteCount
    previousStart = start
    while position < text.count {
      let kind = tables.kinds[Int(base[position])]
      if kind == WordTables.Kind.separator || kind == WordTables.Kind.middle {
        position &+= 1
        continue
      }
      let begin = position
      var length = 0
      if kind == WordTables.Kind.word, takeASCII(base) {
        length = byteCount
      } else {
        position = begin
        length = takeUnicode(base)
      }
      if length >= minimumLength, byteCount <= Self.maximumBytes {
        start = begin
        return true
      }
    }
    return false
  }

  /// Takes a word of ASCII. False, with nothing settled, where it is no word or may have other characters.
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
    // Connectors may stand alone, and then are no word.
    guard bytes[0] != UInt8(ascii: "_") else { return false }
    byteCount = size
    end = index
    position = index
    return true
  }

  /// Whether the byte at `index`, which may stand within words, does so.
  private func joinsASCII(_ base: UnsafePointer<UInt8>, at index: Int) -> Bool {
    let before = tables.wordBreak(UInt32(base[index &- 1]))
    let middle = tables.wordBreak(UInt32(base[index]))
    return before.joins(tables.wordBreak(UInt32(base[index &+ 1])), over: middle)
  }
}
