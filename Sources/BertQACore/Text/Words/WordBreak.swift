/// The role of a code point at word boundaries: Unicode's Word_Break property (UAX #29), with a value for letters and
/// digits that have none, such as ideographs, and one for everything outside words.
enum WordBreak: UInt8, Sendable {
  case other = 0
  /// A word of its own.
  case single = 1
  /// Extend, Format or ZWJ: belongs to the character before it.
  case extend = 2
  case katakana = 3
  case hebrewLetter = 4
  case letter = 5
  case numeric = 6
  /// Connectors such as "_".
  case extendNumLet = 7
  case singleQuote = 8
  case doubleQuote = 9
  case midNumLet = 10
  case midLetter = 11
  case midNum = 12

  @inline(__always) var isLetter: Bool { self == .letter || self == .hebrewLetter }

  /// True if a run that begins so is a word rather than a run of connectors.
  @inline(__always) var isWord: Bool { (3...6).contains(rawValue) }

  /// True if no boundary separates this from `next` (rules 5, 8 to 10, 13 to 13b).
  @inline(__always)
  func joins(_ next: WordBreak) -> Bool {
    switch self {
    case .letter, .hebrewLetter, .numeric: next.isLetter || next == .numeric || next == .extendNumLet
    case .katakana: next == .katakana || next == .extendNumLet
    case .extendNumLet: next.isWord || next == .extendNumLet
    default: false
    }
  }

  /// True if no boundary is around `middle` between this and `next` (rules 6, 7, 7b, 7c, 11, 12).
  @inline(__always)
  func joins(_ next: WordBreak, over middle: WordBreak) -> Bool {
    switch middle {
    case .singleQuote, .midNumLet: isLetter && next.isLetter || self == .numeric && next == .numeric
    case .midLetter: isLetter && next.isLetter
    case .midNum: self == .numeric && next == .numeric
    case .doubleQuote: self == .hebrewLetter && next == .hebrewLetter
    default: false
    }
  }

  /// The value of every code point; expanded once per process.
  static let table = TwoStageTable<UInt8>(runs: runs)
}
