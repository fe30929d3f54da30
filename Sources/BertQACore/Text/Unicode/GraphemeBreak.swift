/// Finds the beginnings of grapheme clusters (UAX #29, extended clusters): readers see a cluster as one character,
/// and Hugging Face applies the charsmap of SentencePiece to clusters.
struct GraphemeBreak: Sendable {
  static let shared = GraphemeBreak()

  /// The class in the low four bits; above them the role in Indic conjuncts.
  private let classes = TwoStageTable<UInt8>(runs: Self.runs)

  enum Class {
    static let other: UInt8 = 0
    static let extend: UInt8 = 1
    static let joiner: UInt8 = 2
    static let spacingMark: UInt8 = 3
    static let prepend: UInt8 = 4
    static let regionalIndicator: UInt8 = 5
    static let pictograph: UInt8 = 6
    static let control: UInt8 = 7
    static let carriageReturn: UInt8 = 8
    static let lineFeed: UInt8 = 9
    static let leading: UInt8 = 10
    static let vowel: UInt8 = 11
    static let trailing: UInt8 = 12
    /// Hangul syllables without and with a trailing consonant.
    static let openSyllable: UInt8 = 13
    static let closedSyllable: UInt8 = 14
  }

  private enum Conjunct {
    static let mask: UInt8 = 48
    static let consonant: UInt8 = 16
    static let linker: UInt8 = 32
    static let extend: UInt8 = 48
  }

  private init() {}

  /// 0 for a character that neither joins its neighbours nor keeps them apart.
  func properties(of scalar: UInt32) -> UInt8 {
    if UnicodeData.isHangulSyllable(scalar) {
      return (scalar - 0xAC00) % 28 == 0 ? Class.openSyllable : Class.closedSyllable
    }
    return classes[scalar]
  }

  /// True if a character may share a cluster with its neighbours, whatever they are.
  static func joins(_ properties: UInt8) -> Bool {
    switch properties & 15 {
    case Class.extend...Class.regionalIndicator, Class.carriageReturn, Class.leading...Class.trailing: true
    default: properties & Conjunct.mask > Conjunct.consonant
    }
  }

  /// The context that the rules depend on.
  struct Scanner {
    private var last: UInt8?
    /// True after an odd number of regional indicators.
    private var isFlagOpen = false
    /// True after a pictograph and extending characters; true if a joiner follows those.
    private var isPictograph = false
    private var isJoined = false
    /// 1 after a consonant of a conjunct, 2 after a linker that follows one.
    private var conjunct = 0

    /// True if a cluster begins at the next character of the text, which has these properties.
    mutating func isBoundary(before properties: UInt8) -> Bool {
      let next = properties & 15
      let isBoundary = last.map { self.isBoundary($0, next, properties & Conjunct.mask) } ?? true
      isFlagOpen = next == Class.regionalIndicator && !isFlagOpen
      isJoined = isPictograph && next == Class.joiner
      isPictograph = next == Class.pictograph || isPictograph && next == Class.extend
      switch properties & Conjunct.mask {
      case Conjunct.consonant: conjunct = 1
      case Conjunct.linker: conjunct = conjunct > 0 ? 2 : 0
      case Conjunct.extend: break
      default: conjunct = 0
      }
      last = next
      return isBoundary
    }

    /// Rules GB3 to GB999.
    private func isBoundary(_ last: UInt8, _ next: UInt8, _ part: UInt8) -> Bool {
      if last == Class.carriageReturn, next == Class.lineFeed { return false }
      if Class.control...Class.lineFeed ~= last || Class.control...Class.lineFeed ~= next { return true }
      switch (last, next) {
      case (Class.leading, Class.leading), (Class.leading, Class.vowel), (Class.leading, Class.openSyllable),
        (Class.leading, Class.closedSyllable), (Class.openSyllable, Class.vowel), (Class.vowel, Class.vowel),
        (Class.openSyllable, Class.trailing), (Class.vowel, Class.trailing),
        (Class.closedSyllable, Class.trailing), (Class.trailing, Class.trailing):
        return false
      case (_, Class.extend), (_, Class.joiner), (_, Class.spacingMark), (Class.prepend, _): return false
      case (Class.regionalIndicator, Class.regionalIndicator): return !isFlagOpen
      case (_, Class.pictograph) where isJoined: return false
      default: return !(part == Conjunct.consonant && conjunct == 2)
      }
    }
  }
}
