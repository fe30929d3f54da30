import Glibc
import Synchronization

/// Handles SIGINT, SIGTERM and SIGHUP as requests for an orderly stop. The first signal is noted. Further ones that
/// follow at once count as the same request, as programs such as timeout send one to the process and one to
/// its group. A later signal ends the process. Work that is not finished by the deadline is given up, and a
/// process that still runs afterwards is ended. No code runs inside a signal handler: one thread waits for
/// the signals, and all others block them.
final class StopSignals: @unchecked Sendable {  // the state is atomic or does not change
  /// Readable after a signal has arrived.
  let descriptor: Int32
  private let writing: Int32
  private let received = Atomic<Int32>(0)
  private let overdue = Atomic<Bool>(false)
  /// Seconds after the timeout for writing the finished and the abandoned records.
  private static let grace = 2.0
  /// Seconds from the first signal during which further signals are ignored.
  private static let repetition = 1.0

  /// Create it before any other thread, so that all threads inherit the signal mask. A signal that the parent
  /// process ignores stays ignored.
  /// - Parameter timeout: seconds from the first signal until unfinished work is given up.
  init(timeout: Double) throws(ToolError) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw ToolError.system("cannot make a pipe", errno) }
    (descriptor, writing) = (ends[0], ends[1])
    var awaited = sigset_t()
    sigemptyset(&awaited)
    for signal in Self.names.keys where !Self.isIgnored(signal) { sigaddset(&awaited, signal) }
    pthread_sigmask(SIG_BLOCK, &awaited, nil)
    let set = awaited
    try Thread.start { [self] in
      guard let signal = Self.wait(for: set, seconds: nil) else { return }
      let repetitionEnd = Clock.seconds() + Self.repetition
      received.store(signal, ordering: .sequentiallyConsistent)
      _ = write(writing, [0], 1)
      if let second = Self.wait(for: set, seconds: timeout, after: repetitionEnd) { Self.die(of: second) }
      overdue.store(true, ordering: .sequentiallyConsistent)
      if let second = Self.wait(for: set, seconds: Self.grace, after: repetitionEnd) { Self.die(of: second) }
      report("stopped: the output was not written within \(Int(timeout + Self.grace)) seconds")
      Self.die(of: signal)
    }
  }

  static let names = [SIGINT: "SIGINT", SIGTERM: "SIGTERM", SIGHUP: "SIGHUP"]

  /// The signal that has arrived, if any.
  var signal: Int32? {
    let signal = received.load(ordering: .sequentiallyConsistent)
    return signal == 0 ? nil : signal
  }

  /// True if a signal has arrived and its timeout has passed.
  var isOverdue: Bool { overdue.load(ordering: .sequentiallyConsistent) }

  /// Returns the first signal that arrives after a time; nil if none arrives in time.
  private static func wait(for signals: sigset_t, seconds: Double?, after start: Double = 0) -> Int32? {
    var set = signals
    let deadline = Clock.seconds() + (seconds ?? 0)
    while true {
      var signal: Int32
      if seconds == nil {
        signal = sigwaitinfo(&set, nil)
      } else {
        let left = max(0, deadline - Clock.seconds())
        var time = timespec(tv_sec: Int(left), tv_nsec: Int((left - left.rounded(.down)) * 1e9))
        signal = sigtimedwait(&set, nil, &time)
      }
      if signal > 0 {
        if Clock.seconds() >= start { return signal }
      } else if errno != EINTR {
        return nil
      }
    }
  }

  static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    sigaction(number, nil, &action)
    let handler = action.__sigaction_handler.sa_handler
    return unsafeBitCast(handler, to: UInt.self) == unsafeBitCast(SIG_IGN, to: UInt.self)
  }

  /// Ends the process as if the signal had not been caught, so that its parent sees the cause.
  static func die(of number: Int32) -> Never {
    Glibc.signal(number, SIG_DFL)
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, number)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
    raise(number)
    _exit(128 + number)
  }
}
