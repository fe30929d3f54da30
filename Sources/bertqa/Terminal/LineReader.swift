import Glibc

/// Reads lines. On a terminal it uses libedit, if installed, for editing and history; other input is read
/// unchanged.
final class LineReader {
  private typealias ReadLine = @convention(c) (UnsafePointer<CChar>?) -> UnsafeMutablePointer<CChar>?
  private typealias AddHistory = @convention(c) (UnsafePointer<CChar>?) -> Int32

  private typealias Editing = (readLine: ReadLine, addHistory: AddHistory)

  private let input: Int32
  /// The descriptor of the prompt; nil if nobody types.
  private let screen: Int32?
  private var editing: Editing?
  private var lastLine = ""
  private var pending: ArraySlice<UInt8> = []

  private static let longestLine = 1 << 20

  init(input: Int32) {
    self.input = input
    screen = isatty(input) == 0 ? nil : Terminal.isThere(STDOUT_FILENO) ? STDOUT_FILENO : STDERR_FILENO
    if let screen, Terminal.isCapable(screen) { editing = Self.libedit(input, screen) }
  }

  /// True if a person types.
  var isInteractive: Bool { screen != nil }

  /// Returns the next line without its end; nil at the end of the input.
  func line(prompt: String) throws(ToolError) -> String? {
    guard let editing else {
      if let screen {
        let bytes = Array(prompt.utf8)
        _ = bytes.withUnsafeBytes { FileWriting.write($0, to: screen) }
      }
      return try plainLine()
    }
    guard let typed = editing.readLine(prompt) else { return nil }
    defer { free(typed) }
    let line = String(cString: typed)
    if !line.isEmpty, line != lastLine { _ = editing.addHistory(line) }
    lastLine = line
    return line
  }

  /// Returns the interface that libedit shares with readline, reading from `input` and drawing on `screen`;
  /// nil without libedit.
  private static func libedit(_ input: Int32, _ screen: Int32) -> Editing? {
    guard let library = try? SharedLibrary("libedit.so.2"),
      let readLine = try? library.function("readline", as: ReadLine.self),
      let addHistory = try? library.function("add_history", as: AddHistory.self),
      let instream = library.variable("rl_instream", of: UnsafeMutablePointer<FILE>?.self),
      let outstream = library.variable("rl_outstream", of: UnsafeMutablePointer<FILE>?.self),
      let reading = fdopen(input, "r"), let drawing = fdopen(screen, "w")
    else { return nil }
    // libedit decodes input by the locale, which may not be set.
    setlocale(LC_CTYPE, "")
    if strcmp(nl_langinfo(nl_item(CODESET)), "UTF-8") != 0 { setlocale(LC_CTYPE, "C.UTF-8") }
    instream.pointee = reading
    outstream.pointee = drawing
    return (readLine, addHistory)
  }

  private func plainLine() throws(ToolError) -> String? {
    var line: [UInt8] = []
    while true {
      if pending.isEmpty { pending = try nextBytes() }
      guard !pending.isEmpty else { return line.isEmpty ? nil : String(decoding: line, as: UTF8.self) }
      let part = pending.prefix { $0 != UInt8(ascii: "\n") }
      guard line.count + part.count <= Self.longestLine else {
        throw ToolError(.input, "a line of the input is longer than \(Self.longestLine) bytes")
      }
      line += part
      pending = pending.dropFirst(part.count)
      guard pending.popFirst() != nil else { continue }
      if line.last == UInt8(ascii: "\r") { line.removeLast() }
      return String(decoding: line, as: UTF8.self)
    }
  }

  /// Returns the bytes available now; empty at the end.
  private func nextBytes() throws(ToolError) -> ArraySlice<UInt8> {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = buffer.withUnsafeMutableBytes { bytes in
      var count = read(input, bytes.baseAddress, bytes.count)
      while count < 0, errno == EINTR { count = read(input, bytes.baseAddress, bytes.count) }
      return count
    }
    // A closed terminal reads as an error.
    if count < 0, !isInteractive { throw Input.error("standard input", errno) }
    return buffer.prefix(max(0, count))
  }
}
