/// Decompresses a file as its bytes arrive. It holds at most one buffer of compressed and one of decompressed
/// bytes.
final class Decompressor {
  let compression: Compression
  private let shown: String
  private let decoder: any StreamDecoder
  private var buffer = ByteBuffer()
  /// The number of bytes in the buffer that the decoder has consumed.
  private var taken = 0
  /// The number of bytes of the file that the decoder has consumed.
  private var offset = 0
  /// True if the decoder has no more output without more input.
  private var isDrained = true
  private var flaw: String?

  private static let chunk = 1 << 16

  init(_ compression: Compression, _ shown: String) throws(ToolError) {
    self.compression = compression
    self.shown = shown
    decoder = try compression.makeDecoder(for: shown)
  }

  /// True if `take` may produce output without more input.
  var hasMore: Bool { !isDrained || taken < buffer.count || flaw != nil }

  /// Appends bytes of the file.
  func append(_ bytes: UnsafeBufferPointer<UInt8>) throws(ToolError) { try buffer.append(bytes) }

  /// Lets `read` append bytes of the file to the buffer. Returns the result of `read`.
  func fill(
    _ read: (UnsafeMutableRawBufferPointer) throws(ToolError) -> Int
  ) throws(ToolError) -> Int {
    try buffer.fill(atMost: Self.chunk, read)
  }

  /// Writes available output to `room`. Returns nil if it needs more of the file.
  func take(into room: UnsafeMutableRawBufferPointer) throws(ToolError) -> Int? {
    while hasMore {
      if let flaw { throw error("cannot be decompressed at byte \(offset): \(flaw)") }
      let rest = UnsafeRawBufferPointer(
        rebasing: UnsafeRawBufferPointer(buffer.bytes).dropFirst(taken))
      let step = decoder.decode(rest, into: room)
      taken += step.consumed
      offset += step.consumed
      flaw = step.flaw
      if taken == buffer.count {
        buffer.truncate(to: 0)
        taken = 0
      }
      isDrained = step.produced < room.count
      if step.produced > 0 { return step.produced }
      // A decoder that neither consumes nor produces bytes needs more input.
      if step.consumed == 0, flaw == nil { break }
    }
    return nil
  }

  /// Call this at the end of the file. Throws if the compressed data is incomplete.
  func checkEnd() throws(ToolError) {
    guard decoder.isWhole, taken == buffer.count else {
      throw error("ends early, at byte \(offset + buffer.count - taken)")
    }
  }

  private func error(_ what: String) -> ToolError {
    ToolError(.input, "\(shown), compressed with \(compression), \(what)")
  }
}
