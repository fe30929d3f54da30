/// A part of a text and its label.
public struct Entity: Sendable, Equatable {
  /// The label without its prefix B- or I-, unless each token is an entity.
  public var label: String
  public var bytes: TextRange
  public var codePoints: TextRange
  public var utf16: TextRange
  /// The label's probability, the mean over the entity's words or tokens. For a PII rule: 1 if the form, or a word
  /// before it, leaves little doubt; 0.8 if only the check digits of a register's number support it; 0.5 if only its
  /// form does.
  public var score: Float
  /// Why a rule found it; nil if no rule did.
  public var reason: EntityReason?

  public init(
    label: String, bytes: TextRange, codePoints: TextRange, utf16: TextRange, score: Float
  ) {
    self.label = label
    self.bytes = bytes
    self.codePoints = codePoints
    self.utf16 = utf16
    self.score = score
  }
}

/// Why a rule found an entity.
public struct EntityReason: Sendable, Equatable {
  /// The rule's name: that of a kind or of a rule of the caller, "deny" for a denied text, or "everywhere" for a text
  /// that was found elsewhere.
  public var rule: String
  /// The check that its characters passed, by the name of `Checksum`; nil if its kind has none.
  public var checksum: String?
  /// The bytes of the word before it that identifies it, such as "Tel"; nil if there is none.
  public var context: TextRange?

  public init(rule: String, checksum: String? = nil, context: TextRange? = nil) {
    self.rule = rule
    self.checksum = checksum
    self.context = context
  }
}

/// The entities of one text, in the order of the text.
public struct EntityList: Sendable {
  public var entities: [Entity] = []
  /// The number of windows that the model read; 0 if it read none.
  public var windowCount = 0

  public init() {}
}

/// Makes entities from byte ranges in the order of a text. It counts code points and UTF-16 units on the way,
/// so the time is linear in the text for any number of ranges.
struct RangeLocator {
  private let text: UnsafeBufferPointer<UInt8>
  private let monitor: CallMonitor
  // Neither starts nor ends ever decrease, but a start may be before the last end, because tokens can share a
  // range.
  private var start = TextPositions.Position()
  private var end = TextPositions.Position()

  init(_ text: UnsafeBufferPointer<UInt8>, _ monitor: CallMonitor) {
    self.text = text
    self.monitor = monitor
  }

  /// - Parameter bytes: its start and its end are not before those of the previous range.
  mutating func entity(
    _ label: String, _ bytes: TextRange, _ score: Float
  ) throws(BertQAError) -> Entity {
    try advance(&start, to: bytes.start)
    try advance(&end, to: bytes.end)
    return Entity(
      label: label, bytes: bytes, codePoints: TextRange(start: start.codePoint, end: end.codePoint),
      utf16: TextRange(start: start.utf16, end: end.utf16), score: score)
  }

  private func advance(
    _ position: inout TextPositions.Position, to byte: Int
  ) throws(BertQAError) {
    repeat {
      try monitor.check()
      TextPositions.advance(
        &position, to: min(byte, position.byte + CallPoll.textInterval), in: text)
    } while position.byte < byte
  }
}

extension EntityList {
  /// Entities that were found by other means.
  /// - Parameter parts: of this text, in any order.
  public init(
    of text: UnsafeBufferPointer<UInt8>,
    _ parts: [(label: String, bytes: TextRange, score: Float, reason: EntityReason?)],
    call: CallOptions = CallOptions()
  ) throws(BertQAError) {
    try self.init(of: text, parts, CallMonitor(call))
  }

  init(
    of text: UnsafeBufferPointer<UInt8>,
    _ parts: [(label: String, bytes: TextRange, score: Float, reason: EntityReason?)], _ monitor: CallMonitor
  ) throws(BertQAError) {
    try monitor.checkNow()
    for (_, bytes, _, _) in parts where bytes.start < 0 || bytes.start > bytes.end || bytes.end > text.count {
      throw BertQAError(
        .invalidArgument, "a range is \(bytes.start) to \(bytes.end), but the text has \(text.count) bytes")
    }
    let poll = CallPoll(monitor)
    entities = try [Entity](resultCapacity: parts.count, monitor)
    var starts = RangeLocator(text, monitor)
    for index in try Self.order(of: parts.checkedMap(poll) { $0.bytes }, poll) {
      let (label, bytes, score, reason) = parts[index]
      let start = TextRange(start: bytes.start, end: bytes.start)
      var entity = try starts.entity(label, start, score)
      entity.bytes = bytes
      entity.reason = reason
      entities.append(entity)
    }
    // An end may lie before that of an earlier entity.
    let ranges = try entities.checkedMap(poll) { $0.bytes }
    var ends = RangeLocator(text, monitor)
    for index in try ranges.indices.checkedSorted(poll, by: { ranges[$0].end < ranges[$1].end }) {
      let entity = entities[index]
      let end = TextRange(start: entity.bytes.end, end: entity.bytes.end)
      let place = try ends.entity("", end, 1)
      entities[index].codePoints = TextRange(start: entity.codePoints.start, end: place.codePoints.end)
      entities[index].utf16 = TextRange(start: entity.utf16.start, end: place.utf16.end)
    }
  }

  /// The entities of several lists of a text, in its order; of those that begin at the same place, the longest first.
  public init(
    merging lists: [[Entity]], of text: UnsafeBufferPointer<UInt8>, call: CallOptions = CallOptions()
  ) throws(BertQAError) {
    let monitor = CallMonitor(call)
    try monitor.checkNow()
    var all = try [Entity](checkedCapacity: lists.reduce(0) { $0 + $1.count }, monitor)
    for list in lists {
      for entity in list {
        try entity.checkIsWithin(text)
        all.append(entity)
      }
    }
    let poll = CallPoll(monitor)
    entities = try Self.order(of: all.checkedMap(poll) { $0.bytes }, poll).checkedMap(poll) { all[$0] }
  }

  /// Returns the indices of ranges in the order of the text; of those that begin at the same place, the longest first.
  private static func order(of ranges: [TextRange], _ poll: CallPoll) throws(BertQAError) -> [Int] {
    try ranges.indices.checkedSorted(poll) {
      (ranges[$0].start, ranges[$1].end) < (ranges[$1].start, ranges[$0].end)
    }
  }
}

extension Entity {
  /// Throws `.invalidArgument` if the range is not inside the text.
  func checkIsWithin(_ text: UnsafeBufferPointer<UInt8>) throws(BertQAError) {
    guard bytes.start >= 0, bytes.start <= bytes.end, bytes.end <= text.count else {
      throw BertQAError(
        .invalidArgument, argument: "lists",
        "have an entity of bytes \(bytes.start) to \(bytes.end), but the text has \(text.count): it belongs to another text"
      )
    }
  }
}
