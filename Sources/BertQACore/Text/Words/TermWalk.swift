/// The walk over a text's terms that counting, explaining and training share: its words and, if wanted, pairs of
/// neighbouring words.
struct TermWalk: ~Copyable {
  /// A term where it occurs in the text.
  struct Occurrence {
    /// Valid until the walk continues.
    let key: TermTable.Key
    let hash: UInt64
    /// Bytes of the text.
    let start: Int
    let end: Int
  }

  private var scanner: WordScanner
  private let hasher: WordHasher
  private let takesPairs: Bool
  private let poll: CallPoll?
  /// Words that may be read.
  private let limit: Int

  /// - Parameters:
  ///   - text: borrowed; must live as long as the walk.
  ///   - minimumLength: shorter words, in code points, are skipped; their neighbours become neighbours.
  ///   - maxNGram: 1: words; 2: pairs too, each after its second word.
  ///   - hasher: that of the table in which the terms are looked up.
  init(
    _ text: UnsafeBufferPointer<UInt8>, minimumLength: Int, maxNGram: Int, hasher: WordHasher, poll: CallPoll?
  ) {
    scanner = WordScanner(text, minimumLength: minimumLength, poll: poll)
    self.hasher = hasher
    takesPairs = maxNGram > 1
    self.poll = poll
    limit = poll?.tokenLimit ?? .max
  }

  /// Calls `body` for each occurrence, in order.
  @inline(__always)
  mutating func forEach(
    _ body: (Occurrence) throws(BertQAError) -> Void
  ) throws(BertQAError) {
    var previousHash: UInt64 = 0
    var hasPrevious = false
    var count = 0
    while try scanner.next() {
      count &+= 1
      if count > limit { try poll?.check(tokenCount: count) }
      let hash = hasher.hash(scanner.bytes, scanner.byteCount)
      let word = TermTable.Key(first: scanner.bytes, firstCount: scanner.byteCount)
      try body(Occurrence(key: word, hash: hash, start: scanner.start, end: scanner.end))
      guard takesPairs else { continue }
      if hasPrevious {
        let pair = TermTable.Key(
          first: scanner.previousBytes, firstCount: scanner.previousByteCount, second: scanner.bytes,
          secondCount: scanner.byteCount)
        try body(
          Occurrence(
            key: pair, hash: hasher.hash(previousHash, hash), start: scanner.previousStart,
            end: scanner.end))
      }
      previousHash = hash
      hasPrevious = true
    }
  }
}
