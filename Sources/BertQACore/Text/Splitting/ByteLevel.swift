/// GPT-2's pre-tokenizer: adds a space before the first pre-token, splits by a pattern, and spells bytes in
/// `ByteAlphabet`.
struct ByteLevel: PreTokenizer {
  private var addsPrefixSpace: Bool
  /// True if GPT-2's pattern splits the text.
  private let usesPattern: Bool
  /// True if the text is respelled in the alphabet's characters. A model that reads bytes makes this step
  /// unnecessary.
  private(set) var spellsBytes = true

  init(addsPrefixSpace: Bool, usesPattern: Bool) {
    self.addsPrefixSpace = addsPrefixSpace
    self.usesPattern = usesPattern
  }

  init(_ step: ObjectReader) throws(BertQAError) {
    self.init(
      addsPrefixSpace: try step.bool("add_prefix_space") ?? true,
      usesPattern: try step.bool("use_regex") ?? true)
  }

  func leaving(_ part: TakenStep) -> any PreTokenizer {
    var step = self
    if case .spelling = part { step.spellsBytes = false }
    return step
  }

  func addingPrefixSpace(_ adds: Bool) -> ByteLevel {
    var step = self
    step.addsPrefixSpace = adds
    return step
  }

  func cut(_ preTokens: inout PreTokens, _ monitor: CallMonitor?) throws(BertQAError) {
    if addsPrefixSpace { try preTokens.addPrefixSpaces(monitor) }
    if usesPattern { try SplitStep(GPT2Pattern(), .isolated).cut(&preTokens, monitor) }
    if spellsBytes { try preTokens.spell(monitor) }
  }
}

extension PreTokens {
  /// Inserts a space before each pre-token without one.
  fileprivate mutating func addPrefixSpaces(_ monitor: CallMonitor?) throws(BertQAError) {
    var hasAll = true
    for index in 0..<ranges.count where text.base[Int(ranges[index].start)] != 0x20 { hasAll = false }
    if hasAll { return }
    try text.writeSources(monitor)
    newText.removeAll(begin: text.begin)
    for index in 0..<ranges.count {
      if index % CallPoll.elementInterval == 0 { try monitor?.check() }
      let preToken = Int(ranges[index].start)..<Int(ranges[index].end)
      let start = newText.count
      if text.base[preToken.lowerBound] != 0x20 {
        // It has the range of the first character.
        try newText.append(0x20, size: 1, from: text.sources[preToken.lowerBound])
      }
      try newText.append(copying: text, preToken, monitor)
      try newRanges.append(ByteRange(start, newText.count))
    }
    try newText.seal()
    takeNewText()
    takeNewRanges()
  }

  /// Replaces each byte of the pre-tokens by its character in `ByteAlphabet`.
  fileprivate mutating func spell(_ monitor: CallMonitor?) throws(BertQAError) {
    try text.writeSources(monitor)
    newText.removeAll(begin: text.begin)
    for index in 0..<ranges.count {
      let start = newText.count
      try newText.append(spelling: text, Int(ranges[index].start)..<Int(ranges[index].end), monitor)
      try newRanges.append(ByteRange(start, newText.count))
    }
    try newText.seal()
    takeNewText()
    takeNewRanges()
  }
}

/// GPT-2's alphabet: a printable character for each byte, so that pieces of any bytes can be spelled.
enum ByteAlphabet {
  /// The character of each byte.
  static let scalars: [UInt32] = {
    var scalars: [UInt32] = []
    var next: UInt32 = 0x100
    for byte in UInt32(0)...255 {
      if 0x21...0x7E ~= byte || 0xA1...0xAC ~= byte || 0xAE...0xFF ~= byte {
        scalars.append(byte)
      } else {
        scalars.append(next)
        next += 1
      }
    }
    return scalars
  }()

  /// The byte of each character; nil for one that is not in the alphabet.
  private static let bytes: [UInt8?] = {
    var bytes = [UInt8?](repeating: nil, count: 0x144)
    for (byte, scalar) in scalars.enumerated() { bytes[Int(scalar)] = UInt8(byte) }
    return bytes
  }()

  /// Returns the characters of bytes, in UTF-8.
  static func spelling(of bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    var spelling: [UInt8] = []
    spelling.reserveCapacity(2 * bytes.count)
    for byte in bytes {
      let (utf8, size) = UTF8Codec.encode(scalars[Int(byte)])
      spelling.append(UInt8(truncatingIfNeeded: utf8))
      if size > 1 { spelling.append(UInt8(truncatingIfNeeded: utf8 >> 8)) }
    }
    return spelling
  }

  /// Returns the bytes that `spelling`, in UTF-8, represents; nil if it has characters outside the alphabet.
  static func bytes(of spelling: some Collection<UInt8>) -> [UInt8]? {
    var result: [UInt8] = []
    for scalar in String(decoding: spelling, as: UTF8.self).unicodeScalars {
      guard scalar.value < bytes.count, let byte = bytes[Int(scalar.value)] else { return nil }
      result.append(byte)
    }
    return result
  }
}
