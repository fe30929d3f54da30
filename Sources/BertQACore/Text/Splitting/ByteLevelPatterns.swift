/// `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`, which matches everywhere.
struct GPT2Pattern: SplitPattern {
  static let expression =
    #"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"#

  private let kinds = CharacterKinds.shared

  @inline(__always)
  func match(
    in text: UnsafePointer<UInt8>, from position: Int, to end: Int, _ poll: inout TextPoll
  ) throws(BertQAError) -> (start: Int, end: Int)? {
    var next = position
    if text[position] == UInt8(ascii: "'") {
      next = kinds.endOfContraction(text, position, end, ignoringCase: false)
      if next > position { return (position, next) }
    } else if text[position] == 0x20, position &+ 1 < end {
      next = position &+ 1
    }
    let (kind, size) = kinds.kind(text, next, end)
    if kind.contains(.space) { return (position, try kinds.endOfSpaces(text, position, end, &poll)) }
    return (position, try kinds.endOfRun(text, next &+ size, end, kind, &poll))
  }
}

/// The pattern of cl100k and Llama 3, which matches everywhere, and with one digit at a time that of Qwen 2:
/// `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
struct TiktokenPattern: SplitPattern {
  private static let head = #"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|"#
  private static let tail = #"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"#
  /// tiktoken's spelling of it, equivalent because its possessive parts have nothing to give back.
  private static let possessive =
    #"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"#

  private let kinds = CharacterKinds.shared
  private let digitLimit: Int

  /// nil for another expression.
  init?(_ expression: String) {
    switch expression {
    case Self.head + #"\p{N}{1,3}"# + Self.tail, Self.possessive: digitLimit = 3
    case Self.head + #"\p{N}"# + Self.tail: digitLimit = 1
    default: return nil
    }
  }

  @inline(__always)
  func match(
    in text: UnsafePointer<UInt8>, from position: Int, to end: Int, _ poll: inout TextPoll
  ) throws(BertQAError) -> (start: Int, end: Int)? {
    let (kind, size) = kinds.kind(text, position, end)
    if kind.contains(.letter) {
      return (position, try kinds.endOfRun(text, position &+ size, end, .letter, &poll))
    }
    if kind.contains(.number) {
      return (position, kinds.endOfNumber(text, position, end, limit: digitLimit))
    }
    if text[position] == UInt8(ascii: "'") {
      let next = kinds.endOfContraction(text, position, end, ignoringCase: true)
      if next > position { return (position, next) }
    }
    let next = position &+ size
    if next < end, !kind.contains(.newline) {
      let (nextKind, nextSize) = kinds.kind(text, next, end)
      if nextKind.contains(.letter) {
        return (position, try kinds.endOfRun(text, next &+ nextSize, end, .letter, &poll))
      }
      if text[position] == 0x20, nextKind.isEmpty {
        return (position, try kinds.endOfSymbols(text, next &+ nextSize, end, slashes: false, &poll))
      }
    }
    if kind.isEmpty { return (position, try kinds.endOfSymbols(text, next, end, slashes: false, &poll)) }
    return (position, try kinds.endOfLines(text, position, end, &poll))
  }
}

/// The pattern of o200k: as `TiktokenPattern`, but it splits before a capital letter that follows a small one, and
/// contractions belong to the letters before them.
struct O200KPattern: SplitPattern {
  private static let before = #"[^\r\n\p{L}\p{N}]?"#
  private static let contraction = #"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"#
  static let expression =
    before + #"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"# + contraction
    + before + #"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"# + contraction
    + #"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"#

  private let kinds = CharacterKinds.shared

  func match(
    in text: UnsafePointer<UInt8>, from position: Int, to end: Int, _ poll: inout TextPoll
  ) throws(BertQAError) -> (start: Int, end: Int)? {
    let (kind, size) = kinds.kind(text, position, end)
    let next = position &+ size
    let isPrefix = kind.isDisjoint(with: [.letter, .number, .newline])
    var word = isPrefix ? try withSmallLetters(text, next, end, &poll) : nil
    if word == nil { word = try withSmallLetters(text, position, end, &poll) }
    if word == nil, isPrefix { word = try capitals(text, next, end, &poll) }
    if word == nil { word = try capitals(text, position, end, &poll) }
    if let word { return (position, endWithContraction(text, word, end)) }
    if kind.contains(.number) { return (position, kinds.endOfNumber(text, position, end, limit: 3)) }
    if text[position] == 0x20, next < end {
      let (nextKind, nextSize) = kinds.kind(text, next, end)
      if nextKind.isEmpty {
        return (position, try kinds.endOfSymbols(text, next &+ nextSize, end, slashes: true, &poll))
      }
    }
    if kind.isEmpty { return (position, try kinds.endOfSymbols(text, next, end, slashes: true, &poll)) }
    return (position, try kinds.endOfLines(text, position, end, &poll))
  }

  private func endWithContraction(_ text: UnsafePointer<UInt8>, _ position: Int, _ end: Int) -> Int {
    guard position < end, text[position] == UInt8(ascii: "'") else { return position }
    return kinds.endOfContraction(text, position, end, ignoringCase: true)
  }

  /// Matches `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+`. Returns the end, or nil.
  private func withSmallLetters(
    _ text: UnsafePointer<UInt8>, _ position: Int, _ end: Int, _ poll: inout TextPoll
  ) throws(BertQAError) -> Int? {
    var position = position
    /// After the last character that may also be in the second part.
    var lastShared: Int?
    while position < end {
      let decoded = UTF8Codec.decode(text, at: position, end: end)
      let found = kinds.table[decoded.scalar]
      if found.contains(.lower) { return try endOfSmallLetters(text, position, end, &poll) }
      guard !found.isDisjoint(with: [.letter, .mark]) else { break }
      try poll.read(decoded.size)
      position &+= decoded.size
      if !found.contains(.upper) { lastShared = position }
    }
    return lastShared
  }

  private func endOfSmallLetters(
    _ text: UnsafePointer<UInt8>, _ position: Int, _ end: Int, _ poll: inout TextPoll
  ) throws(BertQAError) -> Int {
    var position = position
    while position < end {
      let decoded = UTF8Codec.decode(text, at: position, end: end)
      let found = kinds.table[decoded.scalar]
      guard !found.isDisjoint(with: [.letter, .mark]), !found.contains(.upper) else { break }
      try poll.read(decoded.size)
      position &+= decoded.size
    }
    return position
  }

  /// Matches `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+` where no small letter follows. Returns the end, or nil.
  private func capitals(
    _ text: UnsafePointer<UInt8>, _ begin: Int, _ end: Int, _ poll: inout TextPoll
  ) throws(BertQAError) -> Int? {
    var position = begin
    while position < end {
      let decoded = UTF8Codec.decode(text, at: position, end: end)
      let found = kinds.table[decoded.scalar]
      guard !found.isDisjoint(with: [.letter, .mark]), !found.contains(.lower) else { break }
      try poll.read(decoded.size)
      position &+= decoded.size
    }
    return position > begin ? position : nil
  }
}

extension CharacterKinds {
  /// `\p{N}{1,limit}` at a number.
  @inline(__always)
  fileprivate func endOfNumber(
    _ text: UnsafePointer<UInt8>, _ position: Int, _ end: Int, limit: Int
  ) -> Int {
    var position = position
    for _ in 0..<limit where position < end {
      let (kind, size) = kind(text, position, end)
      guard kind.contains(.number) else { break }
      position &+= size
    }
    return position
  }

  /// Matches the rest of `[^\s\p{L}\p{N}]+[\r\n]*`, or of the same with slashes in the second part.
  @inline(__always)
  fileprivate func endOfSymbols(
    _ text: UnsafePointer<UInt8>, _ position: Int, _ end: Int, slashes: Bool, _ poll: inout TextPoll
  ) throws(BertQAError) -> Int {
    var position = try endOfRun(text, position, end, [], &poll)
    while position < end,
      text[position] == 0x0A || text[position] == 0x0D || slashes && text[position] == UInt8(ascii: "/")
    {
      try poll.read(1)
      position &+= 1
    }
    return position
  }

  /// `\s*[\r\n]+|\s+(?!\S)|\s+` at a white space.
  fileprivate func endOfLines(
    _ text: UnsafePointer<UInt8>, _ position: Int, _ end: Int, _ poll: inout TextPoll
  ) throws(BertQAError) -> Int {
    var next = position
    var lines = position
    while next < end {
      let (kind, size) = kind(text, next, end)
      guard kind.contains(.space) else { break }
      try poll.read(size)
      next &+= size
      if kind.contains(.newline) { lines = next }
    }
    return lines > position ? lines : try endOfSpaces(text, position, end, &poll)
  }
}
