/// A half-open range of bytes of a `NormalizedText`.
struct ByteRange: BitwiseCopyable {
  var start: UInt32
  var end: UInt32

  @inline(__always)
  init(_ start: Int, _ end: Int) {
    self.start = UInt32(truncatingIfNeeded: start)
    self.end = UInt32(truncatingIfNeeded: end)
  }
}

/// A character before a word that is not in its text.
struct WordPrefix: BitwiseCopyable {
  /// In UTF-8, the first byte lowest.
  var utf8: UInt32
  var size: Int
}

/// A normalised part of a text, cut into words: what the model gets one by one.
struct Words: ~Copyable {
  var text = NormalizedText()
  /// In order, none empty, none overlapping. Between two there may be bytes that belong to no word.
  var ranges = GrowableBuffer<ByteRange>()
  /// For steps that write another text or other ranges.
  var newText = NormalizedText()
  var newRanges = GrowableBuffer<ByteRange>()
  /// What the model reads in place of the space that a word begins with, or before a word without one; nil: nothing.
  var mark: WordPrefix?

  /// Makes `newText`, which is sealed, the text.
  mutating func takeNewText() { swap(&text, &newText) }

  /// Makes `newRanges` the words, and empties what then is `newRanges`.
  mutating func takeNewRanges() {
    swap(&ranges, &newRanges)
    newRanges.truncate(to: 0)
  }

  /// Makes the text what `normalizer` makes of it.
  mutating func normalize(with normalizer: any Normalizer, _ monitor: CallMonitor?) throws(BertQAError) {
    if try normalizer.leaves(text, monitor) { return }
    if !normalizer.readsVerbatim { try text.writeSources(monitor) }
    newText.removeAll(begin: text.begin)
    try normalizer.normalize(text, into: &newText, monitor)
    takeNewText()
  }

  /// Tells a ledger of memory that is taken from now on.
  mutating func account(to ledger: MemoryLedger?) {
    text.ledger = ledger
    newText.ledger = ledger
    ranges.ledger = ledger
    newRanges.ledger = ledger
  }

  /// Bytes of memory.
  var byteCount: Int {
    text.byteCount + newText.byteCount
      + (ranges.capacity + newRanges.capacity) * MemoryLayout<ByteRange>.stride
  }

  /// Makes the whole text one word.
  mutating func reset() throws(BertQAError) {
    newRanges.truncate(to: 0)
    ranges.truncate(to: 0)
    mark = nil
    if text.count > 0 { try ranges.append(ByteRange(0, text.count)) }
  }
}

/// One step of cutting a text into words: what tokenizers calls a pre-tokenizer. A sequence is several of them.
///
/// A new one is a conformance in a file of its own and a case in `Pipeline.preTokenizers`.
protocol PreTokenizer: Sendable {
  /// Cuts each word, as if it were alone, and may change its text. Linear in the text.
  func cut(_ words: inout Words, _ monitor: CallMonitor?) throws(BertQAError)

  /// How pieces then show where a word begins; nil where this step has no influence on that.
  var wordMark: WordMark? { get }

  /// Whether words become bytes spelled in `ByteAlphabet`.
  var spellsBytes: Bool { get }

  /// Whether it does what BERT's does, and nothing else.
  var splitsAsBert: Bool { get }

  /// The same step for a model that takes over a part of it.
  func leaving(_ part: TakenStep) -> any PreTokenizer
}

extension PreTokenizer {
  var wordMark: WordMark? { nil }
  var spellsBytes: Bool { false }
  var splitsAsBert: Bool { false }
  func leaving(_ part: TakenStep) -> any PreTokenizer { self }
}

/// How the spelling of a piece shows whether it begins a word.
enum WordMark: Sendable, Equatable {
  /// Spelled in GPT-2's alphabet for bytes; a space, "Ġ", begins a word.
  case byteLevel
  /// Begins a word where it begins so: "▁".
  case beginning(String)
  /// Continues a word where it begins so: "##".
  case continuing(String)
  /// Ends a word where it ends so: "</w>".
  case ending(String)
}
