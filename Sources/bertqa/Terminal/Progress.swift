import BertQACore
import Glibc

/// A line on the terminal that says how far work is that takes more than a second: a bar, how much is done, how
/// fast, and how long the rest will take. Drawn from the library's hooks, which run on the calling thread.
final class Progress: @unchecked Sendable {  // the tool has one thread; the hooks want Sendable closures
  private let subject: String
  private let start = Clock.seconds()
  private var lastDrawn: Double?
  /// What was last said; nil before anything was.
  private var state: (text: String, fraction: Double?, rate: String)?

  private static let barWidth = 20

  /// nil where nobody would see it.
  init?(subject: String) {
    guard Terminal.isCapable(STDERR_FILENO) else { return nil }
    self.subject = subject
  }

  /// Draws it from a call's hooks.
  func follow(_ call: inout CallOptions) {
    call.cancellation = Cancellation {
      self.tick()
      return false
    }
    call.progress = { done, total in self.update(done: done, total: total) }
  }

  func update(done: Int, total: Int) {
    guard total > 0 else { return }
    let rate = Double(done) / max(Clock.seconds() - start, 1e-3)
    let shownRate = rate < 10 ? decimal(rate, digits: 1) : String(Int(rate.rounded()))
    state = ("\(done) of \(total) windows", Double(done) / Double(total), ", \(shownRate) /s")
    tick()
  }

  /// - Parameter fraction: of the work, 0 to 1; nil if nobody knows.
  func update(_ text: String, fraction: Double? = nil) {
    state = (text, fraction, "")
    tick()
  }

  func tick() {
    let now = Clock.seconds()
    guard let state, now - start >= 1, now - (lastDrawn ?? 0) >= 0.1 else { return }
    lastDrawn = now
    StatusLine.draw(
      "\(subject): \(state.text)\(state.rate), \(time(state.fraction, now))\(bar(state.fraction))")
  }

  func clear() {
    if lastDrawn != nil { StatusLine.clear() }
    lastDrawn = nil
  }

  private func bar(_ fraction: Double?) -> String {
    guard let fraction, fraction.isFinite else { return "" }
    let full = Int((min(max(fraction, 0), 1) * Double(Self.barWidth)).rounded())
    return " [\(String(repeating: "#", count: full))\(String(repeating: ".", count: Self.barWidth - full))]"
  }

  /// What is left, where something is done to tell by; else what has passed.
  private func time(_ fraction: Double?, _ now: Double) -> String {
    let passed = now - start
    guard let fraction, fraction > 0.01, fraction <= 1 else { return Self.shown(passed) }
    return "\(Self.shown(passed * (1 - fraction) / fraction)) left"
  }

  /// "42 s", "3 min 5 s", "2 h 10 min".
  private static func shown(_ seconds: Double) -> String {
    guard seconds < 1e9 else { return "very long" }
    let whole = Int(seconds.rounded(.up))
    if whole < 60 { return "\(whole) s" }
    if whole < 3600 { return "\(whole / 60) min \(whole % 60) s" }
    return "\(whole / 3600) h \(whole % 3600 / 60) min"
  }
}
