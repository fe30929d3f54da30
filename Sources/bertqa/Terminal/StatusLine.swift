import Glibc

/// A line on the terminal at standard error that is drawn over and over.
enum StatusLine {
  static func draw(_ text: String) {
    var line: [UInt8] = []
    PlainText.append(text.utf8, to: &line)
    // A line that wraps could not be drawn over.
    let shown = String(decoding: line, as: UTF8.self).prefix(Terminal.width(STDERR_FILENO) - 1)
    write("\r\(shown)\u{1B}[K")
  }

  static func clear() { write("\r\u{1B}[K") }

  private static func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
  }
}
