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

  public static let all: PIIKinds = [.email, .phone, .card, .iban, .ip, .url]

  /// The name of each kind in the command line and Python.
  public static let names: KeyValuePairs<String, PIIKinds> = [
    "email": .email, "phone": .phone, "card": .card, "iban": .iban, "ip": .ip, "url": .url,
  ]
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
  /// Personal data in a text, found by rules without a model. The labels are "EMAIL", "PHONE", "CARD",
  /// "IBAN", "IP" and "URL". The entities are in the order of the text and do not overlap. Takes time linear
  /// in the text.
  public init(
    piiIn text: UnsafeBufferPointer<UInt8>, options: PIIOptions = PIIOptions()
  ) throws(BertQAError) {
    try TextLimit.check(text, "text")
    guard PIIKinds.all.isSuperset(of: options.kinds) else {
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
    for one in found {
      let range = Int(one.start)..<Int(one.end)
      let source = folded?.sourceRange(range) ?? range
      let bytes = edges.visible(TextRange(start: source.lowerBound, end: source.upperBound))
      entities.append(try locator.entity(one.kind.label, bytes, 1))
    }
  }

  private static func found(
    _ text: UnsafeBufferPointer<UInt8>, _ folded: FoldedText?, _ kinds: PIIKinds, _ regions: [Int],
    _ monitor: CallMonitor
  ) throws(BertQAError) -> [PIIFinder.Found] {
    guard let folded else {
      var finder = PIIFinder(text, kinds, regions, monitor)
      try finder.run()
      return finder.found
    }
    return try folded.bytes.withElements { bytes throws(BertQAError) in
      var finder = PIIFinder(bytes, kinds, regions, monitor)
      try finder.run()
      return finder.found
    }
  }

  private static func numbers(ofRegions codes: [String]) throws(BertQAError) -> [Int] {
    var numbers: [Int] = []
    for code in codes {
      guard let number = NumberingPlans.shared.region(Array(code.utf8)) else {
        throw BertQAError(
          .invalidArgument, argument: "regions",
          "has \"\(code)\", but must be of codes of two letters, such as DE")
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
  /// The label of one kind.
  fileprivate var label: String {
    switch self {
    case .email: "EMAIL"
    case .phone: "PHONE"
    case .card: "CARD"
    case .iban: "IBAN"
    case .ip: "IP"
    default: "URL"
    }
  }
}
