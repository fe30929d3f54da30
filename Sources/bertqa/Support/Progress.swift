import Glibc

/// A line on the terminal that says how far work is that takes more than a second. Drawn from the
/// library's hooks, which run on the calling thread.
final class Progress: @unchecked Sendable {  // the tool has one thread; the hooks want Sendable closures
  private let subject: String
  private let start = Progress.now()
  private var lastDrawn: Double?
  /// What was last said; nil before anything was.
  private var state: String?

  /// nil where nobody would see it.
  init?(subject: String) {
    guard Terminal.isCapable(STDERR_FILENO) else { return nil }
    self.subject = subject
  }

  func update(done: Int, total: Int) {
    guard total > 0 else { return }
    update("\(done) of \(total) windows")
  }

  func update(_ state: String) {
    self.state = state
    tick()
  }

  func tick() {
    let now = Progress.now()
    guard let state, now - start >= 1, now - (lastDrawn ?? 0) >= 0.1 else { return }
    lastDrawn = now
    var line: [UInt8] = []
    PlainText.append("\(subject): \(state), \(Int(now - start)) s".utf8, to: &line)
    // A line that wraps could not be drawn over.
    let shown = String(decoding: line, as: UTF8.self).prefix(Terminal.width(STDERR_FILENO) - 1)
    draw("\r\(shown)\u{1B}[K")
  }

  func clear() {
    if lastDrawn != nil { draw("\r\u{1B}[K") }
    lastDrawn = nil
  }

  private func draw(_ text: String) {
    let bytes = Array(text.utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
  }

  /// Seconds of a clock that never jumps.
  private static func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }
}
