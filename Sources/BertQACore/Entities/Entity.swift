/// A part of a text and its label.
public struct Entity: Sendable, Equatable {
  /// The label without its prefix B- or I-, unless each token is an entity.
  public var label: String
  public var bytes: TextRange
  public var codePoints: TextRange
  public var utf16: TextRange
  /// The label's probability, the mean over the entity's words or tokens; 1 for an entity found by a PII
  /// rule.
  public var score: Float

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
