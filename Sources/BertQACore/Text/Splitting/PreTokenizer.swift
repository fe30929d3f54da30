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

/// A character before a pre-token that its text does not contain.
struct PreTokenPrefix: BitwiseCopyable {
  /// In UTF-8, the first byte lowest.
  var utf8: UInt32
  var size: Int
}

/// A normalised part of a text, split into pre-tokens.
struct PreTokens: ~Copyable {
  var text = NormalizedText()
  /// In order, not empty, not overlapping. Bytes between two may belong to no pre-token.
  var ranges = GrowableBuffer<ByteRange>()
  /// For steps that write another text or other ranges.
  var newText = NormalizedText()
  var newRanges = GrowableBuffer<ByteRange>()
  /// The model reads it in place of the space that a pre-token begins with, or before a pre-token without one; nil:
  /// none.
  var mark: PreTokenPrefix?

  /// Replaces the text by `newText`, which is sealed.
  mutating func takeNewText() { swap(&text, &newText) }

  /// Replaces the pre-tokens by `newRanges`, and empties the latter.
  mutating func takeNewRanges() {
    swap(&ranges, &newRanges)
    newRanges.truncate(to: 0)
  }

  /// Normalises the text.
  mutating func normalize(with normalizer: any Normalizer, _ monitor: CallMonitor?) throws(BertQAError) {
    if try normalizer.leaves(text, monitor) { return }
    if !normalizer.readsVerbatim { try text.writeSources(monitor) }
    newText.removeAll(begin: text.begin)
    try normalizer.normalize(text, into: &newText, monitor)
    takeNewText()
  }

  /// Charges memory that is allocated from now on to a ledger.
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

  /// Makes the whole text one pre-token.
  mutating func reset() throws(BertQAError) {
    newRanges.truncate(to: 0)
    ranges.truncate(to: 0)
    mark = nil
    if text.count > 0 { try ranges.append(ByteRange(0, text.count)) }
  }
}

/// One step of splitting a text: a pre-tokenizer of tokenizers. A sequence is several of them.
///
/// To add one, add a conformance in this folder and a case in `Pipeline.preTokenizers`.
protocol PreTokenizer: Sendable {
  /// Splits each pre-token as if it were alone, and may change its text. Linear in the text.
  func cut(_ preTokens: inout PreTokens, _ monitor: CallMonitor?) throws(BertQAError)

  /// True if pre-tokens become bytes spelled in `ByteAlphabet`.
  var spellsBytes: Bool { get }

  /// True if it splits exactly as BERT's does.
  var splitsAsBert: Bool { get }

  /// Returns the step without the part that the model takes over.
  func leaving(_ part: TakenStep) -> any PreTokenizer
}

extension PreTokenizer {
  var spellsBytes: Bool { false }
  var splitsAsBert: Bool { false }
  func leaving(_ part: TakenStep) -> any PreTokenizer { self }
}
