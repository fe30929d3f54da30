/// Finds numbers of national registers by their shape and check digits.
extension TextBytes {
  struct IdentifierRule {
    let kind: PIIKinds
    let shapes: [IdentifierShape]
    /// Words before a number that say what it is, in lower case.
    let words: Set<String>
    /// True if one of them must stand before a number in one piece.
    var needsWord = false
    /// True if the check covers check digits; false if it only excludes numbers that are not issued.
    var hasCheckDigits = true
    let check: @Sendable (IdentifierShape.Match) -> Bool
  }

  static let identifierRules = [
    IdentifierRule(
      kind: .usSSN, shapes: [IdentifierShape(pattern: "ddd-dd-dddd", separators: " -")],
      words: ["ssn", "social", "security"], needsWord: true, hasCheckDigits: false,
      check: IdentifierChecks.isSSN),
    IdentifierRule(
      kind: .usITIN, shapes: [IdentifierShape(pattern: "ddd-dd-dddd", separators: " -")],
      words: ["itin", "tax"], needsWord: true, hasCheckDigits: false,
      check: IdentifierChecks.isITIN),
    IdentifierRule(
      kind: .ukNHS, shapes: [IdentifierShape(pattern: "ddd ddd dddd")],
      words: ["nhs"], check: IdentifierChecks.isNHS),
    IdentifierRule(
      kind: .ukNINO,
      shapes: [IdentifierShape(pattern: "LL dd dd dd L"), IdentifierShape(pattern: "LL dddddd L")],
      words: ["nino", "insurance"], hasCheckDigits: false, check: IdentifierChecks.isNINO),
    IdentifierRule(
      kind: .deTaxID, shapes: [IdentifierShape(pattern: "dd ddd ddd ddd")],
      words: ["steuer", "idnr", "tin", "identifikationsnummer"], check: IdentifierChecks.isGermanTaxID),
    IdentifierRule(
      kind: .frNIR,
      shapes: [
        IdentifierShape(pattern: "d dd dd dx ddd ddd dd"), IdentifierShape(pattern: "dddddxxdddddd dd"),
      ],
      words: ["nir", "insee", "sociale"], check: IdentifierChecks.isNIR),
    IdentifierRule(
      kind: .esDNI,
      shapes: [
        IdentifierShape(pattern: "dddddddd-L"), IdentifierShape(pattern: "dd.ddd.ddd-L"),
        IdentifierShape(pattern: "L-ddddddd-L"),
      ],
      words: ["dni", "nie", "nif"], check: IdentifierChecks.isDNI),
    IdentifierRule(
      kind: .itCF, shapes: [IdentifierShape(pattern: "LLL LLL xxLxx LxxxL")],
      words: ["fiscale", "cf"], check: IdentifierChecks.isCodiceFiscale),
    IdentifierRule(
      kind: .nlBSN,
      shapes: [IdentifierShape(pattern: "dddd dd ddd"), IdentifierShape(pattern: "ddd ddd ddd")],
      words: ["bsn", "burgerservicenummer"], check: IdentifierChecks.isBSN),
    IdentifierRule(
      kind: .plPESEL, shapes: [IdentifierShape(pattern: "ddddddddddd")],
      words: ["pesel"], check: IdentifierChecks.isPESEL),
    IdentifierRule(
      kind: .brCPF, shapes: [IdentifierShape(pattern: "ddd.ddd.ddd-dd")],
      words: ["cpf"], check: IdentifierChecks.isCPF),
    IdentifierRule(
      kind: .brCNPJ, shapes: [IdentifierShape(pattern: "dd.ddd.ddd/dddd-dd")],
      words: ["cnpj"], check: IdentifierChecks.isCNPJ),
    IdentifierRule(
      kind: .inAadhaar, shapes: [IdentifierShape(pattern: "dddd dddd dddd")],
      words: ["aadhaar", "aadhar", "uidai"], check: IdentifierChecks.isAadhaar),
    IdentifierRule(
      kind: .inPAN, shapes: [IdentifierShape(pattern: "LLLLLddddL")],
      words: ["pan"], hasCheckDigits: false, check: IdentifierChecks.isPAN),
    IdentifierRule(
      kind: .auTFN, shapes: [IdentifierShape(pattern: "ddd ddd ddd")],
      words: ["tfn", "tax"], check: IdentifierChecks.isTFN),
    IdentifierRule(
      kind: .auMedicare,
      shapes: [
        IdentifierShape(pattern: "dddd ddddd d"), IdentifierShape(pattern: "dddd ddddd d d"),
        IdentifierShape(pattern: "ddddddddddd"),
      ],
      words: ["medicare"], check: IdentifierChecks.isMedicare),
  ]

  /// Returns the longest identifier of some kinds that begins at a place; of equally long ones, that of the first kind.
  func identifier(at start: Int, _ kinds: PIIKinds) -> (range: Range<Int>, kind: PIIKinds)? {
    // A part of a longer number.
    if self[start - 1] == UInt8(ascii: "-") || self[start - 1] == UInt8(ascii: "."), isAlphanumeric(start - 2)
    {
      return nil
    }
    var best: (range: Range<Int>, kind: PIIKinds)?
    for rule in Self.identifierRules where kinds.contains(rule.kind) {
      for shape in rule.shapes {
        guard let match = shape.match(self, at: start), match.range.count > best?.range.count ?? 0,
          rule.check(match)
        else { continue }
        let isDoubtful = match.isGrouped ? isPart(match.range) : rule.needsWord
        if isDoubtful, word(among: rule.words, before: start) == nil { continue }
        best = (match.range, rule.kind)
      }
    }
    return best
  }

  /// True if more groups with the separator of a number's last group are beside it.
  private func isPart(_ number: Range<Int>) -> Bool {
    guard let mark = number.last(where: { !isAlphanumeric($0) }) else { return false }
    if self[mark] == UInt8(ascii: " ") {
      return hasGroup(behind: number.upperBound, gap: 1) || group(before: number.lowerBound, gap: 1) != nil
    }
    return self[number.upperBound] == self[mark] && isDigit(number.upperBound + 1)
  }

  /// Returns the place of the nearest of some words in the 32 bytes before a place.
  func word(among words: Set<String>, before start: Int) -> Range<Int>? {
    let low = max(0, start - 32)
    var position = start
    while position > low {
      let end = position
      position = wordStart(before: end, begin: low)
      if position == end {
        position -= 1
      } else if let found = part(of: position..<end, { words.contains($0) ? true : nil }) {
        return found.0
      } else if position == end - 1 {
        // "D.O.B."
        while position - 2 >= low, self[position - 1] == UInt8(ascii: "."), Self.isLetter(self[position - 2]),
          !isWordByte(position - 3)
        {
          position -= 2
        }
        if words.contains(spelling(position..<end).filter { $0 != "." }) { return position..<end }
      }
    }
    return nil
  }
}
