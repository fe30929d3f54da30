/// Matches any `count` characters, and fewer at the end.
struct AnyPattern: SplitPattern {
  private let count: Int

  init(count: Int = 1) { self.count = count }

  func match(
    in text: UnsafePointer<UInt8>, from position: Int, to end: Int, _ poll: inout TextPoll
  ) throws(BertQAError) -> (start: Int, end: Int)? {
    var (next, left) = (position, count)
    while next < end, left > 0 {
      next &+= UTF8Codec.decode(text, at: next, end: end).size
      left &-= 1
      // `SplitStep` counts the match: this asks within a long one only.
      try poll.reach(next)
    }
    return (position, next)
  }
}

/// Matches each character of a class.
struct ClassPattern: SplitPattern {
  private let wanted: CharacterClass
  private let table = CharacterClass.table

  init(_ wanted: CharacterClass) { self.wanted = wanted }

  func match(
    in text: UnsafePointer<UInt8>, from position: Int, to end: Int, _ poll: inout TextPoll
  ) throws(BertQAError) -> (start: Int, end: Int)? {
    var position = position
    while position < end {
      let decoded = UTF8Codec.decode(text, at: position, end: end)
      let next = position &+ decoded.size
      if !table[decoded.scalar].isDisjoint(with: wanted) { return (position, next) }
      try poll.read(decoded.size)
      position = next
    }
    return nil
  }
}

/// Matches runs of characters of a class, whole or up to a limit: `\s+`, `\p{N}{1,3}`.
struct RunPattern: SplitPattern {
  private let wanted: CharacterClass
  private let limit: Int
  private let table = CharacterClass.table

  init(_ wanted: CharacterClass, limit: Int = .max) {
    self.wanted = wanted
    self.limit = limit
  }

  func match(
    in text: UnsafePointer<UInt8>, from position: Int, to end: Int, _ poll: inout TextPoll
  ) throws(BertQAError) -> (start: Int, end: Int)? {
    guard let first = try ClassPattern(wanted).match(in: text, from: position, to: end, &poll)
    else {
      return nil
    }
    var position = first.end
    var count = 1
    while position < end, count < limit {
      let decoded = UTF8Codec.decode(text, at: position, end: end)
      if table[decoded.scalar].isDisjoint(with: wanted) { break }
      try poll.read(decoded.size)
      position &+= decoded.size
      count &+= 1
    }
    return (first.start, position)
  }
}

/// `\w+|[^\w\s]+`
struct WordPattern: SplitPattern {
  private let table = CharacterClass.table

  func match(
    in text: UnsafePointer<UInt8>, from position: Int, to end: Int, _ poll: inout TextPoll
  ) throws(BertQAError) -> (start: Int, end: Int)? {
    var begin = position
    var kind: CharacterClass = .space
    while begin < end {
      let decoded = UTF8Codec.decode(text, at: begin, end: end)
      kind = table[decoded.scalar].intersection([.word, .space])
      if !kind.contains(.space) { break }
      try poll.read(decoded.size)
      begin &+= decoded.size
    }
    guard begin < end else { return nil }
    var position = begin
    while position < end {
      let decoded = UTF8Codec.decode(text, at: position, end: end)
      if table[decoded.scalar].intersection([.word, .space]) != kind { break }
      try poll.read(decoded.size)
      position &+= decoded.size
    }
    return (begin, position)
  }
}

/// Matches a text as it is.
struct TextPattern: SplitPattern {
  private let bytes: [UInt8]
  /// For each prefix, the length of the longest other prefix that it ends with (Knuth, Morris, Pratt).
  private let failures: [Int]

  /// - Parameter text: not empty.
  init(_ text: String) {
    bytes = Array(text.utf8)
    var failures = [Int](repeating: 0, count: bytes.count + 1)
    var length = 0
    for index in bytes.indices.dropFirst() {
      while length > 0, bytes[index] != bytes[length] { length = failures[length] }
      if bytes[index] == bytes[length] { length += 1 }
      failures[index + 1] = length
    }
    self.failures = failures
  }

  func match(
    in text: UnsafePointer<UInt8>, from position: Int, to end: Int, _ poll: inout TextPoll
  ) throws(BertQAError) -> (start: Int, end: Int)? {
    var length = 0
    for position in position..<end {
      try poll.read(1)
      while length > 0, text[position] != bytes[length] { length = failures[length] }
      if text[position] == bytes[length] { length += 1 }
      if length == bytes.count { return (position + 1 - length, position + 1) }
    }
    return nil
  }
}

/// Matches each white space character, as `ClassPattern(.space)` does, but faster.
struct SpacePattern: SplitPattern {
  private let table = CharacterClass.table

  @inline(__always)
  func match(
    in text: UnsafePointer<UInt8>, from position: Int, to end: Int, _ poll: inout TextPoll
  ) throws(BertQAError) -> (start: Int, end: Int)? {
    var position = position
    while position < end {
      let lane = ByteScan.firstLane(Self.mayBegin(ByteScan.block(text, position)))
      position &+= lane
      if lane == 16 {
        try poll.read(16)
        continue
      }
      if position >= end { return nil }
      if text[position] == 0x20 { return (position, position &+ 1) }
      let decoded = UTF8Codec.decode(text, at: position, end: end)
      let next = position &+ decoded.size
      if table[decoded.scalar].contains(.space) { return (position, next) }
      try poll.read(lane &+ decoded.size)
      position = next
    }
    return nil
  }

  /// Finds the first bytes of white space: up to U+0020; 0xC2 for U+0085 and U+00A0; 0xE1 to 0xE3 for all others.
  @inline(__always)
  private static func mayBegin(_ block: ByteScan.Block) -> SIMDMask<SIMD16<Int8>> {
    let isControl = block .<= ByteScan.Block(repeating: 0x20)
    let isTwo = block .== ByteScan.Block(repeating: 0xC2)
    let isThree = (block &- ByteScan.Block(repeating: 0xE1)) .<= ByteScan.Block(repeating: 2)
    return isControl .| isTwo .| isThree
  }
}
