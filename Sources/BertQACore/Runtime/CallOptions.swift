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
  /// True if a batch throws the first failure of an item instead of returning a result for each.
  package var stopsAtFailure = false

  public init() {}
}

/// The options of a task that takes batches.
package protocol BatchOptions {
  var call: CallOptions { get set }
}

extension CallOptions: BatchOptions {
  package var call: CallOptions {
    get { self }
    set { self = newValue }
  }
}

/// Makes a batch that the first failure ends of one that has a result for each item.
func all<Options: BatchOptions, Success>(
  _ options: Options, _ each: (Options) throws(BertQAError) -> [Result<Success, BertQAError>]
) throws(BertQAError) -> [Success] {
  var options = options
  options.call.stopsAtFailure = true
  let results = try each(options)
  let monitor = CallMonitor(options.call)
  var all = try [Success](resultCapacity: results.count, monitor)
  for result in results {
    all.append(try result.get())
    if all.count % CallPoll.elementInterval == 0 { try monitor.check() }
  }
  return all
}
