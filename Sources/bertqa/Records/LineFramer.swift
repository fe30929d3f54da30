import Glibc

/// Splits the input into records that end with LF or CR LF. The last record may have no line end.
struct LineFramer: RecordFramer {
  /// The number of bytes of the unfinished record without a line feed.
  private var looked = 0

  mutating func frame(in bytes: UnsafeBufferPointer<UInt8>, from start: Int, isEnd: Bool) -> RecordFrame? {
    guard let base = bytes.baseAddress, start < bytes.count else { return nil }
    let from = base + start + looked
    guard let feed = memchr(from, Int32(UInt8(ascii: "\n")), bytes.count - start - looked) else {
      looked = bytes.count - start
      return nil
    }
    let end = UnsafeRawPointer(base).distance(to: feed)
    looked = 0
    return RecordFrame(
      raw: start..<end + 1, content: Self.withoutReturn(bytes, start..<end))
  }

  mutating func lastFrame(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> RecordFrame {
    let range = start..<bytes.count
    return RecordFrame(raw: range, content: Self.withoutReturn(bytes, range))
  }

  mutating func forget(_ count: Int) { looked = 0 }

  private static func withoutReturn(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Range<Int> {
    guard let last = range.last, bytes[last] == UInt8(ascii: "\r") else { return range }
    return range.dropLast()
  }
}
