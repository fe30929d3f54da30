/// The properties of each code point in the reference tokenizer.
///
/// The tables are probed from that library rather than derived from one Unicode version: its parts follow different
/// ones. They are expanded once per process, by the first tokenizer.
struct UnicodeData: Sendable {
  static let shared = UnicodeData()

  /// Class bits in the low byte, the canonical combining class in the high one.
  struct Properties: Equatable, Sendable {
    var rawValue: UInt16 = 0

    /// A control, format or private-use character, NUL or U+FFFD: cleaning drops it.
    var isRemoved: Bool { rawValue & 1 != 0 }
    /// Cleaning turns it into a space.
    var isWhitespace: Bool { rawValue & 2 != 0 }
    /// In the ranges that are split into pre-tokens of one character.
    var isChinese: Bool { rawValue & 4 != 0 }
    /// Stripping accents drops it.
    var isNonspacingMark: Bool { rawValue & 8 != 0 }
    /// A word of its own.
    var isPunctuation: Bool { rawValue & 16 != 0 }
    /// 0 for starters.
    var combiningClass: UInt8 { UInt8(rawValue >> 8) }
  }

  private let classes = TwoStageTable<UInt16>(runs: Self.classRuns)
  private let combiningClasses = TwoStageTable<UInt8>(runs: Self.combiningClassRuns)
  /// Zigzag in the table.
  private let lowercaseDistances = TwoStageTable<Int32>(runs: Self.lowercaseRuns) {
    Int32($0 >> 1) ^ -Int32($0 & 1)
  }
  /// Offset in `decompositionParts` shifted left by 3, and count; 0 for no decomposition.
  private var decompositionSlices = TwoStageTable<UInt32>(defaultValue: 0)
  private var decompositionParts: [UInt32] = []

  private init() {
    var reader = VariableLengthReader(Self.decompositions)
    let (parts, entries) = reader.readDecompositions()
    decompositionParts = parts
    for (scalar, offset, count) in entries {
      decompositionSlices.assign(offset << 3 | count, from: scalar, count: 1)
    }
  }

  func properties(of scalar: UInt32) -> Properties {
    Properties(rawValue: classes[scalar] | UInt16(combiningClasses[scalar]) << 8)
  }

  /// Returns the lower-case letter. U+0130 has a second one, U+0307, which callers add.
  func lowercase(_ scalar: UInt32) -> UInt32 {
    UInt32(bitPattern: Int32(bitPattern: scalar) + lowercaseDistances[scalar])
  }

  /// True for soft hyphens, joiners, marks of direction and others that have no shape of their own (default-ignorable).
  static func isInvisible(_ scalar: UInt32) -> Bool {
    scalar >= 0xAD && Unicode.Scalar(scalar)?.properties.isDefaultIgnorableCodePoint ?? false
  }

  static func isHangulSyllable(_ scalar: UInt32) -> Bool { scalar &- 0xAC00 < 11172 }

  /// Returns the jamo that compose a Hangul syllable.
  @inline(__always)
  static func jamo(of scalar: UInt32) -> (lead: UInt32, vowel: UInt32, tail: UInt32?) {
    let syllable = scalar &- 0xAC00
    let tail = syllable % 28
    return (0x1100 &+ syllable / 588, 0x1161 &+ syllable % 588 / 28, tail == 0 ? nil : 0x11A7 &+ tail)
  }

  func hasDecomposition(_ scalar: UInt32) -> Bool {
    decompositionSlices[scalar] != 0 || Self.isHangulSyllable(scalar)
  }

  /// Returns the first code point of the canonical decomposition: a letter without its accents. Hangul syllables stay.
  func base(of scalar: UInt32) -> UInt32 {
    let slice = decompositionSlices[scalar]
    return slice != 0 ? decompositionParts[Int(slice >> 3)] : scalar
  }

  /// Calls `body` with the full canonical decomposition, unordered, or `scalar` itself.
  func forEachPart(of scalar: UInt32, _ body: (UInt32) -> Void) {
    let slice = decompositionSlices[scalar]
    if slice != 0 {
      let offset = Int(slice >> 3)
      for index in offset..<offset + Int(slice & 7) { body(decompositionParts[index]) }
    } else if Self.isHangulSyllable(scalar) {
      let (lead, vowel, tail) = Self.jamo(of: scalar)
      body(lead)
      body(vowel)
      if let tail { body(tail) }
    } else {
      body(scalar)
    }
  }

  /// True if the code points of a page differ only in their number: one class for all, no lower case, and no
  /// decomposition or all of them Hangul syllables.
  func isUniform(page: Int) -> Bool {
    classes.uniformValue(ofPage: page) != nil && combiningClasses.uniformValue(ofPage: page) == 0
      && lowercaseDistances.uniformValue(ofPage: page) == 0
      && decompositionSlices.uniformValue(ofPage: page) == 0
      && page != 0xD7
  }
}
