import Glibc

/// A byte buffer whose contents move only when it grows.
final class ByteBuffer {
  private(set) var start: UnsafeMutablePointer<UInt8>?
  private(set) var capacity = 0
  private(set) var count = 0

  deinit { free(start) }

  var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: start, count: count) }

  /// The free space after the bytes: write here, then call `extend`.
  var room: UnsafeMutableBufferPointer<UInt8> {
    UnsafeMutableBufferPointer(start: start.map { $0 + count }, count: capacity - count)
  }

  /// Makes room for `more` bytes. The memory doubles, so that growth takes linear time in total.
  func reserve(_ more: Int) throws(ToolError) {
    guard capacity - count < more else { return }
    let wanted = max(count + more, capacity * 2, 1 << 12)
    guard let grown = realloc(start, wanted) else {
      throw ToolError(.resources, "not enough memory for \(wanted) bytes of input")
    }
    start = grown.assumingMemoryBound(to: UInt8.self)
    capacity = wanted
  }

  var rawRoom: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(room) }

  /// Drops the bytes after the first `count`.
  func truncate(to count: Int) { self.count = min(self.count, count) }

  /// Drops the first bytes. The others move to the start.
  func removeFirst(_ dropped: Int) {
    guard let start, dropped > 0 else { return }
    count -= dropped
    memmove(start, start + dropped, count)
  }

  /// Adds the `written` bytes that the caller wrote into `room`.
  func extend(by written: Int) { count += written }

  /// Adds what `read` writes into a room of `most` bytes. Returns its result, the number of bytes.
  func fill(
    atMost most: Int, _ read: (UnsafeMutableRawBufferPointer) throws(ToolError) -> Int
  ) throws(ToolError) -> Int {
    try reserve(most)
    let count = try read(UnsafeMutableRawBufferPointer(rebasing: rawRoom.prefix(most)))
    extend(by: count)
    return count
  }

  func append(_ bytes: UnsafeBufferPointer<UInt8>) throws(ToolError) {
    guard let source = bytes.baseAddress, bytes.count > 0 else { return }
    try reserve(bytes.count)
    if let start { (start + count).update(from: source, count: bytes.count) }
    count += bytes.count
  }
}
