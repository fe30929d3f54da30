/// Finds personal data by rule in one pass over the text. Every rule reads a bounded number of bytes, except
/// for the rest of a URL, which is then skipped. So the time is linear for every text.
struct PIIFinder {
  /// Bytes of the text.
  struct Found {
    var start: UInt32
    var end: UInt32
    var kind: PIIKinds
  }

  /// In the order of the text, without overlaps.
  private(set) var found: [Found] = []

  private let text: PatternText
  private let kinds: PIIKinds
  private let monitor: CallMonitor

  init(_ text: UnsafeBufferPointer<UInt8>, _ kinds: PIIKinds, _ monitor: CallMonitor) {
    self.text = PatternText(bytes: text)
    self.kinds = kinds.isEmpty ? .all : kinds
    self.monitor = monitor
  }

  mutating func run() throws(BertQAError) {
    var position = 0
    var poll = TextPoll(monitor)
    while position < text.count {
      try poll.reach(position)
      position = try next(position)
    }
  }

  /// Looks for data that starts at a position, or for an e-mail address whose @ is there. Returns the next
  /// position to look at.
  private mutating func next(_ position: Int) throws(BertQAError) -> Int {
    let byte = text[position]
    switch ByteKind(byte) {
    case .other: return position + 1
    case .at:
      guard kinds.contains(.email), let range = text.email(around: position) else { break }
      // Data found in the part before the @, such as a number, belongs to the address.
      while let last = found.last, Int(last.start) >= range.lowerBound { found.removeLast() }
      guard Int(found.last?.end ?? 0) <= range.lowerBound else { break }
      return try keep(range, .email)
    case .letter, .digit, .sign:
      guard !text.isWordByte(position - 1) else { break }
      // The longest of several that start here; of equally long ones, the first.
      var best: (range: Range<Int>, kind: PIIKinds)?
      func consider(_ kind: PIIKinds, _ match: (Int) -> Range<Int>?) {
        guard kinds.contains(kind), let range = match(position) else { return }
        if range.count > best?.range.count ?? 0 { best = (range, kind) }
      }
      if ByteKind(byte) == .letter {
        consider(.url, text.url)
        consider(.iban, text.iban)
      } else {
        consider(.card, text.card)
        consider(.phone, text.phone)
      }
      consider(.ip, text.internetAddress)
      if let best { return try keep(best.range, best.kind) }
    }
    return position + 1
  }

  private mutating func keep(
    _ range: Range<Int>, _ kind: PIIKinds
  ) throws(BertQAError) -> Int {
    try found.makeRoom(for: 1, monitor)
    found.append(Found(start: UInt32(range.lowerBound), end: UInt32(range.upperBound), kind: kind))
    return range.upperBound
  }

  /// The kinds of data that can start with a byte.
  private enum ByteKind {
    case letter
    case digit
    /// + and ( of a telephone number, or : of an IPv6 address.
    case sign
    case at
    case other

    init(_ byte: UInt8) {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): self = .digit
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): self = .letter
      case UInt8(ascii: "+"), UInt8(ascii: "("), UInt8(ascii: ":"): self = .sign
      case UInt8(ascii: "@"): self = .at
      default: self = .other
      }
    }
  }
}
