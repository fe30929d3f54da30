import Glibc

/// A whole document in memory.
final class InputText {
  let bytes: UnsafeBufferPointer<UInt8>

  /// The most bytes of a text that the library takes: 2 GiB less one.
  private static let limit = Int(Int32.max)

  /// Reads the file of this name, "-" for standard input.
  init(_ name: ArgumentText) throws(ToolError) {
    let isStandardInput = strcmp(name.pointer, "-") == 0
    let shown = isStandardInput ? "standard input" : name.string
    let descriptor = isStandardInput ? STDIN_FILENO : open(name.pointer, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.readError(shown, errno) }
    defer { if !isStandardInput { close(descriptor) } }

    var status = stat()
    let size = fstat(descriptor, &status) == 0 ? max(0, Int(status.st_size)) : 0
    if size > Self.limit { throw Self.tooLarge(shown) }
    // One more, so that reading a file as large as it says ends without growing.
    var capacity = max(size + 1, 1 << 12)
    var text = malloc(capacity)
    var count = 0
    while let start = text {
      let result = read(descriptor, start + count, capacity - count)
      if result == 0 { break }
      if result < 0 {
        let number = errno
        if number == EINTR { continue }
        free(text)
        throw Self.readError(shown, number)
      }
      count += result
      if count > Self.limit {
        free(text)
        throw Self.tooLarge(shown)
      }
      if count == capacity {
        capacity *= 2
        text = realloc(start, capacity)
        if text == nil { free(start) }
      }
    }
    guard let text else {
      throw ToolError(.resources, "not enough memory to read \(shown): split it")
    }
    bytes = UnsafeBufferPointer(start: text.assumingMemoryBound(to: UInt8.self), count: count)
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

  deinit {
    free(UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  }

  private static func readError(_ shown: String, _ number: Int32) -> ToolError {
    if number == EISDIR {
      return ToolError(.input, "\(shown): is a directory, not a document: name its files")
    }
    return ToolError(.input, "cannot read \(shown): \(String(cString: strerror(number)))")
  }

  private static func tooLarge(_ shown: String) -> ToolError {
    ToolError(.input, "\(shown) has more than \(limit) bytes, the most that a document may have: split it")
  }
}

extension InputText {
  /// Reads one file after the other; those that cannot be read are reported and left out, and make the code
  /// `.input`.
  static func forEach(
    _ files: [ArgumentText], _ body: (ArgumentText, InputText) throws(ToolError) -> Void
  ) throws(ToolError) -> ExitCode {
    var code = ExitCode.done
    for file in files {
      let text: InputText
      do throws(ToolError) {
        text = try InputText(file)
      } catch {
        guard error.code == .input else { throw error }
        report(error.message)
        code = .input
        continue
      }
      try withExtendedLifetime(text) { () throws(ToolError) in try body(file, text) }
    }
    return code
  }
}
