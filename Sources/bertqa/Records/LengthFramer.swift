/// Splits the input into records that are preceded by their length as a four-byte big-endian number.
struct LengthFramer: RecordFramer {
  static let prefixSize = 4

  /// The size of the unfinished record including its length prefix, once known.
  private var total: Int?
  /// The number of its bytes that were dropped.
  private var forgotten = 0

  mutating func frame(in bytes: UnsafeBufferPointer<UInt8>, from start: Int, isEnd: Bool) -> RecordFrame? {
    if total == nil, bytes.count - start >= Self.prefixSize {
      total = Self.prefixSize
      for byte in bytes[start..<start + Self.prefixSize].enumerated() {
        total = (total ?? 0) + Int(byte.element) << (24 - 8 * byte.offset)
      }
    }
    guard let size = total, bytes.count - start >= size - forgotten else { return nil }
    defer { (total, forgotten) = (nil, 0) }
    return Self.frame(start..<start + size - forgotten)
  }

  mutating func lastFrame(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> RecordFrame {
    var frame = Self.frame(start..<bytes.count)
    frame.isComplete = false
    return frame
  }

  mutating func forget(_ count: Int) { forgotten += count }

  private static func frame(_ raw: Range<Int>) -> RecordFrame {
    RecordFrame(raw: raw, content: raw.dropFirst(prefixSize))
  }
}
