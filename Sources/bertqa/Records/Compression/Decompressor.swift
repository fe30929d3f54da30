/// The bytes of a compressed file on their way to what they were: takes them as they come, and holds no more
/// of them and of what they give than one buffer, however much that is.
final class Decompressor {
  let compression: Compression
  private let shown: String
  private let decoder: any StreamDecoder
  private var buffer = ByteBuffer()
  /// Of the buffer's bytes, those that the decoder has taken.
  private var taken = 0
  /// Bytes of the file that the decoder has taken.
  private var offset = 0
  /// Whether the decoder may have more to give without more input.
  private var isDrained = true
  private var flaw: String?

  private static let chunk = 1 << 16

  init(_ compression: Compression, _ shown: String) throws(ToolError) {
    self.compression = compression
    self.shown = shown
    decoder = try compression.makeDecoder(for: shown)
  }

  /// Whether `take` may give something without more input.
  var hasMore: Bool { !isDrained || taken < buffer.count || flaw != nil }

  /// Takes over bytes of the file.
  func append(_ bytes: UnsafeBufferPointer<UInt8>) throws(ToolError) { try buffer.append(bytes) }

  /// Lets `read` put bytes of the file behind those that are here; gives what it returns.
  func fill(
    _ read: (UnsafeMutableRawBufferPointer) throws(ToolError) -> Int
  ) throws(ToolError) -> Int {
    try buffer.reserve(Self.chunk)
    let count = try read(UnsafeMutableRawBufferPointer(rebasing: buffer.rawRoom.prefix(Self.chunk)))
    buffer.extend(by: count)
    return count
  }

  /// Puts into `room` what there is; nil if that needs more of the file.
  func take(into room: UnsafeMutableRawBufferPointer) throws(ToolError) -> Int? {
    while hasMore {
      if let flaw { throw error("is damaged at byte \(offset): \(flaw)") }
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
      // A decoder that takes nothing and gives nothing waits for more than there is.
      if step.consumed == 0, flaw == nil { break }
    }
    return nil
  }

  /// To be called at the file's end.
  func checkEnd() throws(ToolError) {
    guard decoder.isWhole, taken == buffer.count else {
      throw error("ends early, at byte \(offset + buffer.count - taken)")
    }
  }

  private func error(_ what: String) -> ToolError {
    ToolError(.input, "\(shown), compressed with \(compression), \(what)")
  }
}
