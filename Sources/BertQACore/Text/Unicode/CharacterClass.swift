/// The classes of a code point in the regular expressions of pre-tokenizers.
///
/// Probed from the reference library, whose parts follow different versions of Unicode.
struct CharacterClass: OptionSet, Sendable {
  let rawValue: UInt16

  /// `\p{L}`
  static let letter = CharacterClass(rawValue: 1)
  /// `\p{N}`
  static let number = CharacterClass(rawValue: 2)
  /// `\s`: White_Space
  static let space = CharacterClass(rawValue: 4)
  /// `\p{M}`
  static let mark = CharacterClass(rawValue: 8)
  /// `\p{Lu}` and `\p{Lt}`
  static let upper = CharacterClass(rawValue: 16)
  /// `\p{Ll}`
  static let lower = CharacterClass(rawValue: 32)
  /// `\d`
  static let digit = CharacterClass(rawValue: 64)
  /// A character of a word to the pre-tokenizer Whitespace and to added tokens.
  static let word = CharacterClass(rawValue: 128)
  /// A digit to the pre-tokenizer Digits.
  static let numeric = CharacterClass(rawValue: 256)
  /// Punctuation to the pre-tokenizer Punctuation.
  static let punctuation = CharacterClass(rawValue: 512)
  /// Dropped by the normalizer StripAccents.
  static let accent = CharacterClass(rawValue: 1024)
  /// `\w`
  static let regexWord = CharacterClass(rawValue: 2048)
  /// `\p{P}`
  static let regexPunctuation = CharacterClass(rawValue: 4096)
  /// `[0-9]`
  static let asciiDigit = CharacterClass(rawValue: 8192)

  /// The classes of every code point, for inner loops.
  struct Table: @unchecked Sendable {
    // Unchecked: the memory is written before anyone sees it.

    /// Index of the page in `values` for each `code point >> 8`.
    private let pages: UnsafePointer<UInt16>
    /// Pages of 256.
    private let values: UnsafePointer<UInt16>

    fileprivate init(_ table: TwoStageTable<UInt16>) {
      let pages = UnsafeMutablePointer<UInt16>.allocate(capacity: table.pages.count)
      let values = UnsafeMutablePointer<UInt16>.allocate(capacity: table.values.count)
      pages.initialize(from: table.pages, count: table.pages.count)
      values.initialize(from: table.values, count: table.values.count)
      self.pages = UnsafePointer(pages)
      self.values = UnsafePointer(values)
    }

    @inline(__always)
    subscript(scalar: UInt32) -> CharacterClass {
      CharacterClass(rawValue: values[Int(pages[Int(scalar &>> 8)]) &<< 8 | Int(scalar & 0xFF)])
    }
  }

  /// Expanded once and kept for the life of the process.
  static let table = Table(TwoStageTable(runs: runs))

  static func of(_ scalar: UInt32) -> CharacterClass { table[scalar] }

  static func isWhiteSpace(_ scalar: UInt32) -> Bool { table[scalar].contains(.space) }
}
