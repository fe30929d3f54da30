/// The evidence for something that a rule has found.
struct PIIEvidence {
  /// As `Checksum` names it; nil if the kind has no check digits.
  private(set) var checksum: String?
  /// The place of the word before it that identifies it.
  private(set) var context: Range<Int>?
  /// As `Entity.score`.
  private(set) var score: Float = 1

  private static let likely: Float = 0.8
  private static let possible: Float = 0.5

  /// - Parameter text: as the rules read it.
  init(of kind: PIIKinds, _ range: Range<Int>, in text: TextBytes) {
    switch kind {
    case .card: checksum = "luhn"
    case .iban: checksum = "mod97"
    case .crypto: if !Self.isInOneCase(text.bytes[range]) { checksum = "crypto" }
    case .phone:
      let words = PhoneContext(text, before: range.lowerBound)
      if words.isPhone { context = words.word }
      if context == nil, !Self.isInternational(text, range.lowerBound) { score = Self.possible }
    case .coordinates: score = Self.possible
    case .birthDate: context = text.word(among: TextBytes.birthWords, before: range.lowerBound)
    default:
      guard let rule = TextBytes.identifierRules.first(where: { $0.kind == kind }) else { return }
      if rule.hasCheckDigits { checksum = Checksum.name(of: kind) }
      context = text.word(among: rule.words, before: range.lowerBound)
      if context == nil { score = rule.hasCheckDigits ? Self.likely : Self.possible }
    }
  }

  private static func isInternational(_ text: TextBytes, _ start: Int) -> Bool {
    let first = text[start] == UInt8(ascii: "(") ? text[start + 1] : text[start]
    return first == UInt8(ascii: "+") || text.has("00", at: start)
  }

  /// True for an Ethereum address whose letters, all in one case, have no checksum.
  private static func isInOneCase(_ address: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    let digits = address.dropFirst(2).filter(TextBytes.isLetter)
    return address.starts(with: "0x".utf8)
      && digits.allSatisfy { $0 & 0x20 == digits.first.map { $0 & 0x20 } }
  }
}
