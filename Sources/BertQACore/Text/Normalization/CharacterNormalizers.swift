/// Drops control characters and turns separators into spaces, as SentencePiece's rules "nmt" do. tokenizers calls it
/// Nmt.
struct ControlNormalizer: Normalizer {
  func leaves(_ text: borrowing NormalizedText, _ monitor: CallMonitor?) -> Bool {
    for index in 0..<text.count {
      let byte = text.base[index]
      if byte >= 0x80 || replacement(of: UInt32(byte)) != UInt32(byte) { return false }
    }
    return true
  }

  func normalize(
    _ text: borrowing NormalizedText, into target: inout NormalizedText, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    // text[copied ..< position] stays.
    var (copied, position) = (0, 0)
    var poll = TextPoll(monitor)
    while position < text.count {
      let decoded = UTF8Codec.decode(text.base, at: position, end: text.count)
      let new = replacement(of: decoded.scalar)
      if new != decoded.scalar {
        if position > copied { try target.append(copying: text, copied..<position, monitor) }
        if let new { try target.append(scalar: new, from: text.source(of: position)) }
        copied = position + decoded.size
      }
      position += decoded.size
      try poll.reach(position)
    }
    if position > copied { try target.append(copying: text, copied..<position, monitor) }
    try target.seal()
  }

  /// nil drops the character.
  private func replacement(of scalar: UInt32) -> UInt32? {
    switch scalar {
    case 0x01...0x08, 0x0B, 0x0E...0x1F, 0x7F, 0x8F, 0x9F: nil
    case 0x09, 0x0A, 0x0C, 0x0D, 0x1680, 0x200B...0x200F, 0x2028, 0x2029, 0x2581, 0xFEFF, 0xFFFD: 0x20
    default: scalar
    }
  }
}

/// Maps each character to lower case regardless of its neighbours.
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
