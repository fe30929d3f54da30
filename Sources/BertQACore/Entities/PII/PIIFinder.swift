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
  var found: [Found] = []

  let text: TextBytes
  let kinds: PIIKinds
  /// True if some kinds are not among `PIIKinds.all`.
  private let hasMore: Bool
  let phones: PhoneFinder
  private var versions = VersionContext()
  let monitor: CallMonitor

  /// - Parameter regions: numbers of regions of `NumberingPlans`.
  init(_ text: UnsafeBufferPointer<UInt8>, _ kinds: PIIKinds, _ regions: [Int], _ monitor: CallMonitor) {
    self.text = TextBytes(bytes: text)
    self.kinds = kinds.isEmpty ? .all : kinds
    hasMore = !PIIKinds.all.isSuperset(of: kinds)
    phones = PhoneFinder(text: self.text, regions: regions)
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
      guard !kinds.isDisjoint(with: [.email, .url]), let address = text.email(around: position) else { break }
      if kinds.contains(.url), let range = text.remotePath(behind: address) {
        return try keepAround(range, .url)
      }
      if kinds.contains(.email) { return try keepAround(address, .email) }
    case .letter:
      if text.isWordByte(position - 1) { return position + 1 }
      var best = Best(kinds: kinds)
      best.consider(.url, text.url(at: position))
      best.consider(.iban, text.iban(at: position))
      best.consider(.card, text.firstTrack(at: position, behind: Int(found.last?.end ?? 0)))
      best.consider(.ip, text.internetAddress(at: position))
      considerMore(&best, at: position)
      if let range = best.range { return try keep(range, best.kind) }
    case .sign where byte == UInt8(ascii: "-"):
      guard kinds.contains(.coordinates), !text.isWordByte(position - 1),
        let range = text.coordinates(at: position)
      else { break }
      return try keep(range, .coordinates)
    case .digit, .sign:
      if text.isWordByte(position - 1) {
        guard kinds.contains(.phone), phones.isBehindWord(position),
          let range = phones.range(at: position, behind: Int(found.last?.end ?? 0), nil)
        else { return position + 1 }
        return try keep(range, .phone)
      }
      var best = Best(kinds: kinds)
      let groups = ByteKind(byte) == .digit ? DigitGroups(text, at: position) : nil
      let last = Int(found.last?.end ?? 0)
      if let groups { best.consider(.card, text.card(at: position, behind: last, groups)) }
      best.consider(.ip, text.internetAddress(at: position))
      if best.kind == .ip, let range = best.range, versions.isVersion(range, in: text) {
        return range.upperBound
      }
      considerMore(&best, at: position)
      best.consider(.phone, phones.range(at: position, behind: last, groups))
      if let range = best.range { return try keep(range, best.kind) }
    }
    return position + 1
  }

  /// Looks for the kinds that not every call asks for.
  private func considerMore(_ best: inout Best, at position: Int) {
    best.consider(.crypto, text.cryptoAddress(at: position))
    guard hasMore else { return }
    if let found = text.identifier(at: position, kinds) { best.consider(found.kind, found.range) }
    best.consider(.mac, text.macAddress(at: position))
    best.consider(.coordinates, text.coordinates(at: position))
    best.consider(.birthDate, text.birthDate(at: position))
  }

  /// The longest of several matches at one place; of equally long ones, the first.
  private struct Best {
    let kinds: PIIKinds
    private(set) var range: Range<Int>?
    private(set) var kind = PIIKinds.email

    init(kinds: PIIKinds) { self.kinds = kinds }

    /// - Parameter match: evaluated only if the call asks for the kind. A URL that is found and not kept would be read
    ///   again from its next word on.
    mutating func consider(_ kind: PIIKinds, _ match: @autoclosure () -> Range<Int>?) {
      guard kinds.contains(kind), let match = match(), match.count > range?.count ?? 0 else { return }
      range = match
      self.kind = kind
    }
  }

  /// Keeps an address. Data that lies within it, such as a number before the @, belongs to it; data that begins before
  /// it becomes as long as both.
  private mutating func keepAround(
    _ range: Range<Int>, _ kind: PIIKinds
  ) throws(BertQAError) -> Int {
    while let last = found.last, Int(last.start) >= range.lowerBound { found.removeLast() }
    if let last = found.last, Int(last.end) > range.lowerBound {
      found[found.count - 1].end = UInt32(range.upperBound)
      return range.upperBound
    }
    return try keep(range, kind)
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
    /// + and ( of a telephone number, : and [ of an IPv6 address, or - of a coordinate.
    case sign
    case at
    case other

    init(_ byte: UInt8) {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): self = .digit
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): self = .letter
      case UInt8(ascii: "+"), UInt8(ascii: "("), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "-"):
        self = .sign
      case UInt8(ascii: "@"): self = .at
      default: self = .other
      }
    }
  }
}
