import Glibc

/// Buffered standard output. All write errors are reported.
final class Output {
  private var buffer: [UInt8] = []

  func write(_ text: String) {
    buffer.append(contentsOf: text.utf8)
  }

  func write(_ bytes: some Sequence<UInt8>) {
    buffer.append(contentsOf: bytes)
  }

  /// Writes out the buffer if it is large. Call it between records of a long listing.
  func flushIfLarge() throws(ToolError) {
    if buffer.count >= 1 << 16 { try flush() }
  }

  func flush() throws(ToolError) {
    let number = buffer.withUnsafeBytes { FileWriting.write($0, to: STDOUT_FILENO) }
    if number != 0 { throw writeError(number) }
    buffer.removeAll(keepingCapacity: true)
  }

  /// Writes the rest and closes, as some file systems report a full disk only on close.
  func finish() throws(ToolError) {
    try flush()
    if close(STDOUT_FILENO) != 0 { throw writeError(errno) }
  }

  private func writeError(_ number: Int32) -> ToolError {
    // The reader closed the pipe: exit without a message.
    if number == EPIPE { return ToolError(.resources, "") }
    return FileWriting.failed("standard output", number)
  }
}

/// Prints one line to standard error: `bertqa: …`.
func report(_ message: String) {
  var line = Array("bertqa: ".utf8)
  PlainText.append(message.utf8, to: &line)
  line.append(UInt8(ascii: "\n"))
  _ = write(STDERR_FILENO, line, line.count)
}
