/// Drops white space at the beginning, the end or both. Its name in tokenizers: Strip.
struct EdgeStripper: Normalizer {
  let left: Bool
  let right: Bool

  private func kept(of text: borrowing NormalizedText) -> Range<Int> {
    var (begin, end) = (0, text.count)
    while left, begin < end {
      let decoded = UTF8Codec.decode(text.base, at: begin, end: end)
      guard CharacterClass.isWhiteSpace(decoded.scalar) else { break }
      begin += decoded.size
    }
    while right, end > begin {
      let decoded = UTF8Codec.decodeBackwards(text.base, before: end, begin: begin)
      guard CharacterClass.isWhiteSpace(decoded.scalar) else { break }
      end -= decoded.size
    }
    return begin..<end
  }

  func leaves(_ text: borrowing NormalizedText) -> Bool { kept(of: text) == 0..<text.count }

  func normalize(
    _ text: borrowing NormalizedText, into target: inout NormalizedText, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    let kept = kept(of: text)
    if !kept.isEmpty { try target.append(copying: text, kept) }
    try target.seal()
  }
}

/// Puts characters before a text that is not empty. Its name in tokenizers: Prepend.
struct Prepender: Normalizer {
  private let prefix: [UInt32]

  init(_ prefix: String) { self.prefix = prefix.unicodeScalars.map(\.value) }

  func leaves(_ text: borrowing NormalizedText) -> Bool { text.count == 0 || prefix.isEmpty }

  func normalize(
    _ text: borrowing NormalizedText, into target: inout NormalizedText, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    if text.count > 0 {
      for scalar in prefix { try target.append(scalar: scalar, from: text.source(of: 0)) }
      try target.append(copying: text, 0..<text.count)
    }
    try target.seal()
  }
}
