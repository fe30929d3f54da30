import CBertQA

/// Keeps fork() in other threads waiting while a thread runs the library's code.
///
/// The Swift runtime builds type metadata and lazy globals on first use, under locks that a forked child would find
/// taken for ever if another thread of the parent was just building some. So every call of the C ABI and every item of
/// a pool thread enters the gate, and fork() waits until all have left it. They let fork() go first at each poll.
enum ForkGate {
  static func hold<Result, Failure>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    bq_enter_gate()
    defer { bq_leave_gate() }
    return try body()
  }

  /// Lets a thread fork that waits for this one. Neither a lock may be held here nor a lazy global be initialised.
  @inline(__always)
  static func poll() { bq_poll_gate() }

  /// Runs a body during which fork() need not wait for this thread: it waits for another thread or for the disk, and
  /// must not run anything for the first time.
  static func pause<Result>(_ body: () -> Result) -> Result {
    let depth = bq_let_fork()
    defer { bq_go_on(depth) }
    return body()
  }
}
