import CBertQA

/// Makes fork() in other threads wait while a thread runs the library's code.
///
/// The Swift runtime builds type metadata and lazy globals on first use, under locks. A child forked while
/// another thread of the parent holds such a lock could never take it. So every call of the C ABI and every
/// item of a pool thread enters the gate, and fork() waits until all have left it. At each poll they leave
/// the gate briefly to let a fork() proceed.
enum ForkGate {
  static func hold<Result, Failure>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    bq_enter_gate()
    defer { bq_leave_gate() }
    return try body()
  }

  /// Lets a waiting fork() in another thread proceed. The caller must hold no lock and must not be
  /// initialising a lazy global.
  @inline(__always)
  static func poll() { bq_poll_gate() }

  /// Runs a body during which fork() need not wait for this thread. The body waits for another thread or for
  /// the disk, and must not run any code for the first time.
  static func pause<Result>(_ body: () -> Result) -> Result {
    let depth = bq_let_fork()
    defer { bq_go_on(depth) }
    return body()
  }
}
