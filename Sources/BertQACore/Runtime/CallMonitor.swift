/// One running call: asks now and then whether it shall stop, and counts the memory it holds.
///
/// Belongs to the thread that made the call; helpers of the thread pool never touch it.
final class CallMonitor {
  private let options: CallOptions
  /// When the clock says so the hook is asked again.
  private var nextPoll: UInt64 = 0
  private(set) var heldBytes = 0

  /// Nanoseconds between two questions to the cancellation hook.
  private static let pollInterval: UInt64 = 10_000_000

  init(_ options: CallOptions) { self.options = options }

  /// Whether nothing can stop the call, so that checks may be left out of inner loops.
  var isIdle: Bool { options.cancellation == nil && options.deadline == 0 }

  /// Throws `.cancelled` or `.deadlineExceeded`. Cheap enough for every kilobyte of text: a clock read.
  func check() throws(BertQAError) {
    if isIdle { return }
    let time = ThreadPool.nanoseconds()
    if time >= nextPoll { try check(at: time) }
  }

  /// The same, whenever the hook was asked last.
  func checkNow() throws(BertQAError) {
    if !isIdle { try check(at: ThreadPool.nanoseconds()) }
  }

  private func check(at time: UInt64) throws(BertQAError) {
    nextPoll = time &+ Self.pollInterval
    if let cancellation = options.cancellation, cancellation.isCancelled() {
      throw BertQAError(.cancelled, "cancelled by the caller's hook")
    }
    if options.deadline != 0, time >= options.deadline {
      throw BertQAError(.deadlineExceeded, "the call's deadline has passed")
    }
  }

  /// Accounts for memory before it is taken; `.tooLarge` above the caller's limit.
  func hold(_ bytes: Int) throws(BertQAError) {
    heldBytes += bytes
    guard options.maxBytes > 0, heldBytes > options.maxBytes else { return }
    throw BertQAError(
      .tooLarge, argument: "max_bytes",
      "is \(options.maxBytes), but the call needs \(heldBytes) bytes by now: split the text or raise it")
  }

  func release(_ bytes: Int) { heldBytes -= bytes }

  /// Tells the caller how far the call is.
  func report(done: Int, of total: Int) { options.progress?(done, total) }

  var reportsProgress: Bool { options.progress != nil }
}
