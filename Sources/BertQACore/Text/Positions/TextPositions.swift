/// Converts byte offsets of a text to code points and UTF-16 units: O(1) each, by checkpoints from one pass,
/// O(bytes).
struct TextPositions: Sendable {
  struct Position: Sendable, Equatable {
    var byte = 0
    var codePoint = 0
    var utf16 = 0
  }

  static let spacing = 4096

  /// Entry k is the first unit that begins at byte k · `spacing` or later.
  private let checkpoints: [Position]

  init(_ text: UnsafeBufferPointer<UInt8>, _ monitor: CallMonitor) throws(BertQAError) {
    try self.init(text, CallPoll(monitor))
  }

  init(_ text: UnsafeBufferPointer<UInt8>, _ poll: CallPoll) throws(BertQAError) {
    try poll.hold(text.count / Self.spacing + 1, of: Position.self)
    var checkpoints = try [Position](checkedCapacity: text.count / Self.spacing + 1)
    checkpoints.append(Position())
    var position = Position()
    while text.count - position.byte > Self.spacing {
      Self.advance(&position, to: checkpoints.count * Self.spacing, in: text)
      checkpoints.append(position)
      try poll.check()
    }
    self.checkpoints = checkpoints
  }

  /// Returns the position of `byte`. A unit around it counts as passed.
  func position(ofByte byte: Int, in text: UnsafeBufferPointer<UInt8>) -> Position {
    var index = min(byte / Self.spacing, checkpoints.count - 1)
    if checkpoints[index].byte > byte { index -= 1 }
    var position = checkpoints[index]
    Self.advance(&position, to: byte, in: text)
    return position
  }

  /// Passes whole units until `byte` is reached.
  static func advance(
    _ position: inout Position, to byte: Int, in text: UnsafeBufferPointer<UInt8>
  ) {
    let high: UInt64 = 0x8080_8080_8080_8080
    let raw = UnsafeRawBufferPointer(text)
    while position.byte < byte {
      while position.byte + 8 <= byte
        && raw.loadUnaligned(fromByteOffset: position.byte, as: UInt64.self) & high == 0
      {
        position.byte += 8
        position.codePoint += 8
        position.utf16 += 8
      }
      guard position.byte < byte else { return }
      let unit = UTF8Codec.decode(text, at: position.byte)
      position.byte += unit.size
      position.codePoint += 1
      position.utf16 += unit.scalar > 0xFFFF ? 2 : 1
    }
  }
}
