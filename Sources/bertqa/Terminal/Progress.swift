import BertQACore
import Glibc

/// A progress line on the terminal for work that takes more than a second: a bar, the amount done, the rate,
/// and the remaining time. It is drawn from the library's hooks, which run on the calling thread.
final class Progress: @unchecked Sendable {  // the tool has one thread; the hooks require Sendable closures
  private let subject: String
  private let start = Clock.seconds()
  private var lastDrawn: Double?
  /// The last state; nil before the first update.
  private var state: (text: String, fraction: Double?, rate: String)?

  private static let barWidth = 20

  /// Returns nil if there is no terminal to show it on.
  init?(subject: String) {
    guard Terminal.isCapable(STDERR_FILENO) else { return nil }
    self.subject = subject
  }

  /// Updates the line from a call's hooks.
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

  /// - Parameter fraction: the finished part of the work, 0 to 1; nil if unknown.
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

  /// Returns the remaining time if enough is done to estimate it, otherwise the elapsed time.
  private func time(_ fraction: Double?, _ now: Double) -> String {
    let passed = now - start
    guard let fraction, fraction > 0.01, fraction <= 1 else { return Self.shown(passed) }
    return "\(Self.shown(passed * (1 - fraction) / fraction)) left"
  }

  /// Formats a duration: "42 s", "3 min 5 s", "2 h 10 min".
  private static func shown(_ seconds: Double) -> String {
    guard seconds < 1e9 else { return "very long" }
    let whole = Int(seconds.rounded(.up))
    if whole < 60 { return "\(whole) s" }
    if whole < 3600 { return "\(whole / 60) min \(whole % 60) s" }
    return "\(whole / 3600) h \(whole % 3600 / 60) min"
  }
}
