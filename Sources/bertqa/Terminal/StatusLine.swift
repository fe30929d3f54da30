import Glibc

/// A status line on standard error that is redrawn in place.
enum StatusLine {
  static func draw(_ text: String) {
    var line: [UInt8] = []
    PlainText.append(text.utf8, to: &line)
    // A wrapped line cannot be overwritten.
    let shown = String(decoding: line, as: UTF8.self).prefix(Terminal.width(STDERR_FILENO) - 1)
    write("\r\(shown)\u{1B}[K")
  }

  static func clear() { write("\r\u{1B}[K") }

  private static func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
  }
}
