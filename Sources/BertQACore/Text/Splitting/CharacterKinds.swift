/// The kinds of characters in the patterns of byte-level tokenizers, fast for ASCII.
struct CharacterKinds: @unchecked Sendable {
  // Unchecked: the memory is written before anyone sees it.

  struct Kind: OptionSet {
    let rawValue: UInt8
    /// `\p{L}`
    static let letter = Kind(rawValue: 1)
    /// `\p{N}`
    static let number = Kind(rawValue: 2)
    /// `\s`
    static let space = Kind(rawValue: 4)
    /// `[\r\n]`, which is also white space.
    static let newline = Kind(rawValue: 8)
    /// The kind of a byte outside ASCII.
    fileprivate static let beyondASCII = Kind(rawValue: 128)
  }

  static let shared = CharacterKinds()

  private let kinds: UnsafePointer<UInt8>
  /// For each 64 code points below U+10000 their common kind, or `beyondASCII` if they differ.
  private let blocks: UnsafePointer<UInt8>
  let table = CharacterClass.table

  private init() {
    let kinds = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
    kinds.initialize(repeating: Kind.beyondASCII.rawValue, count: 256)
    for byte in 0..<128 { kinds[byte] = Self.kind(CharacterClass.of(UInt32(byte)), UInt32(byte)).rawValue }
    self.kinds = UnsafePointer(kinds)
    let blocks = UnsafeMutablePointer<UInt8>.allocate(capacity: 0x10000 / 64)
    for block in 0..<UInt32(0x10000 / 64) {
      let first = Self.kind(CharacterClass.of(64 * block), 64 * block)
      let isUniform = (64 * block..<64 * block + 64).allSatisfy {
        Self.kind(CharacterClass.of($0), $0) == first
      }
      (blocks + Int(block)).initialize(to: isUniform ? first.rawValue : Kind.beyondASCII.rawValue)
    }
    self.blocks = UnsafePointer(blocks)
  }

  @inline(__always)
  private static func kind(_ characterClass: CharacterClass, _ scalar: UInt32) -> Kind {
    // Letters, numbers and white space have these bits in both.
    var kind = Kind(rawValue: UInt8(truncatingIfNeeded: characterClass.rawValue & 7))
    if scalar == 0x0A || scalar == 0x0D { kind.insert(.newline) }
    return kind
  }

  /// Returns the kind of the character of well-formed UTF-8 at a position, and its size. The kind is empty for a
  /// character that is not a letter, number or space.
  @inline(__always)
  func kind(_ text: UnsafePointer<UInt8>, _ position: Int, _ end: Int) -> (kind: Kind, size: Int) {
    let kind = Kind(rawValue: kinds[Int(text[position])])
    if kind != .beyondASCII { return (kind, 1) }
    let (lead, second) = (text[position], text[position &+ 1] & 0x3F)
    if lead < 0xF0 {
      let isTwo = lead < 0xE0
      let block = Kind(rawValue: blocks[isTwo ? Int(lead & 0x1F) : Int(lead & 0xF) &<< 6 | Int(second)])
      if block != .beyondASCII { return (block, isTwo ? 2 : 3) }
    }
    let decoded = UTF8Codec.decode(text, at: position, end: end)
    return (Self.kind(table[decoded.scalar], decoded.scalar), decoded.size)
  }

  /// Returns the end of the run of characters of `wanted`, or of characters of no kind, that begins at a position.
  @inline(__always)
  func endOfRun(
    _ text: UnsafePointer<UInt8>, _ position: Int, _ end: Int, _ wanted: Kind, _ poll: inout TextPoll
  ) throws(BertQAError) -> Int {
    var position = position
    while position < end {
      let (kind, size) = kind(text, position, end)
      guard wanted.isEmpty ? kind.isEmpty : !kind.isDisjoint(with: wanted) else { break }
      try poll.read(size)
      position &+= size
    }
    return position
  }

  /// Matches `\s+(?!\S)|\s+` at a white space: the run, without its last character if another character follows and
  /// the run is longer than one.
  func endOfSpaces(
    _ text: UnsafePointer<UInt8>, _ position: Int, _ end: Int, _ poll: inout TextPoll
  ) throws(BertQAError) -> Int {
    var last = position
    var next = position
    while next < end {
      let (kind, size) = kind(text, next, end)
      guard kind.contains(.space) else { return last > position ? last : next }
      try poll.read(size)
      last = next
      next &+= size
    }
    return next
  }

  /// Matches `'s|'t|'re|'ve|'m|'ll|'d` at an apostrophe. Returns the end, or `position`.
  @inline(__always)
  func endOfContraction(
    _ text: UnsafePointer<UInt8>, _ position: Int, _ end: Int, ignoringCase: Bool
  ) -> Int {
    guard end &- position >= 2 else { return position }
    let fold: UInt8 = ignoringCase ? 0x20 : 0
    let (first, second) = (text[position &+ 1], text[position &+ 2])
    switch first | fold {
    case UInt8(ascii: "s"), UInt8(ascii: "t"), UInt8(ascii: "m"), UInt8(ascii: "d"): return position &+ 2
    case UInt8(ascii: "r"), UInt8(ascii: "v"):
      return end &- position >= 3 && second | fold == UInt8(ascii: "e") ? position &+ 3 : position
    case UInt8(ascii: "l"):
      return end &- position >= 3 && second | fold == UInt8(ascii: "l") ? position &+ 3 : position
    default:
      // The long s, U+017F, is an s when case is ignored.
      return ignoringCase && first == 0xC5 && second == 0xBF && end &- position >= 3
        ? position &+ 3 : position
    }
  }
}
