/// Splits text that arrives in pieces into lines. Lines end with LF; the last one's may be missing.
struct LineReader {
  struct Line {
    /// Without the line end.
    var bytes: [UInt8]
    /// 1 for the first.
    var number: Int
  }

  /// The most bytes of a line: as many as a text may have.
  private static let limit = Int(Int32.max)

  /// What was fed and is not read yet: from `position` on.
  private var buffer: [UInt8] = []
  private var position = 0
  /// Bytes of the buffer that are known to hold no line end.
  private var searched = 0
  private var number = 0

  /// Takes the next piece of the file.
  mutating func feed(_ bytes: some Sequence<UInt8>) {
    buffer.removeSubrange(..<position)
    searched -= position
    position = 0
    buffer.append(contentsOf: bytes)
  }

  /// The next line that is complete in what was fed; nil: feed more, or `finish`.
  mutating func next() throws(ToolError) -> Line? {
    guard let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) else {
      searched = buffer.count
      guard searched - position <= Self.limit else {
        throw ToolError(.input, "line \(number + 1) has more than \(Self.limit) bytes")
      }
      return nil
    }
    return take(upTo: end, next: end + 1)
  }

  /// The last line, if its line end is missing; to be called once, when `next` gives nil and the file is
  /// over.
  mutating func finish() -> Line? {
    position < buffer.count ? take(upTo: buffer.count, next: buffer.count) : nil
  }

  private mutating func take(upTo end: Int, next: Int) -> Line {
    number += 1
    defer {
      position = next
      searched = next
    }
    return Line(bytes: Array(buffer[position..<end]), number: number)
  }
}
