/// Each character's lower-case mapping, without regard to its neighbours.
struct Lowercase: Normalizer {
  var lowercases: Bool { true }

  func normalize(
    _ text: borrowing NormalizedText, into target: inout NormalizedText, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    let data = UnicodeData.shared
    var position = 0
    var poll = TextPoll(monitor)
    while position < text.count {
      let decoded = UTF8Codec.decode(text.base, at: position, end: text.count)
      let source = text.sources[position]
      try target.append(scalar: data.lowercase(decoded.scalar), from: source)
      // The only character whose lower case is two.
      if decoded.scalar == 0x130 { try target.append(scalar: 0x307, from: source) }
      position &+= decoded.size
      try poll.reach(position)
    }
    try target.seal()
  }
}

/// Drops combining marks.
struct StripAccents: Normalizer {
  func leaves(_ text: borrowing NormalizedText, _ monitor: CallMonitor?) -> Bool { text.isASCII }

  func normalize(
    _ text: borrowing NormalizedText, into target: inout NormalizedText, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    var position = 0
    var poll = TextPoll(monitor)
    while position < text.count {
      let decoded = UTF8Codec.decode(text.base, at: position, end: text.count)
      let next = position &+ decoded.size
      if !CharacterClass.of(decoded.scalar).contains(.accent) {
        try target.append(copying: text, position..<next, monitor)
      }
      position = next
      try poll.reach(position)
    }
    try target.seal()
  }
}
