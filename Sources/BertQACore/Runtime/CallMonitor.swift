import Synchronization

/// One running call: asks now and then whether it shall stop, and counts the memory it holds.
///
/// Belongs to the thread that made the call. Helpers of the thread pool only ask whether that thread has found a
/// reason to stop: see `CallPoll`.
package final class CallMonitor: @unchecked Sendable {
  // Sendable: helpers use `isStopped` only.

  private let options: CallOptions
  let ledger: MemoryLedger
  /// CLOCK_MONOTONIC, nanoseconds: when the hook is asked next.
  private var nextPoll: UInt64 = 0
  /// Whether `check` has thrown.
  private let isStopped = Atomic<Bool>(false)

  /// Nanoseconds between two questions to the cancellation hook.
  private static let pollInterval: UInt64 = 10_000_000

  package init(_ options: CallOptions) {
    self.options = options
    ledger = options.ledger ?? MemoryLedger(limit: options.maxBytes)
  }

  /// Whether nothing can stop the call, so that checks may be left out of inner loops.
  var isIdle: Bool { options.cancellation == nil && options.deadline == 0 }

  /// Throws `.cancelled` or `.deadlineExceeded`. Cheap enough for every kilobyte of text: a clock read.
  package func check() throws(BertQAError) {
    ForkGate.poll()
    if isIdle { return }
    let time = ThreadPool.nanoseconds()
    if time >= nextPoll { try check(at: time) }
  }

  /// The same, whenever the hook was asked last.
  func checkNow() throws(BertQAError) {
    ForkGate.poll()
    if !isIdle { try check(at: ThreadPool.nanoseconds()) }
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
  func checkFromHelper() throws(BertQAError) {
    ForkGate.poll()
    if isStopped.load(ordering: .relaxed) { throw BertQAError(.cancelled, "the call has been stopped") }
  }

  /// Accounts for memory before it is taken; `.tooLarge` above the caller's limit.
  package func hold(_ bytes: Int) throws(BertQAError) { try ledger.hold(bytes) }

  /// Tokens, or words, that one text may have.
  var tokenLimit: Int { options.maxDocumentTokens > 0 ? options.maxDocumentTokens : .max }

  /// Throws `.tooLarge` where a text has more tokens, or words, than that. On any thread.
  func check(tokenCount count: Int) throws(BertQAError) {
    guard count > tokenLimit else { return }
    throw BertQAError(
      .tooLarge, argument: "max_document_tokens",
      "is \(options.maxDocumentTokens), but a text has more tokens: split it or raise the limit")
  }

  package func release(_ bytes: Int) { ledger.release(bytes) }

  var heldBytes: Int { ledger.heldBytes }

  /// Tells the caller how far the call is.
  func report(done: Int, of total: Int) { options.progress?(done, total) }

  var reportsProgress: Bool { options.progress != nil }
}

/// How one thread of a call asks whether to go on.
package struct CallPoll {
  private let monitor: CallMonitor
  private let isCaller: Bool
  /// Where the thread accounts for what it takes.
  let ledger: MemoryLedger

  /// Bytes of text between two questions.
  static let textInterval = 1 << 16
  /// Elements of an array, or items of a list, between two questions.
  package static let elementInterval = 1 << 16
  /// Bytes that are only copied between two questions.
  static let copyInterval = 1 << 20

  /// - Parameters:
  ///   - isCaller: whether the thread is the one that made the call.
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

/// How a loop over a text asks whether to go on.
struct TextPoll {
  private let monitor: CallMonitor?
  /// The byte of the text at which it asks next.
  private(set) var next: Int
  private var position: Int

  init(_ monitor: CallMonitor?, from position: Int = 0) {
    self.monitor = monitor
    self.position = position
    next = position &+ CallPoll.textInterval
  }

  /// For a loop that goes from left to right and is at `position` now.
  @inline(__always)
  mutating func reach(_ position: Int) throws(BertQAError) {
    if position >= next { try ask(at: position) }
  }

  /// For a loop that has read so many bytes, wherever they are.
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
