import Glibc

/// A whole text in memory.
final class InputText {
  let bytes: UnsafeBufferPointer<UInt8>

  /// The most bytes of a text that the library takes: 2 GiB less one.
  private static let limit = Int(Int32.max)

  /// Reads the file of this name, "-" for standard input.
  init(_ name: ArgumentText) throws(ToolError) {
    let input = try Input(name)
    let size = input.size ?? 0
    if size > Self.limit { throw Self.tooLarge(input.shown) }
    // One more, so that reading a file as large as it says ends without growing.
    var capacity = max(size + 1, 1 << 12)
    var text = malloc(capacity)
    var count = 0
    do throws(ToolError) {
      while let start = text {
        let room = UnsafeMutableRawBufferPointer(start: start + count, count: capacity - count)
        let read = try input.read(into: room)
        if read == 0 { break }
        count += read
        if count > Self.limit { throw Self.tooLarge(input.shown) }
        guard count == capacity else { continue }
        capacity *= 2
        text = realloc(start, capacity)
        if text == nil { free(start) }
      }
    } catch {
      free(text)
      throw error
    }
    guard let text else {
      throw ToolError(.resources, "not enough memory to read \(input.shown): split it")
    }
    bytes = UnsafeBufferPointer(start: text.assumingMemoryBound(to: UInt8.self), count: count)
  }

  /// Arguments joined with spaces.
  init(joining arguments: [ArgumentText]) {
    let joined = Array(arguments.map { Array($0.bytes) }.joined(separator: [UInt8(ascii: " ")]))
    let copy = malloc(max(1, joined.count))?.assumingMemoryBound(to: UInt8.self)
    let text = UnsafeMutableBufferPointer(start: copy, count: copy == nil ? 0 : joined.count)
    _ = text.initialize(from: joined)
    bytes = UnsafeBufferPointer(text)
  }

  deinit {
    free(UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  }

  /// Its lines without their ends; what follows the last line feed is a line unless it is empty.
  var lines: [UnsafeBufferPointer<UInt8>] {
    var lines: [UnsafeBufferPointer<UInt8>] = []
    var start = 0
    while start < bytes.count {
      let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
      lines.append(UnsafeBufferPointer(rebasing: bytes[start..<end]))
      start = end + 1
    }
    return lines
  }

  private static func tooLarge(_ shown: String) -> ToolError {
    ToolError(.input, "\(shown) has more than \(limit) bytes, the most that a text may have: split it")
  }

  /// Reads one file after the other; those that cannot be read are reported and left out, and make the code
  /// `.input`.
  static func forEach(
    _ files: [ArgumentText], _ body: (ArgumentText, InputText) throws(ToolError) -> Void
  ) throws(ToolError) -> ExitCode {
    try TextSource.forEach(files.map { TextSource(file: $0) }) { source, text throws(ToolError) in
      try body(source.file ?? .standardInput, text)
    }
  }
}
