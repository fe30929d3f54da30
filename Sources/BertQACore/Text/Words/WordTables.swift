/// The tables of `WordScanner`. Made once per process.
final class WordTables: @unchecked Sendable {
  // Sendable: nothing changes after init.

  static let shared = WordTables()

  /// The kind of a byte in the search for words.
  enum Kind {
    static var separator: UInt8 { 0 }
    /// An ASCII letter, digit or connector.
    static var word: UInt8 { 1 }
    /// ASCII that words may contain between letters or digits.
    static var middle: UInt8 { 2 }
    static var nonASCII: UInt8 { 3 }
  }

  /// [256]
  let kinds: UnsafeMutablePointer<UInt8>
  /// [256], ASCII letters lower-cased.
  let lower: UnsafeMutablePointer<UInt8>
  private let breaks = WordBreak.table
  private let unicode = UnicodeData.shared

  private init() {
    kinds = .allocate(capacity: 256)
    kinds.initialize(repeating: Kind.nonASCII, count: 256)
    lower = .allocate(capacity: 256)
    lower.initialize(repeating: 0, count: 256)
    for byte in UInt8(0)..<128 {
      lower[Int(byte)] = UInt8(truncatingIfNeeded: unicode.lowercase(UInt32(byte)))
      kinds[Int(byte)] =
        switch breaks.wordBreak(UInt32(byte)) {
        case .letter, .numeric, .extendNumLet: Kind.word
        case .singleQuote, .midNumLet, .midLetter, .midNum: Kind.middle
        default: Kind.separator
        }
    }
  }

  func wordBreak(_ scalar: UInt32) -> WordBreak { breaks.wordBreak(scalar) }

  func lowercase(_ scalar: UInt32) -> UInt32 { unicode.lowercase(scalar) }
}

extension TwoStageTable<UInt8> {
  fileprivate func wordBreak(_ scalar: UInt32) -> WordBreak {
    WordBreak(rawValue: self[scalar]) ?? .other
  }
}
