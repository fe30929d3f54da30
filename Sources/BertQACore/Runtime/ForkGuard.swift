import CBertQA

/// Keeps fork() in other threads waiting while something is done for the first time.
///
/// The Swift runtime builds type metadata on first use, under a lock that a forked child would find
/// taken for ever if another thread of the parent was just building some. Later uses take no lock.
/// So a context is made, and each kind runs all of its code once, under this guard: see `WarmUp`.
enum ForkGuard {
  static func hold<Result, Failure>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    bq_hold_fork()
    defer { bq_release_fork() }
    return try body()
  }

  /// Runs a function of the caller, which may fork or wait for a thread that does, in the middle of something that
  /// holds fork() back: code of ours that asks, and is thus not inside of anything of the runtime's.
  static func pause<Result>(_ body: () -> Result) -> Result {
    let held = bq_let_fork()
    defer { bq_hold_fork_again(held) }
    return body()
  }
}
