/// Puts a text in the place of each match of a pattern. Its name in tokenizers: Replace.
struct Replacer: Normalizer {
  private let pattern: ReplacementPattern
  private let content: [UInt32]

  init(_ pattern: ReplacementPattern, with content: String) {
    self.pattern = pattern
    self.content = content.unicodeScalars.map(\.value)
  }

  func leaves(_ text: borrowing NormalizedText, _ monitor: CallMonitor?) throws(BertQAError) -> Bool {
    try pattern.firstMatch(text, from: 0, monitor) == nil
  }

  func normalize(
    _ text: borrowing NormalizedText, into target: inout NormalizedText, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    var position = 0
    var poll = TextPoll(monitor)
    while let match = try pattern.firstMatch(text, from: position, monitor) {
      if match.lowerBound > position {
        try target.append(copying: text, position..<match.lowerBound, monitor)
      }
      // What is put in has the range of the last character replaced.
      let source = text.source(of: match.upperBound - 1)
      for scalar in content { try target.append(scalar: scalar, from: source) }
      position = match.upperBound
      // Matches that follow each other leave nothing to look through.
      try poll.reach(position)
    }
    if position < text.count { try target.append(copying: text, position..<text.count, monitor) }
    try target.seal()
  }
}
