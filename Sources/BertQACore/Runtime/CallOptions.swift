import Synchronization

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

  /// Returns the time on CLOCK_MONOTONIC that is `nanoseconds` from now, or the latest possible.
  package static func deadline(after nanoseconds: UInt64) -> UInt64 {
    let (deadline, overflow) = ThreadPool.nanoseconds().addingReportingOverflow(nanoseconds)
    return overflow ? .max : deadline
  }

  /// The same options with one account for all parts of the call.
  var withOneLedger: CallOptions {
    var options = self
    options.ledger = ledger ?? MemoryLedger(limit: maxBytes)
    return options
  }
}

/// The options of a task that takes batches.
package protocol BatchOptions {
  var call: CallOptions { get set }
  /// Applies while arguments become items, and results become objects.
  var marshallingCall: CallOptions { get }
}

extension BatchOptions {
  package var marshallingCall: CallOptions { call }
}

extension CallOptions: BatchOptions {
  package var call: CallOptions {
    get { self }
    set { self = newValue }
  }
}

/// Turns a batch with a result for each item into one that ends at the first failure.
func all<Options: BatchOptions, Success>(
  _ options: Options, _ each: (Options) throws(BertQAError) -> [Result<Success, BertQAError>]
) throws(BertQAError) -> [Success] {
  var options = options
  options.call = options.call.withOneLedger
  options.call.stopsAtFailure = true
  let results = try each(options)
  let monitor = CallMonitor(options.marshallingCall)
  var all = try [Success](resultCapacity: results.count, monitor)
  for result in results {
    all.append(try result.get())
    if all.count % CallPoll.elementInterval == 0 { try monitor.check() }
  }
  return all
}

/// One running call: polls for cancellation and the deadline, and counts the memory that the call holds.
///
/// It belongs to the calling thread. Helper threads of the pool only check whether that thread has decided to
/// stop: see `CallPoll`.
package final class CallMonitor: @unchecked Sendable {
  // Sendable: helpers use `isStopped` and `ledger`, which are atomic, and `options`, which never change.

  private let options: CallOptions
  /// The call that this is a part of.
  private var whole: CallPoll?
  let ledger: MemoryLedger
  /// The time of the next call of the hook, in nanoseconds on CLOCK_MONOTONIC.
  private var nextPoll: UInt64 = 0
  /// True while nothing may stop the call, because a part of a result is being made.
  var isUnstoppable = false
  /// True once `check` has thrown.
  private let isStopped = Atomic<Bool>(false)

  /// Nanoseconds between two calls of the cancellation hook.
  private static let pollInterval: UInt64 = 10_000_000

  package init(_ options: CallOptions) {
    self.options = options
    ledger = options.ledger ?? MemoryLedger(limit: options.maxBytes)
  }

  /// Returns the monitor of one thread's part of the call, which charges the call for memory until it is freed.
  func part(isCaller: Bool) -> CallMonitor { CallMonitor(partOf: self, isCaller: isCaller) }

  private init(partOf whole: CallMonitor, isCaller: Bool) {
    options = whole.options
    ledger = MemoryLedger(partOf: whole.ledger)
    self.whole = CallPoll(whole, isCaller: isCaller)
  }

  /// True if nothing can stop the call, so that inner loops may omit checks.
  private var isIdle: Bool { options.cancellation == nil && options.deadline == 0 }

  /// Throws `.cancelled` or `.deadlineExceeded`. It costs a clock read, cheap enough for every kilobyte of
  /// text.
  package func check() throws(BertQAError) {
    if let whole { return try whole.check() }
    ForkGate.poll()
    if isIdle || isUnstoppable { return }
    let time = ThreadPool.nanoseconds()
    if time >= nextPoll { try check(at: time) }
  }

  /// As `check`, but calls the hook even if it was called recently.
  func checkNow() throws(BertQAError) {
    ForkGate.poll()
    if !isIdle && !isUnstoppable { try check(at: ThreadPool.nanoseconds()) }
  }

  private func check(at time: UInt64) throws(BertQAError) {
    nextPoll = time &+ Self.pollInterval
    if let cancellation = options.cancellation, cancellation.isCancelled() {
      throw stopped(BertQAError(.cancelled, "cancelled by the caller's hook"))
    }
    if options.deadline != 0, time >= options.deadline {
      throw stopped(BertQAError(.deadlineExceeded, "the call's deadline has passed"))
    }
  }

  private func stopped(_ error: BertQAError) -> BertQAError {
    isStopped.store(true, ordering: .relaxed)
    return error
  }

  /// For helpers: throws `.cancelled` once `check` has thrown on the calling thread.
  fileprivate func checkFromHelper() throws(BertQAError) {
    ForkGate.poll()
    if isStopped.load(ordering: .relaxed) { throw BertQAError(.cancelled, "the call has been stopped") }
  }

  /// Accounts for memory before it is allocated. Throws `.tooLarge` above the caller's limit.
  package func hold(_ bytes: Int) throws(BertQAError) { try ledger.hold(bytes) }

  /// The maximum number of tokens, or words, of one text.
  var tokenLimit: Int { options.maxDocumentTokens > 0 ? options.maxDocumentTokens : .max }

  /// Throws `.tooLarge` if a text has more tokens, or words, than the limit. May be called on any thread.
  func check(tokenCount count: Int) throws(BertQAError) {
    guard count > tokenLimit else { return }
    throw BertQAError(
      .tooLarge, argument: "max_document_tokens",
      "is \(options.maxDocumentTokens), but a text has more tokens: split it or raise the limit")
  }

  package func release(_ bytes: Int) { ledger.release(bytes) }

  var heldBytes: Int { ledger.heldBytes }

  /// Reports the call's progress to the caller.
  func report(done: Int, of total: Int) { options.progress?(done, total) }

  var reportsProgress: Bool { options.progress != nil }

  /// True if the first failure of an item ends the call.
  var stopsAtFailure: Bool { options.stopsAtFailure }
}

/// Polls for one thread of a call.
package struct CallPoll {
  private let monitor: CallMonitor
  private let isCaller: Bool
  /// Accounts for the memory that the thread allocates.
  let ledger: MemoryLedger

  /// The number of bytes of text between two polls.
  static let textInterval = 1 << 16
  /// The number of array elements or list items between two polls.
  package static let elementInterval = 1 << 16
  /// The number of bytes between two polls of a plain copy.
  static let copyInterval = 1 << 20

  /// - Parameters:
  ///   - isCaller: true on the thread that made the call.
  ///   - ledger: nil: the call's.
  package init(_ monitor: CallMonitor, isCaller: Bool = true, _ ledger: MemoryLedger? = nil) {
    self.monitor = monitor
    self.isCaller = isCaller
    self.ledger = ledger ?? monitor.ledger
  }

  var tokenLimit: Int { monitor.tokenLimit }

  func check(tokenCount count: Int) throws(BertQAError) { try monitor.check(tokenCount: count) }

  func check() throws(BertQAError) {
    if isCaller { try monitor.check() } else { try monitor.checkFromHelper() }
  }
}

/// Polls for a loop over a text.
struct TextPoll {
  private let monitor: CallMonitor?
  /// The byte of the text at which the next poll is due.
  private(set) var next: Int
  private var position: Int

  init(_ monitor: CallMonitor?, from position: Int = 0) {
    self.monitor = monitor
    self.position = position
    next = position &+ CallPoll.textInterval
  }

  /// For a loop that reads from left to right and has reached `position`.
  @inline(__always)
  mutating func reach(_ position: Int) throws(BertQAError) {
    if position >= next { try ask(at: position) }
  }

  /// For a loop that has read `count` more bytes at any place.
  @inline(__always)
  mutating func read(_ count: Int) throws(BertQAError) {
    position &+= count
    try reach(position)
  }

  @inline(never)
  private mutating func ask(at position: Int) throws(BertQAError) {
    next = position &+ CallPoll.textInterval
    try monitor?.check()
  }
}
