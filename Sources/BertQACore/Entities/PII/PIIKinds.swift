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
  public var call = CallOptions()

  public init() {}
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
    try self.init(text, options.kinds, CallMonitor(options.call))
  }

  private init(
    _ text: UnsafeBufferPointer<UInt8>, _ kinds: PIIKinds, _ monitor: CallMonitor
  ) throws(BertQAError) {
    try monitor.checkNow()
    let before = monitor.heldBytes
    var finder = PIIFinder(text, kinds, monitor)
    try finder.run()
    let found = monitor.part(since: before)
    defer { withExtendedLifetime(found) {} }
    entities = try [Entity](resultCapacity: finder.found.count, monitor)
    var locator = RangeLocator(text, monitor)
    var edges = TextEdges(text: text)
    for one in finder.found {
      let bytes = edges.visible(TextRange(start: Int(one.start), end: Int(one.end)))
      entities.append(try locator.entity(one.kind.label, bytes, 1))
    }
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
