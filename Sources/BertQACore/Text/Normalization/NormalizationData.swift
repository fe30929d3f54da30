/// The data of the four normalisation forms that is not in `UnicodeData`. Decoded once per process when a tokenizer
/// uses such a form.
struct NormalizationData: Sendable {
  static let shared = NormalizationData()

  /// Offset in `parts` shifted left by 5, and count; 0 means the canonical decomposition.
  private var compatibilitySlices = TwoStageTable<UInt32>(defaultValue: 0)
  private var parts: [UInt32] = []
  /// The first and second character, ascending, and their composition.
  private var compositionKeys: [UInt64] = []
  private var composites: [UInt32] = []
  /// A bit for each `NormalizationForm`: set if the character is not stable in it.
  private var unstableForms = TwoStageTable<UInt8>(defaultValue: 0)

  private init() {
    let compatibility = readCompatibilityDecompositions()
    let compositions = readCompositions()
    findUnstable(compatibility, compositions)
  }

  private mutating func readCompatibilityDecompositions() -> [UInt32] {
    var reader = VariableLengthReader(Self.compatibilityDecompositions)
    let (parts, entries) = reader.readDecompositions()
    self.parts = parts
    for (scalar, offset, count) in entries {
      compatibilitySlices.assign(offset << 5 | count, from: scalar, count: 1)
    }
    return entries.map(\.scalar)
  }

  private mutating func readCompositions() -> [(composite: UInt32, second: UInt32)] {
    var reader = VariableLengthReader(Self.compositions)
    var entries: [(key: UInt64, composite: UInt32)] = []
    var result: [(composite: UInt32, second: UInt32)] = []
    var composite: UInt32 = 0
    var second: Int32 = 0
    while let gap = reader.read(), let first = reader.readSigned(), let difference = reader.readSigned() {
      composite += gap
      second += difference
      let pair = (UInt32(bitPattern: Int32(bitPattern: composite) + first), UInt32(bitPattern: second))
      entries.append((Self.key(pair.0, pair.1), composite))
      result.append((composite, pair.1))
    }
    entries = entries.sorted(byKey: { Int($0.key) })
    compositionKeys = entries.map(\.key)
    composites = entries.map(\.composite)
    return result
  }

  private mutating func findUnstable(
    _ compatibility: [UInt32], _ compositions: [(composite: UInt32, second: UInt32)]
  ) {
    let data = UnicodeData.shared
    let (nfc, nfkc) = (NormalizationForm.nfc.bit, NormalizationForm.nfkc.bit)
    let (nfd, nfkd) = (NormalizationForm.nfd.bit, NormalizationForm.nfkd.bit)
    var forms: [UInt32: UInt8] = [:]
    // Vowels and trailing consonants of Hangul compose with what precedes; 0x11A7 is none of the latter.
    for scalar in Array(0x1161...0x1175) + Array(0x11A8...0x11C2) {
      forms[UInt32(scalar), default: 0] |= nfc | nfkc
    }
    for (_, second) in compositions { forms[second, default: 0] |= nfc | nfkc }
    let seconds = Set(compositions.map(\.second))
    let composed = Set(compositions.map(\.composite))
    for scalar: UInt32 in 0..<0x110000 {
      var bits: UInt8 = 0
      if data.properties(of: scalar).combiningClass != 0 { bits = nfc | nfkc | nfd | nfkd }
      if data.hasDecomposition(scalar) {
        bits |= nfd | nfkd
        var first: UInt32?
        data.forEachPart(of: scalar) { first = first ?? $0 }
        let isComposed = composed.contains(scalar) || UnicodeData.isHangulSyllable(scalar)
        let begins =
          first.map { seconds.contains($0) || data.properties(of: $0).combiningClass != 0 } ?? false
        if !isComposed || begins { bits |= nfc | nfkc }
      }
      if bits != 0 { forms[scalar, default: 0] |= bits }
    }
    for scalar in compatibility { forms[scalar, default: 0] |= nfkc | nfkd }
    for (scalar, bits) in forms.sorted(byKey: { Int($0.key) }) {
      unstableForms.assign(bits, from: scalar, count: 1)
    }
  }

  private static func key(_ first: UInt32, _ second: UInt32) -> UInt64 {
    UInt64(first) << 32 | UInt64(second)
  }

  /// True if the character stays as it is after any character and before any stable one.
  @inline(__always)
  func isStable(_ scalar: UInt32, _ form: NormalizationForm) -> Bool {
    unstableForms[scalar] & form.bit == 0
  }

  /// Calls `body` with the full compatibility decomposition, unordered, or `scalar` itself.
  func forEachCompatibilityPart(of scalar: UInt32, _ body: (UInt32) -> Void) {
    let slice = compatibilitySlices[scalar]
    if slice == 0 { return UnicodeData.shared.forEachPart(of: scalar, body) }
    let offset = Int(slice >> 5)
    for index in offset..<offset + Int(slice & 31) { body(parts[index]) }
  }

  /// Returns the composition of two characters; nil if there is none.
  func composition(_ first: UInt32, _ second: UInt32) -> UInt32? {
    if first &- 0x1100 < 19, second &- 0x1161 < 21 {
      return 0xAC00 + ((first - 0x1100) * 21 + second - 0x1161) * 28
    }
    if UnicodeData.isHangulSyllable(first), (first - 0xAC00) % 28 == 0, second &- 0x11A8 < 27 {
      return first + second - 0x11A7
    }
    let key = Self.key(first, second)
    var (low, high) = (0, compositionKeys.count)
    while low < high {
      let middle = (low + high) / 2
      if compositionKeys[middle] < key { low = middle + 1 } else { high = middle }
    }
    return low < compositionKeys.count && compositionKeys[low] == key ? composites[low] : nil
  }
}

/// A normalisation form of Unicode (UAX #15).
enum NormalizationForm: UInt8, Sendable {
  case nfc, nfd, nfkc, nfkd

  var bit: UInt8 { 1 << rawValue }
  var composes: Bool { self == .nfc || self == .nfkc }
  var isCompatible: Bool { self == .nfkc || self == .nfkd }
}
