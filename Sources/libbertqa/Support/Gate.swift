import CBertQA

/// Runs the body of a function that C callers call, during which fork() waits: see `ForkGate`. Inlined, so that nothing
/// runs for the first time before.
@inline(__always)
func insideGate<Result>(_ body: () -> Result) -> Result {
  bq_enter_gate()
  defer { bq_leave_gate() }
  return body()
}

/// Calls one of the caller's functions, which may fork or wait for a thread that forks.
@inline(__always)
func outsideGate<Result>(_ body: () -> Result) -> Result {
  let depth = bq_let_fork()
  defer { bq_go_on(depth) }
  return body()
}
