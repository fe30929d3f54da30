/// A caller's wish to stop. Polled on the calling thread only, many times a second while a call works.
public struct Cancellation: Sendable {
  public let isCancelled: @Sendable () -> Bool

  public init(isCancelled: @escaping @Sendable () -> Bool) {
    self.isCancelled = isCancelled
  }
}

/// What one call may take, and how it is stopped. Part of every task's options.
public struct CallOptions: Sendable {
  public var cancellation: Cancellation?
  /// The time on CLOCK_MONOTONIC, in nanoseconds, at which the call fails with `.deadlineExceeded`; 0: never.
  public var deadline: UInt64 = 0
  /// Bytes of memory growing with the input that the call may hold at once; above, it fails with `.tooLarge`.
  /// 0: no limit but the system's.
  public var maxBytes = 0
  /// Tokens, or words where the model reads words, of one text, a question included; a longer one fails with
  /// `.tooLarge` before the model reads any of it. 0: no limit.
  public var maxDocumentTokens = 0
  /// Told now and then, on the calling thread, how much is done of what is known to have to be done: windows that
  /// the model has read of those of the texts tokenized so far.
  public var progress: (@Sendable (_ done: Int, _ total: Int) -> Void)?

  /// Of all that is done for the call, where that is more than one call of the core; nil: the core makes one.
  package var ledger: MemoryLedger?

  public init() {}
}
