import Glibc

/// A line on the terminal that says how far work is that takes more than a second. Drawn from the
/// library's hooks, which run on the calling thread.
final class Progress: @unchecked Sendable {  // the tool has one thread; the hooks want Sendable closures
  private let subject: String
  private let start = Clock.seconds()
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
    let now = Clock.seconds()
    guard let state, now - start >= 1, now - (lastDrawn ?? 0) >= 0.1 else { return }
    lastDrawn = now
    StatusLine.draw("\(subject): \(state), \(Int(now - start)) s")
  }

  func clear() {
    if lastDrawn != nil { StatusLine.clear() }
    lastDrawn = nil
  }
}
