import Glibc
import Synchronization

/// SIGINT and SIGTERM as a wish to stop in good order. The first is noted, the second ends the process. No
/// code runs inside a signal handler: a thread waits for them, and all others block them.
final class StopSignals: @unchecked Sendable {  // the state is atomic or does not change
  /// Readable once a signal has come.
  let descriptor: Int32
  private let writing: Int32
  private let received = Atomic<Int32>(0)

  /// To be made before any other thread, so that they all inherit the mask. A signal that the parent process
  /// chose to ignore stays ignored.
  init() throws(ToolError) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      throw ToolError(.resources, "cannot make a pipe: \(String(cString: strerror(errno)))")
    }
    (descriptor, writing) = (ends[0], ends[1])
    var awaited = sigset_t()
    sigemptyset(&awaited)
    for signal in [SIGINT, SIGTERM] where !Self.isIgnored(signal) { sigaddset(&awaited, signal) }
    pthread_sigmask(SIG_BLOCK, &awaited, nil)
    let set = awaited
    try Thread.start { [self] in
      var set = set
      var signal: Int32 = 0
      guard sigwait(&set, &signal) == 0 else { return }
      received.store(signal, ordering: .sequentiallyConsistent)
      _ = write(writing, [0], 1)
      // From here on they have their usual effect.
      pthread_sigmask(SIG_UNBLOCK, &set, nil)
      while true { pause() }
    }
  }

  /// The signal that has come, if one has.
  var signal: Int32? {
    let signal = received.load(ordering: .sequentiallyConsistent)
    return signal == 0 ? nil : signal
  }

  static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    sigaction(number, nil, &action)
    let handler = action.__sigaction_handler.sa_handler
    return unsafeBitCast(handler, to: UInt.self) == unsafeBitCast(SIG_IGN, to: UInt.self)
  }

  /// Ends the process as if the signal had not been caught, so that its parent sees what ended it.
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
