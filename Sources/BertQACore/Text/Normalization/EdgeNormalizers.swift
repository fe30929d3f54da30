/// Drops white space at the beginning, the end or both. tokenizers calls it Strip.
struct EdgeStripper: Normalizer {
  let left: Bool
  let right: Bool

  private func kept(
    of text: borrowing NormalizedText, _ monitor: CallMonitor?
  ) throws(BertQAError) -> Range<Int> {
    var (begin, end) = (0, text.count)
    var steps = 0
    while left, begin < end {
      let decoded = UTF8Codec.decode(text.base, at: begin, end: end)
      guard CharacterClass.isWhiteSpace(decoded.scalar) else { break }
      begin += decoded.size
      steps += 1
      if steps % CallPoll.textInterval == 0 { try monitor?.check() }
    }
    while right, end > begin {
      let decoded = UTF8Codec.decodeBackwards(text.base, before: end, begin: begin)
      guard CharacterClass.isWhiteSpace(decoded.scalar) else { break }
      end -= decoded.size
      steps += 1
      if steps % CallPoll.textInterval == 0 { try monitor?.check() }
    }
    return begin..<end
  }

  func leaves(_ text: borrowing NormalizedText, _ monitor: CallMonitor?) throws(BertQAError) -> Bool {
    try kept(of: text, monitor) == 0..<text.count
  }

  func normalize(
    _ text: borrowing NormalizedText, into target: inout NormalizedText, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    let kept = try kept(of: text, monitor)
    if !kept.isEmpty { try target.append(copying: text, kept, monitor) }
    try target.seal()
  }
}

/// Puts characters before a text that is not empty. tokenizers calls it Prepend.
struct Prepender: Normalizer {
  private let prefix: [UInt32]

  init(_ prefix: String) { self.prefix = prefix.unicodeScalars.map(\.value) }

  func leaves(_ text: borrowing NormalizedText, _ monitor: CallMonitor?) -> Bool {
    text.count == 0 || prefix.isEmpty
  }

  func normalize(
    _ text: borrowing NormalizedText, into target: inout NormalizedText, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    if text.count > 0 {
      for scalar in prefix { try target.append(scalar: scalar, from: text.source(of: 0)) }
      try target.append(copying: text, 0..<text.count, monitor)
    }
    try target.seal()
  }
}
