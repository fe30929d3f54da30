/// A hook with which the caller can stop a call. It is polled on the calling thread only, many times a
/// second.
public struct Cancellation: Sendable {
  public let isCancelled: @Sendable () -> Bool

  public init(isCancelled: @escaping @Sendable () -> Bool) {
    self.isCancelled = isCancelled
  }
}

/// The limits of one call and the ways to stop it. Every task's options contain them.
public struct CallOptions: Sendable {
  public var cancellation: Cancellation?
  /// The time on CLOCK_MONOTONIC, in nanoseconds, at which the call fails with `.deadlineExceeded`; 0: never.
  public var deadline: UInt64 = 0
  /// The limit in bytes on the memory that a call holds at once and that grows with its input. Above it the
  /// call fails with `.tooLarge`. 0: no limit but the system's.
  public var maxBytes = 0
  /// The maximum number of tokens (words if the model reads words) of one text or question. A longer one
  /// fails with `.tooLarge` before the model reads any of it. 0: no limit.
  public var maxDocumentTokens = 0
  /// Receives the progress on the calling thread: the number of windows that the model has read, and the
  /// number of windows of the texts tokenized so far.
  public var progress: (@Sendable (_ done: Int, _ total: Int) -> Void)?

  /// The account of several calls of the core that serve one call of the caller; nil: the core makes one for
  /// each call.
  package var ledger: MemoryLedger?

  public init() {}
}
