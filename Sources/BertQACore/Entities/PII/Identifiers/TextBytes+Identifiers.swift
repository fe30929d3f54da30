/// Finds numbers of national registers by their shape and check digits.
extension TextBytes {
  private struct Rule {
    let kind: PIIKinds
    let shapes: [IdentifierShape]
    /// Words one of which must stand before a number in one piece; empty: none need to.
    var words: [StaticString] = []
    let check: @Sendable (IdentifierShape.Match) -> Bool
  }

  private static let rules = [
    Rule(
      kind: .usSSN, shapes: [IdentifierShape(pattern: "ddd-dd-dddd", separators: " -")],
      words: ["ssn", "social", "security"], check: IdentifierChecks.isSSN),
    Rule(
      kind: .usITIN, shapes: [IdentifierShape(pattern: "ddd-dd-dddd", separators: " -")],
      words: ["itin", "tax"],
      check: IdentifierChecks.isITIN),
    Rule(kind: .ukNHS, shapes: [IdentifierShape(pattern: "ddd ddd dddd")], check: IdentifierChecks.isNHS),
    Rule(
      kind: .ukNINO,
      shapes: [IdentifierShape(pattern: "LL dd dd dd L"), IdentifierShape(pattern: "LL dddddd L")],
      check: IdentifierChecks.isNINO),
    Rule(
      kind: .deTaxID, shapes: [IdentifierShape(pattern: "dd ddd ddd ddd")],
      check: IdentifierChecks.isGermanTaxID),
    Rule(
      kind: .frNIR,
      shapes: [
        IdentifierShape(pattern: "d dd dd dx ddd ddd dd"), IdentifierShape(pattern: "dddddxxdddddd dd"),
      ],
      check: IdentifierChecks.isNIR),
    Rule(
      kind: .esDNI,
      shapes: [
        IdentifierShape(pattern: "dddddddd-L"), IdentifierShape(pattern: "dd.ddd.ddd-L"),
        IdentifierShape(pattern: "L-ddddddd-L"),
      ], check: IdentifierChecks.isDNI),
    Rule(
      kind: .itCF, shapes: [IdentifierShape(pattern: "LLL LLL xxLxx LxxxL")],
      check: IdentifierChecks.isCodiceFiscale),
    Rule(
      kind: .nlBSN,
      shapes: [IdentifierShape(pattern: "dddd dd ddd"), IdentifierShape(pattern: "ddd ddd ddd")],
      check: IdentifierChecks.isBSN),
    Rule(kind: .plPESEL, shapes: [IdentifierShape(pattern: "ddddddddddd")], check: IdentifierChecks.isPESEL),
    Rule(kind: .brCPF, shapes: [IdentifierShape(pattern: "ddd.ddd.ddd-dd")], check: IdentifierChecks.isCPF),
    Rule(
      kind: .brCNPJ, shapes: [IdentifierShape(pattern: "dd.ddd.ddd/dddd-dd")], check: IdentifierChecks.isCNPJ),
    Rule(
      kind: .inAadhaar, shapes: [IdentifierShape(pattern: "dddd dddd dddd")],
      check: IdentifierChecks.isAadhaar),
    Rule(kind: .inPAN, shapes: [IdentifierShape(pattern: "LLLLLddddL")], check: IdentifierChecks.isPAN),
    Rule(kind: .auTFN, shapes: [IdentifierShape(pattern: "ddd ddd ddd")], check: IdentifierChecks.isTFN),
    Rule(
      kind: .auMedicare,
      shapes: [
        IdentifierShape(pattern: "dddd ddddd d"), IdentifierShape(pattern: "dddd ddddd d d"),
        IdentifierShape(pattern: "ddddddddddd"),
      ], check: IdentifierChecks.isMedicare),
  ]

  /// Returns the longest identifier of some kinds that begins at a place; of equally long ones, that of the first kind.
  func identifier(at start: Int, _ kinds: PIIKinds) -> (range: Range<Int>, kind: PIIKinds)? {
    // A part of a longer number.
    if self[start - 1] == UInt8(ascii: "-") || self[start - 1] == UInt8(ascii: "."), isAlphanumeric(start - 2)
    {
      return nil
    }
    var best: (range: Range<Int>, kind: PIIKinds)?
    for rule in Self.rules where kinds.contains(rule.kind) {
      for shape in rule.shapes {
        guard let match = shape.match(self, at: start), match.range.count > best?.range.count ?? 0,
          rule.check(match)
        else { continue }
        if !match.isGrouped, !rule.words.isEmpty, !hasWord(among: rule.words, before: start) { continue }
        best = (match.range, rule.kind)
      }
    }
    return best
  }

  /// True if one of some words of lower-case ASCII stands in the 32 bytes before a place.
  func hasWord(among words: [StaticString], before start: Int) -> Bool {
    for position in max(0, start - 32)..<max(0, start)
    where isAlphanumeric(position) && !isWordByte(position - 1) {
      let isThere = words.contains {
        has($0, at: position) && !Self.isLetter(self[position + $0.utf8CodeUnitCount])
      }
      if isThere { return true }
    }
    return false
  }
}
