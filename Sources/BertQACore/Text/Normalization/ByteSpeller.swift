/// Replaces each byte by its character in `ByteAlphabet`. tokenizers calls it ByteLevel.
struct ByteSpeller: Normalizer {
  func normalize(
    _ text: borrowing NormalizedText, into target: inout NormalizedText, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    try target.append(spelling: text, 0..<text.count, monitor)
    try target.seal()
  }
}

extension NormalizedText {
  /// Appends the characters in `ByteAlphabet` of bytes of `other`, which has `sources`.
  mutating func append(
    spelling other: borrowing NormalizedText, _ range: Range<Int>, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    let alphabet = ByteAlphabet.scalars
    for position in range {
      try append(scalar: alphabet[Int(other.base[position])], from: other.sources[position])
      if position % CallPoll.textInterval == 0 { try monitor?.check() }
    }
  }
}
