/// A caller's wish to stop, asked for while a call runs.
///
/// The hook is called on the thread that made the call and on no other, at least about every 50 ms of
/// work. It must not fork.
struct Cancellation: Sendable {
  let isCancelled: @Sendable () -> Bool
}
