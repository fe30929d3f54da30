import Glibc

/// A whole text in memory.
final class InputText {
  let bytes: UnsafeBufferPointer<UInt8>

  /// The most bytes of a text that the library takes: 2 GiB less one.
  private static let limit = Int(Int32.max)

  /// Reads the file of this name, "-" for standard input. UTF-16 with a byte order mark becomes UTF-8, in which
  /// ranges count then.
  /// - Parameter isForced: whether to read what does not look like text, too.
  init(_ name: ArgumentText, isForced: Bool = false) throws(ToolError) {
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
    let read = UnsafeBufferPointer(
      start: UnsafePointer(text.assumingMemoryBound(to: UInt8.self)), count: count)
    switch TextForm(read) {
    case .noText(let kind) where !isForced:
      free(text)
      throw ToolError(.input, "\(input.shown): looks like \(kind); --force reads it nevertheless")
    case .utf16(let isBigEndian):
      bytes = Self.copy(TextForm.utf8(fromUTF16: read, isBigEndian: isBigEndian))
      free(text)
      report("note: \(input.shown) is UTF-16 and was converted: ranges count in UTF-8")
    default: bytes = read
    }
  }

  /// To be freed.
  private static func copy(_ bytes: [UInt8]) -> UnsafeBufferPointer<UInt8> {
    let copy = malloc(max(1, bytes.count))?.assumingMemoryBound(to: UInt8.self)
    let text = UnsafeMutableBufferPointer(start: copy, count: copy == nil ? 0 : bytes.count)
    _ = text.initialize(from: bytes)
    return UnsafeBufferPointer(text)
  }

  /// A copy.
  init(copying text: [UInt8]) { bytes = Self.copy(text) }

  /// Arguments joined with spaces.
  init(joining arguments: [ArgumentText]) {
    bytes = Self.copy(Array(arguments.map { Array($0.bytes) }.joined(separator: [UInt8(ascii: " ")])))
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
    _ files: [ArgumentText], isForced: Bool, _ body: (ArgumentText, InputText) throws(ToolError) -> Void
  ) throws(ToolError) -> ExitCode {
    try TextSource.forEach(files.map { TextSource(file: $0, isForced: isForced) }) {
      source, text throws(ToolError) in
      try body(source.file ?? .standardInput, text)
    }
  }
}
