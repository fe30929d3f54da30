/// The effect of a normalisation form on single characters, in tables for inner loops: 136 KiB a form, made once per
/// process when a tokenizer uses that form.
struct FormCharacters: @unchecked Sendable {
  // Unchecked: the memory is written before anyone sees it.

  private static let nfc = FormCharacters(.nfc)
  private static let nfd = FormCharacters(.nfd)
  private static let nfkc = FormCharacters(.nfkc)
  private static let nfkd = FormCharacters(.nfkd)

  static func of(_ form: NormalizationForm) -> FormCharacters {
    switch form {
    case .nfc: nfc
    case .nfd: nfd
    case .nfkc: nfkc
    case .nfkd: nfkd
    }
  }

  /// A bit for each code point below U+10000: set if it is stable.
  private let stable: UnsafePointer<UInt64>
  /// For each code point below U+10000, the character that replaces it regardless of its neighbours, if that
  /// character is stable or has such a replacement itself; 0 if there is none.
  private let replacements: UnsafePointer<UInt16>
  private let data = NormalizationData.shared
  private let form: NormalizationForm

  private init(_ form: NormalizationForm) {
    let data = NormalizationData.shared
    let stable = UnsafeMutablePointer<UInt64>.allocate(capacity: 0x10000 / 64)
    let replacements = UnsafeMutablePointer<UInt16>.allocate(capacity: 0x10000)
    stable.initialize(repeating: .max, count: 0x10000 / 64)
    replacements.initialize(repeating: 0, count: 0x10000)
    for scalar: UInt32 in 0x80..<0x10000 where !data.isStable(scalar, form) {
      stable[Int(scalar >> 6)] &= ~(1 << UInt64(scalar & 63))
      var parts: [UInt32] = []
      if form.isCompatible {
        data.forEachCompatibilityPart(of: scalar) { parts.append($0) }
      } else {
        UnicodeData.shared.forEachPart(of: scalar) { parts.append($0) }
      }
      // A stable character does not compose with one before it and stays as it is before another stable one.
      if parts.count == 1, parts[0] != scalar, parts[0] < 0x10000, data.isStable(parts[0], form) {
        replacements[Int(scalar)] = UInt16(parts[0])
      }
    }
    self.stable = UnsafePointer(stable)
    self.replacements = UnsafePointer(replacements)
    self.form = form
  }

  /// Returns the end of the stable characters of well-formed UTF-8 from `begin` on, or of the first one that ends at
  /// or after `end`, and the beginning of the last of them; both are `begin` if the first character is not stable.
  /// Seven bytes after `end` are readable. Linear in the bytes passed.
  @inline(__always)
  func stableEnd(_ text: UnsafePointer<UInt8>, from begin: Int, to end: Int) -> (last: Int, end: Int) {
    var last = begin
    var position = begin
    while position < end {
      let lead = text[position]
      if lead < 0x80 {
        position = ByteScan.endOfASCII(in: text, from: position &+ 1, to: end)
        last = position &- 1
        continue
      }
      let second = text[position &+ 1] & 0x3F
      if lead < 0xE0 {
        if stable[Int(lead & 0x1F)] &>> UInt64(second) & 1 == 0 { break }
        last = position
        position &+= 2
      } else if lead < 0xF0 {
        let third = text[position &+ 2] & 0x3F
        if stable[Int(lead & 0xF) &<< 6 | Int(second)] &>> UInt64(third) & 1 == 0 { break }
        last = position
        position &+= 3
      } else {
        let decoded = UTF8Codec.decode(text, at: position, end: position &+ 4)
        if !data.isStable(decoded.scalar, form) { break }
        last = position
        position &+= 4
      }
    }
    return (last, position)
  }

  /// Returns the character that replaces another before one that `standsAlone`; 0 if none does.
  @inline(__always)
  func replacement(of scalar: UInt32) -> UInt32 {
    scalar < 0x10000 ? UInt32(replacements[Int(scalar)]) : 0
  }

  /// True if the character at a position neither changes the character before it nor is changed by it.
  @inline(__always)
  func standsAlone(_ text: UnsafePointer<UInt8>, at position: Int, end: Int) -> Bool {
    if text[position] < 0x80 { return true }
    let decoded = UTF8Codec.decode(text, at: position, end: end)
    return data.isStable(decoded.scalar, form) || replacement(of: decoded.scalar) != 0
  }
}
