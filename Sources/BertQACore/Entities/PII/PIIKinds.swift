/// The kinds of personal data that rules find, with the numbers of `bertqa_pattern`. docs/entities.md has the
/// rules.
public struct PIIKinds: OptionSet, Sendable, Hashable {
  public let rawValue: Int32

  public init(rawValue: Int32) { self.rawValue = rawValue }

  public static let email = PIIKinds(rawValue: 1)
  public static let phone = PIIKinds(rawValue: 2)
  public static let card = PIIKinds(rawValue: 4)
  public static let iban = PIIKinds(rawValue: 8)
  public static let ip = PIIKinds(rawValue: 16)
  public static let url = PIIKinds(rawValue: 32)

  public static let crypto = PIIKinds(rawValue: 64)
  public static let mac = PIIKinds(rawValue: 128)
  public static let coordinates = PIIKinds(rawValue: 256)
  public static let birthDate = PIIKinds(rawValue: 512)
  public static let usSSN = PIIKinds(rawValue: 1 << 10)
  public static let usITIN = PIIKinds(rawValue: 1 << 11)
  public static let ukNHS = PIIKinds(rawValue: 1 << 12)
  public static let ukNINO = PIIKinds(rawValue: 1 << 13)
  public static let deTaxID = PIIKinds(rawValue: 1 << 14)
  public static let frNIR = PIIKinds(rawValue: 1 << 15)
  public static let esDNI = PIIKinds(rawValue: 1 << 16)
  public static let itCF = PIIKinds(rawValue: 1 << 17)
  public static let nlBSN = PIIKinds(rawValue: 1 << 18)
  public static let plPESEL = PIIKinds(rawValue: 1 << 19)
  public static let brCPF = PIIKinds(rawValue: 1 << 20)
  public static let brCNPJ = PIIKinds(rawValue: 1 << 21)
  public static let inAadhaar = PIIKinds(rawValue: 1 << 22)
  public static let inPAN = PIIKinds(rawValue: 1 << 23)
  public static let auTFN = PIIKinds(rawValue: 1 << 24)
  public static let auMedicare = PIIKinds(rawValue: 1 << 25)

  /// The kinds that are safe everywhere: other numbers rarely look like them.
  public static let all: PIIKinds = [.email, .phone, .card, .iban, .ip, .url, .crypto]

  public static let us: PIIKinds = [.usSSN, .usITIN]
  public static let uk: PIIKinds = [.ukNHS, .ukNINO]
  public static let eu: PIIKinds = [.deTaxID, .frNIR, .esDNI, .itCF, .nlBSN, .plPESEL]
  public static let brazil: PIIKinds = [.brCPF, .brCNPJ]
  public static let india: PIIKinds = [.inAadhaar, .inPAN]
  public static let australia: PIIKinds = [.auTFN, .auMedicare]

  /// Numbers of national registers.
  static let identifiers: PIIKinds = [.us, .uk, .eu, .brazil, .india, .australia]
  static let known: PIIKinds = [.all, .mac, .coordinates, .birthDate, .identifiers]

  /// The name of each kind in the command line and Python, in the order of the bits. In capitals it is the label.
  public static let names: KeyValuePairs<String, PIIKinds> = [
    "email": .email, "phone": .phone, "card": .card, "iban": .iban, "ip": .ip, "url": .url, "crypto": .crypto,
    "mac": .mac, "coordinates": .coordinates, "birth_date": .birthDate, "us_ssn": .usSSN, "us_itin": .usITIN,
    "uk_nhs": .ukNHS, "uk_nino": .ukNINO, "de_tax_id": .deTaxID, "fr_nir": .frNIR, "es_dni": .esDNI,
    "it_cf": .itCF,
    "nl_bsn": .nlBSN, "pl_pesel": .plPESEL, "br_cpf": .brCPF, "br_cnpj": .brCNPJ, "in_aadhaar": .inAadhaar,
    "in_pan": .inPAN, "au_tfn": .auTFN, "au_medicare": .auMedicare,
  ]

  /// The names of groups.
  public static let groups: KeyValuePairs<String, PIIKinds> = [
    "all": .all, "us": .us, "uk": .uk, "eu": .eu, "br": .brazil, "in": .india, "au": .australia,
  ]

  /// The kinds with these names, of kinds and groups, separated by commas, with or without spaces: "all, us_ssn".
  public init(names list: String) throws(BertQAError) {
    let known = Array(Self.groups) + Array(Self.names)
    self = []
    for part in list.split(separator: ",", omittingEmptySubsequences: false) {
      let name = part.trimmed
      guard let kinds = known.first(where: { $0.key == name })?.value else {
        throw BertQAError(
          .invalidArgument, argument: "patterns",
          "must be of \(known.map(\.key).joined(separator: ", ")), separated by commas, but is \(quoted(list))"
        )
      }
      formUnion(kinds)
    }
  }
}

/// Options for finding personal data by rule. The names in parentheses are those of the C header.
public struct PIIOptions: Sendable {
  /// The kinds to find (`patterns`).
  public var kinds = PIIKinds.all
  /// Countries whose telephone numbers are found in every form that their numbering plans have, as codes of two
  /// letters (ISO 3166): "DE" (`regions`). Numbers of other countries are found by their calling code or usual form.
  public var regions: [String] = []
  public var call = CallOptions()

  public init() {}

  /// True if `regions` may have a code.
  package static func hasRegion(_ code: String) -> Bool {
    NumberingPlans.shared.region(Array(code.utf8)) != nil
  }
}

extension EntityList {
  /// Personal data in a text, found by rules without a model. A label is the kind's name in capitals, such as "EMAIL".
  /// The entities are in the order of the text and do not overlap. Takes time linear in the text.
  public init(
    piiIn text: UnsafeBufferPointer<UInt8>, options: PIIOptions = PIIOptions()
  ) throws(BertQAError) {
    try TextLimit.check(text, "text")
    guard PIIKinds.known.isSuperset(of: options.kinds) else {
      throw BertQAError(
        .invalidArgument, argument: "patterns",
        "is \(options.kinds.rawValue), but must be a sum of BERTQA_PATTERN_... constants")
    }
    let monitor = CallMonitor(options.call)
    try monitor.checkNow()
    let before = monitor.heldBytes
    let regions = try Self.numbers(ofRegions: options.regions)
    let folded = try FoldedText(text, monitor)
    let found = try Self.found(text, folded, options.kinds, regions, monitor)
    let held = monitor.part(since: before)
    defer { withExtendedLifetime(held) {} }
    entities = try [Entity](resultCapacity: found.count, monitor)
    var locator = RangeLocator(text, monitor)
    var edges = TextEdges(text: text)
    func add(_ one: PIIFinder.Found, _ read: TextBytes) throws(BertQAError) {
      let range = Int(one.start)..<Int(one.end)
      let source = folded?.sourceRange(range) ?? range
      let bytes = edges.visible(TextRange(start: source.lowerBound, end: source.upperBound))
      let evidence = PIIEvidence(of: one.kind, range, in: read)
      var entity = try locator.entity(one.kind.label, bytes, evidence.score)
      let context = evidence.context.map { folded?.sourceRange($0) ?? $0 }
      entity.reason = EntityReason(
        rule: one.kind.name, checksum: evidence.checksum,
        context: context.map { TextRange(start: $0.lowerBound, end: $0.upperBound) })
      entities.append(entity)
    }
    guard let folded else {
      for one in found { try add(one, TextBytes(bytes: text)) }
      return
    }
    try folded.bytes.withElements { bytes throws(BertQAError) in
      for one in found { try add(one, TextBytes(bytes: bytes)) }
    }
  }

  private static func found(
    _ text: UnsafeBufferPointer<UInt8>, _ folded: FoldedText?, _ kinds: PIIKinds, _ regions: [Int],
    _ monitor: CallMonitor
  ) throws(BertQAError) -> [PIIFinder.Found] {
    func found(_ bytes: UnsafeBufferPointer<UInt8>) throws(BertQAError) -> [PIIFinder.Found] {
      var finder = PIIFinder(bytes, kinds, regions, monitor)
      try finder.run()
      try finder.joinLines()
      return finder.found
    }
    guard let folded else { return try found(text) }
    return try folded.bytes.withElements { bytes throws(BertQAError) in try found(bytes) }
  }

  private static func numbers(ofRegions codes: [String]) throws(BertQAError) -> [Int] {
    var numbers: [Int] = []
    for code in codes {
      guard let number = NumberingPlans.shared.region(Array(code.utf8)) else {
        throw BertQAError(
          .invalidArgument, argument: "regions",
          "has \"\(code)\", which is not a country code of ISO 3166 with a numbering plan; pass one such as "
            + "DE")
      }
      if !numbers.contains(number) { numbers.append(number) }
    }
    return numbers
  }

  /// Personal data in a string.
  public init(
    piiIn text: String, options: PIIOptions = PIIOptions()
  ) throws(BertQAError) {
    self = try withBytes(of: text) { bytes throws(BertQAError) in
      try EntityList(piiIn: bytes, options: options)
    }
  }
}

extension PIIKinds {
  /// The name of one kind.
  fileprivate var name: String { Self.orderedNames[rawValue.trailingZeroBitCount] }
  /// The label of one kind.
  fileprivate var label: String { Self.labels[rawValue.trailingZeroBitCount] }

  private static let orderedNames = names.map(\.key)
  private static let labels = orderedNames.map { $0.uppercased() }
}
